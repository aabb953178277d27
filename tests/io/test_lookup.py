import numpy as np
import pandas as pd
import pytest

from confdiff.io.lookup import find_rows, first_repeated, rows_of_ids, rows_of_labels


def as_objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    ("ids", "wanted", "rows"),
    [
        (np.array([30, 10, 20]), np.array([10, 99, 30]), [1, -1, 0]),
        (np.array([30, 10, 20]), np.array([10.0, np.nan, 10.5]), [1, -1, -1]),
        (np.array([30, 10, 20]), np.array(["10", "ten", "30.0"]), [1, -1, 0]),
        (np.array([30, 10, 20]), as_objects("10", None, 30, "", pd.NA), [1, -1, 0, -1, -1]),
        (np.array([0.5, 1.5]), np.array([1.5, 1.0]), [1, -1]),
        (np.array(["b", "a"]), np.array(["a", "c"]), [1, -1]),
        (np.array(["b", "a"]), as_objects("a", None, "b", np.nan, pd.NA), [1, -1, 0, -1, -1]),
        (np.array(["7", "nan", "None"]), np.array([7.0, np.nan]), [0, -1]),
        (np.array(["7", "nan", "None"]), np.array([7, 8]), [0, -1]),
        (as_objects("b", "", "a"), as_objects("", "a", None), [1, 2, -1]),
        (as_objects(30, 10), np.array([10, 20]), [1, -1]),
        (np.array(["2024-01-02", "2024-01-01"], dtype="M8[D]"), np.array(["2024-01-01"], dtype="M8[D]"), [1]),
        (np.array([], dtype=np.int64), np.array([1, 2]), [-1, -1]),
        (np.array(["a"]), np.array([], dtype=str), []),
    ],
)
def test_rows_are_found_by_id(ids, wanted, rows):
    found = find_rows(ids, wanted)
    assert found.dtype == np.int64
    assert found.tolist() == rows


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_any_order_of_many_ids(kind):
    rng = np.random.default_rng(0)
    ids = rng.permutation(500).astype(str if kind is object else kind).astype(kind)
    rows = rng.integers(500, size=2000)
    assert (find_rows(ids, ids[rows]) == rows).all()


def test_ids_that_do_not_exist_are_named_with_their_row():
    ids = np.array(["a", "b"])
    assert rows_of_ids(ids, np.array(["b", "a"]), name="left").tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"^left, row 1: the id 'z' is not among the items \(2 such rows\)\.$"):
        rows_of_ids(ids, np.array(["b", "z", "z"]), name="left")
    with pytest.raises(ValueError, match=r"^users, row 0: the id 3 is not among the users in training\.$"):
        rows_of_ids(np.array([1, 2]), np.array([3]), name="users", among="the users in training")


def test_labels_of_a_data_frame_keep_their_types():
    index = pd.Index(["1", 1, 2])
    assert rows_of_labels(index, as_objects(1, "1", 2), name="pairs").tolist() == [1, 0, 2]
    with pytest.raises(ValueError, match=r"pairs, row 0: the id '2' is not among the labels of the index\."):
        rows_of_labels(index, as_objects("2"), name="pairs")


def test_the_first_repeated_id():
    assert first_repeated(np.array([3, 1, 2])) is None
    assert first_repeated(np.array(["b", "a", "b", "a"])) == 3
    assert first_repeated(np.array([], dtype=str)) is None
