"""Training recipes: optimisers, schedules, devices, and the dataclass that names them."""

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
"""Name -> optimiser. A recipe also takes a callable with the signature of ``torch.optim.Adam``."""


def one_cycle(progress: float) -> float:
    """Return the learning rate, as a fraction of its peak, after a fraction ``progress`` of the steps.

    A cosine rises from 1/25 to 1 in the first 30 %, then a cosine falls to almost 0 (Smith and Topin 2018).

    >>> [round(one_cycle(t), 3) for t in (0, 0.3, 0.65, 1)]
    [0.04, 1.0, 0.5, 0.0]
    """
    if progress < 0.3:
        return 1 - (1 - 1 / 25) * (1 + math.cos(math.pi * progress / 0.3)) / 2
    return (1 + math.cos(math.pi * (progress - 0.3) / 0.7)) / 2


SCHEDULES: dict[str, Callable[[float], float]] = {"constant": lambda progress: 1.0, "one-cycle": one_cycle}
"""Name -> fraction of the peak learning rate, as a function of the fraction of steps done."""


def epochs_for(n_pairs: int, batch_size: int) -> int:
    """Return the default number of epochs: 20, or more if 20 epochs have fewer than 500 steps.

    >>> epochs_for(15_000, 256), epochs_for(1_000, 256)
    (20, 125)
    """
    return max(20, math.ceil(500 / math.ceil(n_pairs / batch_size)))


_LEARNING_RATE_OF_MODEL = {"linear": 0.1}  # a linear model needs larger steps than other networks
_DEFAULT_LEARNING_RATE = 3e-3  # of other networks


def learning_rate_for(model: object) -> float:
    """Return the default peak learning rate of a network for a one-cycle schedule.

    Parameters
    ----------
    model : str, nn.Module or callable
        The network, as in :func:`confdiff.models.build_model`.

    Examples
    --------
    >>> learning_rate_for("linear"), learning_rate_for("mlp")
    (0.1, 0.003)
    """
    name = model if isinstance(model, str) else ""
    return _LEARNING_RATE_OF_MODEL.get(name, _DEFAULT_LEARNING_RATE)


@dataclass(frozen=True)
class Recipe:
    """Settings of training other than the data, the network and the method. The defaults are the paper's.

    Parameters
    ----------
    epochs : int, default=200
        Passes over the pairs.
    batch_size : int, default=256
        Pairs per step.
    learning_rate : float, default=0.001
        Peak learning rate of the optimiser.
    weight_decay : float, default=0.00001
        Weight decay of the optimiser.
    optimizer : str or callable, default="adam"
        A name from :data:`OPTIMIZERS`, or a callable such as ``torch.optim.Adagrad``.
    schedule : str, default="constant"
        A name from :data:`SCHEDULES`.
    forward_passes : {1, 2}, default=1
        1 scores x and x' together; 2 scores them separately, each with its own batch-norm statistics.
    device : str, default="auto"
        ``"cpu"``, ``"cuda"``, ``"mps"`` or another device of PyTorch; ``"auto"`` uses a GPU if one is available.
    seed : int, default=0
        Determines the order of the pairs, their orientation, and every random number of the network.
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
    """Return the device called ``name``; ``"auto"`` is a GPU if one is available, otherwise the CPU."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        return torch.empty(0, device=torch.device(name)).device
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"device {name!r} is not available; pass device='auto', or name cpu, cuda or mps.") from error
