"""Logistic regression from differences, solved by L-BFGS: no epochs, no learning rate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from confdiff.calibration import log_odds
from confdiff.estimators.inputs import as_float_matrix, class_names, distinct_items, predict_item_proba
from confdiff.estimators.items import DifferenceScored, numbers_of_scores
from confdiff.pairs.forms import as_pairs
from confdiff.prior import warn_if_open
from confdiff.standardisation import is_constant
from confdiff.threads import computing, follow_policy, pass_over
from confdiff.validation import check_number, check_prior, warn_user

_Vector = NDArray[np.float64]
_Ends = Sequence[NDArray[np.int64]]  # the rows of the first and of the second items
_MAX_STEPS = 10_000
_MAIN_START = 0.5  # without a prior, difference regression starts from the solution for this one
_OTHER_STARTS = (0.5, 0.2, 0.8)  # and from weights of 0 with these probabilities for all items
_START_STEPS = 100  # of the solver, to find out whether another start leads to a better solution
_LEAST_GAIN = 1e-6  # fraction of the squared error by which a later start must be better


class ConfDiffLogisticRegression(DifferenceScored):
    r"""A linear classifier that is fitted to pairs with confidence differences by L-BFGS.

    With a given prior, it minimises the unbiased risk with the logistic loss plus an L2 penalty. This is cross-entropy
    with the targets :math:`\pi - c` and :math:`\pi + c`, and it is convex for a linear model. Without a prior, the
    solution for a prior of 1/2 and weights of 0 with several offsets are the starts of difference regression, and the
    least squared error decides. There the shape of the logistic function determines the offset.

    Parameters
    ----------
    prior : float, default=None
        The class prior, if it is known.
    C : float, default=1.0
        Inverse strength of the L2 penalty, as in scikit-learn. The intercept is not penalised.
    classes : sequence, default=None
        The names of the negative and the positive class. By default -1 and 1.

    Attributes
    ----------
    coef_ : array of shape (1, d)
        The weights.
    intercept_ : array of shape (1,)
        The offset.
    n_iter_ : int
        The number of steps of the solver, from the best start.
    classes_ : array of shape (2,)
        The names of the classes.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features; present only if the items had column names.

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

    @follow_policy
    def fit(
        self, pairs: Any, c: ArrayLike | None = None, *, items: Any = None, sample_weight: ArrayLike | None = None
    ) -> "ConfDiffLogisticRegression":
        """Learn from pairs and their confidence differences.

        Parameters
        ----------
        pairs, c, items, sample_weight
            See :meth:`confdiff.ConfDiffClassifier.fit`.

        Returns
        -------
        ConfDiffLogisticRegression
            The fitted estimator.
        """
        data = as_float_matrix(as_pairs(pairs, c, items=items, weight=sample_weight))
        if data.has_vectors:
            raise ValueError("ConfDiffLogisticRegression takes differences of two classes; got several classes.")
        (differences,) = data.targets("differences").double().numpy()
        n_pairs = len(differences)
        prior = None if self.prior is None else check_prior(self.prior)
        check_number("C", self.C, above=0)
        items, *ends = distinct_items(data)
        x = items.astype(np.float64)
        centre, scale = _centre_and_scale(x, ends)
        z = (x - centre) / scale  # the solver needs standardised columns; the penalty is on the weights of x
        weight = np.ones(n_pairs) if data.weight is None else data.weight.double().numpy()
        ridge = 1 / (self.C * n_pairs * scale**2)
        arguments = (z, ends, differences, weight / weight.sum(), ridge)
        with computing(pass_over(x.size)):
            result = _solve_without_prior(arguments) if prior is None else _solve_with_prior(arguments, prior)
        _warn_unless_converged(result)
        self.n_iter_ = result.nit
        solution = result.x
        coefficients = solution[:-1] / scale
        self.coef_ = coefficients[None]
        self.intercept_ = solution[-1:] - coefficients @ centre
        self.classes_ = class_names(self.classes, data)
        self._remember_features(data)
        if self.prior is None:
            p = predict_item_proba(self, data)[:, 1]
            warn_if_open(p[data.right] - p[data.left], differences, p, weight)
        return self

    @follow_policy
    def decision_function(self, X: Any) -> _Vector:
        """Return the scores w.x + b of items.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,)
            The log-odds of the positive class.
        """
        items = self._items(X)
        with computing(pass_over(items.size)):
            scores: _Vector = items @ self.coef_[0] + self.intercept_[0]
        return scores

    @follow_policy
    def predict_proba(self, X: Any) -> _Vector:
        """Predict the probabilities of the negative and the positive class.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, 2)
            The columns are in the order of ``classes_``.
        """
        p = _sigmoid(self.decision_function(X))
        return np.stack([1 - p, p], axis=1)

    def _class_numbers(self, X: Any) -> NDArray[Any]:
        return numbers_of_scores(self.decision_function(X))


def _centre_and_scale(x: _Vector, ends: _Ends) -> tuple[_Vector, _Vector]:
    """Return the mean and the standard deviation (1 for constant features), over the items of all pairs."""
    frequencies = np.bincount(np.concatenate(ends), minlength=len(x)) / (2 * len(ends[0]))
    centre = frequencies @ x
    spread = np.sqrt(frequencies @ (x - centre) ** 2)
    return centre, np.where(is_constant(x), 1.0, spread)


def _solve_with_prior(arguments: tuple[Any, ...], prior: float) -> Any:
    """Minimise the unbiased risk; return the result of the solver."""
    n_features = arguments[0].shape[1]
    return _minimise(_unbiased, np.zeros(n_features + 1), (*arguments, prior))


def _solve_without_prior(arguments: tuple[Any, ...]) -> Any:
    """Minimise the squared error from several starts; return the best result of the solver.

    The squared error is not convex. The main start is the solution for a prior of 1/2. It may predict 0 or 1 for
    almost all items, where the gradient vanishes, if the prior is another one or a feature has long tails. Then one of
    the other starts, weights of 0, leads to a smaller error. It must be smaller by more than rounding.
    """
    main = _solve_with_prior(arguments, _MAIN_START)
    best = _minimise(_regression, main.x, arguments)
    best.nit += main.nit
    for probability in _OTHER_STARTS:
        start = np.append(np.zeros(len(main.x) - 1), log_odds(probability))
        result = _minimise(_regression, start, arguments, _START_STEPS)
        if result.fun < best.fun - _LEAST_GAIN * abs(best.fun):
            best = _minimise(_regression, result.x, arguments)
            best.nit += result.nit
    return best


def _minimise(function: Any, start: _Vector, arguments: tuple[Any, ...], max_steps: int = _MAX_STEPS) -> Any:
    """Minimise a function that returns its value and gradient."""
    from scipy.optimize import minimize

    options = {"maxiter": max_steps, "ftol": 1e-14, "gtol": 1e-7}
    return minimize(function, start, arguments, "L-BFGS-B", jac=True, options=options)


def _warn_unless_converged(result: Any) -> None:
    if np.abs(result.jac).max() > 1e-3:
        warn_user(f"the solver did not converge ({result.message}); scale the features.", ConvergenceWarning)


def _sigmoid(z: _Vector) -> _Vector:
    from scipy.special import expit

    p: _Vector = expit(z)
    return p


def _unbiased(
    point: _Vector, x: _Vector, ends: _Ends, c: _Vector, weight: _Vector, ridge: _Vector, prior: float
) -> tuple[float, _Vector]:
    """Return the unbiased risk with the logistic loss and an L2 penalty, and its gradient."""
    w = point[:-1]
    b = point[-1]
    scores = x @ w + b
    value = (ridge * w) @ w / 2
    slopes = []
    for side, target in zip(ends, (prior - c, prior + c), strict=True):
        g = scores[side]
        value += weight @ (np.logaddexp(0, g) - target * g) / 2
        slopes.append(weight * (_sigmoid(g) - target) / 2)
    return float(value), _gradient(x, ends, slopes, ridge * w)


def _regression(
    point: _Vector, x: _Vector, ends: _Ends, c: _Vector, weight: _Vector, ridge: _Vector
) -> tuple[float, _Vector]:
    """Return the squared error of the predicted differences with an L2 penalty, and its gradient."""
    w = point[:-1]
    b = point[-1]
    probabilities = _sigmoid(x @ w + b)
    p, p_prime = (probabilities[side] for side in ends)
    residual = p_prime - p - c
    slopes = [-2 * weight * residual * p * (1 - p), 2 * weight * residual * p_prime * (1 - p_prime)]
    value = weight @ residual**2 + (ridge * w) @ w / 2
    return float(value), _gradient(x, ends, slopes, ridge * w)


def _gradient(x: _Vector, ends: _Ends, slopes: list[_Vector], ridge: _Vector) -> _Vector:
    """Return the gradient by weights and offset, from the slopes by the scores of both items of the pairs."""
    item_slopes = np.zeros(len(x))
    for side, slope in zip(ends, slopes, strict=True):
        item_slopes += np.bincount(side, slope, len(x))
    return np.append(item_slopes @ x + ridge, item_slopes.sum())
