"""How to train: optimisers, schedules, devices, and the recipe that names them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch.optim import SGD, Adam, AdamW, Optimizer

from confdiff.validation import check_choice, check_count, check_number

OPTIMIZERS: dict[str, Callable[..., Optimizer]] = {
    "adam": partial(Adam, fused=True),
    "adamw": partial(AdamW, fused=True),
    "sgd": partial(SGD, momentum=0.9, fused=True),
}
"""Name -> optimiser. Any other can be given as something that is called as ``torch.optim.Adam`` is."""


def one_cycle(progress: float) -> float:
    """The share of the peak learning rate after a share ``progress`` of the steps (Smith and Topin 2018).

    A cosine from 1/25 up to 1 in the first 30 %, then a cosine down to nearly nothing.

    >>> [round(one_cycle(t), 3) for t in (0, 0.3, 0.65, 1)]
    [0.04, 1.0, 0.5, 0.0]
    """
    if progress < 0.3:
        return 1 - (1 - 1 / 25) * (1 + math.cos(math.pi * progress / 0.3)) / 2
    return (1 + math.cos(math.pi * (progress - 0.3) / 0.7)) / 2


SCHEDULES: dict[str, Callable[[float], float]] = {"constant": lambda progress: 1.0, "one-cycle": one_cycle}
"""Name -> share of the learning rate as a function of the share of the steps that are done."""


def epochs_for(n_pairs: int, batch_size: int) -> int:
    """How many epochs a schedule that ends needs: 20, and with few pairs as many as make 500 steps.

    >>> epochs_for(15_000, 256), epochs_for(1_000, 256)
    (20, 125)
    """
    return max(20, math.ceil(500 / math.ceil(n_pairs / batch_size)))


@dataclass(frozen=True)
class Recipe:
    """How to train: everything but the data, the network and the method. The defaults are the paper's.

    epochs: passes over the pairs.
    batch_size: pairs a step.
    learning_rate, weight_decay: handed to the optimiser.
    optimizer: a name from :data:`OPTIMIZERS`, or a callable such as ``torch.optim.Adagrad``.
    schedule: a name from :data:`SCHEDULES`.
    forward_passes: 1 scores x and x' together; 2 scores them apart, so that each has batch-norm statistics of its own.
    device: ``"auto"`` takes a GPU where there is one.
    seed: decides the order of the pairs, their orientation, and everything that the network draws.
    """

    epochs: int = 200
    batch_size: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5
    optimizer: str | Callable[..., Optimizer] = "adam"
    schedule: str = "constant"
    forward_passes: int = 1
    device: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        check_count("epochs", self.epochs)
        check_count("batch_size", self.batch_size)
        check_count("seed", self.seed, least=0)
        check_number("learning_rate", self.learning_rate, above=0)
        check_number("weight_decay", self.weight_decay, least=0)
        check_choice("schedule", self.schedule, SCHEDULES)
        if not callable(self.optimizer):
            check_choice("optimizer", self.optimizer, OPTIMIZERS)
        find_device(self.device)
        if self.forward_passes not in (1, 2):
            raise ValueError(f"forward_passes must be 1 or 2; got {self.forward_passes!r}.")


def find_device(name: str) -> torch.device:
    """The device called ``name``; ``"auto"`` is a GPU where there is one, else the CPU."""
    if name == "auto":
        best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device(best)
    try:
        return torch.empty(0, device=torch.device(name)).device
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device {name!r} is not there; try 'auto', 'cpu', 'cuda' or 'mps'.") from error
