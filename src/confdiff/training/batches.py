"""Where a run draws its batches from: a source, of pairs in memory or of a stream (stream.py)."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

import torch
from torch import Tensor

from confdiff.methods import Method
from confdiff.pairs import Pairs
from confdiff.randomness import generator
from confdiff.training.recipe import Recipe, find_device
from confdiff.validation import no_weight

Column = Tensor | float | None
"""What pairs bring: a tensor with an entry for each of them, or what is the same for all."""

Batch = tuple[Tensor, Sequence[Any]]
"""Row numbers (2, b) of b pairs, and their columns: the targets, the weight and the prior."""


class Source(Protocol):
    """What a run asks of the place its batches come from."""

    n: int
    """Pairs in an epoch."""

    sizes: list[int]
    """Pairs in each batch of an epoch."""

    place: torch.device
    """Where the row numbers are, and the items must be."""

    def epoch(self, number: int, first: int, extra: Sequence[Tensor]) -> Iterator[Batch]:
        """The batches of an epoch from the one numbered ``first`` on; ``extra`` are (n,) targets of a companion."""

    def identity(self, items: Tensor) -> dict[str, list[Tensor | bytes]]:
        """What tells these items and these pairs from others."""


def batch_sizes(n: int, size: int) -> list[int]:
    """Pairs in each batch of an epoch; a last batch of one joins the one before, as batch norm cannot take it.

    >>> batch_sizes(5, 2), batch_sizes(6, 2)
    ([2, 3], [2, 2, 2])
    """
    full, rest = divmod(n, size)
    sizes = [size] * full + [rest] * (rest > 0)
    if rest == 1 and full:
        sizes[-2:] = [size + 1]
    return sizes


class InMemory:
    """Pairs that lie in memory: an epoch is one permutation of all of them, cut into batches."""

    def __init__(self, pairs: Pairs, method: Method, prior: float | Tensor | None, recipe: Recipe) -> None:
        if method.needs_exchangeable_pairs:
            pairs = pairs.shuffled_orientation(recipe.seed)
        self.n, self.seed, self.place = len(pairs), recipe.seed, find_device(recipe.device)
        self.sizes = batch_sizes(self.n, recipe.batch_size)
        self.rows = torch.stack([pairs.left, pairs.right]).to(self.place)
        columns = [*pairs.targets(method.learns_from), _weight(pairs), prior]
        self.columns = [column.to(self.place) if isinstance(column, Tensor) else column for column in columns]

    def epoch(self, number: int, first: int, extra: Sequence[Tensor]) -> Iterator[Batch]:
        """Bring the pairs into the order of an epoch and cut them into batches."""
        order = torch.randperm(self.n, generator=generator(self.seed, "order", number)).to(self.place)
        rows = torch.split(torch.stack([side.index_select(0, order) for side in self.rows]), self.sizes, dim=1)
        *targets, weight, prior = self.columns
        columns = [self._cut(column, order) for column in (*targets, *extra, weight, prior)]
        return islice(zip(rows, zip(*columns, strict=True), strict=True), first, None)

    def _cut(self, column: Column, order: Tensor) -> Sequence[Column]:
        """A column in batches; what is the same for all pairs is the same for all batches."""
        if isinstance(column, Tensor):
            return torch.split(column.index_select(0, order), self.sizes)
        return [column] * len(self.sizes)

    def identity(self, items: Tensor) -> dict[str, list[Tensor | bytes]]:
        """The items and the pairs themselves."""
        return {"items": [items], "pairs": [self.rows, *(c for c in self.columns if isinstance(c, Tensor))]}


def _weight(pairs: Pairs) -> Tensor | None:
    """The weights with a mean of 1, as a part of the pairs may have another mean than all of them."""
    if pairs.weight is None:
        return None
    if not pairs.weight.any():
        raise no_weight()
    return pairs.weight / pairs.weight.mean()
