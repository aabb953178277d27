"""Check that columns of vectors are read alike from all kinds of tables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from pyarrow import parquet

from confdiff.io.batches import read_batches
from confdiff.io.typed_table import read_typed_table, typed_frame
from confdiff.io.vectors import as_vectors, from_matrix, to_matrix

MATRIX = np.array([[1, 2, 3], [4, 5.5, 6], [7, 8, 9]], dtype=np.float32)
LISTS = MATRIX.tolist()
ARROW_LISTS = pd.ArrowDtype(pa.list_(pa.float64()))
SOURCES = {
    "pandas, arrays": lambda: pd.DataFrame({"v": list(MATRIX)}),
    "pandas, lists": lambda: pd.DataFrame({"v": LISTS}),
    "pandas, Arrow": lambda: pd.DataFrame({"v": pd.Series(pa.array(LISTS), dtype=ARROW_LISTS)}),
    "polars, lists": lambda: pl.DataFrame({"v": LISTS}),
    "polars, arrays": lambda: pl.DataFrame({"v": MATRIX}),
    "pyarrow, lists": lambda: pa.table({"v": LISTS}),
    "pyarrow, chunks": lambda: pa.table({"v": pa.chunked_array([LISTS[:1], LISTS[1:]])}),
    "pyarrow, fixed size": lambda: pa.table({"v": pa.array(LISTS, pa.list_(pa.float32(), 3))}),
    "pyarrow, tensors": lambda: pa.table({"v": pa.FixedShapeTensorArray.from_numpy_ndarray(MATRIX)}),
    "half precision": lambda: {"v": MATRIX.astype(np.float16)},
    "matrix": lambda: {"v": MATRIX.astype(np.float64)},
    "tensor": lambda: {"v": torch.tensor(MATRIX)},
    "tensors": lambda: {"v": list(torch.tensor(MATRIX))},
    "tuples": lambda: {"v": [tuple(row) for row in LISTS]},
}
BROKEN = {
    "3 numbers in row 0 and 2 in row 1": [[1, 2, 3], [4, 5]],
    "empty lists": [[], []],
    "whose values are not numbers: ['a']": [["a"], ["b"]],
    "whose values are not numbers: [True]": [[True], [False]],
    "a value in row 1 that is not a list of numbers: 'x'": [[1.0], "x"],
    "not a list of numbers: [[1.0]]": [[[1.0]], [[2.0]]],
}


@pytest.mark.parametrize("name", SOURCES)
def test_vectors_are_read_alike_from_all_tables(name):
    table = typed_frame(SOURCES[name]())
    assert table.type("v") == "vector"
    np.testing.assert_array_equal(table.values("v"), MATRIX)
    assert table.values("v").dtype == np.float32


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "json"])
def test_vectors_are_read_from_files_with_missing_ones(ending, tmp_path):
    path = tmp_path / f"items.{ending}"
    frame = pd.DataFrame({"id": range(4), "v": [LISTS[0], None, *LISTS[1:]]})
    frame.to_parquet(path) if ending == "parquet" else frame.to_json(path, orient="records", lines=ending == "jsonl")
    expected = np.vstack([MATRIX[:1], np.full((1, 3), np.nan), MATRIX[1:]])
    np.testing.assert_array_equal(read_typed_table(path).values("v"), expected)
    parts = [to_matrix(batch.column("v")) for batch in read_batches(path, ["v"], rows=3)]
    np.testing.assert_array_equal(np.concatenate(parts), expected)


@pytest.mark.parametrize("message", BROKEN)
def test_other_lists_are_refused_by_name(message):
    with pytest.raises(ValueError, match="column 'v' must hold one value per row, or vectors") as error:
        typed_frame({"v": BROKEN[message]}).type("v")
    assert message in str(error.value)


def test_a_ragged_file_names_the_row(tmp_path):
    path = tmp_path / "items.parquet"
    parquet.write_table(pa.table({"v": [[1.0, 2.0], [1.0, 2.0], [3.0]]}), path)
    with pytest.raises(ValueError, match=r"items.parquet, column 'v' .* got 2 numbers in row 0 and 1 in row 2"):
        read_typed_table(path).type("v")
    with pytest.raises(ValueError, match=r"got 2 numbers in row 0 and 1 in row 2"):
        list(read_batches(path, ["v"]))


def test_vectors_share_the_memory_of_the_source():
    column = pa.array(MATRIX.reshape(-1))
    lists = pa.ListArray.from_arrays(pa.array([0, 3, 6, 9], pa.int32()), column)
    for source in (lists, pa.FixedSizeListArray.from_arrays(column, 3), MATRIX):
        assert np.shares_memory(to_matrix(as_vectors(source)), MATRIX)


def test_slices_and_missing_vectors_keep_their_rows():
    with_missing = as_vectors([LISTS[0], None, LISTS[2]])
    np.testing.assert_array_equal(to_matrix(with_missing)[[0, 2]], MATRIX[[0, 2]])
    assert np.isnan(to_matrix(with_missing)[1]).all()
    np.testing.assert_array_equal(to_matrix(from_matrix(MATRIX)[1:]), MATRIX[1:])
    np.testing.assert_array_equal(to_matrix(as_vectors(pa.array(LISTS)[1:])), MATRIX[1:])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1, None, 3]], pa.list_(pa.int64())),
        pa.array([[1, None, 3]], pa.list_(pa.float32(), 3)),
        pa.array([[0, 0, 0], [1, None, 3]], pa.list_(pa.float32(), 3))[1:],
    ],
)
def test_missing_numbers_of_a_vector_are_nan(column):
    np.testing.assert_array_equal(typed_frame({"v": column}).values("v"), [[1, np.nan, 3]])


@pytest.mark.parametrize(
    "column",
    [
        [torch.ones(2, requires_grad=True)],
        torch.ones((2, 3), requires_grad=True),
        pa.array([[], []], pa.list_(pa.float32(), 0)),
        np.ones((2, 2, 2)),
        np.ones((2, 2), dtype=complex),
        np.array([[1.0, 2.0]], dtype=object),
        [[1, None]],
        [{"a": 1}],
    ],
)
def test_columns_that_are_no_vectors_are_refused_in_one_line(column):
    with pytest.raises(ValueError, match="column 'v'") as error:
        typed_frame({"v": column}).type("v")
    assert "\n" not in str(error.value)


def test_a_column_that_is_ignored_may_be_ragged():
    table = typed_frame({"id": [1, 2], "v": [[1], [1, 2]]})
    assert table.type("id") == "integer"
