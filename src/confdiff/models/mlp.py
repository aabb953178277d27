"""Linear models and multilayer perceptrons."""

from torch import Tensor, nn


def linear(n_features: int) -> nn.Module:
    """A linear score w.x + b; with the logistic loss its unbiased risk is convex."""
    return nn.Linear(n_features, 1)


def mlp(n_features: int, *, hidden: tuple[int, ...] = (300, 300, 300)) -> nn.Module:
    """The perceptron that the paper describes: hidden layers of 300, batch norm and ReLU after each.

    The hidden layers have no bias of their own, as batch norm subtracts the mean and adds its own.
    """
    layers: list[nn.Module] = []
    for width_in, width_out in zip((n_features, *hidden[:-1]), hidden, strict=True):
        layers += [
            nn.Linear(width_in, width_out, bias=False),
            nn.BatchNorm1d(width_out),
            nn.ReLU(inplace=True),
        ]
    return nn.Sequential(*layers, nn.Linear(hidden[-1], 1))


class _AuthorsMLP(nn.Module):
    def __init__(self, n_features: int, width: int) -> None:
        super().__init__()
        self.normalise = nn.BatchNorm1d(n_features)
        self.enter = nn.Linear(n_features, width)
        self.repeat = nn.Linear(width, width)
        self.leave = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        h = self.enter(self.normalise(x)).relu()
        for _ in range(3):
            h = self.repeat(h).relu()
        scores: Tensor = self.leave(h)
        return scores


def authors_mlp(n_features: int, *, width: int = 300) -> nn.Module:
    """The network of the authors' program: batch norm on the raw input, then one hidden layer applied three times.

    Input -> batch norm -> linear(300) -> ReLU -> three times the *same* linear(300) and ReLU -> linear(1).
    """
    return _AuthorsMLP(n_features, width)
