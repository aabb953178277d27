"""What the paper sets for each data set, and the two ways to carry out its experiments.

``paper`` does what the text says, ``authors`` what their released program does.
"""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Setting:
    """What the paper sets for a data set: pairs, the size of a batch (teachers: in items), the optimiser's rates."""

    n_pairs: int
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5


SETTINGS: dict[str, Setting] = {
    "mnist": Setting(15_000, 256),
    "kmnist": Setting(15_000, 256),
    "fashion": Setting(15_000, 256),
    "cifar10": Setting(10_000, 128, 5e-4),
    "optdigits": Setting(1_200),
    "usps": Setting(2_000),
    "pendigits": Setting(2_500),
    "letter": Setting(4_000),
    # Not in the paper: numbers of pairs that can be drawn at priors from .2 to .8.
    "digits": Setting(400),
    "cifar10h": Setting(2_000, 128, 5e-4),
}
"""Data set -> setting. Comparisons that people made are not sampled and have none."""


GRADED_BY_PEOPLE = ("cifar10h",)
"""Data sets whose posteriors are the votes of people; no teacher grades them."""


@dataclass(frozen=True)
class Protocol:
    """One way to carry out the experiments of the paper.

    model, picture_model: the network for tables and grey pictures, and that for CIFAR-10.
    forward_passes: whether x and x' of a batch are scored together or apart.
    test: which items of the class that is not needed whole make up the test set.
    positive: data sets in which other classes are called positive than the text says.
    scrambles_colours: whether CIFAR-10's pictures are reshaped instead of transposed.
    """

    model: str
    picture_model: str
    forward_passes: int
    test: Literal["first", "random"]
    positive: dict[str, tuple[str, ...]] = field(default_factory=dict)
    scrambles_colours: bool = False


PROTOCOLS: dict[str, Protocol] = {
    "paper": Protocol(model="mlp", picture_model="resnet34", forward_passes=1, test="random"),
    "authors": Protocol(
        model="authors-mlp",
        picture_model="resnet32",
        forward_passes=2,
        test="first",
        positive={"pendigits": ("1", "3", "5", "7", "9")},
        scrambles_colours=True,
    ),
}
"""Name -> protocol. In both the teacher is trained at the natural class balance and grades unadjusted, in-sample."""
