"""Values that nothing can be learned from: check, fit, predict and the estimators refuse the same ones."""

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff import ConfDiffClassifier, ConfDiffLogisticRegression
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.fitting import fit_comparisons

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")

N_ITEMS = 60
TOO_LARGE = r"must be at most 3.40282e\+38 in size; got 1e\+\d+ at row 3"


def tables():
    rng = np.random.default_rng(0)
    x = rng.normal(size=N_ITEMS)
    items = pd.DataFrame({"id": [f"i{row}" for row in range(N_ITEMS)], "x": x, "y": rng.normal(size=N_ITEMS)})
    left = rng.integers(0, N_ITEMS, 300)
    right = (left + rng.integers(1, N_ITEMS, 300)) % N_ITEMS
    r = 1 / (1 + np.exp(-2 * x))
    ids = items["id"].to_numpy()
    pairs = pd.DataFrame({"left": ids[left], "right": ids[right], "difference": r[right] - r[left], "weight": 1.0})
    return items, pairs


def with_weight(value):
    items, pairs = tables()
    pairs.loc[3 if value != 0 else slice(None), "weight"] = value
    return items, pairs


def with_difference(value):
    items, pairs = tables()
    pairs.loc[3, "difference"] = value
    return items, pairs


def with_feature(value):
    items, pairs = tables()
    items.loc[3, "x"] = value
    return items, pairs


@pytest.fixture(scope="module")
def model():
    return fit_comparisons(*tables(), model="linear", epochs=2)


def fit_estimator(estimator, items, pairs):
    rows = np.stack([pd.Index(items["id"]).get_indexer(pairs[side]) for side in ("left", "right")], axis=1)
    features = items.drop(columns="id")
    weight = pairs["weight"].to_numpy()
    return estimator.fit(rows, pairs["difference"].to_numpy(), items=features, sample_weight=weight)


WEIGHTS = [
    (
        np.nan,
        "missing-weight",
        "the weight nan is not valid. Weights must be finite",
        "weight must be finite.* got nan",
    ),
    (
        np.inf,
        "missing-weight",
        "the weight inf is not valid. Weights must be finite",
        "weight must be finite.* got inf",
    ),
    (-1.0, "negative-weight", "the weight -1.0 is not valid.* at least 0", r"weight must lie in \[0, inf\]; got -1"),
    (0.0, "no-weight", "weight must be above 0 for at least one pair", "weight must be above 0 for at least one pair"),
    (1e308, "unequal-weights", r"differ by more than a factor of 1e\+30", r"differ by more than a factor of 1e\+30"),
]
DIFFERENCES = [
    (np.nan, "missing-difference", "the difference is missing", "must be finite.* got nan"),
    (np.inf, "infinite-difference", "the difference inf is infinite", "must be finite.* got inf"),
    (1e308, "unknown-scale", r"recognised; got .* to 1e\+308", r"must lie in \[-1, 1\]; got 1e\+308"),
]
FEATURES = [
    (np.inf, "infinite-feature", "must be finite.* got inf at row 3", "must be finite.* got inf at row 3"),
    (1e308, "large-feature", TOO_LARGE, TOO_LARGE),
    (1e39, "large-feature", TOO_LARGE, TOO_LARGE),
]
ALL = [
    *((with_weight, *case) for case in WEIGHTS),
    *((with_difference, *case) for case in DIFFERENCES),
    *((with_feature, *case) for case in FEATURES),
]
IDS = [f"{change.__name__}-{value}" for change, value, *_ in ALL]


@pytest.mark.parametrize(("change", "value", "kind", "of_fit", "of_estimators"), ALL, ids=IDS)
def test_check_and_fit_and_estimators_refuse(change, value, kind, of_fit, of_estimators):
    items, pairs = change(value)
    assert kind in [finding.kind for finding in check_comparisons(items, pairs).errors]
    with pytest.raises(ValueError, match=of_fit):
        fit_comparisons(items, pairs, model="linear", epochs=1)
    for estimator in (ConfDiffClassifier(model="linear", epochs=1), ConfDiffLogisticRegression()):
        with pytest.raises(ValueError, match=of_estimators):
            fit_estimator(estimator, items, pairs)


@pytest.mark.parametrize(("value", "kind", "of_predict", "of_estimators"), FEATURES)
def test_predictions_are_refused_as_fits_are(model, value, kind, of_predict, of_estimators):
    items, _ = with_feature(value)
    with pytest.raises(ValueError, match=of_predict):
        model.predict_proba(items)
    for estimator in (ConfDiffClassifier(model="linear", epochs=1), ConfDiffLogisticRegression()):
        fit_estimator(estimator, *tables())
        with pytest.raises(ValueError, match=of_estimators):
            estimator.predict_proba(items.drop(columns="id"))


@pytest.mark.parametrize("prior", [np.nan, np.inf, -np.inf, 0.0, 1.0, 1e308])
def test_impossible_probabilities_are_refused(prior):
    items, pairs = tables()
    message = "prior must be a probability strictly between 0 and 1"
    with pytest.raises(ValueError, match=message):
        fit_comparisons(items, pairs, prior=prior, model="linear", epochs=1)
    for estimator in (ConfDiffClassifier(prior=prior, model="linear"), ConfDiffLogisticRegression(prior=prior)):
        with pytest.raises(ValueError, match=message):
            fit_estimator(estimator, items, pairs)


def test_repeated_columns_are_refused(model):
    items, pairs = tables()
    twice = items[["id", "x", "y", "x"]]
    for use in (check_comparisons, fit_comparisons):
        with pytest.raises(ValueError, match="'x' is repeated"):
            use(twice, pairs)
        with pytest.raises(ValueError, match="'weight' is repeated"):
            use(items, pairs[["left", "right", "difference", "weight", "weight"]])
    with pytest.raises(ValueError, match="'x' is repeated"):
        model.predict_proba(twice)
    with pytest.raises(ValueError, match="'x' more than once"):
        fit_estimator(ConfDiffClassifier(model="linear"), twice, pairs)


def test_numbers_that_standardisation_makes_too_large_are_named():
    items, pairs = tables()
    items["x"] *= 1e-30
    small = fit_comparisons(items, pairs, model="linear", epochs=1)
    with pytest.raises(ValueError, match="column 'x': a value is too far from the values in training"):
        small.predict_proba(items.assign(x=1e30))


def test_a_set_without_weight_is_refused():
    items, pairs = tables()
    pairs["weight"] = (np.arange(len(pairs)) == 3).astype(float)
    with pytest.raises(ValueError, match=r"pairs of the (validation|test) set have a weight of 0"):
        fit_comparisons(items, pairs, model="linear", epochs=1)


@pytest.mark.parametrize("settings", [{"early_stopping": True}, {"calibrated": True}])
def test_an_estimator_refuses_to_hold_out_pairs_without_weight(settings):
    items, pairs = tables()
    pairs["weight"] = (np.arange(len(pairs)) == 3).astype(float)
    with pytest.raises(ValueError, match="all pairs of one of the two sets have a weight of 0"):
        fit_estimator(ConfDiffClassifier(model="linear", epochs=1, **settings), items, pairs)
    fit_estimator(ConfDiffClassifier(model="linear", epochs=1), items, pairs)


def test_equal_weights_of_any_size_count():
    items, pairs = tables()
    usual = fit_comparisons(items, pairs, model="linear", epochs=1).predict_proba(items)
    for size in (1e308, 1e-300):
        model = fit_comparisons(items, pairs.assign(weight=size), model="linear", epochs=1)
        np.testing.assert_array_equal(model.predict_proba(items), usual)


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.nan, "the weight nan is not valid"), (np.inf, "the weight inf is not valid"), (0.0, "must be above 0")],
)
def test_a_stream_refuses_the_same_weights(tmp_path, value, message):
    items, pairs = with_weight(value)
    items.to_parquet(tmp_path / "items.parquet")
    pairs.to_parquet(tmp_path / "pairs.parquet", row_group_size=50)
    result = confdiff("fit", "items.parquet", "pairs.parquet", "--stream", "--model", "linear", cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr


def test_a_part_of_a_stream_may_have_no_weight(tmp_path):
    items, pairs = tables()
    pairs.loc[:99, "weight"] = 0.0
    items.to_parquet(tmp_path / "items.parquet")
    pairs.to_parquet(tmp_path / "pairs.parquet", row_group_size=50)
    flags = ["--stream", "--model", "linear", "--epochs", "1"]
    result = confdiff("fit", "items.parquet", "pairs.parquet", *flags, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
