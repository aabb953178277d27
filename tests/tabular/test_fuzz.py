"""The readers return a table or raise one clear error, whatever a file contains."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.comparisons import compare
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.tables import read_items, read_judged

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
QUICK = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
CELLS = st.one_of(
    st.sampled_from(
        ["", "a", "b", "c", "1", "-1", "0.5", "1.7", "nan", "inf", "1e400", "NA", "null", "true", '"', "é", "\0"]
    ),
    st.floats().map(repr),
    st.text(max_size=5),
)


def read_all(items, pairs):
    """The way of ``confdiff fit`` up to training; a mistake in the files is a ValueError or an OSError."""
    try:
        table, judged = read_items(items), read_judged(pairs)
        compare(table, judged)
        encoded = ItemFeatures().fit(table).transform(table)
    except (ValueError, OSError):
        return
    assert np.isfinite(encoded).all()


@QUICK
@given(contents=st.binary(max_size=200), ending=st.sampled_from(["csv", "tsv", "jsonl", "parquet"]))
@example(contents=b"id,x\na,1\n", ending="csv")
@example(contents=b"\xff\xfei\x00d\x00", ending="csv")
@example(contents=b"PAR1PAR1", ending="parquet")
@example(contents=b'{"id": 1, "x": [1, 2]}\n', ending="jsonl")
@example(contents=b'{"id": {"a": 1}, "x": 1}\n', ending="jsonl")
def test_any_bytes(tmp_path, contents, ending):
    path = tmp_path / f"any.{ending}"
    path.write_bytes(contents)
    read_all(path, path)


@QUICK
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=6),
    pairs=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=6),
)
def test_any_cells(tmp_path, rows, pairs):
    for name, header, cells in (("items", "id,x,y", rows), ("pairs", "left,right,difference", pairs)):
        lines = [header, *(",".join(row) for row in cells)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
    read_all(tmp_path / "items.csv", tmp_path / "pairs.csv")


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.lists(st.integers(), max_size=2)
)


@QUICK
@given(rows=st.lists(st.dictionaries(st.sampled_from(["id", "x", "left", "right", "difference"]), VALUES), max_size=5))
def test_any_json(tmp_path, rows):
    path = tmp_path / "any.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read_all(path, path)


@QUICK
@given(
    ids=st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6),
    pairs=st.lists(
        st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg"), st.floats()), min_size=1, max_size=8
    ),
)
def test_check_and_fit_refuse_the_same(ids, pairs):
    items = pd.DataFrame({"x": np.arange(float(len(ids)))}, index=ids)
    judged = pd.DataFrame(pairs, columns=["left", "right", "difference"])
    assert _refuses(lambda: compare(read_items(items), read_judged(judged))) == _refuses(
        lambda: _checked(items, judged)
    )


def _refuses(act):
    try:
        act()
    except ValueError:
        return True
    return False


def _checked(items, judged):
    stops = check_comparisons(items, judged).errors
    if stops:
        raise ValueError(stops)
