"""Define the two ways to carry out the experiments of the paper.

``paper`` follows the text, ``authors`` the program that the authors released. The paper's settings for a data set are
in its row of :data:`~confdiff.datasets.DATASETS`.
"""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Protocol:
    """One way to carry out the experiments of the paper.

    Parameters
    ----------
    model, picture_model : str
        The network for tables and grey pictures, and the network for colour pictures.
    forward_passes : {1, 2}
        Whether x and x' of a batch are scored together (1) or one after the other (2).
    test : {"first", "random"}
        Choice of test items from the class that is not used completely.
    positive : dict
        Data set -> positive classes, where they differ from those of the text.
    scrambles_colours : bool
        Whether colour pictures are reshaped instead of transposed.
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
