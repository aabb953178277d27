"""Batches of pairs that are streamed: a window of pairs is trained on while a thread reads the next."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from confdiff.methods import Method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.training.batches import Batch, InMemory, Source, batch_sizes
from confdiff.training.recipe import Recipe, find_device
from confdiff.validation import not_for_streams

Window = tuple[int, tuple[int, ...]]
"""An epoch, and the row groups that are shuffled together in it."""


def source_of(pairs: Pairs | StreamedPairs, method: Method, prior: float | Tensor | None, recipe: Recipe) -> Source:
    """The source of batches that goes with pairs."""
    if isinstance(pairs, StreamedPairs):
        return Streamed(pairs, method, prior, recipe)
    return InMemory(pairs, method, prior, recipe)


def check_streamable(method: Method) -> None:
    """Whether a method can learn from pairs of which it sees a part at a time, and not what lies beside them."""
    if method.companion is not None:
        raise not_for_streams(f"method {method.name!r}", "It looks at all of them at once: train on pairs.sample(n).")
    if method.learns_from in ("labels", "posteriors"):
        raise not_for_streams(f"method {method.name!r}", f"It learns from {method.learns_from}: pass Pairs with these.")


class Streamed:
    """Pairs that come in windows: an epoch is one window after the other, each shuffled, cut into batches as one.

    What is left of a window at its end is the beginning of the first batch of the next. Batches are as many and as
    large as those of pairs in memory, and which pairs are in the k-th depends on the seed and the epoch alone.
    """

    place = torch.device("cpu")

    def __init__(self, pairs: StreamedPairs, method: Method, prior: float | Tensor | None, recipe: Recipe) -> None:
        check_streamable(method)
        if isinstance(prior, Tensor):
            raise not_for_streams("a prior for each pair", "Pass one prior for all.")
        self.pairs, self.method, self.recipe = pairs, method, recipe
        self.device, self.n = find_device(recipe.device), len(pairs)
        self.sizes = batch_sizes(self.n, recipe.batch_size)
        self.starts = np.cumsum([0, *self.sizes])  # of each batch, in pairs of the epoch; last its end
        self._same = (prior,) if pairs.weighted else (None, prior)  # the columns that are no tensors
        self._thread = ThreadPoolExecutor(1, "confdiff-reading")
        self._coming: dict[Window, Future[list[Tensor]]] = {}

    def epoch(self, number: int, first: int, extra: Sequence[Tensor]) -> Iterator[Batch]:
        """The batches of an epoch; windows that end before the first of them are not read."""
        windows = self._windows(number)
        ends = np.cumsum([self.pairs.counts[list(groups)].sum() for _, groups in windows])
        carried: Sequence[Tensor] | None = None
        for place in range(int(np.searchsorted(ends, self.starts[first], side="right")), len(windows)):
            columns = _appended(carried, self._take(windows, place), int(ends[place] - self.starts[first]))
            until = int(np.searchsorted(self.starts, ends[place], side="right")) - 1  # the batch that is not yet whole
            sizes = [*self.sizes[first:until], int(ends[place] - self.starts[until])]
            *batches, carried = zip(*(torch.split(column, sizes, dim=-1) for column in columns), strict=True)
            first = until
            yield from map(self._batch, batches)

    def _windows(self, epoch: int) -> list[Window]:
        return [(epoch, tuple(groups)) for groups in self.pairs.windows(self.recipe.seed, epoch)]

    def _take(self, windows: list[Window], place: int) -> list[Tensor]:
        """The columns of a window; while they are trained on, the thread reads the next, be it of the next epoch."""
        window, following = windows[place], windows[place + 1 : place + 2]
        coming = self._coming.pop(window, None) or self._thread.submit(self._read, window)
        columns = coming.result()
        if not following and window[0] + 1 < self.recipe.epochs:
            following = self._windows(window[0] + 1)[:1]
        self._coming = {next_one: self._thread.submit(self._read, next_one) for next_one in following}
        return columns

    def _read(self, window: Window) -> list[Tensor]:
        """The columns of a window: rows (2, w), targets and weights (w,) where there are some."""
        epoch, groups = window
        turned = self.method.needs_exchangeable_pairs
        pairs = self.pairs.shuffled(list(groups), self.recipe.seed, epoch, turned=turned)
        weights = [] if pairs.weight is None else [pairs.weight]
        columns = [*pairs.targets(self.method.learns_from), *weights]
        return [torch.stack([pairs.left, pairs.right]), *(column.to(self.device) for column in columns)]

    def _batch(self, columns: Sequence[Tensor]) -> Batch:
        rows, *others = columns
        return rows, (*others, *self._same)

    def identity(self, items: Tensor) -> dict[str, list[Tensor | bytes]]:
        """The size of the items and some of them, and what tells the files of pairs from others."""
        some = torch.linspace(0, len(items) - 1, 1000, dtype=torch.float64).long()
        return {"items": [str(tuple(items.shape)).encode(), items[some]], "pairs": self.pairs.identity()}


def _appended(carried: Sequence[Tensor] | None, window: list[Tensor], length: int) -> list[Tensor]:
    """What is left of a window and the next one; the last ``length`` pairs, as a resumed run has seen the others."""
    whole = window if carried is None else [torch.cat(two, dim=-1) for two in zip(carried, window, strict=True)]
    return [column[..., column.shape[-1] - length :] for column in whole]
