"""Measure how well predicted differences agree with judged pairs; no labels are needed."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.decoding import check_object, decode_fields
from confdiff.metrics import difference_r2, pairwise_accuracy
from confdiff.standardisation import is_constant

_Vector = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Agreement:
    """Agreement of predicted differences d with the judged differences c of pairs.

    Attributes
    ----------
    pairs
        Number of pairs.
    r2
        1 - sum((d - c)^2) / sum(c^2): 1 is perfect, 0 is the value of equal scores for all items.
    pairwise_accuracy
        Fraction of the pairs without ties that are in the right order; a predicted tie counts one half.
    interval
        95 % confidence interval (low, high) of the pairwise accuracy, as if pairs were independent (Wilson 1927).
    rmse
        Root mean squared error of the differences.
    correlation
        Pearson correlation of d and c; NaN where one of them is constant.
    """

    pairs: int
    r2: float
    pairwise_accuracy: float
    interval: tuple[float, float]
    rmse: float
    correlation: float

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as JSON values, with None for NaN."""
        values = asdict(self) | {"interval": list(self.interval)}
        return {name: None if _is_nan(value) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Agreement":
        """Return the object from the JSON values of :meth:`to_json`."""
        values = check_object("agreement", values)
        undefined = {name: math.nan for name, value in values.items() if value is None}
        return decode_fields(cls, values, **undefined)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def agreement(predicted: _Vector, c: _Vector, weight: _Vector | None = None) -> Agreement:
    """Compare predicted with judged differences.

    Parameters
    ----------
    predicted : array of shape (n,)
        Predicted differences, under the link of the model.
    c : array of shape (n,)
        Judged differences in [-1, 1].
    weight : array of shape (n,), optional
        Weights of the pairs, for R² only.

    Examples
    --------
    >>> agreement(np.array([0.5, -0.1]), np.array([0.4, -0.2])).pairwise_accuracy
    1.0
    """
    predicted = np.asarray(predicted, dtype=np.float64)
    judged = np.asarray(c, dtype=np.float64)
    accuracy = pairwise_accuracy(predicted, judged)
    varies = not is_constant(np.stack([predicted, judged], axis=1)).any()
    return Agreement(
        pairs=len(judged),
        r2=difference_r2(predicted, judged, weight),
        pairwise_accuracy=accuracy,
        interval=wilson_interval(accuracy, int(np.count_nonzero(judged))),
        rmse=float(np.sqrt(np.mean((predicted - judged) ** 2))),
        correlation=float(np.corrcoef(predicted, judged)[0, 1]) if varies else float("nan"),
    )


@dataclass(frozen=True)
class AnswerAgreement:
    """Agreement of predicted probabilities of the same class with the answers of held-out pairs.

    Attributes
    ----------
    pairs
        Number of pairs.
    accuracy
        Fraction of the answers that are on the predicted side of 1/2; an answer of 1/2 counts one half.
    rmse
        Root mean squared error of the probabilities.
    constant_rmse
        The same of the best constant prediction, the mean answer.
    """

    pairs: int
    accuracy: float
    rmse: float
    constant_rmse: float


def answer_agreement(predicted: _Vector, same: _Vector) -> AnswerAgreement:
    """Compare predicted probabilities that two items are of the same class with answers in [0, 1].

    >>> answer_agreement(np.array([0.9, 0.2, 0.6]), np.array([1.0, 0.0, 0.0])).accuracy
    0.6666666666666666
    """
    sides = np.sign(np.asarray(predicted, dtype=np.float64) - 0.5) * np.sign(same - 0.5)
    return AnswerAgreement(
        pairs=len(same),
        accuracy=float(np.mean((1 + sides) / 2)),
        rmse=float(np.sqrt(np.mean((predicted - same) ** 2))),
        constant_rmse=float(np.std(same)),
    )


def wilson_interval(fraction: float, count: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a fraction of ``count`` cases (Wilson 1927).

    >>> tuple(round(end, 3) for end in wilson_interval(0.5, 100))
    (0.404, 0.596)
    """
    if not count:
        return 0.0, 1.0
    z2 = 1.959964**2 / count
    centre = (fraction + z2 / 2) / (1 + z2)
    reach = np.sqrt(fraction * (1 - fraction) * z2 + z2**2 / 4) / (1 + z2)
    return float(centre - reach), float(centre + reach)


def difference_reliability(predicted: _Vector, c: _Vector, *, bins: int = 10) -> tuple[tuple[float, float, int], ...]:
    """Return the points of a reliability diagram of differences.

    The range of the predicted differences, at least [-1, 1], is divided into ``bins`` intervals of equal width.

    Parameters
    ----------
    predicted, c : array of shape (n,)
        As in :func:`agreement`.
    bins : int
        Number of intervals.

    Returns
    -------
    tuple
        (mean predicted difference, mean judged difference, number of pairs) of each interval that is not empty.
    """
    predicted = np.asarray(predicted, dtype=np.float64)
    reach = max(1.0, float(np.abs(predicted).max(initial=0.0)))  # differences of scores may exceed 1
    number = np.minimum(((predicted / reach + 1) / 2 * bins).astype(int), bins - 1)
    inside = [number == k for k in range(bins)]
    return tuple(
        (float(predicted[mask].mean()), float(c[mask].mean()), int(mask.sum())) for mask in inside if mask.any()
    )
