"""Networks that score a user and an item: matrix factorisation and neural collaborative filtering (He et al. 2017).

An item to be scored is a row of two whole numbers: which user, which item.
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn


class _Dropout(nn.Module):
    """Dropout from random bytes, eight to a draw: torch draws a number for each entry, a quarter of the time of a step.

    The probability is rounded to 1/256.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.dropped = round(256 * probability)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.dropped == 0:
            return x
        words = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape).to(x.dtype).ge_(self.dropped)  # 1 or 0, as floats
        return x * kept.mul_(256 / (256 - self.dropped))

    def extra_repr(self) -> str:
        return f"p={self.dropped / 256:g}"


class _Tower(nn.Module):
    """The hidden layers of the perceptron over both embeddings, each half as wide as the one before."""

    def __init__(self, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        widths = [max(1, 2 * width // 2**layer) for layer in range(layers + 1)]
        steps: list[nn.Module] = []
        for before, after in pairwise(widths):
            steps += [_Dropout(dropout), nn.Linear(before, after), nn.ReLU()]
        self.steps, self.width = nn.Sequential(*steps), widths[-1]

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        out: Tensor = self.steps(torch.cat([u, v], dim=1))
        return out


def _embeddings(n_users: int, n_items: int, width: int, std: float = 0.01) -> nn.ModuleList:
    """A table of vectors for the users and one for the items, with small first values.

    A batch has few rows of them: gradients are sparse until the optimiser, which moves all, is to see them.
    """
    tables = [nn.Embedding(count, width, sparse=True) for count in (n_users, n_items)]
    for table in tables:
        nn.init.normal_(table.weight, std=std)
    return nn.ModuleList(tables)


def _looked_up(tables: nn.ModuleList, x: Tensor) -> list[Tensor]:
    """The rows of the users and of the items; ids side by side in memory, or autograd copies every sparse gradient."""
    return [table(ids) for table, ids in zip(tables, x.T.contiguous(), strict=True)]


class _NCF(nn.Module):
    """What is known of a user times what is known of an item, a perceptron over both, or both of these."""

    def __init__(self, n_users: int, n_items: int, width: int, layers: int, dropout: float, *, product: bool) -> None:
        super().__init__()
        self.tower = _Tower(width, layers, dropout) if layers else None
        self.widths = [width] * (product + bool(layers))  # a user's vectors for either part stand in one row
        self.vectors = _embeddings(n_users, n_items, sum(self.widths))
        self.leave = nn.Linear((width if product else 0) + (self.tower.width if self.tower else 0), 1)

    def forward(self, x: Tensor) -> Tensor:
        u, v = (torch.split(rows, self.widths, dim=1) for rows in _looked_up(self.vectors, x))
        parts = [] if self.tower is None else [self.tower(u[-1], v[-1])]
        if len(parts) < len(self.widths):
            parts.append(u[0] * v[0])
        scores: Tensor = self.leave(torch.cat(parts, dim=1))
        return scores.view(-1)


class _Factorisation(nn.Module):
    """The inner product of two vectors, and an offset for each user and each item."""

    def __init__(self, n_users: int, n_items: int, width: int) -> None:
        super().__init__()
        self.vectors = _embeddings(n_users, n_items, width, std=0.05)
        self.offsets = _embeddings(n_users, n_items, 1, std=0.0)

    def forward(self, x: Tensor) -> Tensor:
        u, v = _looked_up(self.vectors, x)
        of_user, of_item = _looked_up(self.offsets, x)
        scores: Tensor = (u * v).sum(1) + of_user[:, 0] + of_item[:, 0]
        return scores


def neumf(n_users: int, n_items: int, *, width: int = 128, layers: int = 2, dropout: float = 0.5) -> nn.Module:
    """NeuMF: generalised factorisation and a perceptron side by side, the paper's network for recommenders."""
    return _NCF(n_users, n_items, width, layers, dropout, product=True)


def gmf(n_users: int, n_items: int, *, width: int = 128) -> nn.Module:
    """Generalised matrix factorisation: a weighted inner product of two embeddings."""
    return _NCF(n_users, n_items, width, 0, 0.0, product=True)


def ncf_mlp(n_users: int, n_items: int, *, width: int = 128, layers: int = 2, dropout: float = 0.5) -> nn.Module:
    """A perceptron over the embeddings of user and item."""
    return _NCF(n_users, n_items, width, layers, dropout, product=False)


def factorisation(n_users: int, n_items: int, *, width: int = 32) -> nn.Module:
    """Matrix factorisation with offsets: small and fast."""
    return _Factorisation(n_users, n_items, width)


RECOMMENDERS: dict[str, Callable[[int, int], nn.Module]] = {
    "neumf": neumf,
    "gmf": gmf,
    "ncf-mlp": ncf_mlp,
    "mf": factorisation,
}
"""Name -> factory, called with the number of users and that of items."""
