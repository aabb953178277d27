"""Tables of items and pairs that are read."""

import pandas as pd
import pytest

from confdiff.tabular.comparisons import compare
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import read_items, read_judged

ITEMS = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])


@pytest.mark.parametrize(
    ("columns", "named", "message"),
    [
        ({}, {"lef": "left"}, "unknown role of a column 'lef'. Did you mean 'left'"),
        (
            {},
            {"left": "right", "right": "right"},
            "one column cannot have two roles; got left='right' and right='right'",
        ),
        ({"difference": [True, False]}, {}, "column 'difference', must be numeric; got true/false"),
        ({"difference": pd.to_datetime(["2026-01-01"] * 2)}, {}, "must be numeric; got times"),
    ],
)
def test_columns_that_cannot_be(columns, named, message):
    frame = pd.DataFrame({"left": ["a", "b"], "right": ["b", "c"], "difference": [0.5, -0.25]} | columns)
    with pytest.raises(ValueError, match=message):
        read_judged(frame, **named)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, "a", "1"], "the ids must be unique; '1' in row 2"),
        ([1.0, 2.0**53, 2], r"the id 9007199254740992 is a float, and floats of 2\*\*53 or more"),
        (["a", None, "c"], "the id is missing in row 1"),
        (["a", "b", "a"], "the ids must be unique; 'a' in row 2"),
    ],
)
def test_ids_that_cannot_be(ids, message):
    with pytest.raises(ValueError, match=message):
        read_items(ITEMS.set_axis(ids))


@pytest.mark.parametrize(
    ("ending", "row"),
    [
        ("csv", r"row 4 \(the header is row 1\)"),
        ("tsv", r"row 4 \(the header is row 1\)"),
        ("jsonl", r"row 3 \(the first line is row 1\)"),
        ("parquet", r"row 2 \(the first row is row 0\)"),
    ],
)
def test_rows_are_numbered_as_in_the_file(tmp_path, ending, row):
    frame = pd.DataFrame({"left": ["a", "b", "z"], "right": ["b", "c", "a"], "difference": [0.1, 0.2, 0.3]})
    path = tmp_path / f"pairs.{ending}"
    write = {
        "csv": lambda: frame.to_csv(path, index=False),
        "tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "parquet": lambda: frame.to_parquet(path),
    }
    write[ending]()
    with pytest.raises(ValueError, match=f"column 'left', {row}: the id 'z' is not among the items"):
        compare(read_items(ITEMS), read_judged(path))
    with pytest.raises(ValueError, match="column 'left', row 2: the id 'z' is not among the items"):
        compare(read_items(ITEMS), read_judged(frame))


def test_parts_of_files_continue_the_numbers():
    assert TableSource.of_file("pairs.csv", start=100).at(5) == "row 107 (the header is row 1)"
    assert TableSource("the pairs").row(5) == 5
