"""Pairs that need not fit in memory: row numbers and differences in Parquet files, read as they are trained on."""

import copy
import os
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from confdiff.pairs.pairs import Pairs
from confdiff.pairs.parquet import RowGroup, columns_of, identity_of, parquet_files, row_groups
from confdiff.randomness import generator
from confdiff.validation import (
    as_array,
    as_tensor,
    check_count,
    check_difference,
    check_item_mask,
    check_range,
    check_rows,
    check_vector,
    no_weight,
    warn_user,
)


class StreamedPairs:
    """n pairs over N items, of which only a window is in memory at a time. For :func:`confdiff.train` and ``fit``.

    items: (N, d) 32-bit floats: the path of a ``.npy`` file, which is mapped into memory, an array or a tensor.
    pairs: a Parquet file, or a folder of such files. They are read a row group at a time: write row groups of a quarter
        of ``window`` or less, so that pairs of several of them are mixed.
    left, right: the columns with the row numbers of the first and second item of each pair.
    difference: the column of the confidence differences, in [-1, 1].
    weight: the column that says how much each pair counts; where there is no column ``weight``, all count alike.
    without_items: (N,) true for items to leave out, with all pairs that touch one of them. Takes a pass over the pairs.
    window: about how many pairs are in memory and mixed at a time; as many are being read by then.
    feature_names: the columns of the items, where they have names.

    >>> import pyarrow, pyarrow.parquet, tempfile
    >>> table = pyarrow.table({"left": [0, 1, 2], "right": [1, 2, 0], "difference": [0.3, 0.4, -0.7]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(table, f"{folder}/pairs.parquet")
    ...     StreamedPairs(np.zeros((3, 2), dtype=np.float32), folder)
    StreamedPairs(3 pairs over 3 items of shape (2,), in 1 row group)
    """

    n_classes = 2
    has_vectors = False

    def __init__(
        self,
        items: Any,
        pairs: str | os.PathLike[str],
        *,
        left: str = "left",
        right: str = "right",
        difference: str = "difference",
        weight: str | None = "weight",
        without_items: ArrayLike | None = None,
        window: int = 2**20,
        feature_names: tuple[str, ...] | None = None,
    ) -> None:
        files = parquet_files(pairs)
        self._columns = {"left": left, "right": right, "difference": difference}
        if weight is not None and (weight != "weight" or weight in columns_of(files[0])):
            self._columns["weight"] = weight
        self.groups = row_groups(files, list(self._columns.values()))
        self.window, self.feature_names = check_count("window", window), feature_names
        _warn_of_large(self.groups, self.window)
        self._part = Pairs(_mapped(items), [0], [0], feature_names=feature_names)  # what all parts share
        self._left_out = None if without_items is None else self._mask("without_items", without_items)
        self._count()

    def __repr__(self) -> str:
        shape, many = tuple(self.items.shape[1:]), "s" if len(self.groups) != 1 else ""
        count = f"{len(self)} pair{'s' if len(self) != 1 else ''} over {len(self.items)} items"
        return f"StreamedPairs({count} of shape {shape}, in {len(self.groups)} row group{many})"

    def __len__(self) -> int:
        return int(self.counts.sum())

    @property
    def items(self) -> Tensor:
        """(N, d), mapped into memory where they came as a file."""
        return self._part.items

    @property
    def weighted(self) -> bool:
        """Whether there is a column that says how much each pair counts."""
        return "weight" in self._columns

    def without(self, items: ArrayLike) -> "StreamedPairs":
        """The same pairs but for those that touch an item marked true, (N,), beside those left out already."""
        more = self._mask("items", items)
        other = copy.copy(self)
        other._left_out = more if self._left_out is None else self._left_out | more
        other._count()
        return other

    def _mask(self, what: str, values: ArrayLike) -> Tensor:
        return torch.tensor(check_item_mask(what, values, len(self.items)))

    def _count(self) -> None:
        """The pairs of each row group, without those left out, and the mean of their weights."""
        self.counts, self._mean_weight = np.array([group.rows for group in self.groups]), 1.0
        if self._left_out is None and not self.weighted:
            return
        weights = np.zeros(len(self.groups))
        for number in range(len(self.groups)):
            part = self.read(number)
            self.counts[number] = len(part)
            weights[number] = len(part) if part.weight is None else part.weight.sum(dtype=torch.float64)
        if not len(self):
            raise ValueError("there must be at least one pair that touches none of the items left out; got none.")
        if not weights.any():
            raise no_weight()
        self._mean_weight = float(weights.sum() / len(self))

    def read(self, number: int, turned_by: int | None = None) -> Pairs:
        """The pairs of a row group, checked, without those left out; where a seed is given, each turned by a coin.

        A row group has its coins, whatever is left out and in every epoch; as in ``Pairs.shuffled_orientation`` they
        are tossed when the better item of each pair stands second.
        """
        part = self._part._with(**self._checked(number))
        if turned_by is not None:
            assert part.difference is not None
            coin = torch.rand(len(part), generator=generator(turned_by, "orientation", number)) < 0.5
            part = part.oriented(coin ^ (part.difference < 0))
        return part if self._left_out is None else _chosen(part, ~_touching(part, self._left_out))

    def _checked(self, number: int) -> dict[str, Tensor]:
        """The columns of a row group, every entry looked at. Nothing that a thread beside others must not do."""
        group, size = self.groups[number], len(self.items)
        table = group.read(list(self._columns.values()))
        found = {field: table[name] for field, name in self._columns.items()}
        what = {field: f"{group.file}, column {name!r}," for field, name in self._columns.items()}
        columns: dict[str, NDArray[Any]] = {
            "left": check_rows(what["left"], found["left"], size, start=group.start),
            "right": check_rows(what["right"], found["right"], size, start=group.start),
            "difference": check_difference(found["difference"], name=what["difference"], start=group.start),
        }
        if "weight" in found:
            weight = check_vector(what["weight"], found["weight"], start=group.start)
            check_range(what["weight"], weight, 0, np.inf, "Drop pairs that should not count.", start=group.start)
            columns["weight"] = (weight / self._mean_weight).astype(np.float32)
        return {field: torch.from_numpy(column) for field, column in columns.items()}

    def windows(self, seed: int, epoch: int) -> list[list[int]]:
        """The row groups of each window of an epoch, in an order that the seed and the epoch decide."""
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

    def shuffled(self, groups: list[int], seed: int, epoch: int, *, turned: bool) -> Pairs:
        """The pairs of a window in an order that the seed and the epoch decide, ``turned`` by coins or as they are."""
        window = _joined([self.read(number, seed if turned else None) for number in groups])
        order = torch.randperm(len(window), generator=generator(seed, "order", epoch, groups[0]))
        return _chosen(window, order)

    def sample(self, n: int, seed: int = 0, *, touching: ArrayLike | None = None) -> Pairs:
        """At most ``n`` pairs, drawn at random, in memory, over those items alone that stand in them. Takes a pass.

        touching: (N,) true for the items of which a pair must have at least one.
        """
        check_count("n", n)
        mask = None if touching is None else self._mask("touching", touching)
        kept: list[Pairs] = []
        lots: list[Tensor] = []
        for number in range(len(self.groups)):
            part = self.read(number)
            part = part if mask is None else _chosen(part, _touching(part, mask))
            drawn = torch.rand(len(part), dtype=torch.float64, generator=generator(seed, "sample", number))
            kept, lots = _least([*kept, part], [*lots, drawn], n)
        if not len(kept[0]):
            raise ValueError("there must be at least one pair that touches one of these items; got none.")
        return kept[0].compact()

    def identity(self) -> list[Tensor | bytes]:
        """What tells these pairs from others, without reading all of them."""
        left_out = b"" if self._left_out is None else self._left_out
        return [f"{self._columns} {self.window} ".encode(), identity_of(self.groups), left_out]


def _mapped(items: Any) -> Tensor:
    """Items of 32-bit floats; those in a file are not read, but mapped into memory."""
    where = f"{os.fspath(items)}: items" if isinstance(items, str | os.PathLike) else "items"
    if isinstance(items, str | os.PathLike):
        try:
            items = np.load(items, mmap_mode="r")
        except (ValueError, EOFError) as error:
            raise ValueError(f"{where} must be an array in a .npy file: {error}") from error
    array = as_array(where, items)
    if array.dtype != np.float32 or array.ndim != 2:
        got = f"{array.dtype}, shape {array.shape}"
        raise ValueError(f"{where} must be a matrix of 32-bit floats, shape (N, d); got {got}. Use .astype('float32').")
    return items.detach() if isinstance(items, Tensor) else as_tensor(array)


def _warn_of_large(groups: list[RowGroup], window: int) -> None:
    largest = max(groups, key=lambda group: group.rows)
    if largest.rows > window:
        warn_user(
            f"{largest.file} has a row group of {largest.rows} pairs, more than the window of {window}: as many are in "
            f"memory at a time, and mixed with no others. Write row groups of {max(1, window // 4)}, or raise window."
        )


def _touching(pairs: Pairs, mask: Tensor) -> Tensor:
    """(n,) whether pairs have an item that is marked (N,)."""
    return mask[pairs.left] | mask[pairs.right]


def _chosen(pairs: Pairs, index: Tensor) -> Pairs:
    """The pairs of an index or a mask, which may be none."""
    rows = index.nonzero()[:, 0] if index.dtype == torch.bool else index  # of which index_select is the fastest taker
    return pairs._with(**{name: value.index_select(0, rows) for name, value in pairs._per_pair().items()})


def _least(parts: list[Pairs], lots: list[Tensor], n: int) -> tuple[list[Pairs], list[Tensor]]:
    """The at most n pairs, in the order in which they are, that drew the least of the lots."""
    drawn = torch.cat(lots)
    least = torch.topk(drawn, min(n, len(drawn)), largest=False).indices.sort().values
    return [_chosen(_joined(parts), least)], [drawn[least]]


def _joined(parts: list[Pairs]) -> Pairs:
    """Pairs over the same items, one part after the other."""
    fields = [part._per_pair() for part in parts]
    return parts[0]._with(**{name: torch.cat([field[name] for field in fields]) for name in fields[0]})
