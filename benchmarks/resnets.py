"""Measure a step on CIFAR-10 with the paper's ResNet-34 and with the 32-layer ResNet of the authors' program.

ConfDiff-ABS on batches of 128 pairs of real pictures (CONFDIFF_DATA; one batch of the five is enough), graded by their
labels, one thread, in turns. The first step of each is not counted.
"""

from collections.abc import Iterator
from time import process_time

import torch

from confdiff.datasets import load
from confdiff.models import build_model
from confdiff.pairs import Pairs, sample_pairs
from confdiff.training import Recipe, train
from confdiff.validation import as_tensor

PAIRS = 128
STEPS = 3


def steps(network: str, pairs: Pairs) -> Iterator[float]:
    """Train step by step, one epoch each, and yield the processor time of each."""
    model = build_model(network, pairs.items.shape[1])
    recipe = Recipe(epochs=1, batch_size=PAIRS, learning_rate=5e-4, device="cpu")
    while True:
        start = process_time()
        train(model, pairs, "confdiff-abs", prior=0.5, recipe=recipe)
        yield process_time() - start


def main() -> None:
    torch.set_num_threads(1)
    data = load("cifar10", incomplete=True)
    labels = as_tensor(data.labels)
    pairs = sample_pairs(as_tensor(data.items), labels=labels, n_pairs=PAIRS, prior=0.5)
    pairs = pairs.graded_by(labels.float()).compact()
    runs = {name: steps(name, pairs) for name in ("resnet32", "resnet34")}
    times = [{name: next(run) for name, run in runs.items()} for _ in range(STEPS + 1)][1:]
    best = {name: min(turn[name] for turn in times) for name in runs}
    for name, seconds in best.items():
        print(f"{name:10s} {seconds:6.1f} s per step of {PAIRS} pairs: {seconds / best['resnet32']:.1f}x resnet32")


if __name__ == "__main__":
    main()
