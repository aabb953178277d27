"""JSON lines and JSON arrays: what is special about them."""

import json

import pyarrow.parquet
import pytest

from confdiff.io.batches import read_batches, read_column_names
from confdiff.io.table_formats.encodings import text_encoding
from confdiff.io.table_formats.table_format import TableFormat
from confdiff.io.tables import read_arrow
from confdiff.io.typed_table import read_table

DEEP = 100_000


def lines_of(tmp_path, *lines):
    path = tmp_path / "table.jsonl"
    path.write_text("\n".join(lines))
    return path


def array_of(tmp_path, *objects):
    path = tmp_path / "table.json"
    path.write_text(f"[{', '.join(objects)}]")
    return path


@pytest.mark.parametrize("write", [lines_of, array_of])
@pytest.mark.parametrize("deep", ["[" * DEEP, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP])
def test_deep_nesting_is_an_error_and_not_a_crash(tmp_path, write, deep):
    path = write(tmp_path, '{"id": 1}', f'{{"id": {deep}}}')
    with pytest.raises(ValueError, match=r"nested too deeply|not valid JSON"):
        read_arrow(path)
    with pytest.raises(ValueError, match=r"nested too deeply|not valid JSON"):
        list(read_batches(path, ["id"]))


@pytest.mark.parametrize("write", [lines_of, array_of])
def test_values_of_one_type_keep_it_and_others_become_text(tmp_path, write):
    columns = {
        "integer": [1, None, -3],
        "number": [1, 2.5, None],
        "nan": ["NaN", 2.5, "NaN"],
        "flag": [True, None, False],
        "text": ["a", "", None],
        "mixed": [1.0, "a", True],
        "long": [1, 2**70, 3],
        "nothing": [None, None, None],
    }
    rows = [json.dumps({name: values[row] for name, values in columns.items()}) for row in range(3)]
    table = read_arrow(write(tmp_path, *(row.replace('"NaN"', "NaN") for row in rows)))
    assert table.to_pydict() == columns | {
        "number": [1.0, 2.5, None],
        "nan": [None, 2.5, None],
        "mixed": ["1", "a", "true"],
        "long": ["1", str(2**70), "3"],
    }
    assert [str(kind) for kind in table.schema.types] == [
        *("int64", "double", "double", "bool", "string", "string", "string", "null")
    ]


@pytest.mark.parametrize("write", [lines_of, array_of])
def test_a_row_may_lack_a_key_or_have_a_further_one(tmp_path, write, monkeypatch):
    monkeypatch.setattr(TableFormat, "block_bytes", 1)
    path = write(tmp_path, '{"id": 1, "x": 2}', '{"id": 2}', '{"id": 3, "late": "a"}')
    assert read_column_names(path) == ["id", "x", "late"]
    assert read_arrow(path).to_pydict() == {"id": [1, 2, 3], "x": [2, None, None], "late": [None, None, "a"]}
    batches = list(read_batches(path, ["late", "id"]))
    assert [row for batch in batches for row in batch.to_pylist()] == [
        {"late": None, "id": 1},
        {"late": None, "id": 2},
        {"late": "a", "id": 3},
    ]


@pytest.mark.parametrize("write", [lines_of, array_of])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("[1, 2]", "(line 3,|object 2,) must be a JSON object.*got \\[1, 2\\]"),
        ("7", "(line 3,|object 2,) must be a JSON object.*got 7"),
        ('{"id": 1, "id": 2}', "the key 'id' is repeated"),
        (f'{{"id": {"9" * 5000}}}', "not valid JSON"),
        ('{"id": tru}', "not valid JSON"),
        ('{"id": "\\ud83d"}', "column 'id', contains a lone surrogate"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(tmp_path, write, row, message):
    path = write(tmp_path, *['{"id": 1}', ""][: 2 if write is lines_of else 1], row)
    with pytest.raises(ValueError, match=message):
        read_arrow(path)


@pytest.mark.parametrize("write", [lines_of, array_of])
def test_encodings_are_those_of_text_files(tmp_path, write):
    path = write(tmp_path, '{"id": "a"}', '{"id": "café"}')
    text = path.read_text().replace("}, ", "},\n")
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_text(text, encoding)
        assert read_arrow(path)["id"].to_pylist() == ["a", "café"]
    path.write_text(text, "latin-1")
    with pytest.raises(ValueError, match=r"is not UTF-8 text \(byte 0xe9 in line 2\).*encoding='cp1252'"):
        read_arrow(path)
    with text_encoding("cp1252"):
        assert read_arrow(path)["id"].to_pylist() == ["a", "café"]


def test_blank_lines_are_skipped(tmp_path):
    path = lines_of(tmp_path, "", '{"id": 1}', "  ", "", '{"id": 2}', "")
    assert read_arrow(path).to_pydict() == {"id": [1, 2]}
    path = lines_of(tmp_path, "", "  ")
    with pytest.raises(ValueError, match="it is empty"):
        read_arrow(path)


def test_other_json_files_are_refused_with_a_hint(tmp_path):
    path = tmp_path / "table.json"
    path.write_text('{"id": 1}\n{"id": 2}\n')
    with pytest.raises(ValueError, match=r"must be a JSON array of objects.*end in \.jsonl"):
        read_arrow(path)
    path.write_text("7")
    with pytest.raises(ValueError, match="must be a JSON array of objects, one per row; got 7"):
        read_arrow(path)
    path.write_text("[]")
    with pytest.raises(ValueError, match="its array is empty"):
        read_arrow(path)


@pytest.mark.parametrize("write", [lines_of, array_of])
def test_a_nested_column_is_named_if_it_is_used(tmp_path, write):
    path = write(tmp_path, '{"id": 1, "tags": null}', '{"id": 2, "tags": ["a"]}', '{"id": 3, "tags": {"b": 1}}')
    message = r"column 'tags' must hold one value per row, or vectors: .*; got .*(objects|lists).*ignore='tags'"
    with pytest.raises(ValueError, match=message):
        read_table(path)
    with pytest.raises(ValueError, match=message):
        list(read_batches(path, ["id", "tags"]))
    assert read_table(path, ["id"])["id"].tolist() == [1, 2, 3]
    table = pyarrow.table({"id": [1], "tags": [["a"]], "parts": [{"b": 1}]})
    pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "table.parquet")
