"""Fit, predict, evaluate and streams read the same values from the same table, whatever its columns and its format."""

import datetime
import gzip
import json
import string
from decimal import Decimal
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from command import confdiff
from confdiff.io.batches import read_batches
from confdiff.io.table_formats.registry import TABLE_FORMATS, find_table_format
from confdiff.io.table_formats.table_format import TableFormat
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.model import load_model
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.streaming import streamed_data
from confdiff.tabular.tables import ItemTable, read_items
from tabular.people import judgements

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
QUICK = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
KINDS = st.sampled_from([None, "category", "text", "number"])
AS_STREAMED = {"max_features": 2_000, "sparse_output": False}


def write(path, columns):
    """Write columns in the format that the ending of the path names."""
    table = pyarrow.table(columns)
    with find_table_format(path).open_writer(path, table.schema) as append:
        append(table)


def write_cells(path, columns):
    """Write the cells of a text file as they are."""
    delimiter = "\t" if ".tsv" in path.name else ","
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    quoted = [['"' + cell.replace('"', '""') + '"' if cell else "" for cell in row] for row in rows]
    text = ("\n".join(map(delimiter.join, quoted)) + "\n").encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def from_file(features, path):
    """The features of a file that is read in small batches, as by `predict`."""
    names = list(features.feature_names_in_)
    parts, start = [], 0
    for batch in read_batches(path, names, rows=3):
        columns = {name: batch.column(name) for name in names}
        source = TableSource.of_file(path, start)
        parts.append(features.transform(ItemTable(source, np.arange(batch.num_rows), columns)))
        start += batch.num_rows
    return np.concatenate(parts)


def streamed(path, kinds):
    """The features that a streamed fit learns, and the encoded items."""
    pairs = path.with_name("pairs.parquet")
    ids = [f"p{row}" for row in range(2)]
    parquet.write_table(pyarrow.table({"left": ids[:1], "right": ids[1:], "difference": [0.5]}), pairs)
    with streamed_data(path, pairs, FitOptions(kinds=kinds), work=path.parent / "work") as data:
        return data.features, data.pairs.items.numpy().copy()


def attempt(act):
    """The result of an action, or the message of its error."""
    try:
        return act(), None
    except ValueError as error:
        return None, str(error)


def assert_same_readings(path, kinds):
    """Fit from a file in memory and streamed, and encode it in memory and in batches: the same bits, or one message."""
    table, message = attempt(lambda: read_items(path))
    assert message is None
    with patch.object(TableFormat, "block_bytes", 400):
        features, message = attempt(lambda: ItemFeatures(kinds=kinds, **AS_STREAMED).fit(table))
        of_stream, message_of_stream = attempt(lambda: streamed(path, kinds))
        assert message_of_stream == message
        if message is not None:
            return
        in_memory = features.transform(table)
        np.testing.assert_array_equal(from_file(features, path), in_memory)
    stream_features, stream_items = of_stream
    assert stream_features.to_state() == features.to_state()
    np.testing.assert_array_equal(stream_items, in_memory)


CELLS = {
    "postal codes": ["02139", "10001", "94110", ""],
    "decimals": ["1", "2", "1.5", "2.50", "1e3", ".5", "-0"],
    "integers with a gap": ["1", "2", "3", "", "NA"],
    "flags": ["TRUE", "FALSE", "true", "", "null"],
    "times": ["2026-01-31", "2026-01-31T12:30:00Z", "2026-01-31 12:30:00.25+02:00", "2026-01-31T12:30", "NaT"],
    "dates that do not exist": ["2026-02-28", "2026-02-30", "2026-13-01"],
    "long integers": ["9007199254740993", "9223372036854775807", "-9223372036854775808", "9223372036854775808"],
    "digits": ["7", "007", "1" * 19, "1" * 30],
    "countries": ["NA", "DE", "FR", "nan", "null"],
    "numbers and blanks": [" 7", "7 ", "7.0", "  ", "7"],
    "words": ["the cat sat", "the dog sat", "a cat and a dog", "é ü ☃", "it's 5"],
    "infinite": ["inf", "-inf", "1e400", "3"],
}
ANY_CELL = st.sampled_from(sorted({cell for cells in CELLS.values() for cell in cells}))


@st.composite
def cells_of_columns(draw):
    """Columns of cells of one pool each, or of all pools."""
    rows = draw(st.integers(2, 14))
    columns = {}
    for name in string.ascii_lowercase[: draw(st.integers(1, 3))]:
        pool = st.sampled_from(draw(st.sampled_from(list(CELLS.values())))) if draw(st.booleans()) else ANY_CELL
        columns[name] = draw(st.lists(pool, min_size=rows, max_size=rows))
    return columns


TEXT_ENDINGS = [ending for ending, table_format in TABLE_FORMATS.items() if table_format.parse_text == "all"]


@pytest.mark.parametrize("ending", TEXT_ENDINGS)
@QUICK
@given(columns=cells_of_columns(), kinds=st.dictionaries(st.just("a"), KINDS, max_size=1))
@example(columns={"a": ["1"] * 19 + ["x"]}, kinds={})
@example(columns={"a": ["02139", "10001"] * 3}, kinds={})
@example(columns={"a": ["1", "2", "1.5"] * 3}, kinds={"a": "category"})
def test_cells_of_text_files(tmp_path, ending, columns, kinds):
    path = tmp_path / f"items{ending}"
    rows = len(columns["a"])
    write_cells(path, {"id": [f"p{row}" for row in range(rows)], **columns, "x": [str(row) for row in range(rows)]})
    assert_same_readings(path, {name: kind for name, kind in kinds.items() if kind is not None})


WORDS = st.text(alphabet=string.ascii_letters + " éü☃,;\"'\t", max_size=12)
VALUES = {
    "integers": st.integers(-(2**63), 2**63 - 1),
    "small integers": st.integers(0, 3),
    "floats": st.floats(-1e9, 1e9),
    "flags": st.booleans(),
    "times": st.datetimes(datetime.datetime(1970, 1, 1), datetime.datetime(2100, 1, 1)).map(
        lambda time: time.replace(microsecond=0)
    ),
    "decimals": st.integers(-(10**6), 10**6).map(lambda cents: Decimal(cents).scaleb(-2)),
    "texts": WORDS,
    "digits": st.sampled_from(["02139", "10001", "7", "1.50", "1e3", "NA", "true", "2026-01-31"]),
}


@st.composite
def typed_columns(draw):
    """Columns of typed values, of which some are missing."""
    rows = draw(st.integers(2, 10))
    columns = {}
    for name in draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3, unique=True)):
        values = VALUES[name] | st.none() if draw(st.booleans()) else VALUES[name]
        columns[name] = draw(st.lists(values, min_size=rows, max_size=rows))
    return columns


@pytest.mark.parametrize("ending", TABLE_FORMATS)
@QUICK
@given(columns=typed_columns(), as_categories=st.booleans())
@example(columns={"digits": ["02139", "10001", "7", None]}, as_categories=True)
@example(columns={"integers": [2**62 + 1, None, 2**62 + 3]}, as_categories=True)
@example(columns={"integers": [2**62 + 1, 5]}, as_categories=False)
def test_typed_values_in_every_format(tmp_path, ending, columns, as_categories):
    path = tmp_path / f"items{ending}"
    rows = len(next(iter(columns.values())))
    columns = {"id": [f"p{row}" for row in range(rows)], **columns, "x": [float(row) for row in range(rows)]}
    if ending == ".xlsx" and "floats" in columns:  # numbers of a workbook have 15 digits
        columns["floats"] = [None if value is None else float(f"{value:.15g}") for value in columns["floats"]]
    kinds = {name: "category" for name in columns if name in VALUES} if as_categories else {}
    frame = pd.DataFrame({name: pd.Series(column, dtype=object) for name, column in columns.items()})
    write(path, columns)
    assert_same_readings(path, kinds)
    features, message = attempt(lambda: ItemFeatures(kinds=kinds).fit(frame.drop(columns="id")))
    if message is not None:
        return
    encoded = features.transform(frame).to_numpy()
    np.testing.assert_array_equal(from_file(features, path), encoded)
    np.testing.assert_array_equal(features.transform(pyarrow.table(columns)).to_pandas().to_numpy(), encoded)


JSON_POOLS = [
    [1, 2, ""],
    [1, 2.5, 3.0, None],
    [1, "1", "NA"],
    ["2026-01-31", "2026-01-31T05:00:00Z", "", None],
    ["2026-01-31", "NA", "2026-02-30"],
    [True, False, None, " "],
    [True, 1, 0.5],
    [7, 2**70, "007"],
    [1.0, "a", 1e300, 0.1],
]


@QUICK
@given(pool=st.sampled_from(JSON_POOLS), data=st.data(), kind=KINDS)
def test_values_of_several_types_in_the_blocks_of_json_lines(tmp_path, pool, data, kind):
    path = tmp_path / "items.jsonl"
    values = sorted(data.draw(st.lists(st.sampled_from(pool), min_size=40, max_size=40)), key=str)
    rows = [{"id": f"p{row}", "x": value, "y": row} for row, value in enumerate(values)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert_same_readings(path, {} if kind is None else {"x": kind})


RNG = np.random.default_rng(0)
ISSUE = {
    "postal codes": RNG.choice(["02139", "10001", "94110"], 120),
    "levels": RNG.choice(["1", "2", "1.5"], 120),
    "rooms": RNG.choice(["1", "2", "3", ""], 120),
    "smoker": RNG.choice(["TRUE", "FALSE"], 120),
    "seen": RNG.choice(["2026-01-31T12:30:00Z", "2026-02-01T09:00:00Z", "2026-03-05T17:45:00Z"], 120),
    "dose": RNG.choice(["1e3", "2e3", "500"], 120),
}
OPTIONS = ("--model", "linear", "--epochs", "10", "--prior", "0.5")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Items of the columns that were read one way by `fit` and another by `predict`, as CSV, and judged pairs."""
    folder = tmp_path_factory.mktemp("issue")
    frame = pd.DataFrame(ISSUE, index=pd.Index([f"p{row}" for row in range(120)], name="id"))
    _, codes = np.unique(frame["postal codes"] + frame["levels"], return_inverse=True)
    frame.assign(label=(codes > 4).astype(int)).to_csv(folder / "items.csv")
    judged = judgements(frame, codes / codes.max(), n=400)
    judged.to_csv(folder / "pairs.csv", index=False)
    judged.to_parquet(folder / "pairs.parquet")
    return folder


def scores(folder, model, *arguments):
    """The probabilities that `predict` writes."""
    result = confdiff("predict", model, "items.csv", "-o", f"{model}.parquet", *arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    return pd.read_parquet(folder / f"{model}.parquet")["probability"].to_numpy()


@pytest.mark.parametrize("name", ISSUE)
def test_the_columns_of_the_issue(folder, name):
    table = read_items(folder / "items.csv")
    features = ItemFeatures(kinds={name: "category"}).fit(table)
    encoded = features.transform(table)
    positions = [row for row, feature in enumerate(features.get_feature_names_out()) if feature.startswith(f"{name} =")]
    assert encoded[:, positions].sum() == len(table)  # each value is one of the categories
    np.testing.assert_array_equal(from_file(features, folder / "items.csv"), encoded)


@pytest.mark.parametrize("stream", [False, True])
def test_the_commands_agree_bit_for_bit(folder, stream):
    categories = [word for name in ISSUE for word in ("--category", name)]
    model = "streamed" if stream else "model"
    pairs = ["pairs.parquet", "--stream"] if stream else ["pairs.csv"]
    options = (*OPTIONS, "--ignore", "label", *categories)
    fitted = confdiff("fit", "items.csv", *pairs, *options, "-o", model, cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    loaded = load_model(folder / model)
    in_memory = loaded.predict_proba(folder / "items.csv")[:, 1]
    np.testing.assert_array_equal(scores(folder, model), in_memory)
    cells = pd.read_csv(folder / "items.csv", dtype=str, keep_default_na=False)
    np.testing.assert_array_equal(loaded.predict_proba(cells)[:, 1], in_memory)
    labels = confdiff("evaluate", model, "items.csv", "--labels", "label", "--json", cwd=folder)
    accuracy = np.mean((in_memory >= 0.5) == (cells["label"] == "1"))
    assert json.loads(labels.stdout)["accuracy"] == pytest.approx(accuracy, abs=1e-12)
    judged = confdiff("evaluate", model, "items.csv", "--pairs", "pairs.csv", "--json", cwd=folder)
    rows = dict(zip(cells["id"], range(120), strict=True))
    pairs = pd.read_csv(folder / "pairs.csv")
    predicted = in_memory[pairs["right"].map(rows)] - in_memory[pairs["left"].map(rows)]
    correct = np.sign(predicted) == np.sign(pairs["difference"])
    decided = pairs["difference"] != 0
    assert json.loads(judged.stdout)["pairwise_accuracy"] == pytest.approx(correct[decided].mean(), abs=0.02)


def test_plain_strings_are_paths(folder, monkeypatch):
    monkeypatch.chdir(folder)
    options = {"model": "linear", "epochs": 2, "prior": 0.5, "ignore": ("label",)}
    of_strings = fit_comparisons("items.csv", "pairs.csv", **options)
    of_paths = fit_comparisons(Path("items.csv"), Path("pairs.csv"), **options)
    np.testing.assert_array_equal(of_strings.predict_proba("items.csv"), of_paths.predict_proba(Path("items.csv")))


@pytest.mark.parametrize("last", ["0.5", "x", "TRUE", "2026-01-31", "02139", "1" * 30])
def test_another_type_after_a_block_of_integers(tmp_path, last):
    cells = {"id": [f"p{row}" for row in range(200)], "x": [*map(str, range(199)), last], "y": ["1", "2"] * 100}
    write_cells(tmp_path / "items.csv", cells)
    assert_same_readings(tmp_path / "items.csv", {})
    if last == "0.5":
        features, _ = streamed(tmp_path / "items.csv", {})
        assert features.types_ == {"x": "number", "y": "number"}
