"""Data frames of any library with Arrow streams, and columns of any physical type."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.fitting import fit_comparisons
from tabular.people import FRAME, JUDGED

OPTIONS = {"model": "linear", "epochs": 3, "prior": 0.5}
ITEMS = FRAME.reset_index()


class ArrowStream:
    """A frame of a library that is not known, such as a relation of DuckDB."""

    def __init__(self, table):
        self._table = table
        self.columns = table.column_names

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


FRAMES = {
    "polars": polars.from_pandas,
    "pyarrow": pyarrow.Table.from_pandas,
    "any Arrow stream": lambda frame: ArrowStream(pyarrow.Table.from_pandas(frame)),
    "record batches": lambda frame: pyarrow.RecordBatch.from_pandas(frame),
    "mapping": lambda frame: frame.to_dict(orient="list"),
}


@pytest.fixture(scope="module")
def expected():
    return fit_comparisons(ITEMS, JUDGED, **OPTIONS).predict_proba(ITEMS)


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_other_libraries_give_the_same_model(name, expected):
    items = FRAMES[name](ITEMS)
    model = fit_comparisons(items, FRAMES[name](JUDGED), **OPTIONS)
    np.testing.assert_array_equal(model.predict_proba(items), expected)
    np.testing.assert_array_equal(model.predict(items), np.where(expected[:, 1] >= 0.5, 1, -1))


def test_features_come_in_the_kind_of_frame_that_the_items_were():
    features = ItemFeatures().fit(ITEMS.drop(columns="id"))
    pandas = features.transform(FRAME)
    assert pandas.index.equals(FRAME.index)
    from_polars = features.transform(polars.from_pandas(ITEMS))
    assert isinstance(from_polars, polars.DataFrame)
    assert from_polars.columns == list(pandas.columns)
    from_arrow = features.transform(pyarrow.Table.from_pandas(ITEMS))
    assert isinstance(from_arrow, pyarrow.Table)
    for frame in (from_polars.to_numpy(), from_arrow.to_pandas().to_numpy()):
        np.testing.assert_array_equal(frame, pandas.to_numpy())
    assert isinstance(features.transform(ITEMS.to_dict(orient="list")), np.ndarray)


def test_a_lazy_frame_is_refused_with_advice():
    with pytest.raises(ValueError, match=r"the items must be a path, .*; got LazyFrame. Call its method collect\(\)"):
        ItemFeatures().fit(polars.from_pandas(ITEMS).lazy())


DAYS = [datetime.date(2026, 1, day) for day in (1, 2, 4)]
NOON = [datetime.datetime(2026, 1, day, 12, tzinfo=datetime.UTC) for day in (1, 2, 4)]
NUMBERS = {
    "nullable integers": pd.Series([1, None, 3], dtype="Int64"),
    "objects": pd.Series([1, None, 3], dtype=object),
    "floats": pd.Series([1.0, np.nan, 3.0]),
    "half floats": np.array([1, np.nan, 3], dtype=np.float16),
    "arrow decimals": pyarrow.array([Decimal("1.00"), None, Decimal("3.00")]),
    "objects of decimals": np.array([Decimal(1), None, Decimal("3.0")], dtype=object),
    "mixed numbers": np.array([1, None, 3.0], dtype=object),
    "categoricals": pd.Series([1, None, 3]).astype("category"),
    "arrow dictionaries": pyarrow.array([1, None, 3]).dictionary_encode(),
    "run-end encoded": pyarrow.compute.run_end_encode(pyarrow.array([1, None, 3])),
    "unsigned": pyarrow.array([1, None, 3], pyarrow.uint64()),
    "sparse": pd.Series(pd.arrays.SparseArray([1.0, np.nan, 3.0])),
    "durations": pd.Series(pd.to_timedelta([1, None, 3], unit="D")),
    "texts": np.array(["1", " NA", "+3.0"], dtype=object),
    "string views": pyarrow.array(["1", "", "3e0"], pyarrow.string_view()),
    "large strings": pyarrow.array(["1", None, "03"], pyarrow.large_string()),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_physical_types_of_numbers(name):
    column = {"x": NUMBERS[name], "y": [0.0, 1.0, 2.0]}
    encoded = ItemFeatures(kinds={"x": "number"}).fit(column).transform(column)
    expected = ItemFeatures().fit({"x": [1.0, np.nan, 3.0], "y": [0.0, 1.0, 2.0]})
    np.testing.assert_array_equal(encoded, expected.transform({"x": [1.0, np.nan, 3.0], "y": [0.0, 1.0, 2.0]}))


TIMES = {
    "days": pyarrow.array(DAYS),
    "objects of days": np.array(DAYS, dtype=object),
    "months and days": np.array(["2026-01-01", "2026-01-02", "2026-01-04"], dtype="datetime64[D]"),
    "nanoseconds": pd.Series(pd.to_datetime(DAYS)).astype("datetime64[ns]"),
    "another zone": pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
    "days and times": np.array([DAYS[0], datetime.datetime(2026, 1, 2), DAYS[2]], dtype=object),
}


@pytest.mark.parametrize("name", TIMES)
def test_physical_types_of_times(name):
    features = ItemFeatures().fit({"seen": TIMES["days"]})
    assert features.kinds_ == {"seen": "time"}
    expected = features.transform({"seen": TIMES["days"]})
    np.testing.assert_array_equal(features.transform({"seen": TIMES[name]}), expected)
    np.testing.assert_array_equal(ItemFeatures().fit({"seen": TIMES[name]}).transform({"seen": TIMES[name]}), expected)


def test_times_in_zones_are_compared_in_utc():
    features = ItemFeatures().fit({"seen": NOON})
    berlin = pd.Series(NOON).dt.tz_convert("Europe/Berlin")
    np.testing.assert_array_equal(features.transform({"seen": berlin}), features.transform({"seen": NOON}))
    text = ["2026-01-01T12:00:00Z", "2026-01-02T13:00:00+01:00", "2026-01-04 12:00"]
    np.testing.assert_array_equal(features.transform({"seen": text}), features.transform({"seen": NOON}))


@pytest.mark.parametrize(
    ("training", "later"),
    [
        (["a", None, "b"], pd.Series(["a", None, "b"]).astype("category")),
        (["a", None, "b"], pd.Series(["a", None, "b"], dtype="string[pyarrow]")),
        (["a", None, "b"], pyarrow.array(["a", None, "b"], pyarrow.large_string()).dictionary_encode()),
        (["7", "8", "9"], [7, 8, 9]),
        (["7", "8", "9"], [7.0, 8.0, 9.0]),
        ([7, 8, 9], ["7", "8", "9"]),
        ([7, None, 9], ["7.0", "", "9.0"]),
        ([True, None, False], ["TRUE", "NA", "false"]),
        (["true", "x", "false"], np.array([True, "x", False], dtype=object)),
        ([1.5, 2.0, 1.0], ["1.50", "2", "1e0"]),
        (DAYS, ["2026-01-01", "2026-01-02T00:00:00Z", "2026-01-04 00:00"]),
    ],
)
def test_categories_of_another_physical_type(training, later):
    features = ItemFeatures(kinds={"x": "category"}).fit({"x": training})
    encoded = features.transform({"x": training})
    assert encoded.sum() == 3
    np.testing.assert_array_equal(features.transform({"x": later}), encoded)


@pytest.mark.parametrize(
    ("training", "later", "message"),
    [
        ([1, 2, 3], ["1", "two", "3"], "column 'x', row 1: must be a number; got 'two'"),
        ([1, 2, 3], DAYS, "column 'x', row 0: must be a number"),
        ([True, False, None], ["true", "yes", ""], "column 'x', row 1: must be true or false; got 'yes'"),
        ([True, False, None], [1, 0, 2], "column 'x', row 2: must be true or false; got 2"),
        (DAYS, ["2026-01-01", "2026-02-30", ""], "column 'x', row 1: must be a time, such as .*; got '2026-02-30'"),
        (DAYS, [1, 2, 3], "column 'x', row 0: must be a time"),
        (pd.to_timedelta([1, 2, 3], unit="D"), ["1 days", "2 days 12:00:00", "x"], "row 2: must be a duration"),
        ([1, 2, 3], [1, np.inf, 2], "must be finite.*inf at row 1"),
    ],
)
def test_cells_that_cannot_be_converted_are_named(training, later, message):
    features = ItemFeatures().fit({"x": training, "y": [0.0, 1.0, 2.0]})
    with pytest.raises(ValueError, match=message):
        features.transform({"x": later, "y": [0.0, 1.0, 2.0]})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"x": [[1], [2, 3]]},
            "column 'x' must hold .* or vectors: .*; got 1 numbers in row 0 and 2 in",
        ),
        (
            {"x": pd.Series([{"a": 1}, None])},
            "column 'x' must hold .* or vectors: .*; got a value in row 0",
        ),
        (
            {"x": np.ones((2, 2, 2))},
            r"column 'x' must hold .*; got an array of float64 of shape \(2, 2, 2\)",
        ),
        ({"x": "ab"}, r"column 'x' must hold one value or .*; got an array of <U2 of shape \(\)"),
        ({"x": [1, 2], "y": [1, 2, 3]}, "the columns must have one length; 'x' has 2 rows, others 3"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "the columns must have unique names; '1' is repeated"),
        (pd.Series([1, 2]), "the items"),
        (None, "the items must be a path, a data frame or a mapping from names to columns; got NoneType"),
    ],
)
def test_tables_that_are_none(columns, message):
    with pytest.raises(ValueError, match=message):
        ItemFeatures().fit(columns)


@pytest.mark.parametrize(
    "column",
    [
        polars.Series(["a", "b", None], dtype=polars.Categorical),
        polars.Series(["a", "b", None], dtype=polars.Enum(["a", "b"])),
        pyarrow.array([b"a", b"b", None]),
        pyarrow.array(["a", "b", None], pyarrow.string_view()).dictionary_encode(),
    ],
)
def test_texts_of_any_physical_type(column):
    table = polars.DataFrame({"x": column}) if isinstance(column, polars.Series) else pyarrow.table({"x": column})
    features = ItemFeatures().fit(table)
    assert features.encoders_[0].values == ("", "a", "b")


def test_blanks_among_numbers_are_missing():
    features = ItemFeatures().fit({"x": np.array([1, "", 2.5, " "], dtype=object)})
    assert features.encoders_[0].marked == ("x",)


def test_mixed_objects_are_text():
    column = np.array([1, "a", 2.5, True, None, Decimal("0.5")], dtype=object)
    features = ItemFeatures().fit({"x": column})
    assert features.types_ == {"x": "text"}
    assert features.encoders_[0].values == ("", "0.5", "1", "2.5", "a", "true")


@pytest.mark.parametrize(
    "empty", [[None] * 3, [np.nan] * 3, ["", " ", None], pyarrow.nulls(3), pd.Series([None] * 3, dtype="string")]
)
def test_an_empty_column_is_ignored_and_named(empty):
    with pytest.warns(UserWarning, match="column 'x' is ignored: it is empty"):
        features = ItemFeatures().fit({"x": empty, "y": [0.0, 1.0, 2.0]})
    assert features.kinds_ == {"x": "ignore", "y": "number"}


def test_numbers_as_text_are_not_dropped_in_silence():
    with pytest.warns(UserWarning, match=r"its 60 values are numbers written as text.*kinds={'x': 'number'}"):
        ItemFeatures().fit({"x": [f"{row}.5" for row in range(60)], "y": np.arange(60)})
