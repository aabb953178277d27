"""Networks that score a user and an item: matrix factorisation and neural collaborative filtering (He et al. 2017).

Each row to be scored has two whole numbers: the index of a user and the index of an item.
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn


class _Dropout(nn.Module):
    """Dropout from random bytes, eight per draw; torch draws one number per entry, which takes a quarter of a step.

    The probability is rounded to 1/256.
    """

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.dropped = round(256 * probability)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.dropped == 0:
            return x
        words = torch.empty(-(-x.numel() // 8), dtype=torch.int64, device=x.device).random_(-(2**63), None)
        mask = words.view(torch.uint8)[: x.numel()].view(x.shape).to(x.dtype).ge_(self.dropped)  # 1 or 0, as floats
        return x * mask.mul_(256 / (256 - self.dropped))

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
        self.steps = nn.Sequential(*steps)
        self.width = widths[-1]

    def forward(self, u: Tensor, v: Tensor) -> Tensor:
        out: Tensor = self.steps(torch.cat([u, v], dim=1))
        return out


def _embeddings(n_users: int, n_items: int, width: int, std: float = 0.01) -> nn.ModuleList:
    """Return one table of vectors for the users and one for the items, with small initial values.

    A batch uses few of their rows, so that gradients stay sparse until the optimiser, which updates all rows.
    """
    tables = [nn.Embedding(count, width, sparse=True) for count in (n_users, n_items)]
    for table in tables:
        nn.init.normal_(table.weight, std=std)
    return nn.ModuleList(tables)


def _look_up(tables: nn.ModuleList, x: Tensor) -> list[Tensor]:
    """Return the rows of the users and of the items; without contiguous ids, autograd copies every sparse gradient."""
    return [table(ids) for table, ids in zip(tables, x.T.contiguous(), strict=True)]


class _NCF(nn.Module):
    """The product of the embeddings of user and item, a perceptron over both embeddings, or both."""

    def __init__(self, n_users: int, n_items: int, width: int, layers: int, dropout: float, *, product: bool) -> None:
        super().__init__()
        self.tower = _Tower(width, layers, dropout) if layers else None
        self.widths = [width] * (product + bool(layers))  # the vectors of a user for both parts are one row
        self.vectors = _embeddings(n_users, n_items, sum(self.widths))
        self.leave = nn.Linear((width if product else 0) + (self.tower.width if self.tower else 0), 1)

    def forward(self, x: Tensor) -> Tensor:
        u, v = (torch.split(rows, self.widths, dim=1) for rows in _look_up(self.vectors, x))
        parts = [] if self.tower is None else [self.tower(u[-1], v[-1])]
        if len(parts) < len(self.widths):
            parts.append(u[0] * v[0])
        scores: Tensor = self.leave(torch.cat(parts, dim=1))
        return scores.view(-1)


class _Factorisation(nn.Module):
    """The inner product of two vectors, plus an offset for each user and each item."""

    def __init__(self, n_users: int, n_items: int, width: int) -> None:
        super().__init__()
        self.vectors = _embeddings(n_users, n_items, width, std=0.05)
        self.offsets = _embeddings(n_users, n_items, 1, std=0.0)

    def forward(self, x: Tensor) -> Tensor:
        u, v = _look_up(self.vectors, x)
        of_user, of_item = _look_up(self.offsets, x)
        scores: Tensor = (u * v).sum(1) + of_user[:, 0] + of_item[:, 0]
        return scores


def neumf(n_users: int, n_items: int, *, width: int = 128, layers: int = 2, dropout: float = 0.5) -> nn.Module:
    """Return NeuMF, generalised factorisation next to a perceptron: the paper's network for recommenders.

    Parameters
    ----------
    n_users, n_items : int
        Numbers of users and items.
    width : int
        Length of an embedding.
    layers : int
        Number of hidden layers of the perceptron.
    dropout : float
        Probability of dropout before each hidden layer.
    """
    return _NCF(n_users, n_items, width, layers, dropout, product=True)


def gmf(n_users: int, n_items: int, *, width: int = 128) -> nn.Module:
    """Return generalised matrix factorisation, a weighted inner product of two embeddings."""
    return _NCF(n_users, n_items, width, 0, 0.0, product=True)


def ncf_mlp(n_users: int, n_items: int, *, width: int = 128, layers: int = 2, dropout: float = 0.5) -> nn.Module:
    """Return a perceptron over the embeddings of user and item; parameters as in :func:`neumf`."""
    return _NCF(n_users, n_items, width, layers, dropout, product=False)


def factorisation(n_users: int, n_items: int, *, width: int = 32) -> nn.Module:
    """Return matrix factorisation with offsets, which is small and fast."""
    return _Factorisation(n_users, n_items, width)


RECOMMENDERS: dict[str, Callable[[int, int], nn.Module]] = {
    "neumf": neumf,
    "gmf": gmf,
    "ncf-mlp": ncf_mlp,
    "mf": factorisation,
}
"""Name -> factory, called with the number of users and the number of items."""
