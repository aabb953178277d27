"""Every format of tables, in the same tests."""

import pyarrow
import pytest

from confdiff.io.batches import count_rows, read_batches, read_column_names, writing_batches
from confdiff.io.table_formats.registry import TABLE_FORMATS, find_table_format
from confdiff.io.table_formats.table_format import TableFormat

COLUMNS = {"id": list(range(100)), "x": [number / 8 for number in range(100)], "name": ["a,b", "c\td"] * 50}
WANTED = ["name", "id"]


@pytest.fixture(params=TABLE_FORMATS)
def path(request, tmp_path):
    table = tmp_path / f"table{request.param.upper()}"
    with writing_batches(table) as write:
        for batch in pyarrow.table(COLUMNS).to_batches(max_chunksize=30):
            write(batch)
    return table


def test_batches_come_back_as_they_were(path, monkeypatch):
    monkeypatch.setattr(TableFormat, "block_bytes", 500)
    batches = list(read_batches(path, WANTED, rows=7))
    assert all(batch.schema.names == WANTED and batch.num_rows <= 7 for batch in batches)
    rows = pyarrow.Table.from_batches(batches).to_pydict()
    text = find_table_format(path).parse_text == "all"
    assert rows == {"name": COLUMNS["name"], "id": list(map(str, COLUMNS["id"])) if text else COLUMNS["id"]}


def test_columns_and_rows_without_reading_the_file(path):
    assert read_column_names(path) == list(COLUMNS)
    assert count_rows(path) in (None, 100)


def test_a_missing_column_is_named(path):
    with pytest.raises(ValueError, match=r"must have the columns name, age; .*age"):
        list(read_batches(path, ["name", "age"]))


def test_a_file_without_contents(path):
    path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"(?i)cannot be read as a table: .*(empty|0 bytes)"):
        read_column_names(path)
