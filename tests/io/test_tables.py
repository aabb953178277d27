import numpy as np
import pytest

from confdiff.io.table_formats.registry import TABLE_FORMATS
from confdiff.io.tables import write_table
from confdiff.io.typed_table import read_table

COLUMNS = {"id": np.array([7, 3, 5]), "x": np.array([0.5, -1.25, 1e-7]), "name": np.array(["a,b", "c\td", "é"])}


@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_tables_come_back_as_they_were(tmp_path, ending):
    path = tmp_path / f"table{ending}"
    write_table(path, COLUMNS)
    table = read_table(path)
    assert list(table) == list(COLUMNS)
    for name, column in COLUMNS.items():
        assert table[name].tolist() == column.tolist()
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_names_and_files_that_are_not_tables(tmp_path):
    with pytest.raises(
        ValueError,
        match=r"end in \.parquet, \.csv, \.csv\.gz, \.tsv, \.tsv\.gz, \.jsonl, \.json, \.xlsx, \.npy; got 'table\.xls'",
    ):
        write_table(tmp_path / "table.xls", COLUMNS)
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv does not exist"):
        read_table(tmp_path / "nothing.csv")
    for name, contents in (("a.parquet", "no"), ("b.csv", 'x,y\n1\n"'), ("c.csv", "")):
        (tmp_path / name).write_text(contents)
        with pytest.raises(ValueError, match=f"{name} cannot be read as a table"):
            read_table(tmp_path / name)
