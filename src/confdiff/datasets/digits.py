"""Handwritten digits that ship with scikit-learn: 1,797 images of 8 x 8 pixels, even against odd."""

import numpy as np

from confdiff.datasets.dataset import Dataset


def load_digits() -> Dataset:
    """The digits, with pixels from 0 to 16; the even ones are positive."""
    from sklearn import datasets

    bunch = datasets.load_digits()
    return Dataset("digits", bunch.data.astype(np.float32), bunch.target, positive=(0, 2, 4, 6, 8))
