"""Models that are fitted to items and judged pairs."""

import warnings

import numpy as np
import pandas as pd
import pytest

from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.card import card_html
from confdiff.tabular.model.evaluation import evaluate_pairs
from tabular.people import FRAME, JUDGED, RISK, judgements

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")


def test_risks_are_learned_from_comparisons(model):
    p = model.predict_proba(FRAME)[:, 1]
    assert np.abs(p - RISK).mean() < 0.1
    assert np.mean((p > 0.5) == (RISK > 0.5)) > 0.9
    assert set(model.predict(FRAME)) == {-1, 1}


def test_the_figures_come_from_held_out_pairs(model):
    validation = model.validation
    assert validation.test.pairwise_accuracy > 0.85
    counted = validation.training_pairs + validation.validation_pairs + validation.test.pairs
    assert counted == len(JUDGED)
    assert validation.new_items.pairs < validation.test.pairs
    assert model.about.data.columns == {"age": "number", "ward": "category", "pressure": "number"}


def test_without_validation_nothing_is_claimed():
    quick = fit_comparisons(FRAME, JUDGED, model="linear", epochs=1, validation_fraction=0, prior=0.5)
    assert quick.validation is None


def test_a_few_labels_tell_the_prior():
    labels = pd.Series(np.nan, index=FRAME.index)
    chosen = np.random.default_rng(5).permutation(300)[:60]
    labels.iloc[chosen] = (np.random.default_rng(6).random(60) < RISK[chosen]).astype(int)
    labelled = fit_comparisons(FRAME.assign(ill=labels), JUDGED, labels="ill", model="linear", epochs=20)
    assert "ill" not in labelled.about.data.columns
    assert labelled.classifier.prior_estimate_.n_labels == 60
    assert abs(labelled.classifier.prior_ - RISK.mean()) < 0.1


def test_warnings_are_given_and_kept():
    narrow = 0.4 + 0.2 * RISK
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        open_prior = fit_comparisons(FRAME, judgements(FRAME, narrow), model="linear", link="probability", epochs=20)
    assert any("do not determine the class prior" in text for text in open_prior.about.warnings)


def as_ratios(judged):
    """Judgements as Saaty's ratios, written as people write them: 3, 1/3."""
    ratio = np.clip(np.round(9 ** np.abs(judged["difference"])), 1, 9).astype(int).astype(str)
    return judged.assign(difference=np.where(judged["difference"] > 0, ratio, "1/" + ratio))


def test_ratios_are_learned_from_and_their_scale_is_stored(tmp_path):
    ratios = as_ratios(JUDGED)
    with pytest.warns(UserWarning, match="Saaty's ratios .* favour the second item. Confirm it with scale='saaty'"):
        model = fit_comparisons(FRAME, ratios, model="linear", prior=0.5)
    assert model.validation.test.pairwise_accuracy > 0.95
    assert model.about.data.scale_option == "saaty"
    p = model.predict_proba(FRAME)[:, 1]
    assert np.corrcoef(p, RISK)[0, 1] > 0.9
    backwards = fit_comparisons(FRAME, ratios, model="linear", prior=0.5, scale="saaty,reversed")
    assert np.corrcoef(backwards.predict_proba(FRAME)[:, 1], RISK)[0, 1] < -0.9
    FRAME.reset_index().to_csv(tmp_path / "items.csv", index=False)
    for name, judged in (("few", ratios[ratios["difference"] == "1/1"]), ("many", ratios)):
        judged.to_csv(tmp_path / f"{name}.csv", index=False)
    assert evaluate_pairs(model, tmp_path / "items.csv", tmp_path / "many.csv").pairwise_accuracy > 0.95
    ties = evaluate_pairs(model, tmp_path / "items.csv", tmp_path / "few.csv")  # all 1: by themselves, differences
    assert ties.rmse < 0.2
    page = card_html(model)
    assert "log(value) / log(9)" in page
    assert "1 means equal" in page


def test_ids_of_a_frame_are_its_index_or_a_column():
    frame = FRAME.reset_index()
    pd.testing.assert_index_equal(frame.index, pd.RangeIndex(300))
    by_column = fit_comparisons(frame, JUDGED, model="linear", epochs=2)
    by_index = fit_comparisons(FRAME, JUDGED, model="linear", epochs=2)
    np.testing.assert_array_equal(by_column.predict_proba(frame), by_index.predict_proba(FRAME))
    assert "id" not in by_column.about.data.columns


def test_a_scale_may_be_given():
    seven = JUDGED.assign(difference=(JUDGED["difference"] * 3).round() + 4)
    explicit, guessed = (
        fit_comparisons(FRAME, seven, model="linear", epochs=2, scale=scale) for scale in ((1, 7), None)
    )
    assert explicit.about.data.scale == "a scale from 1 to 7"
    assert guessed.about.data.scale == "a 7-point scale from 1 to 7"
    np.testing.assert_array_equal(explicit.predict_proba(FRAME), guessed.predict_proba(FRAME))


@pytest.mark.filterwarnings("always")
def test_each_warning_is_given_once_and_names_the_caller():
    frame = FRAME.assign(code=[f"X-{row}" for row in range(len(FRAME))])
    narrow = judgements(frame, 0.4 + 0.2 * RISK)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit_comparisons(frame, narrow, model="linear", link="probability", epochs=2)
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == len(set(texts)) == 2
    assert texts[0].startswith("column 'code' is ignored")
    assert list(model.about.warnings) == texts
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("argument", [{"ignore": ("nope",)}, {"labels": "nope"}, {"id": "nope"}])
def test_columns_that_do_not_exist_are_named_as_python_arguments(argument):
    (name,) = argument
    columns = "age, ward, pressure and id" if name == "id" else "age, ward and pressure"  # the index is named id
    message = rf"no column of the items is named 'nope' \({name}='nope'\); the columns are {columns}\."
    with pytest.raises(ValueError, match=message):
        fit_comparisons(FRAME, JUDGED, **argument)


def test_at_most_ten_columns_are_listed():
    wide = pd.DataFrame(np.zeros((3, 30)), columns=[f"x{k}" for k in range(30)])
    with pytest.raises(ValueError, match="the columns are x0, x1, x2, x3, x4, x5, x6, x7, x8, x9 and 20 more"):
        fit_comparisons(wide, JUDGED, ignore=("nope",))


@pytest.mark.parametrize("fraction", [-0.1, 1, 2])
def test_a_fraction_to_hold_out_is_at_least_0_and_below_1(fraction):
    with pytest.raises(ValueError, match=r"validation_fraction must be at least 0 and below 1, such as 0.2; got"):
        FitOptions(validation_fraction=fraction)
