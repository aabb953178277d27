"""Many classes by many classifiers of two: the fallback that the paper names, for comparison."""

from abc import abstractmethod
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if

from confdiff.estimators.inputs import as_float_matrix, class_names, probabilities_of
from confdiff.estimators.items import DifferenceScored, ItemClassifier, differences_of
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.validation import check_class_priors


def _never(estimator: "OneVersusOne") -> bool:
    raise AttributeError("votes are no probabilities: OneVersusOne has no score.")


class _Reduction(ItemClassifier):
    def __init__(self, estimator: Any, *, prior: ArrayLike | None = None, classes: Any = None) -> None:
        self.estimator = estimator
        self.prior = prior
        self.classes = classes

    def fit(
        self, pairs: Any, c: ArrayLike | None = None, *, items: Any = None, sample_weight: ArrayLike | None = None
    ) -> "_Reduction":
        """Fit a copy of the estimator for each binary problem. c: (n, K); the rest as in ``ConfDiffClassifier.fit``."""
        data = as_float_matrix(as_pairs(pairs, c, items=items, weight=sample_weight))
        if not data.has_vectors:
            raise ValueError("the differences must be vectors with an entry for each class, shape (n, K).")
        prior = None if self.prior is None else check_class_priors(self.prior, data.n_classes)
        self.classes_ = class_names(self.classes, data)
        self.estimators_ = []
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
        """The classes that each binary problem is about."""

    def _positive(self, X: Any) -> NDArray[np.float64]:
        """(m, problems) the probabilities of the positive class in each binary problem."""
        self._items(X)
        return np.stack([model.predict_proba(X)[:, 1] for model in self.estimators_], axis=1)

    @abstractmethod
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Shares of the classes, which add up to 1. X: (m, d). Returns: (m, K)."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each item. X: (m, d). Returns: (m,)."""
        shares = self.predict_proba(X)
        return self._names(shares.argmax(axis=1))


class OneVersusRest(DifferenceScored, _Reduction):
    """A classifier for each class against all others, learned from the differences of that class.

    estimator : any estimator of pairs. prior : (K,) the class priors. classes : their names.
    """

    @staticmethod
    def _problems(n_classes: int) -> Iterator[tuple[int, ...]]:
        return ((k,) for k in range(n_classes))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the classes, divided by their sum. X: (m, d). Returns: (m, K)."""
        p = self._positive(X) + 1e-12
        shares: NDArray[np.float64] = p / p.sum(axis=1, keepdims=True)
        return shares

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        data = self._items_of(pairs)
        return differences_of(probabilities_of(self, data), data)


class OneVersusOne(_Reduction):
    """A classifier for each two classes j < k that says which of them is the likelier; the votes are added up.

    It learns q = (1 + p_k - p_j) / 2 from the differences (c_k - c_j) / 2: unlike the posterior of k among j and k,
    that is told by differences of posteriors. Votes are no probabilities, so there is no ``score``. Parameters as in
    :class:`OneVersusRest`.
    """

    @staticmethod
    def _problems(n_classes: int) -> Iterator[tuple[int, ...]]:
        return combinations(range(n_classes), 2)

    score = available_if(_never)(ClassifierMixin.score)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The share of the votes of each class; no calibrated probabilities. X: (m, d). Returns: (m, K)."""
        votes = self._positive(X)
        counts = np.zeros((len(votes), len(self.classes_)))
        for (j, k), vote in zip(self._problems(len(self.classes_)), votes.T, strict=True):
            counts[:, k] += vote
            counts[:, j] += 1 - vote
        shares: NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
        return shares


def _prior_of(prior: NDArray[Any], problem: tuple[int, ...]) -> float:
    """The mean of what a binary problem predicts."""
    return float(prior[problem[0]] if len(problem) == 1 else (1 + prior[problem[1]] - prior[problem[0]]) / 2)
