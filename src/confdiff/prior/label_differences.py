r"""The class prior from label differences: :math:`E[(y' - y)^2] = 2 \pi (1 - \pi)` if items are independent."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs
from confdiff.prior.intervals import Interval
from confdiff.prior.out_of_fold import item_numbers

_Vector = NDArray[np.float64]

_NORMAL_95 = 1.96


@dataclass(frozen=True)
class LabelMoment:
    """The mean squared label difference of pairs, and its standard error."""

    mean: float
    error: float

    @property
    def prior(self) -> float:
        """The prior of the rarer class."""
        return rarer_prior(self.mean)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the prior of the rarer class."""
        return rarer_prior(self.mean - _NORMAL_95 * self.error), rarer_prior(self.mean + _NORMAL_95 * self.error)

    @property
    def alternatives(self) -> tuple[Interval, ...]:
        """The intervals that fit: one and its reflection, or a single one if both meet at 1/2."""
        low, high = self.interval
        return ((low, 1 - low),) if high >= 0.5 else ((low, high), (1 - high, 1 - low))

    def suffices(self, positives: str | None) -> bool:
        """Return whether there is one interval, or one bit decides between two."""
        return positives is not None or len(self.alternatives) == 1

    def log_likelihood(self, priors: _Vector) -> _Vector:
        """Return the log-likelihood of priors."""
        deviation: _Vector = (2 * priors * (1 - priors) - self.mean) / self.error
        return -(deviation**2) / 2


def rarer_prior(moment: float) -> float:
    """Return the prior of at most 1/2 at which label differences have a mean square.

    >>> round(rarer_prior(0.32), 12), rarer_prior(0.6)
    (0.2, 0.5)
    """
    return float(1 - np.sqrt(1 - 2 * np.clip(moment, 0, 0.5))) / 2


def check_label_differences(pairs: Pairs) -> None:
    """Check that all differences are -1, 0 or 1."""
    if pairs.has_vectors:
        raise ValueError('differences="labels" is for two classes; got vectors of differences. Omit it.')
    if pairs.difference is None:
        raise ValueError('differences="labels" needs the differences of the pairs; got none.')
    c = pairs.difference.numpy()
    others = np.unique(c[~np.isin(c, (-1, 0, 1))])
    if len(others):
        raise ValueError(
            f'differences="labels" needs differences of -1, 0 and 1; got {len(others):,} other values, such as '
            f'{others[0]:.4g}. Omit it, or pass differences="graded".'
        )


def label_moment(pairs: Pairs) -> LabelMoment:
    r"""Return the moment of label differences.

    Its variance counts pairs that share an item, whose squares have the covariance
    :math:`(1 - 2\pi)^2 \pi (1 - \pi)`, and pairs of the same two items as one.
    """
    assert pairs.difference is not None
    return moment_of_squares(pairs, pairs.difference.double().numpy() ** 2)


def moment_of_squares(pairs: Pairs, squares: _Vector) -> LabelMoment:
    """Return the moment of squared label differences, (n,), or of their expectations."""
    rows = np.sort(item_numbers(pairs), axis=0)
    weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight.double().numpy()
    mean = float(np.average(squares, weights=weight))
    distinct, numbers = np.unique(rows, axis=1, return_inverse=True)
    w = np.bincount(numbers.reshape(-1), weight) / weight.sum()
    of_items = np.bincount(distinct[0], w, rows.max() + 1) + np.bincount(distinct[1], w, rows.max() + 1)
    m = _smoothed(mean, float(w @ w))
    prior = rarer_prior(m)
    covariance = (1 - 2 * prior) ** 2 * prior * (1 - prior)
    variance = float(w @ w) * m * (1 - m) + covariance * float(of_items @ of_items - 2 * w @ w)
    return LabelMoment(mean=mean, error=float(np.sqrt(variance)))


def _smoothed(mean: float, inverse_count: float) -> float:
    """Return the mean with one more pair of either kind; its variance is then above 0."""
    return float(np.clip((mean + inverse_count / 2) / (1 + inverse_count), 0, 1))
