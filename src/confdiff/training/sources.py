"""Sources of batches: pairs in memory, or pairs that are streamed from files in windows.

Both sources make batches of the same number and sizes. The pairs in the k-th batch of an epoch depend on the seed and
the epoch only. A resumed run therefore continues with the same batches.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice, pairwise
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from confdiff.methods import Method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.pairs.sparse import Items, SparseItems, require_dense
from confdiff.randomness import generator
from confdiff.reduction import part_of
from confdiff.training.distributed import Workers
from confdiff.training.recipe import Recipe, find_device
from confdiff.validation import no_weight, not_for_streams

Batch = tuple[Tensor, Sequence[Any]]
"""Row numbers (2, b) of b pairs, and their columns: the targets, the weight and the prior."""

_Column = Tensor | float | None  # one entry per pair, or one value for all pairs
_Window = tuple[int, tuple[int, ...]]  # an epoch, and the row groups that are shuffled together in it


class BatchSource(Protocol):
    """The interface of a source of batches, as a run uses it."""

    n: int
    """Pairs per epoch."""

    sizes: list[int]
    """Pairs in each batch of an epoch, over all workers."""

    largest: int
    """Pairs in the largest batch, or in the largest part of one that this worker has."""

    item_device: torch.device
    """Device of the row numbers and of the items."""

    def epoch(self, number: int, first: int, extra: Sequence[Tensor]) -> Iterator[Batch]:
        """Yield the batches of an epoch.

        Parameters
        ----------
        number : int
            The epoch, counted from 0.
        first : int
            The batch to start with; a resumed run skips the ones before it.
        extra : sequence of (n,) tensors
            Additional targets that a companion of the method provides.
        """

    def identity(self, items: Items) -> dict[str, list[Tensor | bytes]]:
        """Return data that differs between different items and between different pairs, to be hashed."""


def make_source(
    pairs: Pairs | StreamedPairs,
    method: Method,
    prior: float | Tensor | None,
    recipe: Recipe,
    workers: Workers | None = None,
) -> BatchSource:
    """Return the source of batches for pairs in memory or streamed pairs, or of the parts of them for a worker."""
    if isinstance(pairs, StreamedPairs):
        return StreamedSource(pairs, method, prior, recipe, workers)
    return InMemorySource(pairs, method, prior, recipe, workers)


def batch_sizes(n: int, size: int) -> list[int]:
    """Return the number of pairs in each batch of an epoch.

    A last batch of one pair joins the batch before it, because batch normalisation needs at least two items.

    >>> batch_sizes(5, 2), batch_sizes(6, 2)
    ([2, 3], [2, 2, 2])
    """
    full, rest = divmod(n, size)
    sizes = [size] * full + [rest] * (rest > 0)
    if rest == 1 and full:
        sizes[-2:] = [size + 1]
    return sizes


class InMemorySource:
    """Batches of pairs in memory: an epoch is one permutation of all pairs, split into batches."""

    def __init__(
        self,
        pairs: Pairs,
        method: Method,
        prior: float | Tensor | None,
        recipe: Recipe,
        workers: Workers | None = None,
    ) -> None:
        pairs = method.prepare(pairs)
        if method.needs_exchangeable_pairs:
            pairs = pairs.shuffled_orientation(recipe.seed)
        self.n = len(pairs)
        self.seed = recipe.seed
        self.item_device = find_device(recipe.device)
        self.sizes = batch_sizes(self.n, recipe.batch_size)
        self._parts = [part_of(size, workers) for size in self.sizes]
        self._own_sizes = [part.stop - part.start for part in self._parts]
        self.largest = max(self._own_sizes)
        self.rows = torch.stack([pairs.left, pairs.right]).to(self.item_device)
        precision = [] if pairs.precision is None else [pairs.precision]
        columns = [*pairs.targets(method.learns_from), *precision, _normalised_weight(pairs), prior]
        self.columns = [column.to(self.item_device) if isinstance(column, Tensor) else column for column in columns]

    def epoch(self, number: int, first: int, extra: Sequence[Tensor]) -> Iterator[Batch]:
        """Permute the pairs for an epoch and split them into batches."""
        order = self._own_order(number).to(self.item_device)
        rows = torch.split(torch.stack([side.index_select(0, order) for side in self.rows]), self._own_sizes, dim=1)
        *targets, weight, prior = self.columns
        columns = [self._split(column, order) for column in (*targets, *extra, weight, prior)]
        return islice(zip(rows, zip(*columns, strict=True), strict=True), first, None)

    def _own_order(self, epoch: int) -> Tensor:
        """Return the numbers of the pairs that this worker trains on in an epoch, batch by batch."""
        order = torch.randperm(self.n, generator=generator(self.seed, "order", epoch))
        if self._own_sizes == self.sizes:
            return order
        batches = torch.split(order, self.sizes)
        return torch.cat([batch[part] for batch, part in zip(batches, self._parts, strict=True)])

    def _split(self, column: _Column, order: Tensor) -> Sequence[_Column]:
        """Split a column into batches; a value for all pairs is repeated for each batch."""
        if isinstance(column, Tensor):
            return torch.split(column.index_select(0, order), self._own_sizes)
        return [column] * len(self.sizes)

    def identity(self, items: Items) -> dict[str, list[Tensor | bytes]]:
        """Return the items and the pairs themselves."""
        tensors = [column for column in self.columns if isinstance(column, Tensor)]
        whole: list[Tensor | bytes] = items.identity() if isinstance(items, SparseItems) else [items]
        return {"items": whole, "pairs": [self.rows, *tensors]}


def _normalised_weight(pairs: Pairs) -> Tensor | None:
    """Scale the weights to a mean of 1: a subset of pairs may have another mean than all pairs."""
    if pairs.weight is None:
        return None
    if not pairs.weight.any():
        raise no_weight()
    return pairs.weight / pairs.weight.mean()


def check_streamable(method: Method) -> None:
    """Raise an error for a method that needs all pairs at once, or labels or posteriors."""
    if method.companion is not None:
        raise not_for_streams(f"method {method.name!r}", "It needs all pairs at once: train on pairs.sample(n).")
    if method.learns_from in ("labels", "posteriors"):
        raise not_for_streams(f"method {method.name!r}", f"It learns from {method.learns_from}: pass Pairs with these.")


class StreamedSource:
    """Batches of streamed pairs: while the network is trained on one window, a thread reads the next.

    An epoch is a sequence of windows. The pairs of each window are shuffled. Pairs that do not fill a batch at the end
    of a window start the first batch of the next window.
    """

    item_device = torch.device("cpu")

    def __init__(
        self,
        pairs: StreamedPairs,
        method: Method,
        prior: float | Tensor | None,
        recipe: Recipe,
        workers: Workers | None = None,
    ) -> None:
        check_streamable(method)
        if isinstance(prior, Tensor):
            raise not_for_streams("a prior for each pair", "Pass one prior for all.")
        self.pairs = pairs
        self.method = method
        self.recipe = recipe
        self.device = find_device(recipe.device)
        self.n = len(pairs)
        self.sizes = batch_sizes(self.n, recipe.batch_size)
        self._workers = workers
        parts = [part_of(size, workers) for size in set(self.sizes)]
        self.largest = max(part.stop - part.start for part in parts)
        self.starts = np.cumsum([0, *self.sizes])  # of each batch, in pairs of the epoch; the last entry is the end
        has_weights = pairs.weighted or (pairs.is_adjusted and method.precision == "weights")
        self._constants = (prior,) if has_weights else (None, prior)  # the columns that are not tensors
        self._reader = ThreadPoolExecutor(1, "confdiff-reading")
        self._pending: dict[_Window, Future[list[Tensor]]] = {}

    def epoch(self, number: int, first: int, extra: Sequence[Tensor]) -> Iterator[Batch]:
        """Yield the batches of an epoch; windows that end before the first batch are not read."""
        windows = self._windows(number)
        ends = np.cumsum([self.pairs.counts[list(groups)].sum() for _, groups in windows])  # in pairs of the epoch
        next_batch = first
        carried: list[Tensor] | None = None
        for index in range(int(np.searchsorted(ends, self.starts[first], side="right")), len(windows)):
            length = int(ends[index] - self.starts[next_batch])
            columns = _appended(carried, self._take(windows, index), length)
            incomplete_batch = int(np.searchsorted(self.starts, ends[index], side="right")) - 1
            offsets = (self.starts[next_batch : incomplete_batch + 1] - self.starts[next_batch]).tolist()
            for start, end in pairwise(offsets):
                part = part_of(end - start, self._workers)
                yield self._batch([column[..., start + part.start : start + part.stop] for column in columns])
            carried = [column[..., offsets[-1] :] for column in columns]
            next_batch = incomplete_batch

    def _windows(self, epoch: int) -> list[_Window]:
        return [(epoch, tuple(groups)) for groups in self.pairs.windows(self.recipe.seed, epoch)]

    def _take(self, windows: list[_Window], index: int) -> list[Tensor]:
        """Return the columns of a window and start reading the next one, which may be in the next epoch."""
        window = windows[index]
        future = self._pending.pop(window, None) or self._reader.submit(self._read, window)
        columns = future.result()
        following = windows[index + 1 : index + 2]
        if not following and window[0] + 1 < self.recipe.epochs:
            following = self._windows(window[0] + 1)[:1]
        self._pending = {next_window: self._reader.submit(self._read, next_window) for next_window in following}
        return columns

    def _read(self, window: _Window) -> list[Tensor]:
        """Read the columns of a window: rows (2, w), targets (w,), and precision and weights (w,) if there are any."""
        epoch, groups = window
        swapped = self.method.needs_exchangeable_pairs
        pairs = self.method.prepare(self.pairs.shuffled(list(groups), self.recipe.seed, epoch, swapped=swapped))
        others = [column for column in (pairs.precision, pairs.weight) if column is not None]
        columns = [*pairs.targets(self.method.learns_from, is_part=True), *others]
        return [torch.stack([pairs.left, pairs.right]), *(column.to(self.device) for column in columns)]

    def _batch(self, columns: Sequence[Tensor]) -> Batch:
        rows, *tensors = columns
        return rows, (*tensors, *self._constants)

    def identity(self, items: Items) -> dict[str, list[Tensor | bytes]]:
        """Return the shape of the items, 1,000 of them, and the identity of the files of pairs."""
        sampled_rows = torch.linspace(0, len(items) - 1, 1000, dtype=torch.float64).long()
        sampled = require_dense(items, "a stream of pairs")[sampled_rows]
        return {"items": [str(tuple(items.shape)).encode(), sampled], "pairs": self.pairs.identity()}


def _appended(carried: list[Tensor] | None, window: list[Tensor], length: int) -> list[Tensor]:
    """Append a window to the rest of the one before; keep the last ``length`` pairs, as a resumed run skips some."""
    columns = window
    if carried is not None:
        columns = [torch.cat([rest, column], dim=-1) for rest, column in zip(carried, window, strict=True)]
    return [column[..., column.shape[-1] - length :] for column in columns]
