r"""Fit one score per item to judged differences, under each link.

Symbols: :math:`s` the score of the first and :math:`s'` of the second item of a pair, :math:`c` the judged difference,
:math:`w` its weight, :math:`\lambda` the strength of the penalty.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.graph import Judgements

_Floats = NDArray[np.float64]
_Loss = Callable[[_Floats, _Floats, _Floats], tuple[_Floats, _Floats, _Floats]]
_MAX_STEPS = 60


def _sigmoid(values: _Floats) -> _Floats:
    from scipy.special import expit

    result: _Floats = expit(values)
    return result


def _probability_loss(s: _Floats, s_prime: _Floats, c: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    p = _sigmoid(s)
    p_prime = _sigmoid(s_prime)
    error = p_prime - p - c
    return error**2, -2 * error * p * (1 - p), 2 * error * p_prime * (1 - p_prime)


def _preference_loss(s: _Floats, s_prime: _Floats, c: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    gap = s_prime - s
    slope = _sigmoid(gap) - (1 + c) / 2
    return np.logaddexp(0, gap) - (1 + c) / 2 * gap, -slope, slope


def _score_loss(s: _Floats, s_prime: _Floats, c: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    error = s_prime - s - c
    return error**2, -2 * error, 2 * error


LOSSES_OF_LINKS: dict[str, _Loss] = {
    "probability": _probability_loss,
    "preference": _preference_loss,
    "score": _score_loss,
}
"""Link -> loss of pairs, and its derivatives by the scores of both items."""


def scores_under(link: str, judgements: Judgements, penalty: float) -> _Floats:
    r"""Return the scores that minimise :math:`\sum_i w_i \ell(s_i, s'_i, c_i) + \lambda \sum_j s_j^2`.

    Parameters
    ----------
    link : str
        A link of :data:`LOSSES_OF_LINKS`.
    judgements : Judgements
        n judgements of N items.
    penalty : float
        The strength of the penalty.

    Returns
    -------
    ndarray, shape (N,)
        Scores; 0 for items that occur in no pair.
    """
    from scipy.optimize import minimize

    loss = LOSSES_OF_LINKS[link]
    left = judgements.left
    right = judgements.right
    size = judgements.n_items

    def objective(scores: _Floats) -> tuple[float, _Floats]:
        values, slopes, slopes_prime = loss(scores[left], scores[right], judgements.c)
        gradient = np.bincount(left, judgements.weight * slopes, size)
        gradient += np.bincount(right, judgements.weight * slopes_prime, size)
        value = judgements.weight @ values + penalty * scores @ scores
        return float(value), gradient + 2 * penalty * scores

    result = minimize(objective, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": _MAX_STEPS})
    scores: _Floats = result.x
    return scores
