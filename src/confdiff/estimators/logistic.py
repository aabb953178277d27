"""Logistic regression from differences, solved to the end: no epochs, no learning rate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from confdiff.estimators.inputs import as_float_matrix, class_names, distinct_items, probabilities_of
from confdiff.estimators.items import DifferenceScored, ItemClassifier, differences_of
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.prior import warn_if_open
from confdiff.validation import check_number, check_prior, warn_user

Vector = NDArray[np.float64]
Ends = Sequence[NDArray[np.int64]]  # the rows of the first and of the second items


class ConfDiffLogisticRegression(DifferenceScored, ItemClassifier):
    r"""A linear classifier learned from pairs with confidence differences by L-BFGS.

    Where the prior is given, it minimises the unbiased risk with the logistic loss, which for a linear model is convex:
    cross-entropy with the targets :math:`\pi - c` and :math:`\pi + c`, plus a ridge. Where it is not, that solution at
    a prior of 1/2 is the start of difference regression; the shape of the logistic function then tells the offset.

    Parameters
    ----------
    prior : the class prior, if it is known.
    C : as in scikit-learn, the inverse of the strength of the ridge; it does not touch the intercept.
    classes : as in ``ConfDiffClassifier``.

    Attributes
    ----------
    coef_ : (1, d). intercept_ : (1,). n_iter_, classes_, n_features_in_, feature_names_in_.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2, 2))
    >>> risk = 1 / (1 + np.exp(-(2 * X[..., 0] - 1)))
    >>> ConfDiffLogisticRegression(C=1e4).fit(X, risk[:, 1] - risk[:, 0]).coef_.round(1)
    array([[2., 0.]])
    """

    def __init__(self, *, prior: float | None = None, C: float = 1.0, classes: Any = None) -> None:
        self.prior = prior
        self.C = C
        self.classes = classes

    def fit(
        self, pairs: Any, c: ArrayLike | None = None, *, items: Any = None, sample_weight: ArrayLike | None = None
    ) -> "ConfDiffLogisticRegression":
        """Learn from pairs and their confidence differences; the arguments are those of ``ConfDiffClassifier.fit``."""
        data = as_float_matrix(as_pairs(pairs, c, items=items, weight=sample_weight))
        if data.has_vectors:
            raise ValueError("logistic regression knows two classes; got differences of several.")
        (given,) = data.targets("differences").double().numpy()
        prior = 0.5 if self.prior is None else check_prior(self.prior)
        check_number("C", self.C, above=0)
        items, *ends = distinct_items(data)
        x, shares = items.astype(np.float64), np.bincount(np.concatenate(ends), minlength=len(items)) / (2 * len(given))
        centre = shares @ x
        spread = np.sqrt(shares @ (x - centre) ** 2)
        scale = np.where(spread > 0, spread, 1.0)
        z = (x - centre) / scale  # the solver needs columns of one size; the ridge stays that of the weights of x
        weight = np.ones(len(given)) if data.weight is None else data.weight.double().numpy()
        ridge = 1 / (self.C * len(given) * scale**2)
        arguments = (z, ends, given, weight / weight.sum(), ridge)
        found, self.n_iter_ = self._solve(_unbiased, np.zeros(x.shape[1] + 1), (*arguments, prior), 0)
        if self.prior is None:
            found, self.n_iter_ = self._solve(_regression, found, arguments, self.n_iter_)
        coefficients = found[:-1] / scale
        self.coef_, self.intercept_ = coefficients[None], found[-1:] - coefficients @ centre
        self.classes_ = class_names(self.classes, data)
        self._remember_features(data)
        if self.prior is None:
            p = probabilities_of(self, data)[:, 1]
            warn_if_open(p[data.right] - p[data.left], given, p, weight)
        return self

    @staticmethod
    def _solve(function: Any, start: Vector, arguments: tuple[Any, ...], steps: int) -> tuple[Vector, int]:
        """The minimum of a function that gives its gradient too, and how many steps were made by then."""
        from scipy.optimize import minimize

        options = {"maxiter": 10_000, "ftol": 1e-14, "gtol": 1e-7}
        found = minimize(function, start, arguments, "L-BFGS-B", jac=True, options=options)
        if np.abs(found.jac).max() > 1e-3:
            warn_user(f"not solved to the end: {found.message}.", ConvergenceWarning)
        return found.x, steps + found.nit

    def decision_function(self, X: Any) -> Vector:
        """The scores w.x + b. X: (m, d). Returns: (m,)."""
        scores: Vector = self._items(X) @ self.coef_[0] + self.intercept_[0]
        return scores

    def predict_proba(self, X: Any) -> Vector:
        """The probabilities of the negative and the positive class. X: (m, d). Returns: (m, 2)."""
        p = _sigmoid(self.decision_function(X))
        return np.stack([1 - p, p], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each item. X: (m, d). Returns: (m,)."""
        positive = self.decision_function(X) >= 0
        return self._names(positive.astype(int))

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        data = self._items_of(pairs)
        return differences_of(probabilities_of(self, data), data)


def _sigmoid(z: Vector) -> Vector:
    from scipy.special import expit

    p: Vector = expit(z)
    return p


def _unbiased(
    point: Vector, x: Vector, ends: Ends, c: Vector, weight: Vector, ridge: Vector, prior: float
) -> tuple[float, Vector]:
    """The unbiased risk with the logistic loss and a ridge, and its gradient."""
    w, b = point[:-1], point[-1]
    scores = x @ w + b
    value, slopes = (ridge * w) @ w / 2, []
    for side, target in zip(ends, (prior - c, prior + c), strict=True):
        g = scores[side]
        value += weight @ (np.logaddexp(0, g) - target * g) / 2
        slopes.append(weight * (_sigmoid(g) - target) / 2)
    return float(value), _gradient(x, ends, slopes, ridge * w)


def _regression(point: Vector, x: Vector, ends: Ends, c: Vector, weight: Vector, ridge: Vector) -> tuple[float, Vector]:
    """The squared error of the predicted differences with a ridge, and its gradient."""
    w, b = point[:-1], point[-1]
    probabilities = _sigmoid(x @ w + b)
    p, p_prime = (probabilities[side] for side in ends)
    residual = p_prime - p - c
    slopes = [-2 * weight * residual * p * (1 - p), 2 * weight * residual * p_prime * (1 - p_prime)]
    return float(weight @ residual**2 + (ridge * w) @ w / 2), _gradient(x, ends, slopes, ridge * w)


def _gradient(x: Vector, ends: Ends, slopes: list[Vector], ridge: Vector) -> Vector:
    """By weights and offset, from the slopes by the scores of both ends of the pairs: items are gone through once."""
    of_items = np.zeros(len(x))
    for side, slope in zip(ends, slopes, strict=True):
        of_items += np.bincount(side, slope, len(x))
    return np.append(of_items @ x + ridge, of_items.sum())
