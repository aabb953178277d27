"""Constant columns."""

import numpy as np
import pytest

from confdiff.standardisation import is_constant


@pytest.mark.parametrize("value", [0.0, 0.1 + 0.2, -1e9, 1e-300, 1.5e308, 1700000000.123])
def test_a_repeated_value_is_constant(value):
    column = np.full((1000, 1), value)
    assert is_constant(column).all()
    column[3] = np.nextafter(value, np.inf)
    assert is_constant(column).all() == (value != 0)


@pytest.mark.parametrize("values", [[0.0, 1e-300], [1e9, 1e9 + 1e-3], [-1.7e308, 1.7e308], [1, 2]])
def test_small_and_large_differences_are_not_constant(values):
    assert not is_constant(np.array(values)[:, None]).any()


def test_the_precision_is_that_of_the_values():
    near = np.array([[1.0], [1.0 + 1e-7]])
    assert is_constant(near.astype(np.float32)).all()
    assert not is_constant(near).any()
