"""Calibrate probabilities: rescale scores by labels or by differences, and move posteriors to another prior."""

import math

import numpy as np
import torch
from torch import Tensor

from confdiff.validation import check_prior, check_same_shape

LEAST_VARIANCE = 0.05
"""Lower bound of the assumed error variance of a difference."""
_BOUNDS = (math.log(1 / 4), math.log(64))  # of log T; T would go to 0 if the scores separate the classes perfectly


def log_odds(prior: float) -> float:
    """Return the log-odds of a prior.

    >>> log_odds(0.5)
    0.0
    """
    return math.log(check_prior(prior) / (1 - prior))


def adjust_prior(posteriors: Tensor, old: float, new: float) -> Tensor:
    """Move posteriors from the class prior ``old`` to the class prior ``new``, by Bayes' rule.

    r/(1-r) is the likelihood ratio times the odds of the prior, so the log-odds move by a constant.

    Parameters
    ----------
    posteriors : Tensor
        Posteriors at the prior ``old``, of any shape.
    old, new : float
        Class priors, strictly between 0 and 1.

    Returns
    -------
    Tensor of the shape of ``posteriors``

    Examples
    --------
    >>> adjust_prior(torch.tensor([0.0, 0.5, 1.0]), 0.5, 0.2)
    tensor([0.0000, 0.2000, 1.0000])
    """
    return torch.sigmoid(torch.logit(posteriors) + log_odds(new) - log_odds(old))


def fit_temperature(scores: Tensor, labels: Tensor) -> float:
    """Return the temperature T at which sigmoid(score / T) has the least log-loss (Guo et al. 2017).

    Parameters
    ----------
    scores : Tensor of shape (m,)
        Scores of held-out items.
    labels : Tensor of shape (m,)
        Labels of these items, 0 or 1.

    Examples
    --------
    >>> fit_temperature(torch.tensor([4.0, 4.0, 4.0, -4.0]), torch.tensor([1.0, 1.0, 0.0, 0.0])) > 1
    True
    """
    from scipy.optimize import minimize_scalar

    margins = (scores.double() * (2 * labels - 1)).numpy()

    def log_loss(log_temperature: float) -> float:
        return float(np.logaddexp(0, -margins / np.exp(log_temperature)).mean())

    return math.exp(minimize_scalar(log_loss, bounds=_BOUNDS, method="bounded").x)


def fit_to_differences(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: float | None = None,
    weight: Tensor | None = None,
    free_offset: bool = False,
) -> tuple[float, float]:
    """Return the temperature T and offset b at which sigmoid((g + b) / T) fits held-out differences best.

    No labels are needed. With a prior, the offset is fitted so that the mean is that prior. Without one, it is 0:
    differences determine it only if posteriors come near 0 and 1, and then the scores contain it already.

    Few pairs do not determine a temperature. If all of them are fitted well, the squared error favours T near 0, which
    makes predictions for new items overconfident. The result is therefore a maximum a posteriori estimate. The prior of
    log T is N(0, 1/4), and the variance of a difference is the mean squared error at T = 1, at least
    :data:`LEAST_VARIANCE`.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    c : Tensor of shape (n,)
        Confidence differences.
    prior : float or None
        Class prior.
    weight : Tensor of shape (n,) or None
        Weights of the pairs.
    free_offset : bool
        Whether to fit the offset to the differences alone if no prior is given.

    Returns
    -------
    tuple of float
        T and b.

    Examples
    --------
    >>> g, g_prime = torch.tensor([-3.0, -2.0]).repeat(500), torch.tensor([3.0, 2.0]).repeat(500)
    >>> temperature, offset = fit_to_differences(g, g_prime, torch.tensor([0.5, 0.4]).repeat(500))
    >>> round(temperature, 1), offset
    (2.6, 0.0)
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    w = np.ones(len(c)) if weight is None else weight.double().numpy()
    first, second, difference = (value.double().numpy() for value in (g, g_prime, c))

    fit_offset = free_offset or prior is not None

    def error(point: np.ndarray) -> float:
        offset = point[1] if fit_offset else 0.0
        p = expit((first + offset) / np.exp(point[0]))
        p_prime = expit((second + offset) / np.exp(point[0]))
        prior_error = 0.0 if prior is None else float(np.average(p + p_prime, weights=w) / 2 - prior) ** 2
        return float(np.average((p_prime - p - difference) ** 2, weights=w)) + prior_error

    variance = max(error(np.zeros(2)), LEAST_VARIANCE)

    def objective(point: np.ndarray) -> float:
        return error(point) + variance * float(2 * point[0]) ** 2 / len(difference)

    solution = minimize(objective, np.zeros(2), method="Nelder-Mead", bounds=[_BOUNDS, (-50.0, 50.0)])
    return math.exp(solution.x[0]), float(solution.x[1]) if fit_offset else 0.0
