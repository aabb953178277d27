"""Stream pairs that need not fit into memory: row numbers and differences in Parquet files, read during training."""

import copy
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from confdiff.pairs.pairs import Pairs, Supervision, missing_supervision
from confdiff.pairs.parquet import RowGroup, identity_of, parquet_columns, parquet_files, row_groups
from confdiff.pairs.sparse import require_dense
from confdiff.randomness import generator
from confdiff.validation import (
    as_array,
    as_tensor,
    check_annotator_codes,
    check_count,
    check_difference,
    check_difference_beside,
    check_item_mask,
    check_range,
    check_rows,
    check_same,
    check_side,
    check_vector,
    no_weight,
    warn_user,
)


class StreamedPairs:
    """n pairs over N items, of which only a window is in memory at a time. For :func:`confdiff.train` and ``fit``.

    Parameters
    ----------
    items : path, array or tensor of shape (N, d)
        32-bit floats. A ``.npy`` file is mapped into memory.
    pairs : path
        A Parquet file, or a folder of such files. They are read one row group at a time. Write row groups of at most a
        quarter of ``window``, so that pairs of several row groups are mixed.
    left, right : str
        The columns with the row numbers of the first and the second item of each pair.
    difference : str
        The column of the confidence differences, in [-1, 1]. Files of same-class answers need none.
    weight : str or None
        The column of the weights of the pairs; without a column ``weight``, all weights are equal.
    annotator : str, optional
        The column of the annotators of the pairs: whole numbers from 0.
    annotator_names : tuple of str, optional
        The names of the annotators, in the order of their numbers.
    same : str or None
        The column of the answers whether both items are of the same class; without a column ``same``, there are none.
        A difference may be missing where there is an answer.
    side : str, optional
        The column of the item that was shown first: 1 for the first of a pair, -1 for the second, 0 if not known.
    without_items : array-like of shape (N,), optional
        True for items to exclude, with all pairs that touch one of them. Takes a pass over the pairs.
    window : int
        Approximate number of pairs that are in memory and mixed at a time; the same number is read ahead.
    feature_names : tuple of str, optional
        The names of the features.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet, tempfile
    >>> table = pyarrow.table({"left": [0, 1, 2], "right": [1, 2, 0], "difference": [0.3, 0.4, -0.7]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(table, f"{folder}/pairs.parquet")
    ...     StreamedPairs(np.zeros((3, 2), dtype=np.float32), folder)
    StreamedPairs(3 pairs over 3 items of shape (2,), in 1 row group)
    """

    n_classes = 2
    has_vectors = False
    _supervision: Supervision | None = None
    _adjustment: Callable[[Pairs], Pairs] | None = None
    _adjustment_identity: bytes = b""

    def __init__(
        self,
        items: Any,
        pairs: str | os.PathLike[str],
        *,
        left: str = "left",
        right: str = "right",
        difference: str = "difference",
        weight: str | None = "weight",
        annotator: str | None = None,
        annotator_names: tuple[str, ...] | None = None,
        side: str | None = None,
        same: str | None = "same",
        without_items: ArrayLike | None = None,
        window: int = 2**20,
        feature_names: tuple[str, ...] | None = None,
    ) -> None:
        files = parquet_files(pairs)
        self._columns = {"left": left, "right": right}
        is_answered = same is not None and (same != "same" or same in parquet_columns(files[0]))
        if not is_answered or difference != "difference" or difference in parquet_columns(files[0]):
            self._columns["difference"] = difference
        if weight is not None and (weight != "weight" or weight in parquet_columns(files[0])):
            self._columns["weight"] = weight
        self._columns |= {field: name for field, name in (("annotator", annotator), ("side", side)) if name is not None}
        if same is not None and is_answered:
            self._columns["same"] = same
        self.groups = row_groups(files, list(self._columns.values()))
        self.window = check_count("window", window)
        self.feature_names = feature_names
        _warn_of_large(self.groups, self.window)
        self._items_file = os.fspath(items) if isinstance(items, str | os.PathLike) else None
        self._annotator_names = annotator_names if annotator is not None else None
        self._part = self._empty_part(_mapped(items))  # row groups share it
        self._excluded = None if without_items is None else self._mask("without_items", without_items)
        self._count()

    def _empty_part(self, items: Tensor) -> Pairs:
        part = Pairs(items, [0], [0], feature_names=self.feature_names)
        part.annotator_names = self._annotator_names
        return part

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, which maps the file of items itself."""
        return self.__dict__ if self._items_file is None else self.__dict__ | {"_part": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._items_file is not None:
            self._part = self._empty_part(_mapped(self._items_file))

    def __repr__(self) -> str:
        pairs = f"{len(self)} pair{'s' if len(self) != 1 else ''} over {len(self.items)} items"
        shape = tuple(self.items.shape[1:])
        groups = f"{len(self.groups)} row group{'s' if len(self.groups) != 1 else ''}"
        return f"StreamedPairs({pairs} of shape {shape}, in {groups})"

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def items(self) -> Tensor:
        """The items, (N, d), mapped into memory if they are a file."""
        return require_dense(self._part.items, "a stream of pairs")

    @property
    def weighted(self) -> bool:
        """Whether the pairs have weights."""
        return "weight" in self._columns

    @property
    def answered(self) -> bool:
        """Whether there is a column of same-class answers."""
        return "same" in self._columns

    def has(self, supervision: Supervision) -> bool:
        """Return whether any pair has a difference or an answer. Reads until the first one if some may be missing."""
        if self._field(supervision) not in self._columns:
            return False
        if not self.answered:
            return True
        return any(bool(self.read(number).carries(supervision).any()) for number in range(len(self.groups)))

    @staticmethod
    def _field(supervision: Supervision) -> str:
        return "same" if supervision == "same" else "difference"

    def carrying(self, supervision: Supervision) -> "StreamedPairs":
        """Return the pairs that have the supervision, as ``Pairs.carrying`` does. Takes a pass if answers may miss."""
        if supervision not in ("differences", "same"):
            return self
        if not self.has(supervision):
            raise missing_supervision(supervision)
        if not self.answered:
            return self
        other = copy.copy(self)
        other._supervision = supervision
        other._count()
        return other

    def adjusted(self, adjustment: Callable[[Pairs], Pairs], identity: bytes) -> "StreamedPairs":
        """Return the same pairs with other differences, which are computed for each row group as it is read.

        Parameters
        ----------
        adjustment : callable
            Pairs of a row group -> the same pairs with other differences, and with their precision.
        identity : bytes
            Data that differ between adjustments, for checkpoints.
        """
        other = copy.copy(self)
        other._adjustment = adjustment
        other._adjustment_identity = identity
        return other

    @property
    def is_adjusted(self) -> bool:
        """Whether the pairs have adjusted differences with a precision."""
        return self._adjustment is not None

    def without(self, items: ArrayLike) -> "StreamedPairs":
        """Return the same pairs without those that touch an item marked true, (N,)."""
        excluded = self._mask("items", items)
        other = copy.copy(self)
        other._excluded = excluded if self._excluded is None else self._excluded | excluded
        other._count()
        return other

    def _mask(self, name: str, values: ArrayLike) -> Tensor:
        return torch.tensor(check_item_mask(name, values, len(self.items)))

    def _count(self) -> None:
        """Count the pairs of each row group that are not excluded, and compute the mean of their weights."""
        self.counts = np.array([group.rows for group in self.groups])
        self._mean_weight = 1.0
        if self._excluded is None and not self.weighted and self._supervision is None:
            return
        weights = np.zeros(len(self.groups))
        for number in range(len(self.groups)):
            part = self.read(number)
            self.counts[number] = len(part)
            weights[number] = len(part) if part.weight is None else part.weight.sum(dtype=torch.float64)
        if not len(self):
            raise ValueError("there must be at least one pair that touches none of the excluded items; got none.")
        if not weights.any():
            raise no_weight()
        if not np.isfinite(weights.sum()):
            raise ValueError("the sum of all weights must be finite; it overflows. Divide the weights by the largest.")
        self._mean_weight = float(weights.sum() / len(self))

    def read(self, number: int, swap_seed: int | None = None) -> Pairs:
        """Return the checked pairs of a row group, without the excluded ones.

        Parameters
        ----------
        number : int
            The row group.
        swap_seed : int, optional
            Put the two items of each pair in random order, as ``Pairs.shuffled_orientation`` does. The order of a pair
            is the same in every epoch and does not depend on excluded items.
        """
        part = self._part._with(**self._checked(number))
        order = part.difference
        if self._adjustment is not None:
            part = self._adjustment(part)
        if swap_seed is not None:
            assert order is not None
            coin = torch.rand(len(part), generator=generator(swap_seed, "orientation", number)) < 0.5
            part = part.oriented(coin ^ (order < 0))
        if self._supervision is not None:
            part = _chosen(part, part.carries(self._supervision))
        return part if self._excluded is None else _chosen(part, ~_touching(part, self._excluded))

    def _checked(self, number: int) -> dict[str, Tensor]:
        """Return the columns of a row group with every entry checked. Safe to call from several threads."""
        group = self.groups[number]
        size = len(self.items)
        table = group.read(list(self._columns.values()))
        values = {field: table[name] for field, name in self._columns.items()}
        names = {field: f"{group.file}, column {name!r}," for field, name in self._columns.items()}
        columns: dict[str, NDArray[Any]] = {
            "left": check_rows(names["left"], values["left"], size, start=group.start),
            "right": check_rows(names["right"], values["right"], size, start=group.start),
        }
        options: dict[str, Any] = {"name": names.get("difference"), "start": group.start}
        if "same" in values:
            columns["same"] = check_same(values["same"], group.rows, name=names["same"], start=group.start)
        if "difference" in values and "same" in values:
            columns["difference"] = check_difference_beside(values["difference"], columns["same"], **options)
        elif "difference" in values:
            columns["difference"] = check_difference(values["difference"], **options)
        if "weight" in values:
            weight = check_vector(names["weight"], values["weight"], start=group.start)
            check_range(names["weight"], weight, 0, np.inf, "Drop pairs that should not count.", start=group.start)
            columns["weight"] = (weight / self._mean_weight).astype(np.float32)
        if "annotator" in values:
            columns["annotator"] = check_annotator_codes(names["annotator"], values["annotator"], start=group.start)
        if "side" in values:
            columns["side"] = check_side(values["side"], group.rows, name=names["side"], start=group.start)
        return {field: torch.from_numpy(column) for field, column in columns.items()}

    def windows(self, seed: int, epoch: int) -> list[list[int]]:
        """Return the row groups of each window of an epoch, in an order that seed and epoch determine."""
        order = torch.randperm(len(self.groups), generator=generator(seed, "row groups", epoch)).tolist()
        windows: list[list[int]] = []
        room = 0
        for number in order:
            count = int(self.counts[number])
            if count > room:
                windows.append([])
                room = self.window
            if count:
                windows[-1].append(number)
                room -= count
        return windows

    def shuffled(self, groups: list[int], seed: int, epoch: int, *, swapped: bool) -> Pairs:
        """Return the pairs of a window in an order that seed and epoch determine, each randomly ``swapped`` or not."""
        window = _joined([self.read(number, seed if swapped else None) for number in groups])
        order = torch.randperm(len(window), generator=generator(seed, "order", epoch, groups[0]))
        return _chosen(window, order)

    def sample(self, n: int, seed: int = 0, *, touching: ArrayLike | None = None) -> Pairs:
        """Return at most ``n`` random pairs in memory, over the items that occur in them. Takes a pass over the pairs.

        Parameters
        ----------
        n : int
            The number of pairs.
        seed : int
            Seed of the draw.
        touching : array-like of shape (N,), optional
            Mask of items; each sampled pair has at least one of them.
        """
        check_count("n", n)
        mask = None if touching is None else self._mask("touching", touching)
        parts: list[Pairs] = []
        draws: list[Tensor] = []
        for number in range(len(self.groups)):
            part = self.read(number)
            part = part if mask is None else _chosen(part, _touching(part, mask))
            drawn = torch.rand(len(part), dtype=torch.float64, generator=generator(seed, "sample", number))
            parts, draws = _smallest([*parts, part], [*draws, drawn], n)
        if not len(parts[0]):
            raise ValueError("there must be at least one pair that touches one of these items; got none.")
        return parts[0].compact()

    def identity(self) -> list[Tensor | bytes]:
        """Return data that identify these pairs, without reading all of them."""
        excluded = b"" if self._excluded is None else self._excluded
        parts = [f"{self._columns} {self.window} ".encode(), identity_of(self.groups), excluded]
        return [*parts, self._adjustment_identity] if self.is_adjusted else parts


def _mapped(items: Any) -> Tensor:
    """Return items of 32-bit floats; a file is mapped into memory."""
    name = f"{os.fspath(items)}: items" if isinstance(items, str | os.PathLike) else "items"
    if isinstance(items, str | os.PathLike):
        try:
            items = np.load(items, mmap_mode="r")
        except (ValueError, EOFError) as error:
            raise ValueError(f"{name} must be an array in a .npy file: {error}") from error
    array = as_array(name, items)
    if array.dtype != np.float32 or array.ndim != 2:
        got = f"{array.dtype}, shape {array.shape}"
        raise ValueError(f"{name} must be a matrix of 32-bit floats, shape (N, d); got {got}. Use .astype('float32').")
    return items.detach() if isinstance(items, Tensor) else as_tensor(array)


def _warn_of_large(groups: list[RowGroup], window: int) -> None:
    largest = max(groups, key=lambda group: group.rows)
    if largest.rows > window:
        warn_user(
            f"{largest.file} has a row group of {largest.rows} pairs, more than the window of {window}. It is in "
            f"memory as a whole and not mixed with others. Write row groups of {max(1, window // 4)}, or raise window."
        )


def _touching(pairs: Pairs, mask: Tensor) -> Tensor:
    """Return a mask, (n,), of the pairs that have an item marked in ``mask`` (N,)."""
    return mask[pairs.left] | mask[pairs.right]


def _chosen(pairs: Pairs, index: Tensor) -> Pairs:
    """Return the pairs of an index or a mask, which may be empty."""
    rows = index.nonzero()[:, 0] if index.dtype == torch.bool else index  # index_select is the fastest way
    return pairs._with(**{name: value.index_select(0, rows) for name, value in pairs._per_pair().items()})


def _smallest(parts: list[Pairs], draws: list[Tensor], n: int) -> tuple[list[Pairs], list[Tensor]]:
    """Return the at most n pairs, in their order, with the smallest of the drawn numbers."""
    drawn = torch.cat(draws)
    smallest = torch.topk(drawn, min(n, len(drawn)), largest=False).indices.sort().values
    return [_chosen(_joined(parts), smallest)], [drawn[smallest]]


def _joined(parts: list[Pairs]) -> Pairs:
    """Concatenate pairs over the same items."""
    fields = [part._per_pair() for part in parts]
    return parts[0]._with(**{name: torch.cat([field[name] for field in fields]) for name in fields[0]})
