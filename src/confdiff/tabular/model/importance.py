"""Measure the importance of columns: the loss of quality on held-out pairs if the values of a column are permuted."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.metrics import difference_r2, pairwise_accuracy
from confdiff.pairs import Pairs
from confdiff.randomness import derived_seed
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.model.words import WordEffect, mean_word_effects
from confdiff.threads import follow_policy
from confdiff.validation import check_count

REPEATS = 5
"""Number of permutations of each column."""
_MAX_SCORED = 40_000  # items that are scored in all: about a second for a network of 3 x 300
_MIN_PAIRS = 100  # pairs that are used even if many columns exceed that number


@dataclass(frozen=True)
class ColumnImportance:
    """The importance of a column of the items.

    Attributes
    ----------
    column
        The name of the column.
    r2_drop, r2_error
        The drop of the R² of the differences if the values of the column are permuted among the items: the mean over
        the repeats, and its standard error.
    accuracy_drop, accuracy_error
        The same for the pairwise accuracy; None if all pairs are ties.
    """

    column: str
    r2_drop: float
    r2_error: float
    accuracy_drop: float | None
    accuracy_error: float | None

    def __post_init__(self) -> None:
        if self.r2_error < 0 or (self.accuracy_error or 0) < 0:
            raise ValueError(f"standard errors of {self.column!r:.60} must be at least 0")


@dataclass(frozen=True)
class Importance:
    """The importance of all columns, from the most to the least important one by R².

    Attributes
    ----------
    pairs
        Number of held-out pairs that were used.
    repeats
        Number of permutations of each column.
    columns
        The columns.
    words
        Text column -> its words with the strongest effects.
    """

    pairs: int
    repeats: int
    columns: tuple[ColumnImportance, ...]
    words: dict[str, tuple[WordEffect, ...]]

    def __post_init__(self) -> None:
        check_count("pairs", self.pairs)
        check_count("repeats", self.repeats)

    def to_json(self) -> dict[str, Any]:
        """Return the importance as JSON values."""
        return asdict(self)


@follow_policy
def measure_importance(
    estimator: Any, features: ItemFeatures, pairs: Pairs, *, repeats: int = REPEATS, seed: int = 0
) -> Importance:
    """Measure the importance of each column of the user's table on held-out pairs.

    All features that were made from a column are permuted together, among the items of the pairs. Where this would
    score too many items, a random sample of the pairs is used.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of differences.
    features : ItemFeatures
        The fitted encoding of the items.
    pairs : Pairs
        Held-out pairs of encoded items, with differences.
    repeats : int
        Number of permutations of each column.
    seed : int
        Seed of the permutations and of the sample.
    """
    rng = np.random.default_rng(derived_seed(seed, "permutation importance"))
    columns = [str(name) for name in features.feature_names_in_]
    data = _sample(pairs, len(columns) * repeats, rng).compact()
    items = item_matrix(data)
    groups = features.feature_groups()
    intact = _quality(estimator, data)
    measured = []
    for index, column in enumerate(columns):
        drops = [
            intact - _quality(estimator, data.with_items(_permuted(items, groups == index, rng), data.feature_names))
            for _ in range(repeats)
        ]
        measured.append(_summary(column, np.array(drops)))
    words = mean_word_effects(estimator, features, items)
    return Importance(
        pairs=len(data),
        repeats=repeats,
        columns=tuple(sorted(measured, key=lambda row: -row.r2_drop)),
        words={column: tuple(effects) for column, effects in words.items()},
    )


def _sample(pairs: Pairs, permutations: int, rng: np.random.Generator) -> Pairs:
    """Return some of the pairs if there are many: a pair has up to two items, scored once per permutation."""
    most = max(_MIN_PAIRS, _MAX_SCORED // (2 * permutations))
    if len(pairs) <= most:
        return pairs
    return pairs[np.sort(rng.choice(len(pairs), most, replace=False))]


def item_matrix(pairs: Pairs) -> Any:
    """Return the items of pairs as an array, or as a sparse matrix of SciPy."""
    items: Any = pairs.items
    return items.to_scipy() if hasattr(items, "to_scipy") else items.numpy()


def _permuted(items: Any, is_permuted: NDArray[np.bool_], rng: np.random.Generator) -> Any:
    """Return the items with some features exchanged among them, by one permutation."""
    order = rng.permutation(items.shape[0])
    if not isinstance(items, np.ndarray):
        from scipy.sparse import diags_array

        return (items @ diags_array(1.0 - is_permuted) + items[order] @ diags_array(1.0 * is_permuted)).tocsr()
    changed = items.copy()
    changed[:, is_permuted] = items[order][:, is_permuted]
    return changed


def _quality(estimator: Any, pairs: Pairs) -> NDArray[np.float64]:
    """Return R² and pairwise accuracy."""
    assert pairs.difference is not None
    c = pairs.difference.numpy()
    predicted = estimator.predict_difference(pairs)
    weight = None if pairs.weight is None else pairs.weight.numpy()
    return np.array([difference_r2(predicted, c, weight), pairwise_accuracy(predicted, c)])


def _summary(column: str, drops: NDArray[np.float64]) -> ColumnImportance:
    means = drops.mean(axis=0)
    errors = drops.std(axis=0, ddof=1) / math.sqrt(len(drops)) if len(drops) > 1 else np.zeros(2)
    has_order = bool(np.isfinite(means[1]))
    return ColumnImportance(
        column=column,
        r2_drop=float(means[0]),
        r2_error=float(errors[0]),
        accuracy_drop=float(means[1]) if has_order else None,
        accuracy_error=float(errors[1]) if has_order else None,
    )
