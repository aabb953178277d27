"""Categories of data frames."""

import numpy as np
import pandas as pd
import pytest

from confdiff.estimators.trees.categories import Categories

FRAME = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": pd.Categorical(["red", None, "blue"]), "code": [3, 1, 3]})


def test_columns_of_the_type_category_are_found():
    categories = Categories.of_frame("auto", FRAME)
    assert categories.columns == (1,)
    assert categories.values == {"colour": ("blue", "red")}
    assert Categories.of_frame(None, FRAME) == Categories()


def test_unknown_and_missing_categories_are_missing_values():
    categories = Categories.of_frame("auto", FRAME)
    new = FRAME.assign(colour=["blue", "green", None])
    encoded = categories.encoded(new)["colour"].to_numpy()
    np.testing.assert_array_equal(encoded, [0, np.nan, np.nan])
    assert list(new["colour"])[:2] == ["blue", "green"]  # the frame itself is unchanged


def test_the_order_of_rows_and_unused_categories_do_not_matter():
    other = FRAME.iloc[::-1].assign(colour=pd.Categorical(["blue", None, "red"], categories=["x", "red", "blue"]))
    assert Categories.of_frame("auto", other) == Categories.of_frame("auto", FRAME)


def test_numbers_as_categories_stay_numbers():
    categories = Categories.of_frame(["code"], FRAME)
    assert categories == Categories(columns=(2,))
    categories.check(FRAME[["size", "size", "code"]].to_numpy(), None)
    with pytest.raises(ValueError, match=r"got 0.5 in column 'code'"):
        categories.check(np.full((2, 3), 0.5), ("size", "colour", "code"))


def test_other_values_are_refused():
    frame = FRAME.assign(colour=pd.Categorical([(1, 2), (3, 4), (1, 2)]))
    with pytest.raises(ValueError, match=r"must be texts, numbers or true/false; got .* in column 'colour'"):
        Categories.of_frame("auto", frame)
