"""Load the handwritten digits that scikit-learn includes: 1,797 pictures of 8 x 8 pixels, even against odd."""

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.dataset import Dataset

DIGITS = tuple("0123456789")
EVEN = (0, 2, 4, 6, 8)


def load_digits() -> Dataset:
    """Return the digits, with pixels from 0 to 16; the even ones are positive."""
    from sklearn import datasets

    bunch = datasets.load_digits()
    return Dataset(
        name="digits",
        items=bunch.data.astype(np.uint8),
        classes=bunch.target.astype(np.uint8),
        class_names=DIGITS,
        positive=EVEN,
        picture=eight_by_eight,
    )


def eight_by_eight(row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn pixels from 0 to 16 into a picture from 0 to 255."""
    return (row.reshape(8, 8).astype(np.uint16) * 255 // 16).astype(np.uint8)
