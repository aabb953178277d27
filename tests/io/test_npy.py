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


def npy_file(path, header):
    """Write a file with any header, and some numbers."""
    text = header.encode()
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(64))
    return path


@pytest.mark.parametrize(
    "shape", ["(10**30, 3)", "(99999999999999999999999, 3)", "(1000000000000, 384)", "(-1, 3)", "(4,", "x"]
)
@pytest.mark.parametrize("order", ["True", "False"])
def test_headers_that_promise_too_much_are_refused(shape, order, tmp_path):
    path = npy_file(tmp_path / "items.npy", f"{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}\n")
    with pytest.raises(ValueError, match=r"items\.npy must hold a matrix of numbers"):
        read_typed_table(path)


def message_of(path):
    """Return why a file is refused, or an empty text."""
    try:
        read_typed_table(path).values("vector")
    except ValueError as error:
        return str(error)
    return ""


def test_any_header_is_read_or_refused(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "good.npy", MATRIX)
    content = (tmp_path / "good.npy").read_bytes()
    for number in range(300):
        changed = bytearray(content)
        for place in rng.integers(0, 128, rng.integers(1, 5)):
            changed[place] = rng.choice(list(b"(){}[]'\",:0129<>f4TrueFalse\x00\xff\n\\"))
        path = tmp_path / f"{number}.npy"
        path.write_bytes(changed)
        assert message_of(path) == "" or "must hold a matrix of numbers" in message_of(path)


def test_tables_are_not_written_as_npy(tmp_path):
    with pytest.raises(ValueError, match=r"the name of a table to write must end in .*; got 'scores.npy'"):
        check_table_name(tmp_path / "scores.npy")
