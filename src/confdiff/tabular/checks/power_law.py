r"""Fit power laws :math:`y = a - b n^{-k}` to learning curves, and extrapolate them.

For a given exponent the other two parameters are a linear regression, so that the fit is a search over exponents.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
EXPONENTS = np.geomspace(0.25, 2.0, 13)
"""The exponents k that are tried."""


@dataclass(frozen=True, eq=False)
class PowerLaws:
    """Power laws of B curves.

    Attributes
    ----------
    limit, factor, exponent : ndarray, shape (B,)
        The parameters a, b and k.
    """

    limit: _Floats
    factor: _Floats
    exponent: _Floats

    def at(self, answers: float) -> _Floats:
        """Return the value of each curve at a number of answers."""
        return self.limit - self.factor * answers**-self.exponent


def fit_power_laws(answers: _Floats, values: _Floats, rng: np.random.Generator) -> PowerLaws:
    """Fit a rising power law with a limit of at most 1 to each curve, with an exponent drawn from its likelihood.

    The exponent is uncertain if the curve covers a short range. Drawing it keeps this uncertainty in the spread of the
    extrapolations.

    Parameters
    ----------
    answers : ndarray, shape (S,)
        Numbers of answers.
    values : ndarray, shape (B, S)
        Values of B curves.
    rng : numpy.random.Generator
        Source of random numbers.
    """
    fits = [_fit_exponent(answers, values, exponent) for exponent in EXPONENTS]
    limit = np.stack([fit[0] for fit in fits], axis=1)
    factor = np.stack([fit[1] for fit in fits], axis=1)
    squares = np.stack([fit[2] for fit in fits], axis=1)
    drawn = _drawn_exponents(squares, len(answers), rng)
    rows = np.arange(len(values))
    return PowerLaws(limit=limit[rows, drawn], factor=factor[rows, drawn], exponent=EXPONENTS[drawn])


def _fit_exponent(answers: _Floats, values: _Floats, exponent: float) -> tuple[_Floats, _Floats, _Floats]:
    """Return limit, factor and sum of squared residuals, shape (B,) each."""
    powers = answers**-exponent
    centred = powers - powers.mean()
    factor = (-(values @ centred) / (centred @ centred)).clip(min=0)
    limit = values.mean(axis=1) + factor * powers.mean()
    is_over = limit > 1
    factor = np.where(is_over, ((1 - values) @ powers) / (powers @ powers), factor)
    limit = np.where(is_over, 1.0, limit)
    residuals = values - limit[:, None] + factor[:, None] * powers
    return limit, factor, (residuals**2).sum(axis=1)


def _drawn_exponents(squares: _Floats, n_sizes: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the position of one exponent per curve, drawn with its likelihood."""
    least = squares.min(axis=1, keepdims=True)
    variance = max(float(np.median(least)) / max(n_sizes - 3, 1), np.finfo(float).tiny)
    likelihood = np.exp(-(squares - least) / (2 * variance))
    cumulative = np.cumsum(likelihood, axis=1)
    threshold = rng.random((len(squares), 1)) * cumulative[:, -1:]
    drawn: NDArray[np.int64] = (cumulative <= threshold).sum(axis=1).clip(max=squares.shape[1] - 1)
    return drawn
