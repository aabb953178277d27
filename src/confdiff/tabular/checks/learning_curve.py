"""Project how much more answers would help: pairwise accuracy against the number of answers, and a power law.

One score per item is fitted to growing subsets of the pairs and predicts the order of pairs that were held out. The
projection assumes that further answers are about pairs of the same items, drawn in the same way.

In simulations, the 95% intervals of the projections cover the accuracy that is reached in 91 to 98% of the cases, see
docs/pair-designs.md.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.randomness import derived_seed
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding
from confdiff.tabular.checks.graph import Edges, Judgements, edges_of
from confdiff.tabular.checks.power_law import fit_power_laws
from confdiff.tabular.checks.subset_fits import HELD_OUT_FRACTION, held_out_accuracies

_Floats = NDArray[np.float64]
_SIZES = 6
_LEAST_FRACTION = 0.4  # of the pairs that are not held out
_LEAST_PER_ITEM = 2.0  # pairs per item in the smallest subset: with fewer, most items are not connected
_FEWEST_PAIRS = 60
_FEWEST_PER_ITEM = 3.0  # pairs per item
_PAIRS_TO_FIT = 40_000  # in all splits together, before a second split is left out
_MOST_SPLITS = 20
_DRAWS = 400
_LEVEL = 0.95
_CLEAR_GAIN = 0.01


@dataclass(frozen=True)
class CurvePoint:
    """Pairwise accuracy at a number of answers.

    Attributes
    ----------
    answers : int
        Number of answers that the scores are fitted to.
    accuracy : float
        Fraction of held-out pairs whose order is predicted; measured, or projected.
    low, high : float
        The 95% interval.
    """

    answers: int
    accuracy: float
    low: float
    high: float


@dataclass(frozen=True)
class LearningCurve:
    """Pairwise accuracy against the number of answers.

    Attributes
    ----------
    text : str
        The projection in a sentence, or why there is none.
    answers : int
        Number of answers at present.
    points : tuple of CurvePoint
        Measured accuracies.
    projection : tuple of CurvePoint
        Projected accuracies, from the present number of answers on; empty if there are too few answers.
    limit, exponent : float or None
        Medians of the parameters a and k of the power law a - b n^-k.
    """

    text: str
    answers: int
    points: tuple[CurvePoint, ...] = ()
    projection: tuple[CurvePoint, ...] = ()
    limit: float | None = None
    exponent: float | None = None


def learning_curve(left: Any, right: Any, difference: Any, *, more: int | None = None, seed: int = 0) -> LearningCurve:
    """Measure a learning curve, and project it.

    Parameters
    ----------
    left, right : array-like of int, shape (n,)
        Numbers of the items of each answer, from 0.
    difference : array-like, shape (n,)
        Judged differences, right minus left.
    more : int, optional
        Number of further answers to project; by default about half of n.
    seed : int, default=0
        Seed of the splits.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.permuted(np.tile(np.arange(50), (400, 1)), axis=1)[:, :2].T
    >>> curve = learning_curve(left, right, np.sign(right - left + rng.normal(0, 20, 400)))
    >>> len(curve.points), curve.projection[0].answers, curve.projection[-1].answers
    (6, 400, 600)
    """
    left_rows = np.asarray(left, dtype=np.int64)
    right_rows = np.asarray(right, dtype=np.int64)
    c = np.asarray(difference, dtype=np.float64)
    if not left_rows.shape == right_rows.shape == c.shape or c.ndim != 1:
        raise ValueError(
            f"left, right and difference must be columns of one length; "
            f"got shapes {left_rows.shape}, {right_rows.shape} and {c.shape}"
        )
    judgements = Judgements(
        n_items=int(max(left_rows.max(initial=-1), right_rows.max(initial=-1))) + 1,
        rows=np.arange(len(c)),
        left=left_rows,
        right=right_rows,
        c=c,
        weight=np.ones(len(c)),
    )
    return curve_of(edges_of(judgements), more=more, seed=seed)


def curve_of(edges: Edges, *, more: int | None = None, seed: int = 0) -> LearningCurve:
    """Measure and project the learning curve of distinct pairs, as :func:`learning_curve`."""
    n_answers = int(edges.count.sum())
    reason = _reason_against(edges)
    if reason is not None:
        return LearningCurve(text=f"Too few answers to project how much more would help: {reason}.", answers=n_answers)
    rng = np.random.default_rng(derived_seed(seed, "learning curve"))
    n_splits = int(np.clip(_PAIRS_TO_FIT // len(edges.mean), 1, _MOST_SPLITS))
    fractions = _fractions(edges)
    pairs, is_right = held_out_accuracies(edges, fractions, n_splits, rng)
    sizes = fractions * (1 - HELD_OUT_FRACTION) * n_answers * _density_of_held_out(edges)
    means = _drawn_means(pairs, is_right, len(edges.mean), rng)
    laws = fit_power_laws(sizes, means, rng)
    points = tuple(
        _point(size, value, draws) for size, value, draws in zip(sizes, is_right.mean(axis=0), means.T, strict=True)
    )
    added = _round_number(n_answers / 2) if more is None else more
    ahead = [n_answers + round(added * part) for part in (0, 0.25, 0.5, 0.75, 1)]
    projection = tuple(_point(total, float(np.median(laws.at(total))), laws.at(total)) for total in ahead)
    return LearningCurve(
        text=_sentence(projection[0], projection[-1]),
        answers=n_answers,
        points=points,
        projection=projection,
        limit=float(np.median(laws.limit)),
        exponent=float(np.median(laws.exponent)),
    )


def _reason_against(edges: Edges) -> str | None:
    """Return why the curve cannot be projected, or None."""
    n_pairs = int((edges.mean != 0).sum())
    if n_pairs < _FEWEST_PAIRS:
        return f"there are {plural(n_pairs, 'distinct pair')} without a tie, and {_FEWEST_PAIRS} are needed"
    per_item = _pairs_per_item(edges)
    if per_item < _FEWEST_PER_ITEM:
        return f"an item occurs in {per_item:.1f} pairs on average, and {_FEWEST_PER_ITEM:.0f} are needed"
    return None


def _pairs_per_item(edges: Edges) -> float:
    """Return the mean number of distinct pairs of the items that occur."""
    compared = len(np.unique(np.concatenate([edges.first, edges.second])))
    return 2 * len(edges.mean) / compared


def _density_of_held_out(edges: Edges) -> float:
    """Return how often the items of a held-out pair occur in other pairs, relative to all items.

    If every item occurs in d pairs, the items of a held-out pair occur in d - 1 others: they are predicted as if the
    other answers were fewer by this factor. In random graphs the factor is 1 on average.
    """
    degree = np.bincount(np.concatenate([edges.first, edges.second]), minlength=edges.n_items)
    others = (degree[edges.first] + degree[edges.second]) / 2 - 1
    return min(1.0, float(others.mean() / degree[degree > 0].mean()))


def _fractions(edges: Edges) -> _Floats:
    """Return the sizes of the subsets, as fractions of the pairs that are not held out."""
    training_per_item = (1 - HELD_OUT_FRACTION) * _pairs_per_item(edges)
    return np.geomspace(max(_LEAST_FRACTION, _LEAST_PER_ITEM / training_per_item), 1, _SIZES)


def _drawn_means(pairs: NDArray[np.int64], is_right: _Floats, n_pairs: int, rng: np.random.Generator) -> _Floats:
    """Return the accuracies under random weights of the pairs (Bayesian bootstrap), shape (draws, S)."""
    number = np.bincount(pairs, minlength=n_pairs)
    sums = np.stack([np.bincount(pairs, column, n_pairs) for column in is_right.T], axis=1)
    is_held_out = number > 0
    weight = rng.exponential(size=(_DRAWS, int(is_held_out.sum())))
    means: _Floats = (weight @ sums[is_held_out]) / (weight @ number[is_held_out])[:, None]
    return means


def _point(answers: float, accuracy: float, draws: _Floats) -> CurvePoint:
    low, high = np.quantile(draws, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return CurvePoint(answers=round(answers), accuracy=float(accuracy), low=float(low), high=float(high))


def _round_number(value: float) -> int:
    """Return the largest of 1, 2, 5, 10, 20, 50, ... that is at most a value of at least 1."""
    power = 10 ** int(np.log10(value))
    return int(max(step * power for step in (1, 2, 5) if step * power <= value))


def _sentence(now: CurvePoint, later: CurvePoint) -> str:
    added = later.answers - now.answers
    change = f"rise from {_decimal(now.accuracy)} to about {_decimal(later.accuracy)}"
    if _decimal(now.accuracy) == _decimal(later.accuracy):
        change = f"remain at about {_decimal(now.accuracy)}"
    return (
        f"With {added:,} more answers, the pairwise accuracy would {change} "
        f"({_decimal(later.low)} to {_decimal(later.high)})."
    )


def _decimal(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def measure_learning_curve(data: CheckData) -> LearningCurve:
    """Measure the learning curve of the usable pairs."""
    return curve_of(data.edges)


def learning_curve_findings(data: CheckData, measure: LearningCurve) -> list[Finding]:
    """Return a note if more answers would clearly help."""
    if not measure.projection:
        return []
    later = measure.projection[-1]
    if later.accuracy - measure.projection[0].accuracy < _CLEAR_GAIN:
        return []
    finding = Finding(
        kind="more-answers",
        severity="note",
        count=later.answers - measure.answers,
        text=measure.text,
        action="Collect more answers if this gain is worth them. Features of the items may gain more from fewer.",
    )
    return [finding]
