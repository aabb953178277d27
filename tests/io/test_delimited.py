"""CSV and TSV as people and programs write them."""

import codecs
import gzip

import pyarrow
import pytest

from confdiff.io.batches import read_batches, read_column_names
from confdiff.io.table_formats.encodings import text_encoding
from confdiff.io.table_formats.table_format import TableFormat
from confdiff.io.tables import read_arrow, write_table


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.csv"


def columns_of(path, contents, encoding="utf-8"):
    path.write_bytes(contents if isinstance(contents, bytes) else contents.encode(encoding))
    return read_arrow(path).to_pydict()


GERMAN = "id;größe;note\r\n7;1,5;a,b\r\n8;-12;\r\n9;0,25;c\r\n"
AS_READ = {"id": ["7", "8", "9"], "größe": ["1.5", "-12", "0.25"], "note": ["a,b", None, "c"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_with_a_mark_and_line_ends(path, encoding, newline):
    assert columns_of(path, GERMAN.replace("\r\n", newline), encoding) == AS_READ
    (batch,) = read_batches(path, ["note", "id"])
    assert batch.to_pydict() == {"note": AS_READ["note"], "id": AS_READ["id"]}


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_given(path, encoding):
    path.write_bytes(GERMAN.encode(encoding))
    with pytest.raises(ValueError, match=r"encoding='"):
        read_arrow(path)
    with pytest.raises(ValueError, match=r"encoding='"):
        read_column_names(path)
    with text_encoding(encoding):
        assert read_arrow(path).to_pydict() == AS_READ
        assert read_column_names(path) == list(AS_READ)
    path.write_bytes(codecs.BOM_UTF8 + GERMAN.encode())
    with text_encoding(encoding):  # the file states another one
        assert read_arrow(path).to_pydict() == AS_READ


def test_a_file_that_is_not_utf8_is_named_with_its_line(path):
    with pytest.raises(ValueError, match=r"items\.csv is not UTF-8 text \(byte 0xe9 in line 3\).*encoding='cp1252'"):
        columns_of(path, "id,name\n1,a\n2,café\n", "latin-1")
    late = "id,name\n" + "".join(f"{row},a\n" for row in range(50_000)) + "7,café\n"
    with pytest.raises(ValueError, match=r"byte 0xe9 in line 50002"):
        columns_of(path, late, "latin-1")
    with pytest.raises(ValueError, match=r"encoding must be a text encoding.*got 'hex'"), text_encoding("hex"):
        pass
    with (
        text_encoding("ascii"),
        pytest.raises(ValueError, match="is UTF-8 text, but its encoding was given as 'ascii'"),
    ):
        columns_of(path, "id,name\n1,é\n")


def test_a_semicolon_or_tab_separates_cells(path):
    assert columns_of(path, "id;a,b\n1;2\n") == {"id": ["1"], "a,b": ["2"]}
    assert columns_of(path, "id\tx\n1\t2,5\n") == {"id": ["1"], "x": ["2.5"]}
    assert columns_of(path, 'id,"a;b"\n1,2;3\n') == {"id": ["1"], "a;b": ["2;3"]}
    assert columns_of(path, "id,x;y\n1,2\n3,4\n") == {"id": ["1", "3"], "x;y": ["2", "4"]}
    assert columns_of(path, 'sep=;\r\nid;x\r\n1;"2;3"\r\n') == {"id": ["1"], "x": ["2;3"]}
    assert columns_of(path, "id\n1\n2\n") == {"id": ["1", "2"]}
    with pytest.raises(ValueError, match=r"delimiter of .* is not certain: .* comma or semicolon.*in quotes"):
        columns_of(path, "id;x,y\n1;2,5\n")


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "2", "-,25", "3,1e-2"], ["1.5", "2", "-.25", "3.1e-2"]),
        (["1,234", "5,678"], ["1.234", "5.678"]),
        (["1.234,5", "12", "1.234"], ["1234.5", "12", "1234"]),
        (["1,5", "NA", "n/a", ""], ["1.5", "NA", "n/a", None]),
        (["1.5", "2"], ["1.5", "2"]),
        (["1.234", "2.345"], ["1.234", "2.345"]),
        (["a", "1,5"], ["a", "1,5"]),
        (["02139", "1"], ["02139", "1"]),
        (["1,5"] * 20 + ["?"], ["1.5"] * 20 + ["?"]),
    ],
)
def test_decimal_commas(path, cells, numbers, monkeypatch):
    contents = "id;x\n" + "".join(f"{row};{cell}\n" for row, cell in enumerate(cells))
    assert columns_of(path, contents)["x"] == numbers
    monkeypatch.setattr(TableFormat, "block_bytes", 32)  # the whole column counts, not only a block
    assert [cell for batch in read_batches(path, ["x"], 1) for cell in batch.column("x").to_pylist()] == numbers


@pytest.mark.parametrize(
    "contents",
    [
        "id;x\n1;1,5\n2;2.5\n",
        "id;x\n1;1,5\n2;1.234\n",
        "id;x;y\n1;1,5;1.234\n",
        "id;x;y\n1;1,234;0.5\n",
        "id;x\n1;1,234\n2;0.5\n",
        "id\tx\n1\t1,234\n",
    ],
)
def test_numbers_that_can_be_read_in_two_ways_are_refused(path, contents):
    with pytest.raises(ValueError, match=r"column '[xy]': '.*' may be read in two ways"):
        columns_of(path, contents)


def test_commas_of_other_columns_decide_in_files_with_tabs(path):
    assert columns_of(path, "id\tx\ty\n1\t1,234\t0,5\n")["x"] == ["1.234"]


def test_delimiters_at_the_ends_of_rows(path):
    assert columns_of(path, "id,x,,\n1,2,,\n3,4,,\n") == {"id": ["1", "3"], "x": ["2", "4"]}
    assert columns_of(path, "id;x;\n1;2,5;\n") == {"id": ["1"], "x": ["2.5"]}
    with pytest.raises(ValueError, match="column 3 has values but no name"):
        columns_of(path, "id,x,\n1,2,3\n")


def test_headers_that_cannot_be_used(path):
    with pytest.raises(ValueError, match="column 1 has no name in the header"):
        columns_of(path, ",x\n1,2\n")
    for read in (read_arrow, read_column_names):
        path.write_text("id,x,x\n1,2,3\n")
        with pytest.raises(ValueError, match="must have distinct names; got 'x' more than once"):
            read(path)


def test_rows_of_other_lengths_are_named(path):
    with pytest.raises(ValueError, match="Row #3: Expected 2 columns, got 1"):
        columns_of(path, "id,x\n1,2\n3\n")


def test_quoted_cells(path):
    assert columns_of(path, 'id,x\n1,"a\nb"\n2,"say ""hi"""\n3,5" pipe\n') == {
        "id": ["1", "2", "3"],
        "x": ["a\nb", 'say "hi"', '5" pipe'],
    }
    for contents in ('id,x\n1,2\n3,"4\n5,6\n', 'id,x\n1,2\n3,"4\n5,"6"\n', 'id,x\n1,2\n3,"4"5\n'):
        with pytest.raises(ValueError, match="row that begins in line 3: a quoted cell does not end correctly"):
            columns_of(path, contents)
    long = "a" * 200_000
    assert columns_of(path, f'id,x\n1,"{long}"\n')["x"] == [long]


@pytest.mark.parametrize("ending", [".csv.gz", ".tsv.gz"])
def test_compressed_files(tmp_path, ending):
    path = tmp_path / f"items{ending}"
    write_table(path, {"id": range(1000), "x": ["a,b\tc"] * 1000})
    assert gzip.decompress(path.read_bytes()).startswith(b'"id"')
    assert read_arrow(path)["x"].to_pylist() == ["a,b\tc"] * 1000
    whole = path.read_bytes()
    for damaged in (whole[:-200], whole[:30], b"id,x\n1,2\n", whole[:50] + bytes(20) + whole[70:]):
        path.write_bytes(damaged)
        for read in (read_arrow, read_column_names):
            with pytest.raises(ValueError, match="cannot be read as a table"):
                read(path)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_formulas_are_escaped_and_come_back(tmp_path, ending):
    path = tmp_path / f"scores{ending}"
    texts = ["=1+2", "-7", "+1.5", "@a", "-x", "-", "\tb", "'=c", "d"]
    write_table(path, {"=id": texts})
    assert read_column_names(path) == ["=id"]
    assert read_arrow(path)["=id"].to_pylist() == texts
    contents = path.read_bytes()
    text = (gzip.decompress(contents) if ending.endswith("gz") else contents).decode()
    assert text.split("\n")[:4] == ['"\'=id"', '"\'=1+2"', '"-7"', '"+1.5"']
    write_table(path, {"id": ["=1+2"]}, escape=False)
    contents = path.read_bytes()
    assert b"'" not in (gzip.decompress(contents) if ending.endswith("gz") else contents)
    assert read_arrow(path)["id"].to_pylist() == ["=1+2"]


def test_cells_with_a_nul_are_written_whole(tmp_path):
    path = tmp_path / "items.parquet"
    write_table(path, {"id": ["a\0b", "c"]})
    assert read_arrow(path)["id"].to_pylist() == ["a\0b", "c"]


def test_an_empty_table_keeps_its_columns(path):
    assert columns_of(path, "id,x\n") == {"id": [], "x": []}
    assert columns_of(path, "id;x\n1;2") == {"id": ["1"], "x": ["2"]}
    assert read_arrow(path).schema.types == [pyarrow.string()] * 2
