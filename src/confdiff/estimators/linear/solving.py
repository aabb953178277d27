"""Fit the weights of a linear model: L-BFGS for the probability and preference links, conjugate gradients for scores.

The solvers work on weights that are rescaled so that the curvature is about 1 in each direction. They need no
standardised features, and the penalty is still on the weights of the features as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from confdiff.calibration import log_odds
from confdiff.estimators.linear.design import Design, Vector
from confdiff.estimators.linear.objectives import preference, regression, unbiased
from confdiff.validation import warn_user

_MAX_STEPS = 10_000
_CURVATURE = 0.25  # the largest of the logistic loss
_MAIN_START = 0.5  # without a prior, difference regression starts from the solution for this one
_OTHER_STARTS = (0.5, 0.2, 0.8)  # and from weights of 0 with these probabilities for all items
_START_STEPS = 100  # of the solver, to find out whether another start leads to a better solution
_FEW_START_STEPS = 15  # the same for sparse items, such as texts, whose solver takes longer than all else
_LEAST_GAIN = 1e-6  # fraction of the squared error by which a later start must be better
_STEEP = 1e-3  # a larger slope at the end means that the solver has not converged


@dataclass(frozen=True, eq=False)
class Solution:
    """The weights of a linear model, and how they were found.

    Attributes
    ----------
    w : array of shape (d,)
        The weights.
    b : float
        The offset at the centre of the features; 0 for links without classes.
    n_iter : int
        The number of steps of the solver.
    value : float
        The objective.
    slope : float
        The largest slope in a rescaled direction; near 0 where the solver has converged.
    message : str
        The solver's reason to stop.
    """

    w: Vector
    b: float
    n_iter: int
    value: float
    slope: float
    message: str

    def warn_unless_converged(self) -> None:
        """Warn if the solver stopped before it converged."""
        if self.slope > _STEEP:
            warn_user(f"the solver did not converge ({self.message}); scale the features.", ConvergenceWarning)


def make_ridge(design: Design, C: float, scale: bool) -> Vector:
    """Return the strength of the penalty on each weight, (d,), for the mean over the pairs.

    Parameters
    ----------
    design : Design
        The pairs.
    C : float
        Inverse strength for the sum over the pairs.
    scale : bool
        Whether the penalty is on the weights of features with a standard deviation of 1.
    """
    strength = np.full(design.n_features, 1 / (C * len(design)))
    if not scale:
        return strength
    spread = design.spread()
    return strength * np.where(spread > 0, spread, 1)


def solve(
    design: Design,
    link: str,
    ridge: Vector,
    prior: float | None = None,
    *,
    start: Solution | None = None,
    tol: float = 1e-6,
) -> Solution:
    """Return the weights with the least objective.

    Parameters
    ----------
    design : Design
        The pairs.
    link : str
        The name of the link.
    ridge : array of shape (d,)
        The strength of the penalty on each weight.
    prior : float or None
        The class prior, for the probability link.
    start : Solution, optional
        The solution of a similar problem. It replaces the starts of difference regression without a prior.
    tol : float
        The slope, in a rescaled direction, at which the solver stops.
    """
    if link == "score":
        return _solve_score(design, ridge, start, tol)
    if link == "preference":
        scales = 1 / np.sqrt(_CURVATURE * design.difference_spread() + ridge)
        solver = _Solver(scales=scales, tol=tol, has_offset=False)
        return solver.run(lambda w: preference(w, design, ridge), _point(start, design, has_offset=False))
    solver = _Solver(
        scales=np.append(1 / np.sqrt(_CURVATURE * design.spread() + ridge), 1 / np.sqrt(_CURVATURE)),
        tol=tol,
        has_offset=True,
    )
    if prior is not None:
        return solver.run(lambda point: unbiased(point, design, ridge, prior), _point(start, design))
    if start is not None:
        return solver.run(lambda point: regression(point, design, ridge), _point(start, design))
    return _solve_from_several_starts(solver, design, ridge)


def _point(start: Solution | None, design: Design, *, has_offset: bool = True) -> Vector:
    """Return weights and offset as one vector; zeros without a start."""
    w = np.zeros(design.n_features) if start is None else start.w
    return np.append(w, 0.0 if start is None else start.b) if has_offset else w


@dataclass(frozen=True, eq=False)
class _Solver:
    """L-BFGS on weights that are divided by ``scales``."""

    scales: Vector
    tol: float
    has_offset: bool

    def run(
        self, objective: Callable[[Vector], tuple[float, Vector]], start: Vector, max_steps: int = _MAX_STEPS
    ) -> Solution:
        from scipy.optimize import minimize

        def rescaled(point: Vector) -> tuple[float, Vector]:
            value, gradient = objective(point * self.scales)
            return value, gradient * self.scales

        options = {"maxiter": max_steps, "maxfun": 2 * max_steps, "ftol": 1e-14, "gtol": self.tol}
        result = minimize(rescaled, start / self.scales, method="L-BFGS-B", jac=True, options=options)
        point = result.x * self.scales
        return Solution(
            w=point[:-1] if self.has_offset else point,
            b=float(point[-1]) if self.has_offset else 0.0,
            n_iter=int(result.nit),
            value=float(result.fun),
            slope=float(np.abs(result.jac).max()),
            message=str(result.message),
        )


def _solve_from_several_starts(solver: _Solver, design: Design, ridge: Vector) -> Solution:
    """Minimise the squared error without a prior from several starts; return the best solution.

    The squared error is not convex. The main start is the solution for a prior of 1/2. It may predict 0 or 1 for
    almost all items, where the gradient vanishes, if the prior is another one or a feature has long tails. Then one of
    the other starts, weights of 0, leads to a smaller error. It must be smaller by more than rounding.
    """

    def objective(point: Vector) -> tuple[float, Vector]:
        return regression(point, design, ridge)

    main = solver.run(lambda point: unbiased(point, design, ridge, _MAIN_START), _point(None, design))
    best = _continued(solver, objective, main)
    steps = _FEW_START_STEPS if design.is_sparse else _START_STEPS
    for probability in _OTHER_STARTS:
        start = np.append(np.zeros(design.n_features), log_odds(probability))
        attempt = solver.run(objective, start, steps)
        if attempt.value < best.value - _LEAST_GAIN * abs(best.value):
            best = _continued(solver, objective, attempt)
    return best


def _continued(solver: _Solver, objective: Any, start: Solution) -> Solution:
    """Return the solution from a start, with the steps of both."""
    solution = solver.run(objective, np.append(start.w, start.b))
    return replace(solution, n_iter=solution.n_iter + start.n_iter)


def _solve_score(design: Design, ridge: Vector, start: Solution | None, tol: float) -> Solution:
    """Solve ridge regression on feature differences by conjugate gradients."""
    from scipy.sparse.linalg import LinearOperator, cg

    size = design.n_features

    def apply(w: Vector) -> Vector:
        return design.pull_differences(design.weight * design.differences(w)) + ridge * w

    steps: list[None] = []
    curvature = design.difference_spread() + ridge
    target = design.pull_differences(design.weight * design.c)
    w, stopped = cg(
        LinearOperator((size, size), matvec=apply, dtype=np.float64),
        target,
        x0=_point(start, design, has_offset=False),
        rtol=tol,
        maxiter=_MAX_STEPS,
        M=LinearOperator((size, size), matvec=lambda v: v / curvature, dtype=np.float64),
        callback=lambda _: steps.append(None),
    )
    residual = design.differences(w) - design.c
    return Solution(
        w=w,
        b=0.0,
        n_iter=len(steps),
        value=float(design.weight @ residual**2 / 2 + (ridge * w) @ w / 2),
        slope=float(np.abs((apply(w) - target) / np.sqrt(curvature)).max()),
        message=f"{_MAX_STEPS} steps" if stopped else "converged",
    )
