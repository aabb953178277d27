"""Learn from differences with any scikit-learn classifier that takes sample weights.

The classifier is fitted to its own predictions, projected on the posteriors that the differences allow. A projected
posterior t in [0, 1] becomes a positive item of weight t and a negative item of weight 1 - t. Fit, predict and project
are repeated until the predictions no longer improve.

Predictions are out of fold, because trees memorise their targets and would never change them. Before the projection,
they are rescaled to fit the differences best. Early predictions are too close to each other, and the projection alone
would at best halve the error.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from confdiff.calibration import fit_to_differences
from confdiff.estimators.inputs import as_float_matrix, class_names, distinct_items
from confdiff.estimators.items import DifferenceScored
from confdiff.metrics import difference_r2
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.pairs.sparse import SparseItems
from confdiff.prior import OutOfFold
from confdiff.risks import multiclass_targets_of
from confdiff.threads import computing, follow_policy, pass_over
from confdiff.validation import check_class_priors, check_count, check_number, check_prior

_Matrix = NDArray[np.float64]


class ProjectedClassifier(DifferenceScored):
    """Learn from pairs with confidence differences with any classifier that takes ``sample_weight``.

    ``fit`` and ``score`` take pairs in the forms that :class:`~confdiff.ConfDiffClassifier` takes, and differences of
    two or K classes. Predictions are for single items.

    Parameters
    ----------
    estimator : classifier, default=None
        A scikit-learn classifier. By default ``HistGradientBoostingClassifier``.
    prior : float, array of shape (K,) or None, default=None
        The class prior, or the priors of K classes. With ``None``, the differences determine it.
    rounds : int, default=15
        The maximal number of rounds of fitting and projecting.
    folds : int, default=5
        The number of folds of the items for out-of-fold predictions.
    tol : float, default=0.001
        Stop after two rounds in which the out-of-fold R² of the differences did not improve by more than this.
    classes : sequence, default=None
        The names of the classes. By default -1 and 1, or 0 to K - 1.
    random_state : int, RandomState or None, default=0
        Determines the folds.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    history_ : list of float
        The out-of-fold R² of each round.
    n_iter_ : int
        The number of rounds.
    prior_ : float or array of shape (K,)
        The mean probability of the items.
    prior_interval_ : tuple (low, high) or None
        The class priors that the differences leave open; for K classes a tuple of K such tuples. ``None`` if the
        prior was given.
    is_offset_determined_ : bool
        Whether the prior was given or the differences determine it. If not, scores and ranks are meaningful, but
        probabilities may be off by a constant, and decisions are arbitrary near the threshold.
    classes_ : array of shape (K,)
        The names of the classes.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features; present only if the items had column names.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2, 3))
    >>> risk = 1 / (1 + np.exp(-3 * X[..., 0]))
    >>> model = ProjectedClassifier(LogisticRegression(), prior=0.5).fit(X, risk[:, 1] - risk[:, 0])
    >>> model.score(X, risk[:, 1] - risk[:, 0]) > 0.9
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        prior: float | ArrayLike | None = None,
        rounds: int = 15,
        folds: int = 5,
        tol: float = 0.001,
        classes: Any = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.prior = prior
        self.rounds = rounds
        self.folds = folds
        self.tol = tol
        self.classes = classes
        self.random_state = random_state

    @follow_policy
    def fit(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> "ProjectedClassifier":
        """Learn from pairs and their confidence differences.

        Parameters
        ----------
        pairs, c, items, sample_weight
            See :meth:`confdiff.ConfDiffClassifier.fit`.

        Returns
        -------
        ProjectedClassifier
            The fitted estimator.
        """
        data = as_float_matrix(as_pairs(pairs, c, items=items, weight=sample_weight))
        if data.same is not None:
            raise ValueError(
                "ProjectedClassifier does not use same-class answers. "
                "Pass pairs.carrying('differences').with_same(None), or use another estimator."
            )
        task = _Task(data, self._classifier(data), self._prior(data))
        check_count("rounds", self.rounds)
        check_number("tol", self.tol, least=0)
        n_items = task.items.shape[0]
        if n_items < 2 * check_count("folds", self.folds, least=2):
            raise ValueError(
                f"folds={self.folds} needs at least two items per fold, {2 * self.folds}; got {n_items} items."
            )
        fold_of = check_random_state(self.random_state).permutation(n_items) % self.folds
        with computing(pass_over(task.items.size)):
            targets, out_of_fold, self.history_ = self._iterate(task, fold_of)
            self.estimator_ = task.fitted(targets, np.ones(n_items, dtype=bool))
        self.n_iter_ = len(self.history_)
        self.classes_ = class_names(self.classes, data)
        self._remember_features(data)
        p = task.predicted(self.estimator_, task.items)[task.rows].reshape(2, len(data), -1).mean(axis=0)
        implied = np.average(p, axis=0, weights=task.weight)
        self.prior_ = implied if data.has_vectors else float(implied[1])
        self._forget_offset()
        if self.prior is not None:
            self.prior_source_ = "given"
        elif data.has_vectors:
            predicted = out_of_fold[task.right] - out_of_fold[task.left]
            self._report_open_classes(predicted, task.c.numpy(), out_of_fold[task.rows], task.weight)
        else:
            positive = out_of_fold[:, 1].clip(1e-9, 1 - 1e-9)
            scores = logit(np.stack([positive[task.left], positive[task.right]]))
            self._report_offset(OutOfFold.of_pairs(scores, data))
        return self

    def _iterate(self, task: "_Task", fold_of: NDArray[np.int64]) -> tuple[_Matrix, _Matrix, list[float]]:
        """Return targets and out-of-fold predictions of the round with the best score, and the scores of all rounds."""
        predictions = np.full((task.items.shape[0], task.c.shape[1]), 1 / task.c.shape[1])
        targets = task.targets(predictions)
        best_targets = targets
        best_predictions = predictions
        scores: list[float] = []
        for _ in range(self.rounds):
            predictions = task.rescaled(task.out_of_fold(targets, fold_of))
            targets = task.targets(predictions)
            scores.append(task.score(predictions))
            if scores[-1] == max(scores):
                best_targets = targets
                best_predictions = predictions
            if len(scores) > 2 and max(scores[-2:]) <= max(scores[:-2]) + self.tol:
                break
        return best_targets, best_predictions, scores

    def _classifier(self, data: Pairs) -> Any:
        classifier = self._usable_classifier()
        if isinstance(data.items, SparseItems) and not get_tags(classifier).input_tags.sparse:
            raise ValueError(
                f"estimator must take sparse matrices, as the items are sparse; {type(classifier).__name__} does not. "
                "Pass one that does, such as LogisticRegression()."
            )
        return classifier

    def _usable_classifier(self) -> Any:
        if self.estimator is None:
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier(random_state=0)
        if not hasattr(self.estimator, "predict_proba") or not has_fit_parameter(self.estimator, "sample_weight"):
            name = type(self.estimator).__name__
            raise ValueError(f"estimator must have predict_proba and take sample_weight in fit; {name} does not.")
        return self.estimator

    def _prior(self, data: Pairs) -> torch.Tensor | None:
        if self.prior is None:
            return None
        if data.has_vectors:
            return torch.from_numpy(check_class_priors(self.prior, data.n_classes).astype(np.float64))
        prior = check_prior(self.prior)
        return torch.tensor([1 - prior, prior], dtype=torch.float64)

    @follow_policy
    def predict_proba(self, X: Any) -> _Matrix:
        """Predict the probabilities of the classes.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, K)
            The columns are in the order of ``classes_``.
        """
        items = self._items(X)
        return _probabilities(self.estimator_, items, len(self.classes_))

    def _class_numbers(self, X: Any) -> NDArray[Any]:
        p = self.predict_proba(X)
        return p.argmax(axis=1) if p.shape[1] > 2 else (p[:, 1] >= 0.5).astype(int)

    @available_if(lambda self: len(getattr(self, "classes_", (0, 1))) == 2)
    def decision_function(self, X: Any) -> _Matrix:
        """Return the log-odds of the positive class.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,)
            Available for two classes.
        """
        p = np.clip(self.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
        return np.log(p) - np.log1p(-p)


class _Task:
    """The pairs as arrays with differences as vectors, and the steps of each round."""

    def __init__(self, data: Pairs, classifier: Any, prior: torch.Tensor | None) -> None:
        (c,) = data.targets("differences").double()
        self.c = c if data.has_vectors else torch.stack([-c, c], dim=1)
        self.items, self.left, self.right = distinct_items(data)  # copies of an item would leak its targets
        self.rows = np.concatenate([self.left, self.right])
        self.weight = None if data.weight is None else data.weight.double()
        self.classifier = classifier
        self.prior = prior
        self.n_classes = self.c.shape[1]

    def targets(self, predictions: _Matrix) -> _Matrix:
        """Project predictions; return the targets (2n, K) of the first items of all pairs, then of the second."""
        p = torch.from_numpy(predictions[self.left])
        p_prime = torch.from_numpy(predictions[self.right])
        t, t_prime = multiclass_targets_of(p, p_prime, self.c, prior=self.prior, weight=self.weight)
        return torch.cat([t, t_prime]).numpy()

    def fitted(self, targets: _Matrix, selected: NDArray[np.bool_]) -> Any:
        """Return a classifier fitted on selected items, each once per class and weighted by its target."""
        entries = np.flatnonzero(selected[self.rows])
        weights = targets[entries]
        if self.weight is not None:
            weights = weights * self.weight.repeat(2).numpy()[entries, None]
        index, classes = np.nonzero(weights > 1e-9)
        items = self.items[self.rows[entries[index]]]
        return clone(self.classifier).fit(items, classes, sample_weight=weights[index, classes])

    def predicted(self, classifier: Any, items: Any) -> _Matrix:
        return _probabilities(classifier, items, self.n_classes)

    def out_of_fold(self, targets: _Matrix, fold_of: NDArray[np.int64]) -> _Matrix:
        """Predict each item with a classifier that was not fitted on it; return (N, K) probabilities."""
        predictions = np.empty((self.items.shape[0], self.n_classes))
        for fold in np.unique(fold_of):
            inside = fold_of == fold
            predictions[inside] = self.predicted(self.fitted(targets, ~inside), self.items[inside])
        return predictions

    def rescaled(self, predictions: _Matrix) -> _Matrix:
        """Rescale predictions by the temperature (and for two classes the offset) that fits the differences best."""
        logs = torch.from_numpy(np.log(np.clip(predictions, 1e-4, 1)))
        if self.n_classes > 2:
            return torch.softmax(logs / self._temperature(logs), dim=1).numpy()
        g = logs[:, 1] - logs[:, 0]
        prior = None if self.prior is None else float(self.prior[1])
        temperature, offset = fit_to_differences(
            g[self.left], g[self.right], self.c[:, 1], prior=prior, weight=self.weight, free_offset=True
        )
        p = torch.sigmoid((g + offset) / temperature)
        return torch.stack([1 - p, p], dim=1).numpy()

    def _temperature(self, logs: torch.Tensor) -> float:
        """Return the temperature of K classes that fits the differences best."""
        from scipy.optimize import minimize_scalar

        def negative_score(log_temperature: float) -> float:
            return -self.score(torch.softmax(logs / np.exp(log_temperature), dim=1).numpy())

        return float(np.exp(minimize_scalar(negative_score, bounds=(-2.0, 2.0), method="bounded").x))

    def score(self, predictions: _Matrix) -> float:
        predicted = predictions[self.right] - predictions[self.left]
        return difference_r2(predicted, self.c, self.weight)


def _probabilities(classifier: Any, items: Any, n_classes: int) -> _Matrix:
    """Predict probabilities of all classes, including those that no training item had."""
    p = np.zeros((items.shape[0], n_classes))
    with computing(pass_over(items.size)):
        p[:, classifier.classes_] = classifier.predict_proba(items)
    return p
