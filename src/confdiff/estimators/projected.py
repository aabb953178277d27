"""Any scikit-learn classifier, taught by its own predictions, projected on what the differences allow.

A projection gives posteriors in [0, 1], and a classifier that takes weights can learn these: an item with posterior t
is a positive one of weight t and a negative one of weight 1 - t. Fit, predict, project, fit again, until nothing moves.
Predictions are those of classifiers that did not see the item: trees learn their own targets by heart, and would
never move. They are rescaled to explain the differences best before they are projected: what was learned from half a
round is timid, and a projection alone would believe it, and halve the error at best.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from confdiff.calibration import fit_to_differences
from confdiff.estimators.inputs import as_float_matrix, class_names, distinct_items, item_probabilities
from confdiff.estimators.items import DifferenceScored, ItemClassifier, differences_of
from confdiff.metrics import difference_r2
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.prior import warn_if_open
from confdiff.risks import multiclass_targets_of
from confdiff.validation import check_class_priors, check_count, check_number, check_prior

Matrix = NDArray[np.float64]


class ProjectedClassifier(DifferenceScored, ItemClassifier):
    """Learns from pairs with confidence differences by any classifier that takes ``sample_weight``.

    ``fit`` and ``score`` take pairs in the forms that :class:`~confdiff.ConfDiffClassifier` does, predictions are for
    single items, and differences may be those of K classes.

    Parameters
    ----------
    estimator : the classifier; gradient-boosted trees if not given.
    prior : the class prior, or those of K classes. ``None``: what the differences tell.
    rounds : at most so many times it is fitted and its predictions projected.
    folds : the parts in which items are predicted by a classifier that was fitted on the others.
    tol : stop when out-of-fold predictions do not explain the differences better by more than this, twice in a row.
    classes : as in ``ConfDiffClassifier``.
    random_state : decides the folds.

    Attributes
    ----------
    estimator_ : the fitted classifier. history_ : the out-of-fold score of each round. n_iter_, classes_, prior_,
    n_features_in_, and feature_names_in_ where the items had column names.

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

    def fit(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> "ProjectedClassifier":
        """Learn from pairs and their confidence differences; the arguments are those of ``ConfDiffClassifier.fit``."""
        data = as_float_matrix(as_pairs(pairs, c, items=items, weight=sample_weight))
        task = _Task(data, self._classifier(), self._prior(data))
        check_count("rounds", self.rounds)
        check_number("tol", self.tol, least=0)
        count = len(task.items)
        if count < 2 * check_count("folds", self.folds, least=2):
            raise ValueError(f"{count} items cannot be cut into {self.folds} folds of at least two.")
        fold_of = check_random_state(self.random_state).permutation(count) % self.folds
        targets, out_of_fold, self.history_ = self._settle(task, fold_of)
        self.estimator_ = task.fitted(targets, np.ones(count, dtype=bool))
        self.n_iter_, self.classes_ = len(self.history_), class_names(self.classes, data)
        self._remember_features(data)
        p = task.predicted(self.estimator_, task.items)[task.places].reshape(2, len(data), -1).mean(axis=0)
        implied = np.average(p, axis=0, weights=task.weight)
        self.prior_ = implied if data.has_vectors else float(implied[1])
        if self.prior is None:
            said = out_of_fold[task.right] - out_of_fold[task.left]
            some = slice(None) if data.has_vectors else 1
            warn_if_open(said[:, some], task.c.numpy()[:, some], out_of_fold[task.places][:, some], task.weight)
        return self

    def _settle(self, task: "_Task", fold_of: NDArray[np.int64]) -> tuple[Matrix, Matrix, list[float]]:
        """Rescaled predictions, out of fold, of the round that explained most, projected and plain; and all scores."""
        predictions = np.full((len(task.items), task.c.shape[1]), 1 / task.c.shape[1])
        targets = task.targets(predictions)
        best, scores = (targets, predictions), list[float]()
        for _ in range(self.rounds):
            predictions = task.rescaled(task.out_of_fold(targets, fold_of))
            targets = task.targets(predictions)
            scores.append(task.score(predictions))
            if scores[-1] == max(scores):
                best = targets, predictions
            if len(scores) > 2 and max(scores[-2:]) <= max(scores[:-2]) + self.tol:
                break
        return *best, scores

    def _classifier(self) -> Any:
        if self.estimator is None:
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier(random_state=0)
        if not hasattr(self.estimator, "predict_proba") or not has_fit_parameter(self.estimator, "sample_weight"):
            name = type(self.estimator).__name__
            raise ValueError(f"the estimator must give probabilities and take sample_weight; {name} does not.")
        return self.estimator

    def _prior(self, data: Pairs) -> torch.Tensor | None:
        if self.prior is None:
            return None
        if data.has_vectors:
            return torch.from_numpy(check_class_priors(self.prior, data.n_classes).astype(np.float64))
        prior = check_prior(self.prior)
        return torch.tensor([1 - prior, prior], dtype=torch.float64)

    def predict_proba(self, X: Any) -> Matrix:
        """The probabilities of the classes. X: (m, d). Returns: (m, K)."""
        items = self._items(X)
        return _probabilities(self.estimator_, items, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each item. X: (m, d). Returns: (m,)."""
        p = self.predict_proba(X)
        return self._names(p.argmax(axis=1) if p.shape[1] > 2 else (p[:, 1] >= 0.5).astype(int))

    @available_if(lambda self: len(getattr(self, "classes_", (0, 1))) == 2)
    def decision_function(self, X: Any) -> Matrix:
        """The log-odds of the positive class. X: (m, d). Returns: (m,)."""
        p = np.clip(self.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12)
        return np.log(p) - np.log1p(-p)

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        data = self._items_of(pairs)
        return differences_of(item_probabilities(self, data), data)


class _Task:
    """The pairs as arrays, differences as vectors, and what is done with them over and over."""

    def __init__(self, data: Pairs, classifier: Any, prior: torch.Tensor | None) -> None:
        (c,) = data.targets("differences").double()
        self.c = c if data.has_vectors else torch.stack([-c, c], dim=1)
        self.items, self.left, self.right = distinct_items(data)  # copies of an item would tell its targets
        self.weight = None if data.weight is None else data.weight.double()
        self.classifier, self.prior = classifier, prior
        self.places = np.concatenate([self.left, self.right])
        self.n_classes = self.c.shape[1]

    def targets(self, predictions: Matrix) -> Matrix:
        """(2n, K) what the items of all pairs, first ones first, should be taken for."""
        p, p_prime = torch.from_numpy(predictions[self.left]), torch.from_numpy(predictions[self.right])
        t, t_prime = multiclass_targets_of(p, p_prime, self.c, prior=self.prior, weight=self.weight)
        return torch.cat([t, t_prime]).numpy()

    def fitted(self, targets: Matrix, kept: NDArray[np.bool_]) -> Any:
        """A classifier fitted on those items that are kept: an item once for each class, weighted by its share."""
        rows = np.flatnonzero(kept[self.places])
        share = targets[rows] if self.weight is None else targets[rows] * self.weight.repeat(2).numpy()[rows, None]
        which, classes = np.nonzero(share > 1e-9)
        weight = share[which, classes]
        return clone(self.classifier).fit(self.items[self.places[rows[which]]], classes, sample_weight=weight)

    def predicted(self, classifier: Any, items: NDArray[Any]) -> Matrix:
        return _probabilities(classifier, items, self.n_classes)

    def out_of_fold(self, targets: Matrix, fold_of: NDArray[np.int64]) -> Matrix:
        """(N, K) each item as those classifiers see it that were not fitted on it."""
        predictions = np.empty((len(self.items), self.n_classes))
        for fold in np.unique(fold_of):
            inside = fold_of == fold
            predictions[inside] = self.predicted(self.fitted(targets, ~inside), self.items[inside])
        return predictions

    def rescaled(self, predictions: Matrix) -> Matrix:
        """The predictions at the temperature, and for two classes with the offset, that explain differences best."""
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
        """The temperature of K classes that explains differences best."""
        from scipy.optimize import minimize_scalar

        def missed(log_temperature: float) -> float:
            return -self.score(torch.softmax(logs / np.exp(log_temperature), dim=1).numpy())

        return float(np.exp(minimize_scalar(missed, bounds=(-2.0, 2.0), method="bounded").x))

    def score(self, predictions: Matrix) -> float:
        predicted = predictions[self.right] - predictions[self.left]
        return difference_r2(predicted, self.c, self.weight)


def _probabilities(classifier: Any, items: NDArray[Any], n_classes: int) -> Matrix:
    """Probabilities of all classes, also of those that no item was taken for."""
    p = np.zeros((len(items), n_classes))
    p[:, classifier.classes_] = classifier.predict_proba(items)
    return p
