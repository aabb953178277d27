"""Probabilities that mean what they say: scores rescaled by labels or by differences, and moved to another prior."""

import math

import numpy as np
import torch
from torch import Tensor

from confdiff.validation import check_prior, check_same_shape

LEAST_VARIANCE = 0.05
"""Of the error of a difference that is calibrated by, however well a few of them are explained."""
_BOUNDS = (math.log(1 / 4), math.log(64))  # of log T: what is told apart perfectly would ask for no bound at all


def log_odds(prior: float) -> float:
    """The logarithm of the odds of a prior.

    >>> log_odds(0.5)
    0.0
    """
    return math.log(check_prior(prior) / (1 - prior))


def adjust_prior(posteriors: Tensor, old: float, new: float) -> Tensor:
    """Posteriors at the class prior ``new`` from those at the class prior ``old``, by Bayes' rule.

    r/(1-r) is the likelihood ratio times the odds of the prior, so the log-odds move by a constant.

    >>> adjust_prior(torch.tensor([0.0, 0.5, 1.0]), 0.5, 0.2)
    tensor([0.0000, 0.2000, 1.0000])
    """
    return torch.sigmoid(torch.logit(posteriors) + log_odds(new) - log_odds(old))


def fit_temperature(scores: Tensor, labels: Tensor) -> float:
    """The temperature T at which sigmoid(score / T) has the least log-loss on held-out labels (Guo et al. 2017).

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
    """Temperature T and offset b at which sigmoid((g + b) / T) fits held-out differences best, without any labels.

    The offset is fitted where a prior is given, so that the mean is that prior, and where none is given, it is 0:
    differences tell it only where posteriors come near 0 and 1, and then the scores have learned it already.
    Where they have not, ``free_offset`` fits it to the differences alone.

    Few pairs cannot tell a temperature: where all are explained well, the squared error asks for none at all, and one
    item that is certain and wrong is still to come. So it is the most likely one if log T was N(0, 1/4) before, and if
    a difference has an error of the variance that is left at T = 1, or of :data:`LEAST_VARIANCE`, if that is more.

    Shapes: g, g_prime, c, weight: (n,). Returns: T and b.

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

    moves = free_offset or prior is not None

    def error(point: np.ndarray) -> float:
        offset = point[1] if moves else 0.0
        p, p_prime = expit((first + offset) / np.exp(point[0])), expit((second + offset) / np.exp(point[0]))
        missed = 0.0 if prior is None else float(np.average(p + p_prime, weights=w) / 2 - prior) ** 2
        return float(np.average((p_prime - p - difference) ** 2, weights=w)) + missed

    variance = max(error(np.zeros(2)), LEAST_VARIANCE)

    def unlikely(point: np.ndarray) -> float:
        return error(point) + variance * float(2 * point[0]) ** 2 / len(difference)

    found = minimize(unlikely, np.zeros(2), method="Nelder-Mead", bounds=[_BOUNDS, (-50.0, 50.0)])
    return math.exp(found.x[0]), float(found.x[1]) if moves else 0.0
