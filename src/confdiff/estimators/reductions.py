"""Reductions of several classes to binary classifiers: the fallback of the paper, for comparison."""

from abc import abstractmethod
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from confdiff.estimators.inputs import as_float_matrix, class_names
from confdiff.estimators.items import DifferenceScored, ItemClassifier
from confdiff.pairs.forms import as_pairs
from confdiff.validation import check_class_priors, similar_warnings_once


def _never(estimator: "OneVersusOne") -> bool:
    raise AttributeError("OneVersusOne has no score: votes are not probabilities.")


class _Reduction(ItemClassifier):
    """A classifier of several classes that fits one binary classifier per problem."""

    def __init__(self, estimator: Any, *, prior: ArrayLike | None = None, classes: Any = None) -> None:
        self.estimator = estimator
        self.prior = prior
        self.classes = classes

    def fit(
        self, pairs: Any, c: ArrayLike | None = None, *, items: Any = None, sample_weight: ArrayLike | None = None
    ) -> "_Reduction":
        """Fit a copy of the estimator to each binary problem.

        Parameters
        ----------
        pairs, items, sample_weight
            See :meth:`confdiff.ConfDiffClassifier.fit`.
        c : array of shape (n, K), default=None
            Confidence differences of K classes; not needed if ``pairs`` has them.

        Returns
        -------
        estimator
            The fitted estimator.
        """
        data = as_float_matrix(as_pairs(pairs, c, items=items, weight=sample_weight))
        if not data.has_vectors:
            raise ValueError("c must be an array of shape (n, K), with one column per class; got one column.")
        prior = None if self.prior is None else check_class_priors(self.prior, data.n_classes)
        self.classes_ = class_names(self.classes, data)
        self.estimators_ = []
        with similar_warnings_once():
            for problem in self._problems(data.n_classes):
                model = clone(self.estimator)
                if prior is not None:
                    model.set_params(prior=_prior_of(prior, problem))
                self.estimators_.append(model.fit(data.of_class(*problem)))
        self._remember_features(data)
        return self

    @staticmethod
    @abstractmethod
    def _problems(n_classes: int) -> Iterator[tuple[int, ...]]:
        """Yield the classes of each binary problem."""

    def _positive(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the positive class in each binary problem, (m, n_problems)."""
        self._items(X)
        return np.stack([model.predict_proba(X)[:, 1] for model in self.estimators_], axis=1)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict fractions of the classes, with sum 1; those of :class:`OneVersusOne` are not probabilities.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, K)
            The columns are in the order of ``classes_``.
        """
        weights = self._class_weights(self._positive(X))
        fractions: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
        return fractions

    @abstractmethod
    def _class_weights(self, positive: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a weight for each class, (m, K), from the positive probabilities (m, n_problems)."""

    def _class_numbers(self, X: Any) -> NDArray[Any]:
        numbers: NDArray[np.int64] = self.predict_proba(X).argmax(axis=1)
        return numbers


class OneVersusRest(DifferenceScored, _Reduction):
    """One binary classifier per class, against all other classes, from the differences of that class.

    Parameters
    ----------
    estimator : estimator
        Any binary estimator of pairs.
    prior : array of shape (K,), default=None
        The class priors.
    classes : sequence, default=None
        The names of the classes. By default 0 to K - 1.

    Attributes
    ----------
    estimators_ : list
        The fitted binary classifiers.
    classes_ : array of shape (K,)
        The names of the classes.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features; present only if the items had column names.

    Examples
    --------
    >>> from confdiff import ConfDiffLogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2, 3))
    >>> p = np.exp(X) / np.exp(X).sum(axis=-1, keepdims=True)
    >>> model = OneVersusRest(ConfDiffLogisticRegression(), prior=[1 / 3] * 3).fit(X, p[:, 1] - p[:, 0])
    >>> model.predict([[2.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    array([0, 2])
    """

    @staticmethod
    def _problems(n_classes: int) -> Iterator[tuple[int, ...]]:
        return ((k,) for k in range(n_classes))

    def _class_weights(self, positive: NDArray[np.float64]) -> NDArray[np.float64]:
        return positive + 1e-12


class OneVersusOne(_Reduction):
    """One binary classifier per pair of classes j < k, which votes for the likelier class; votes are summed.

    It learns q = (1 + p_k - p_j) / 2 from the differences (c_k - c_j) / 2. Differences of posteriors determine q, but
    not the posterior of k among j and k. Votes are not probabilities, so there is no ``score``.

    Parameters
    ----------
    estimator, prior, classes
        See :class:`OneVersusRest`.

    Attributes
    ----------
    estimators_, classes_, n_features_in_, feature_names_in_
        See :class:`OneVersusRest`.
    """

    @staticmethod
    def _problems(n_classes: int) -> Iterator[tuple[int, ...]]:
        return combinations(range(n_classes), 2)

    score = available_if(_never)(ClassifierMixin.score)

    def _class_weights(self, positive: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes for each class."""
        votes = np.zeros((len(positive), len(self.classes_)))
        for (j, k), vote in zip(self._problems(len(self.classes_)), positive.T, strict=True):
            votes[:, k] += vote
            votes[:, j] += 1 - vote
        return votes


def _prior_of(prior: NDArray[Any], problem: tuple[int, ...]) -> float:
    """Return the mean of the probability that a binary problem predicts."""
    if len(problem) == 1:
        return float(prior[problem[0]])
    j, k = problem
    return float((1 + prior[k] - prior[j]) / 2)
