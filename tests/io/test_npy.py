"""Check .npy files of vectors, whose ids are the numbers of the rows."""

import numpy as np
import pytest

from confdiff.io.batches import count_rows, read_batches, read_column_names
from confdiff.io.tables import check_table_name
from confdiff.io.typed_table import read_typed_table
from confdiff.io.vectors import to_matrix

MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "f8", "f2", "i4", "u1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_matrix_is_a_table_of_vectors(dtype, order, tmp_path):
    path = tmp_path / "items.npy"
    np.save(path, np.asarray(MATRIX, dtype=dtype, order=order))
    table = read_typed_table(path)
    np.testing.assert_array_equal(table.values("vector"), MATRIX)
    assert table.values("id").tolist() == [0, 1, 2, 3]
    assert (read_column_names(path), count_rows(path)) == (["id", "vector"], 4)


def test_batches_continue_the_numbers_of_the_rows(tmp_path):
    path = tmp_path / "items.npy"
    np.save(path, MATRIX)
    batches = list(read_batches(path, ["vector", "id"], rows=3))
    assert [batch.column("id").to_pylist() for batch in batches] == [[0, 1, 2], [3]]
    np.testing.assert_array_equal(to_matrix(batches[1].column("vector")), MATRIX[3:])


class _Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_never_loaded(tmp_path):
    path = tmp_path / "items.npy"
    np.save(path, np.array([_Trap()], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"must hold a matrix of numbers, as np\.save writes it"):
        read_typed_table(path)


@pytest.mark.parametrize(
    "array", [np.ones(3), np.ones((2, 3, 4)), np.array([["a"]]), np.ones((2, 0)), np.array([[True]])]
)
def test_other_arrays_are_refused(array, tmp_path):
    path = tmp_path / "items.npy"
    np.save(path, array)
    with pytest.raises(ValueError, match=r"items.npy must hold a matrix of numbers"):
        read_typed_table(path)


@pytest.mark.parametrize("length", [0, 5, 100, 150])
def test_damaged_files_are_refused(length, tmp_path):
    path = tmp_path / "items.npy"
    np.save(path, MATRIX)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"items.npy must hold a matrix"):
        read_typed_table(path)


def test_tables_are_not_written_as_npy(tmp_path):
    with pytest.raises(ValueError, match=r"the name of a table to write must end in .*; got 'scores.npy'"):
        check_table_name(tmp_path / "scores.npy")
