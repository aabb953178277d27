"""Complete and scaled features for the estimation of a class prior."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from confdiff.estimators.trees.categories import Categories
from confdiff.estimators.trees.completing import Completion, complete_pairs
from confdiff.pairs import Pairs

ITEMS = np.array([[1.0, 0, np.nan], [np.nan, 2, np.nan], [5.0, np.nan, np.nan], [3.0, 0, np.nan]])


def test_missing_numbers_are_medians_and_categories_are_columns():
    completion = Completion.of(ITEMS, (1,))
    complete = completion.apply(ITEMS)
    assert complete.shape == (4, 4)  # two columns of numbers, two categories
    assert np.isfinite(complete).all()
    assert complete[1, 0] == complete[3, 0] == 0  # the median, which is the mean here
    np.testing.assert_array_equal(complete[:, 1], 0)  # no value at all
    np.testing.assert_array_equal(complete[:, 2] > 0, [True, False, False, True])
    np.testing.assert_allclose(complete.mean(axis=0), 0, atol=1e-6)
    unknown = completion.apply(np.array([[2.0, 7, 1]]))
    assert (unknown[0, 2:] < 0).all()


def test_labelled_items_are_encoded_like_the_pairs():
    frame = pd.DataFrame({"size": [1.0, np.nan, 5.0], "colour": pd.Categorical(["red", "blue", "red"])})
    categories = Categories.of_frame("auto", frame)
    pairs = Pairs.from_rows([[0, 1], [1, 2]], categories.encoded(frame), [0.1, 0.2], allow_missing=True)
    complete, (rows, labels) = complete_pairs(pairs, (frame.iloc[::-1], [1, 0, 1]), categories)
    np.testing.assert_array_equal(rows[::-1], complete.items.numpy())
    assert labels == [1, 0, 1]
    complete.require_complete()
    with pytest.raises(ValueError, match=r"labelled items must have the columns \['size', 'colour'\]"):
        complete_pairs(pairs, (frame[["colour", "size"]], [1, 0, 1]), categories)
    with pytest.raises(ValueError, match="labelled items must have 2 features; got 3"):
        complete_pairs(pairs, (ITEMS, [1, 0, 1, 1]), categories)


def test_sparse_items_stay_as_they_are():
    pairs = Pairs(csr_array(np.eye(3)), [0, 1], [1, 2], [0.1, 0.2])
    assert complete_pairs(pairs, None, Categories()) == (pairs, None)
