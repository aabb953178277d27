"""Data sets with a binary partition of their classes, by name."""

from collections.abc import Callable

from confdiff.datasets.dataset import Dataset
from confdiff.datasets.digits import load_digits
from confdiff.validation import check_choice

__all__ = ["DATASETS", "Dataset", "load"]

DATASETS: dict[str, Callable[[], Dataset]] = {"digits": load_digits}
"""Name -> function that loads it."""


def load(name: str) -> Dataset:
    """The data set called ``name``.

    >>> load("digits").items.shape
    (1797, 64)
    """
    return DATASETS[check_choice("data set", name, DATASETS)]()
