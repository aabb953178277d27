import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from confdiff.validation import (
    check_difference,
    check_finite,
    check_items,
    check_labels,
    check_prior,
    check_vector,
    similar_warnings_once,
    warn_user,
)


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=1, max_dims=2, max_side=8)))
def test_finite_means_finite(array):
    """Also where the sum of finite numbers overflows."""
    if np.isfinite(array).all():
        check_finite("x", array)
    else:
        with pytest.raises(ValueError, match="x must be finite"):
            check_finite("x", array)


@given(
    hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.int64]), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)
    )
)
def test_differences_are_vectors_in_range_or_refused(array):
    good = array.ndim == 1 and np.isfinite(array).all() and (np.abs(array) <= 1 + 1e-6).all()
    if good:
        assert check_difference(array).dtype == np.float32
    else:
        with pytest.raises(ValueError, match="confidence difference"):
            check_difference(array)


@given(st.floats() | st.integers() | st.booleans() | st.none() | st.text())
def test_a_prior_is_strictly_inside_the_unit_interval(value):
    if isinstance(value, float | int) and not isinstance(value, bool) and 0 < value < 1:
        assert check_prior(value) == value
    else:
        with pytest.raises(ValueError, match="strictly between 0 and 1"):
            check_prior(value)


@pytest.mark.parametrize(
    "labels", [[0, 1, 1], [-1, 1, 1], [False, True, True], np.array([0.0, 1.0, 1.0]), torch.tensor([0, 1, 1])]
)
def test_labels_in_any_form(labels):
    assert check_labels(labels, 3).tolist() == [0, 1, 1]


def test_items_are_not_copied_without_need():
    items = np.zeros((3, 2), dtype=np.float32)
    assert check_items("x", items) is items


def test_numbers_in_an_object_array_are_numbers():
    assert check_vector("x", np.array([1, 2.5], dtype=object)).tolist() == [1, 2.5]
    with pytest.raises(ValueError, match="x must be numeric; got None at row 1"):
        check_vector("x", np.array([1, None, "a"], dtype=object))
    with pytest.raises(ValueError, match="x must be numeric; got values of type"):
        check_vector("x", np.array(["a", "b"]))


def test_warnings_that_differ_in_numbers_are_issued_once():
    @similar_warnings_once()
    def warn_often():
        for number in range(3):
            warn_user(f"{number} pairs are left out.")
            warn_user(f"{number} items are left out.", RuntimeWarning)

    with pytest.warns() as caught:
        warn_often()
    assert [(warning.category, str(warning.message), warning.filename) for warning in caught] == [
        (UserWarning, "0 pairs are left out.", __file__),
        (RuntimeWarning, "0 items are left out.", __file__),
    ]
