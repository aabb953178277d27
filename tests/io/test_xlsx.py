"""Excel workbooks: what is special about them."""

import datetime
import sys
import zipfile

import openpyxl
import pyarrow
import pytest

from confdiff.io.batches import read_batches, read_column_names
from confdiff.io.table_formats import xlsx
from confdiff.io.tables import check_table_name, read_arrow, write_table


def workbook_of(path, *rows, **sheets):
    """Write rows to the first sheet, and further sheets by name."""
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    for name, rows_of_sheet in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows_of_sheet:
            sheet.append(row)
    workbook.save(path)
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.xlsx"


def test_typed_cells_keep_their_types(path):
    day = datetime.datetime(2024, 5, 17)
    workbook_of(
        path,
        ["id", "code", "size", "number", "flag", "day", "length", 2024],
        [1, "007", 2, 1.5, True, day, datetime.timedelta(hours=30), None],
        [2, "12", 3, None, False, day, None, None],
        [3, "a", None, 7, True, None, datetime.timedelta(minutes=1), None],
    )
    table = read_arrow(path)
    assert table.to_pydict() == {
        "id": [1, 2, 3],
        "code": ["007", "12", "a"],
        "size": [2, 3, None],
        "number": [1.5, None, 7.0],
        "flag": [True, False, True],
        "day": [day, day, None],
        "length": [datetime.timedelta(hours=30), None, datetime.timedelta(minutes=1)],
        "2024": [None, None, None],
    }


def test_cells_of_several_types_become_text(path):
    workbook_of(path, ["id"], [7], ["a"], [7.5], [True])
    assert read_arrow(path)["id"].to_pylist() == ["7", "a", "7.5", "true"]


def test_empty_rows_and_columns_at_the_ends_are_left_out(path):
    workbook = openpyxl.load_workbook(workbook_of(path, ["id", "x"], [1, 2], [], [3, 4]))
    workbook.active["A9"].number_format = "0.00"
    workbook.active["F1"].number_format = "0.00"
    workbook.save(path)
    assert read_arrow(path).to_pydict() == {"id": [1, None, 3], "x": [2, None, 4]}
    assert [batch.num_rows for batch in read_batches(path, ["x"], rows=2)] == [2, 1]


def test_missing_values_and_failed_formulas(path):
    workbook_of(path, ["id", "x"], [1, "#N/A"], [2, 3])
    assert read_arrow(path)["x"].to_pylist() == [None, 3]
    workbook_of(path, ["id", "x"], [1, 2], [2, "#DIV/0!"])
    with pytest.raises(ValueError, match=r"row 3: a formula failed with #DIV/0!"):
        read_arrow(path)
    workbook_of(path, ["id", "x"], [1, 2], [2, "=1+2"])
    with pytest.raises(ValueError, match=r"row 3: the formula '=1\+2' has no value. Open the workbook"):
        read_arrow(path)


def test_one_sheet_with_data(path):
    workbook_of(path, ["id"], [1], notes=[["read me"]], empty=[])
    with pytest.raises(ValueError, match=r"must have one sheet with data; got 'Sheet', 'notes'"):
        read_column_names(path)
    workbook = openpyxl.load_workbook(path)
    workbook["notes"].sheet_state = "hidden"
    workbook.save(path)
    assert read_arrow(path).to_pydict() == {"id": [1]}
    workbook_of(path)
    with pytest.raises(ValueError, match="its sheets are empty"):
        read_arrow(path)


def test_columns_without_a_name_are_refused(path):
    workbook_of(path, ["id", None, "x"], [1, 2, 3])
    with pytest.raises(ValueError, match="column 2 has no name"):
        read_arrow(path)
    workbook_of(path, ["id"], [1], [2, 3])
    with pytest.raises(ValueError, match="row 3: a column with values has no name"):
        read_arrow(path)
    workbook_of(path, [], ["id"], [1])
    with pytest.raises(ValueError, match="the names of the columns in row 1"):
        read_arrow(path)


def test_texts_are_written_as_texts(path):
    texts = ["=1+2", "+1", "-x", "@a", "#N/A!", "\tb", "'c", "007"]
    write_table(path, {"id": texts})
    assert read_arrow(path)["id"].to_pylist() == texts
    assert {cell.data_type for cell in openpyxl.load_workbook(path).active["A"]} == {"s"}


def test_values_that_a_workbook_cannot_hold(path):
    write_table(path, {"id": [2**53 + 1, 1], "x": [float("nan"), float("inf")]})
    assert read_arrow(path).to_pydict() == {"id": [str(2**53 + 1), "1"], "x": [None, "inf"]}
    with pytest.raises(ValueError, match=r"column 'id': a cell of \.xlsx has at most 32,767 characters"):
        write_table(path, {"id": ["a" * 32_768]})
    with pytest.raises(ValueError, match=r"column 'id': \.xlsx has no control characters"):
        write_table(path, {"id": ["a\1b"]})
    assert read_column_names(path) == ["id", "x"]  # the file of before


def test_files_that_are_not_workbooks(path):
    for contents in (b"id,x\n1,2\n", b"\xd0\xcf\x11\xe0" + bytes(600)):
        path.write_bytes(contents)
        with pytest.raises(ValueError, match=r"not an \.xlsx workbook, or it is damaged or has a password"):
            read_arrow(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "no workbook")
    with pytest.raises(ValueError, match="the workbook is damaged"):
        read_arrow(path)


def test_a_workbook_that_is_too_large_is_refused(path, monkeypatch):
    write_table(path, {"id": [1]})
    monkeypatch.setattr(xlsx, "_MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="too large for a workbook"):
        read_arrow(path)


def test_without_openpyxl_the_message_names_the_extra(path, monkeypatch):
    write_table(path, {"id": [1]})
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    for use in (read_arrow, read_column_names, check_table_name):
        with pytest.raises(ValueError, match=r"need the packages of confdiff\[xlsx\]; install them"):
            use(path)


def test_times_with_a_zone_are_written_in_utc(path):
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moment = pyarrow.array([datetime.datetime(2024, 5, 17, 12, tzinfo=zone)], pyarrow.timestamp("us", tz="+02:00"))
    with xlsx.XLSX.open_writer(path, pyarrow.schema([("t", moment.type)])) as write:
        write(pyarrow.table({"t": moment}))
    assert read_arrow(path)["t"].to_pylist() == [datetime.datetime(2024, 5, 17, 10)]
