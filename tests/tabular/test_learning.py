"""What `fit` learns with: compared candidates or one network, the meaning of judgements, and an open offset."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff import ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.card import card_html
from confdiff.tabular.model.model import load_model
from confdiff.tabular.model.scoring import predict_file
from tabular.people import FRAME, JUDGED, RISK, judgements

SCORE = np.log(RISK / (1 - RISK))
NARROW = judgements(FRAME, 0.1 + 0.2 * RISK)
NUMBERS = FRAME[["age"]]


def graded(values):
    """Judged pairs whose differences are a function of the scores of both items."""
    rows = pd.Series(range(len(FRAME)), index=FRAME.index)
    g = SCORE[rows[JUDGED["left"]]]
    g_prime = SCORE[rows[JUDGED["right"]]]
    return JUDGED.assign(difference=values(g, g_prime))


def preferences(g, g_prime):
    return np.tanh((g_prime - g) / 2)


def points(g, g_prime):
    return (g_prime - g) / 20


@pytest.fixture(scope="module")
def compared():
    return fit_comparisons(FRAME, JUDGED)


def test_the_default_compares_learners_and_links(compared):
    rows = compared.about.selection.rows
    assert {row.candidate for row in rows} == {"linear", "boosting", "mlp", "paper-mlp"}
    assert {row.link for row in rows} == {"probability", "preference", "score"}
    assert isinstance(compared.classifier, ConfDiffLogisticRegression)  # the risks are logistic
    assert compared.link.name == "probability"
    assert np.abs(compared.predict_proba(FRAME)[:, 1] - RISK).mean() < 0.02


def test_only_the_test_set_is_held_out(compared):
    validation = compared.validation
    assert validation.validation_pairs == 0
    assert validation.training_pairs + validation.test.pairs == len(JUDGED)
    assert compared.about.selection.pairs == validation.training_pairs


def test_the_chosen_learner_is_fitted_to_all_pairs_after_its_test():
    noisy = JUDGED.assign(difference=np.random.default_rng(0).normal(JUDGED["difference"], 0.5).clip(-1, 1))
    model = fit_comparisons(FRAME, noisy, model="linear", prior=0.45)
    of_all = fit_comparisons(FRAME, noisy, model="linear", prior=0.45, validation_fraction=0)
    np.testing.assert_array_equal(model.decision_function(FRAME), of_all.decision_function(FRAME))
    assert model.validation.test.pairs < len(noisy)
    assert of_all.validation is None
    assert "after the test, the learner was fitted to all pairs" in card_html(model)


def test_the_card_and_show_have_the_comparison(compared, tmp_path):
    assert "Compared learners" in card_html(compared)
    compared.save(tmp_path / "model")
    shown = confdiff("show", "model", cwd=tmp_path).stdout
    assert "chosen by held-out pairs" in shown
    assert "boosting" in shown
    described = json.loads(confdiff("show", "model", "--json", cwd=tmp_path).stdout)
    chosen = [row for row in described["selection"]["rows"] if row["chosen"]]
    assert [(row["candidate"], row["link"]) for row in chosen] == [("linear", "probability")]
    loaded = load_model(tmp_path / "model")
    assert loaded.about == compared.about
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), compared.predict_proba(FRAME))


def test_two_fits_write_the_same_files(tmp_path):
    for name in ("first", "second"):
        fit_comparisons(FRAME, JUDGED, model="boosting", prior=0.45).save(tmp_path / name)
    fit_comparisons(FRAME, JUDGED, model="linear", prior=0.45).save(tmp_path / "first", overwrite=True)
    fit_comparisons(FRAME, JUDGED, model="boosting", prior=0.45).save(tmp_path / "first", overwrite=True)
    first, second = ((tmp_path / name / "model.json").read_text() for name in ("first", "second"))
    assert first == second


@pytest.mark.parametrize(("link", "values"), [("preference", preferences), ("score", points)])
@pytest.mark.parametrize("how", [{"model": "linear"}, {"model": "linear", "epochs": 40}])
def test_the_link_is_chosen_by_held_out_pairs(link, values, how):
    model = fit_comparisons(FRAME, graded(values), **how)
    assert model.link.name == link
    assert model.about.selection.chosen.link == link
    assert np.corrcoef(model.decision_function(FRAME), SCORE)[0, 1] > 0.95


@pytest.mark.parametrize(
    "options", [{"link": "probability"}, {"prior": 0.45}, {"method": "confdiff-abs", "prior": 0.4}]
)
def test_the_link_is_not_chosen_where_it_is_known(options):
    model = fit_comparisons(FRAME, graded(preferences), model="linear", **options)
    assert model.link.name == "probability"
    assert model.about.selection is None or {row.link for row in model.about.selection.rows} == {"probability"}


@pytest.mark.parametrize(
    ("options", "classifier"),
    [
        ({"model": "linear"}, ConfDiffLogisticRegression),
        ({"model": "boosting"}, ConfDiffBoosting),
        ({"epochs": 2}, ConfDiffClassifier),
        ({"model": "linear", "weight_decay": 0.1}, ConfDiffClassifier),
        ({"method": "confdiff-abs", "epochs": 2}, ConfDiffClassifier),
    ],
)
def test_options_determine_the_learner(options, classifier):
    model = fit_comparisons(FRAME, JUDGED, prior=0.45, **options)
    assert type(model.classifier) is classifier


def test_the_links_of_a_stream_are_compared_on_a_sample(tmp_path):
    FRAME.reset_index().to_parquet(tmp_path / "items.parquet")
    graded(preferences).to_parquet(tmp_path / "pairs.parquet")
    result = confdiff("fit", "items.parquet", "pairs.parquet", "--stream", "--model", "linear", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    model = load_model(tmp_path / "model")
    assert isinstance(model.classifier, ConfDiffClassifier)
    assert model.link.name == "preference"
    assert np.corrcoef(model.decision_function(FRAME), SCORE)[0, 1] > 0.9


def test_groups_and_ids_are_units_of_the_folds():
    judged = JUDGED.assign(group=np.arange(len(JUDGED)) % 3)
    groups = fit_comparisons(FRAME, judged, model="linear", prior=0.45, hold_out_groups=True, validation_fraction=0)
    assert groups.about.selection.held_out == "units"
    assert groups.about.selection.folds == 3
    ids = fit_comparisons(NUMBERS, JUDGED, model="linear", prior=0.45, with_id=True)
    assert ids.about.selection.held_out == "units"


@pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
def test_links_that_the_pairs_do_not_distinguish_are_named():
    rng = np.random.default_rng(0)
    noisy = graded(lambda g, g_prime: np.clip((g_prime - g) / 200 + rng.normal(0, 0.01, len(g)), -1, 1))
    model = fit_comparisons(NUMBERS, noisy, model="linear")
    others = {"probability", "preference", "score"} - {model.link.name}
    assert set(model.about.selection.equal_links) == others
    assert "do not distinguish the link" in card_html(model)


@pytest.fixture(scope="module")
def open_offset():
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        return fit_comparisons(FRAME, NARROW, model="linear", link="probability")


def test_an_open_offset_gives_ranks_and_no_decisions(open_offset, tmp_path):
    assert not open_offset.makes_decisions
    FRAME.to_csv(tmp_path / "items.csv")
    predict_file(open_offset, tmp_path / "items.csv", tmp_path / "scores.csv")
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert list(scores.columns) == ["id", "probability", "rank"]
    assert scores.loc[scores["probability"].idxmax(), "rank"] == 1
    with pytest.raises(ValueError, match=r"offset of the probabilities open.*pass threshold="):
        open_offset.predict(FRAME)
    assert set(open_offset.predict(FRAME, threshold=0.5)) <= {-1, 1}


def test_a_threshold_or_a_target_prior_gives_decisions(open_offset, tmp_path):
    open_offset.save(tmp_path / "model")
    FRAME.to_csv(tmp_path / "items.csv")
    left_out = confdiff("predict", "model", "items.csv", "-o", "open.csv", cwd=tmp_path)
    assert "Pass --threshold or --target-prior" in left_out.stderr
    for name, flags in {"threshold": ("--threshold", "0.2"), "prior": ("--target-prior", "0.2")}.items():
        result = confdiff("predict", "model", "items.csv", "-o", f"{name}.csv", *flags, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
        assert list(pd.read_csv(tmp_path / f"{name}.csv").columns) == ["id", "probability", "positive"]


def test_the_card_and_show_say_that_the_offset_is_open(open_offset, tmp_path):
    low, high = open_offset.classifier.prior_interval_
    sentence = f"not how many are positive: any fraction from {low:.2f} to {high:.2f} fits"
    assert sentence in card_html(open_offset)
    open_offset.save(tmp_path / "model")
    shown = confdiff("show", "model", cwd=tmp_path)
    assert sentence in " ".join(shown.stdout.split())
    assert json.loads(confdiff("show", "model", "--json", cwd=tmp_path).stdout)["makes_decisions"] is False


def test_options_come_back_through_json():
    options = FitOptions(model="linear", link="score", epochs=3)
    assert FitOptions.from_json(json.loads(json.dumps(options.to_json()))) == options


def label_differences(seed=0):
    """Differences of labels that were drawn from risks with a mean of .2."""
    risk = 0.4 * RISK
    labels = (np.random.default_rng(seed).random(len(risk)) < risk).astype(float)
    return judgements(FRAME, labels), labels.mean()


def test_declared_label_differences_determine_the_prior(tmp_path):
    judged, fraction = label_differences()
    model = fit_comparisons(FRAME, judged, model="linear", differences="labels", positives="rarer")
    assert model.makes_decisions
    assert model.classifier.prior_ == pytest.approx(fraction, abs=0.05)
    assert "from the differences of labels" in card_html(model)
    FRAME.to_csv(tmp_path / "items.csv")
    judged.to_csv(tmp_path / "pairs.csv", index=False)
    (tmp_path / "confdiff.toml").write_text('differences = "labels"\npositives = "rarer"\nscale = "-1,1"\n')
    result = confdiff("fit", "items.csv", "pairs.csv", "--model", "linear", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert load_model(tmp_path / "model").classifier.prior_ == model.classifier.prior_


def test_label_differences_must_be_declared_and_be_differences_of_labels():
    judged, _ = label_differences()
    with pytest.raises(ValueError, match="needs differences of -1, 0 and 1"):
        fit_comparisons(FRAME, JUDGED, model="linear", differences="labels")
    with pytest.raises(ValueError, match="unknown differences 'label'"):
        fit_comparisons(FRAME, judged, differences="label")
