import numpy as np
from sklearn import datasets

from confdiff.datasets.digits import load_digits


def test_the_digits_are_those_of_scikit_learn():
    digits = load_digits()
    expected = datasets.load_digits()
    assert np.array_equal(digits.items, expected.data)
    assert np.array_equal(digits.classes, expected.target)
    assert digits.items.dtype == digits.classes.dtype == np.uint8
