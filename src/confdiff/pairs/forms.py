"""Convert the forms in which callers hold pairs to :class:`~confdiff.Pairs`."""

from typing import Any

from numpy.typing import ArrayLike

from confdiff.pairs.pairs import Pairs
from confdiff.pairs.streamed import StreamedPairs
from confdiff.validation import as_array, not_for_streams

SAMPLED = 100_000
"""Number of pairs that are sampled from a stream, and the largest number that is held out."""


_FIELDS = ("weight", "group", "side", "same", "posteriors", "labels", "feature_names", "allow_missing")


def as_pairs(
    pairs: Any, c: ArrayLike | None = None, *, items: Any = None, allow_missing: bool = False, **fields: Any
) -> Pairs:
    """Return pairs from any of the forms that estimators take; see :class:`~confdiff.ConfDiffClassifier`.

    With ``allow_missing``, features of arrays and data frames may be NaN.
    """
    fields = {name: value for name, value in fields.items() if value is not None}
    if isinstance(pairs, StreamedPairs):
        raise not_for_streams("this", f"Take some of them, such as pairs.sample({SAMPLED}).")
    if isinstance(pairs, Pairs):
        if items is not None:
            raise ValueError("items= is for row numbers; these Pairs have items.")
        if c is None and not fields:
            return pairs
        unchanged = {name: getattr(pairs, name) for name in _FIELDS} | {"annotator": pairs.annotators}
        c = pairs.difference if c is None else c
        return Pairs(pairs.items, pairs.left, pairs.right, c, **(unchanged | fields))
    if allow_missing:
        fields["allow_missing"] = True
    if items is not None:
        return Pairs.from_rows(pairs, items, c, **fields)
    array = as_array("pairs", pairs)
    if array.ndim == 2 and array.shape[1] == 2:
        raise ValueError(
            "pairs of shape (n, 2) are row numbers, and these need the items they point to. "
            "Pass items=..., or Pairs.from_rows(pairs, items), which cross-validation can split."
        )
    return Pairs.from_array(array, c, **fields)
