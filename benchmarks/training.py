"""Compare our training loop with a plain one, in one run: same network, batch and epochs, one thread.

The plain loop works the way the paper's program does: a DataLoader over tensors (both items, the difference, and both
labels, which it carries along unused), a forward pass for x and one for x', the four terms written out, torch's default
Adam, and the test accuracy after every epoch through a second DataLoader. The contestants take turns epoch by epoch
and the best epoch of each counts, so that a busy machine disturbs all alike. Two references are the time of the bare
matrix products of a step, and a plain loop whose loader leaves the labels out.
"""

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from confdiff.losses import logistic
from confdiff.methods import METHODS
from confdiff.metrics import accuracy
from confdiff.models import build_model
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import require_dense
from confdiff.training import Recipe, predict_scores
from confdiff.training.run import Run

PRIOR = 0.5


@dataclass(frozen=True)
class Shape:
    """Hold the sizes of a data set, the rough time of one epoch of all contestants, and the ratio aimed at."""

    name: str
    n_features: int
    n_pairs: int
    n_test: int
    batch_size: int
    round_seconds: float
    aim: float

    @property
    def steps(self) -> int:
        """Return the number of steps in an epoch."""
        return math.ceil(self.n_pairs / self.batch_size)


SHAPES = (
    Shape("MNIST", n_features=784, n_pairs=15_000, n_test=10_000, batch_size=256, round_seconds=6, aim=1.4),
    Shape("Pendigits", n_features=16, n_pairs=2_500, n_test=2_199, batch_size=128, round_seconds=0.7, aim=1.8),
)


@dataclass(frozen=True)
class Data:
    """Hold random features with the shape of a data set; the time does not depend on their values."""

    pairs: Pairs
    test_items: Tensor
    test_labels: Tensor


def make_data(shape: Shape) -> Data:
    rng = torch.Generator().manual_seed(0)
    items = torch.randn(2 * shape.n_pairs, shape.n_features, generator=rng)
    c = torch.rand(shape.n_pairs, generator=rng) * 2 - 1
    rows = torch.randperm(len(items), generator=rng).view(2, -1)
    test_items = torch.randn(shape.n_test, shape.n_features, generator=rng)
    return Data(Pairs(items, rows[0], rows[1], c), test_items, torch.rand(shape.n_test, generator=rng).round())


def our_network(shape: Shape) -> nn.Module:
    return build_model("mlp", shape.n_features)


def plain_network(shape: Shape) -> nn.Module:
    """Return the same layers with the same initial weights, run by torch one after the other."""
    return nn.Sequential(*our_network(shape).children())


def our_loop(data: Data, shape: Shape, evaluates: bool) -> Iterator[None]:
    """Train without end and yield after every epoch."""
    recipe = Recipe(epochs=10**6, batch_size=shape.batch_size, device="cpu")
    run = Run(our_network(shape).train(), data.pairs, METHODS["confdiff-abs"], PRIOR, logistic, recipe)

    def evaluate(model: nn.Module) -> dict[str, float]:
        return {"accuracy": accuracy(predict_scores(model, data.test_items), data.test_labels)}

    while True:
        for _ in range(run.steps_per_epoch):
            run.take_step()
        run.end_epoch(evaluate if evaluates else None)
        yield


def plain_loop(
    data: Data, shape: Shape, evaluates: bool, labels: bool = True, model: nn.Module | None = None
) -> Iterator[None]:
    """Train without end and yield after every epoch."""
    model = plain_network(shape) if model is None else model
    pairs = data.pairs
    assert pairs.difference is not None
    items = require_dense(pairs.items, "this benchmark")
    columns = [items[pairs.left], items[pairs.right], pairs.difference]
    if labels:
        columns += [torch.ones(shape.n_pairs)] * 2
    training = DataLoader(TensorDataset(*columns), batch_size=shape.batch_size, shuffle=True)
    test = DataLoader(TensorDataset(data.test_items, data.test_labels), batch_size=shape.batch_size)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)
    while True:
        model.train()
        for first, second, c, *_ in training:
            optimizer.zero_grad()
            g, g_prime = model(first)[:, 0], model(second)[:, 0]
            first_positive = ((PRIOR - c) * -functional.logsigmoid(g)).mean().abs()
            first_negative = ((1 - PRIOR + c) * -functional.logsigmoid(-g)).mean().abs()
            second_positive = ((PRIOR + c) * -functional.logsigmoid(g_prime)).mean().abs()
            second_negative = ((1 - PRIOR - c) * -functional.logsigmoid(-g_prime)).mean().abs()
            risk = (first_positive + first_negative + second_positive + second_negative) / 2
            risk.backward()
            optimizer.step()
        if evaluates:
            model.eval()
            with torch.no_grad():
                right = sum(int(((model(x)[:, 0] >= 0) == (y > 0)).sum()) for x, y in test)
            assert 0 <= right <= shape.n_test
        yield


def matrix_products(shape: Shape) -> Iterator[None]:
    """Compute only the matrix products of the forward and backward passes of an epoch's steps."""
    rows = 2 * shape.batch_size
    d = shape.n_features
    h = 300
    x = torch.randn(rows, d)
    hidden = torch.randn(h, rows)
    gradient = torch.randn(h, rows)
    first = torch.randn(h, d)
    middle = torch.randn(h, h)
    last = torch.randn(1, h)
    out = torch.randn(1, rows)
    while True:
        for _ in range(shape.steps):
            _ = first @ x.t(), middle @ hidden, middle @ hidden, last @ hidden
            _ = gradient @ x, gradient @ hidden.t(), gradient @ hidden.t(), out @ hidden.t()
            _ = middle.t() @ gradient, middle.t() @ gradient, last.t() @ out
        yield


def measure(shape: Shape, repeats: int) -> dict[str, float]:
    """Return the best time of an epoch of each contestant, in seconds; they take turns epoch by epoch."""
    data = make_data(shape)
    contestants = {
        "plain": plain_loop(data, shape, evaluates=True),
        "ours": our_loop(data, shape, evaluates=True),
        "plain, no labels": plain_loop(data, shape, evaluates=True, labels=False),
        "plain, no evaluation": plain_loop(data, shape, evaluates=False),
        "ours, no evaluation": our_loop(data, shape, evaluates=False),
        "matrix products": matrix_products(shape),
    }
    best = dict.fromkeys(contestants, math.inf)
    for _ in range(repeats):
        for name, loop in contestants.items():
            start = time.perf_counter()
            next(loop)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="about how long to measure each shape")
    seconds = parser.parse_args().seconds
    torch.set_num_threads(1)
    for shape in SHAPES:
        best = measure(shape, repeats=max(5, int(seconds / shape.round_seconds)))
        print(f"{shape.name} shape: {shape.n_features} features, {shape.n_pairs} pairs, batch {shape.batch_size}")
        for name, epoch in best.items():
            print(f"  {name:22s} {epoch:7.3f} s per epoch  {1e3 * epoch / shape.steps:7.2f} ms per step")
        ratio = best["plain"] / best["ours"]
        alone = best["plain, no evaluation"] / best["ours, no evaluation"]
        lean = best["plain, no labels"] / best["ours"]
        products = best["matrix products"] / best["ours, no evaluation"]
        print(f"  faster than the plain loop: {ratio:.2f}x (aim: {shape.aim}x)")
        print(f"  the same, labels left out of its loader: {lean:.2f}x; without evaluation in either: {alone:.2f}x")
        print(f"  matrix products are {products:.0%} of our step")


if __name__ == "__main__":
    main()
