"""Convert the forms in which callers hold pairs to :class:`~confdiff.Pairs`."""

from typing import Any

from numpy.typing import ArrayLike

from confdiff.pairs.pairs import Pairs
from confdiff.pairs.streamed import StreamedPairs
from confdiff.validation import as_array, not_for_streams

SAMPLED = 100_000
"""So many pairs of a stream are looked at where in memory all would be, and so many are held out at most."""


def as_pairs(pairs: Any, c: ArrayLike | None = None, *, items: Any = None, **known: Any) -> Pairs:
    """Pairs from any of the forms that the estimators take; see :class:`ConfDiffClassifier`."""
    given = {name: value for name, value in known.items() if value is not None}
    if isinstance(pairs, StreamedPairs):
        raise not_for_streams("this", f"Take some of them, such as pairs.sample({SAMPLED}).")
    if isinstance(pairs, Pairs):
        if items is not None:
            raise ValueError("items= goes with row numbers; these Pairs carry their items already.")
        if c is None and not given:
            return pairs
        kept = {name: getattr(pairs, name) for name in ("weight", "group", "posteriors", "labels", "feature_names")}
        c = pairs.difference if c is None else c
        return Pairs(pairs.items, pairs.left, pairs.right, c, **(kept | given))
    if items is not None:
        return Pairs.from_rows(pairs, items, c, **given)
    array = as_array("pairs", pairs)
    if array.ndim == 2 and array.shape[1] == 2:
        raise ValueError(
            "pairs of shape (n, 2) are row numbers, and these need the items they point to. "
            "Pass items=..., or Pairs.from_rows(pairs, items), which cross-validation can split."
        )
    return Pairs.from_array(array, c, **given)
