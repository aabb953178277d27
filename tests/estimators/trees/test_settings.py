"""Parameters of trees that name columns."""

import numpy as np
import pytest

from confdiff.estimators.trees.settings import column_numbers, monotone_signs

NAMES = ("dose", "age", "weight")


@pytest.mark.parametrize(
    "columns", [["age", 2], [1, 2], (np.int64(1), "weight"), [False, True, True], ["weight", "age"]]
)
def test_columns_by_name_number_or_mask(columns):
    assert column_numbers("categorical_features", columns, NAMES, 3) == (1, 2)


@pytest.mark.parametrize("columns", ["age", 1, ["height"], [3], [-1], [True], [1.0]])
def test_other_columns_are_refused(columns):
    with pytest.raises(ValueError, match=r"categorical_features (must|has)"):
        column_numbers("categorical_features", columns, NAMES, 3)


def test_monotone_signs():
    assert monotone_signs(None, NAMES, 3) == (0, 0, 0)
    assert monotone_signs({"age": -1, 2: 1}, NAMES, 3) == (0, -1, 1)
    assert monotone_signs(np.array([1, 0, -1]), NAMES, 3) == (1, 0, -1)
    for wrong in ([1, 0], {"age": 2}, [0.5, 0, 0]):
        with pytest.raises(ValueError, match="monotone_constraints must map columns to 1, -1 or 0"):
            monotone_signs(wrong, NAMES, 3)
