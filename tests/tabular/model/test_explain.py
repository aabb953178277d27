"""Explanations of scores by the columns of the user's table."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance

from confdiff.io.tables import read_arrow
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.explain import BASE, OTHERS, explain_file
from confdiff.tabular.model.explain_page import write_explanation_page
from confdiff.tabular.model.model import load_model
from tabular.people import FRAME, JUDGED

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
WORDS = np.array(["calm", "restless", "pain", "sleeps", "walks"])
NOTES = [" ".join(WORDS[np.arange(row, row + 3) % 5]) for row in range(len(FRAME))]
TEXTS = FRAME.assign(note=NOTES)


@pytest.fixture(scope="module")
def text_model():
    return fit_comparisons(TEXTS, JUDGED, model="linear", epochs=2, kinds={"note": "text"})


def test_columns_of_the_table_add_up_to_the_score(model):
    explanation = model.explain(FRAME)
    assert explanation.columns == ("age", "ward", "pressure")
    assert explanation.contributions.shape == (len(FRAME), 3)
    np.testing.assert_allclose(explanation.scores, model.decision_function(FRAME), atol=1e-5)
    frame = explanation.to_frame()
    assert list(frame.columns) == ["age", "ward", "pressure"]
    assert list(frame.index[:2]) == ["P0", "P1"]
    assert frame["age"].corr(FRAME["age"]) > 0.99


def test_ids_come_from_a_column_the_index_or_the_rows(model):
    assert model.explain(FRAME.reset_index()).ids[0] == "P0"
    assert model.explain(FRAME).ids[0] == "P0"
    assert model.explain({name: FRAME[name].to_numpy() for name in FRAME}).ids[0] == 0


def test_a_saved_model_gives_the_same_explanation(model, tmp_path):
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model").explain(FRAME.head(7))
    np.testing.assert_array_equal(again.contributions, model.explain(FRAME.head(7)).contributions)


def test_the_file_holds_one_row_per_item_and_column(model, tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    reported = []
    count, shown = explain_file(model, tmp_path / "items.csv", tmp_path / "long.csv", first=2, done=reported.append)
    assert count == reported[-1] == len(FRAME)
    assert len(shown) == 2
    long = pd.read_csv(tmp_path / "long.csv")
    assert list(long.columns) == ["id", "column", "value", "contribution"]
    assert len(long) == len(FRAME) * 4
    sums = long.groupby("id", sort=False)["contribution"].sum()
    np.testing.assert_allclose(sums.to_numpy(), model.decision_function(FRAME), atol=1e-5)
    of_first = long[long["id"] == "P0"].set_index("column")
    assert of_first.index[0] == BASE
    assert float(of_first.loc["age", "value"]) == FRAME["age"].iloc[0]
    sizes = of_first["contribution"].abs().iloc[1:]
    assert (sizes.diff().dropna() <= 0).all()


def test_the_largest_contributions_and_the_rest_add_up_too(model, tmp_path):
    FRAME.reset_index(drop=True).to_parquet(tmp_path / "items.parquet")
    explain_file(model, tmp_path / "items.parquet", tmp_path / "long.parquet", top=1)
    long = read_arrow(tmp_path / "long.parquet").to_pandas()
    assert long.columns[0] == "row"
    assert list(long["column"][:3])[::2] == [BASE, OTHERS]
    sums = long.groupby("row")["contribution"].sum()
    np.testing.assert_allclose(sums.to_numpy(), model.decision_function(FRAME), atol=1e-5)


def test_words_are_explained_if_asked_for(text_model):
    assert text_model.explain(TEXTS.head(3)).words == ()
    explanation = text_model.explain(TEXTS.head(3), words=2)
    assert [len(words["note"]) for words in explanation.words] == [2, 2, 2]
    values = json.loads(json.dumps(explanation.to_json()))
    assert set(values["items"][0]["contributions"]) == set(TEXTS.columns)
    assert values["items"][0]["words"]["note"][0]["texts"] == 1


def test_the_importance_of_columns_is_measured_by_a_fit(model, text_model):
    assert model.about.importance.columns[-1].r2_drop < model.about.importance.columns[0].r2_drop
    assert {row.column for row in model.about.importance.columns} == set(FRAME.columns)
    assert text_model.about.importance.words["note"]
    without = fit_comparisons(FRAME, JUDGED, model="linear", epochs=1, validation_fraction=0)
    assert without.about.importance is None


def test_scores_in_units_are_divided_in_units(model):
    """The score link multiplies scores by the unit of the judgements, and contributions alike."""
    before = model.explain(FRAME.head(4))
    original = model.in_units
    model.in_units = lambda scores: 3 * scores
    try:
        explanation = model.explain(FRAME.head(4), words=1)
    finally:
        model.in_units = original
    np.testing.assert_allclose(explanation.scores, 3 * before.scores)


def test_the_page_shows_importance_items_and_words(text_model, tmp_path):
    items = TEXTS.head(2).rename(index={"P0": "<b>"})
    explanation = text_model.explain(items, words=3)
    path = tmp_path / "page.html"
    write_explanation_page(path, text_model, explanation, text_model.about.importance, "Why & how")
    page = path.read_text()
    assert page.count("<img") == 3
    assert "&lt;b&gt;: score" in page
    assert "Why &amp; how" in page
    assert "Words of note" in page
    write_explanation_page(path, text_model, explanation, None, "Again")
    assert path.read_text().count("<img") == 2


def test_labels_with_dollars_and_long_texts_are_drawn(tmp_path):
    frame = FRAME.rename(columns={"age": "price in $ or $$"}).assign(pressure=FRAME["pressure"] * 1e-7)
    model = fit_comparisons(frame, JUDGED, model="linear", epochs=1)
    write_explanation_page(tmp_path / "page.html", model, model.explain(frame.head(1)), model.about.importance, "$")


def test_ids_that_are_a_feature_are_explained_too():
    model = fit_comparisons(FRAME, JUDGED, model="linear", epochs=2, with_id=True)
    explanation = model.explain(FRAME.head(5))
    assert explanation.columns[-1] == "id"
    np.testing.assert_allclose(explanation.scores, model.decision_function(FRAME.head(5)), atol=1e-5)


def test_score_is_the_r2_of_judged_pairs(model, tmp_path):
    score = model.score(FRAME, JUDGED)
    assert 0.5 < score <= 1
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.rename(columns={"difference": "grade"}).to_csv(tmp_path / "pairs.csv", index=False)
    of_files = model.score(tmp_path / "items.csv", tmp_path / "pairs.csv", difference="grade")
    assert of_files == pytest.approx(score, abs=1e-6)
    with pytest.raises(ValueError, match="middle"):
        model.score(FRAME, JUDGED, middle="left")


def test_a_clone_is_unfitted_and_learns_the_same(model):
    unfitted = clone(model)
    with pytest.raises(NotFittedError):
        unfitted.decision_function(FRAME)
    wider = FRAME.assign(leak=np.arange(len(FRAME)))
    fitted = unfitted.fit(wider, JUDGED)
    assert fitted is unfitted
    assert "leak" not in fitted.about.data.columns  # the first fit has not learned from it
    np.testing.assert_array_equal(fitted.decision_function(FRAME), model.decision_function(FRAME))
    assert clone(model).fit(FRAME, JUDGED, epochs=1).about.options.epochs == 1


def test_permutation_importance_of_the_columns_of_a_frame(model):
    result = permutation_importance(model, FRAME, JUDGED, n_repeats=2, random_state=0)
    assert result.importances.shape == (3, 2)
    assert result.importances_mean[1] < result.importances_mean[0]
