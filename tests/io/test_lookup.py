from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confdiff.io.lookup import find_rows, first_repeated, rows_of_ids, rows_of_labels

BIG = 2**53


def as_objects(*values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    ("ids", "wanted", "rows"),
    [
        (np.array([30, 10, 20]), np.array([10, 99, 30]), [1, -1, 0]),
        (np.array([30, 10, 20]), np.array([10.0, np.nan, 10.5]), [1, -1, -1]),
        (np.array([30, 10, 20]), np.array(["10", "ten", "30.0"]), [1, -1, -1]),
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
        (np.array([10, 7]), np.array(["1_0", "007", " 7", "7", "+7", "1e1"]), [-1, -1, -1, 1, -1, -1]),
        (np.array([BIG + 1, BIG]), np.array([str(BIG), str(BIG + 1), str(BIG + 2)]), [1, 0, -1]),
        (np.array([str(BIG + 1), str(BIG)]), np.array([BIG, BIG + 1, BIG + 2]), [1, 0, -1]),
        (np.array([2**63 + 1, 2**63], dtype=np.uint64), np.array([2**63, 7], dtype=np.uint64), [1, -1]),
        (np.array([7, 2**63], dtype=np.uint64), np.array([7, -(2**62)]), [0, -1]),
        (np.array([7, 5], dtype=np.uint8), np.array([5, 261]), [1, -1]),
        (as_objects(2**70, 2**70 + 1), as_objects(str(2**70 + 1), 2**70, float("nan"), 10**400), [1, 0, -1, -1]),
        (as_objects(1, "a", 2.5), as_objects("a", 1.0, "2.5", True), [1, 0, 2, -1]),
        (np.array([b"a", b"b"]), np.array(["b", "a"]), [1, 0]),
        (as_objects(Decimal("7.00"), Decimal("2.50")), np.array([7, 8]), [0, -1]),
        (np.array([True, False]), np.array(["false", "False", "0"]), [1, -1, -1]),
        (pd.Series([BIG + 1, None, BIG], dtype="Int64"), np.array([BIG, BIG + 1]), [2, 0]),
        (pd.Series(["b", "a"], dtype="category"), pd.Series(["a", None, "z"], dtype="string"), [1, -1, -1]),
        (pd.Series([10, 20], dtype="category"), np.array(["20", "2_0"]), [1, -1]),
        (pa.chunked_array([[1, 2], [3, None]]), pa.array(["3", None, "2"]), [2, -1, 1]),
        (np.array(["a"]), np.array([], dtype=str), []),
    ],
)
def test_rows_are_found_by_id(ids, wanted, rows):
    if isinstance(ids, pd.Series | pa.ChunkedArray):
        assert find_rows(np.asarray(ids, dtype=object), np.asarray(wanted)).tolist() == rows
    found = find_rows(ids, wanted)
    assert found.dtype == np.int64
    assert found.tolist() == rows


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_any_order_of_many_ids(kind):
    rng = np.random.default_rng(0)
    ids = rng.permutation(500).astype(str if kind is object else kind).astype(kind)
    rows = rng.integers(500, size=2000)
    assert (find_rows(ids, ids[rows]) == rows).all()


@pytest.mark.parametrize("inexact", [np.array([1.0, 2.0**53]), as_objects(1, -(2.0**53)), np.array([0.5, 2.0**60])])
def test_floats_that_are_not_exact_are_refused(inexact):
    message = r"^left: the id -?\d+ is a float, and floats of 2\*\*53 or more do not hold every integer"
    with pytest.raises(ValueError, match=message):
        find_rows(np.array(["a", "b"]), inexact, name="left")
    with pytest.raises(ValueError, match=message):
        first_repeated(inexact, name="left")


def test_short_floats_are_exact_only_up_to_their_own_digits():
    assert find_rows(np.array([2**24 - 1]), np.array([2**24 - 1], dtype=np.float32)).tolist() == [0]
    with pytest.raises(ValueError, match=r"floats of 2\*\*24 or more"):
        find_rows(np.array([2**24 + 1]), np.array([2**24 + 1], dtype=np.float32))


IDS = st.one_of(st.integers(-(2**70), 2**70), st.integers(BIG - 2, BIG + 2), st.text("01_.e-+ ", max_size=4))
TYPES = {
    "text": lambda values: np.array([str(value) for value in values], dtype=str),
    "text object": lambda values: as_objects(*(str(value) for value in values)),
    "as they are": lambda values: as_objects(*values),
}


@given(ids=st.lists(IDS, unique_by=str), wanted=st.lists(IDS), forms=st.tuples(*[st.sampled_from(sorted(TYPES))] * 2))
def test_two_ids_are_equal_if_their_texts_are(ids, wanted, forms):
    rows = find_rows(TYPES[forms[0]](ids), TYPES[forms[1]](wanted))
    texts = [str(value) for value in ids]
    assert rows.tolist() == [texts.index(str(value)) if str(value) in texts else -1 for value in wanted]


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
    assert first_repeated(np.array(["b", "a", "b", "a"])) == 2
    assert first_repeated(as_objects(7, "a", "7")) == 2
    assert first_repeated(as_objects(2**70, 2**70 + 1)) is None
    assert first_repeated(np.array([], dtype=str)) is None
