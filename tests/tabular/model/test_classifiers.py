"""Model folders, pages and predictions of every learner and link."""

import json

import numpy as np
import pandas as pd
import pytest

from confdiff.links import LINKS
from confdiff.tabular.model.card import card_html
from confdiff.tabular.model.classifiers import CLASSIFIERS, classifier_kind
from confdiff.tabular.model.evaluation import evaluate_pairs
from confdiff.tabular.model.model import load_model
from confdiff.tabular.model.outputs import OUTPUT_COLUMNS
from confdiff.tabular.model.scoring import predict_file, set_target_prior
from confdiff.tabular.model.wording import learner_words
from confdiff.tabular.scales import parse_scale
from fuzzing.saved_files import seal_again
from tabular.learners import LEARNERS, fitted_model, graded
from tabular.people import FRAME, JUDGED

BOTH = [(kind, link) for kind in LEARNERS for link in LINKS]


@pytest.fixture(scope="module")
def models():
    """(kind, link) -> a model of it; the score link has grades from 0 to 10."""
    return {
        (kind, link): fitted_model(kind, link)
        if link != "score"
        else fitted_model(kind, link, judged=graded(0, 10), scale=parse_scale("0,10"))
        for kind, link in BOTH
    }


def test_every_kind_is_tested():
    assert set(LEARNERS) == set(CLASSIFIERS)


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_every_model_comes_back_bit_for_bit(models, tmp_path, kind, link):
    model = models[kind, link]
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert classifier_kind(again.classifier) == kind
    assert again.link.name == link
    assert again.about == model.about
    np.testing.assert_array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    np.testing.assert_array_equal(again.explain(FRAME).contributions, model.explain(FRAME).contributions)
    assert again.is_saved_as(tmp_path / "model")
    if link == "probability":
        np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    if link == "preference":
        np.testing.assert_array_equal(again.predict_preference(FRAME), model.predict_preference(FRAME))


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_contributions_add_up_and_importance_is_measured(models, kind, link):
    model = models[kind, link]
    np.testing.assert_allclose(model.explain(FRAME).scores, model.decision_function(FRAME), atol=1e-4)
    assert {row.column for row in model.about.importance.columns} == set(FRAME.columns)
    assert model.about.importance.columns[0].r2_drop > 0


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_the_card_names_the_learner(models, kind, link):
    model = models[kind, link]
    assert learner_words(model) in card_html(model)


def test_words_of_learners(models):
    words = {key: learner_words(model) for key, model in models.items()}
    rounds = models["boosting", "preference"].classifier.n_iter_
    assert words["boosting", "preference"] == f"boosted trees by preference, {rounds} rounds ({3 * rounds} trees)"
    assert words["boosting", "probability"].startswith("boosted trees by confdiff-regression, ")
    assert words["linear", "score"].startswith("linear model (ridge regression) with the penalty C=")
    assert words["linear", "preference"].startswith("linear model (logistic regression) with the penalty C=")
    assert words["linear", "preference"].endswith(", chosen by held-out pairs")


@pytest.mark.parametrize(("kind", "link"), BOTH)
def test_files_are_scored_and_pairs_evaluated(models, tmp_path, kind, link):
    model = models[kind, link]
    FRAME.to_csv(tmp_path / "items.csv")
    assert predict_file(model, tmp_path / "items.csv", tmp_path / "scores.csv") == len(FRAME)
    scores = pd.read_csv(tmp_path / "scores.csv", index_col="id")
    assert tuple(scores.columns) == OUTPUT_COLUMNS[link]
    if link != "probability":
        np.testing.assert_allclose(scores["score"], model.decision_function(FRAME), rtol=1e-5, atol=1e-5)
    judged = graded(0, 10) if link == "score" else JUDGED
    judged.to_csv(tmp_path / "pairs.csv", index=False)
    measures = evaluate_pairs(model, tmp_path / "items.csv", tmp_path / "pairs.csv")
    assert measures.pairwise_accuracy > 0.75
    assert model.score(FRAME, judged) == pytest.approx(measures.r2, abs=1e-6)


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_target_prior_shifts_probabilities_and_is_saved(tmp_path, kind):
    model = fitted_model(kind, "probability")
    before = model.decision_function(FRAME)
    set_target_prior(model, 0.2)
    np.testing.assert_allclose(model.decision_function(FRAME), before + np.log(0.25), atol=1e-5)
    np.testing.assert_allclose(model.explain(FRAME).scores, before + np.log(0.25), atol=1e-4)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))


def changed_state(change):
    """A function that changes the JSON of the classifier."""

    def apply(folder):
        manifest = json.loads((folder / "model.json").read_text())
        change(manifest["classifier"])
        (folder / "model.json").write_text(json.dumps(manifest))

    return apply


def changed_trees(old, new):
    def apply(folder):
        path = folder / "trees.txt"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return apply


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed_trees("left_child=", "left_child=7 "), "left_child of a tree must have . entries"),
        (changed_trees("leaf_value=", "leaf_value=nan "), "leaf_value|one count per leaf"),
        (changed_trees("split_feature=", "split_feature=x"), "split_feature of a tree must be numbers"),
        (changed_trees("end of trees", ""), "the text of trees has no end"),
        (lambda folder: (folder / "trees.txt").write_bytes(b"\xff\xfe"), "damaged"),
        (changed_state(lambda state: state["learned"].update(n_iter=0)), "n_iter"),
        (changed_state(lambda state: state["learned"].update(start=[0.0, 1.0])), "start must be 1 finite numbers"),
        (changed_state(lambda state: state.update(kind="forest")), "unknown kind of classifier 'forest'"),
        (changed_state(lambda state: state.update(kind="linear")), "damaged"),
    ],
)
def test_forged_trees_are_refused_in_one_line(models, tmp_path, change, message):
    folder = tmp_path / "model"
    models["boosting", "probability"].save(folder)
    change(folder)
    seal_again(folder)
    with pytest.raises(ValueError, match=message) as caught:
        load_model(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)
