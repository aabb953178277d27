"""Parquet files: what is special about them."""

import pyarrow
import pyarrow.parquet
import pytest

from confdiff.io.batches import read_batches, read_column_names
from confdiff.io.tables import read_arrow


def as_text(column, kind):
    """Return bytes as a column that claims to be text, as careless programs write it."""
    offsets = pyarrow.array(column, pyarrow.binary() if kind == pyarrow.string() else pyarrow.large_binary()).buffers()
    return pyarrow.Array.from_buffers(kind, len(column), offsets)


@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string()])
@pytest.mark.parametrize("dictionary", [False, True])
def test_text_that_is_not_utf8_is_named(tmp_path, kind, dictionary):
    path = tmp_path / "items.parquet"
    names = as_text([b"a", b"b", "é".encode(), None, b"caf\xe9"], kind)
    table = pyarrow.table({"id": range(5), "name": names})
    if dictionary:
        indices = pyarrow.array([0, 1, 2, None, 3])
        values = as_text([b"a", b"b", "é".encode(), b"caf\xe9"], kind)
        table = table.set_column(1, "name", pyarrow.DictionaryArray.from_arrays(indices, values))
    pyarrow.parquet.write_table(table, path)
    message = r"column 'name', row 4 \(the first row is row 0\): the text is not UTF-8"
    if dictionary:
        message = r"column 'name': the text is not UTF-8"  # pyarrow reads dictionaries as a whole
    with pytest.raises(ValueError, match=message):
        read_arrow(path)
    with pytest.raises(ValueError, match=message):
        list(read_batches(path, ["name"], rows=2))
    assert read_arrow(path, ["id"]).column_names == ["id"]


def test_dictionaries_are_read_as_their_values(tmp_path):
    path = tmp_path / "items.parquet"
    names = pyarrow.array(["a", None, "b", "a"]).dictionary_encode()
    pyarrow.parquet.write_table(pyarrow.table({"name": names}), path)
    assert read_arrow(path)["name"].type == pyarrow.string()
    assert read_arrow(path)["name"].to_pylist() == ["a", None, "b", "a"]
    (batch,) = read_batches(path, ["name"])
    assert batch.column("name").to_pylist() == ["a", None, "b", "a"]


@pytest.mark.parametrize("kept", [0.0, 0.02, 0.5, 0.99])
def test_a_truncated_file_is_an_error(tmp_path, kept):
    path = tmp_path / "items.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": range(1000)}), path)
    path.write_bytes(path.read_bytes()[: int(kept * path.stat().st_size)])
    for read in (read_arrow, read_column_names):
        with pytest.raises(ValueError, match="cannot be read as a table"):
            read(path)
