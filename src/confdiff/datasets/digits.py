"""Load the handwritten digits that scikit-learn includes: 1,797 pictures of 8 x 8 pixels, even against odd."""

import gzip
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.dataset import Dataset

DIGITS = tuple("0123456789")
EVEN = (0, 2, 4, 6, 8)


def load_digits() -> Dataset:
    """Return the digits, with pixels from 0 to 16; the even ones are positive."""
    table = _read_digits()
    return Dataset(
        name="digits",
        items=table[:, :-1].copy(),
        classes=table[:, -1].copy(),
        class_names=DIGITS,
        positive=EVEN,
        picture=eight_by_eight,
    )


def _read_digits() -> NDArray[np.uint8]:
    """Read the file that scikit-learn includes: 64 pixels and the digit per line.

    It is read directly, because the import of scikit-learn takes as long as the training of a method of the demo.
    """
    package = find_spec("sklearn")
    if package is None or package.origin is None:
        raise FileNotFoundError("the digits are part of scikit-learn, which is not installed.")
    with gzip.open(Path(package.origin).parent / "datasets/data/digits.csv.gz", "rt") as file:
        return np.loadtxt(file, delimiter=",", dtype=np.float64).astype(np.uint8)


def eight_by_eight(row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn pixels from 0 to 16 into a picture from 0 to 255."""
    return (row.reshape(8, 8).astype(np.uint16) * 255 // 16).astype(np.uint8)
