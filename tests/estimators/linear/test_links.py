"""The linear estimator with each link: predictions, the choice of C, saved state and errors."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from confdiff import ConfDiffLogisticRegression, Pairs
from easy import easy_pairs

LINKS = ("probability", "preference", "score")


def graded(link, n_items=150, n_pairs=300, noise=0.0, **columns):
    """Return pairs whose differences are those of a link, and the true scores of the items."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(n_items, 4))
    g = items @ [1.0, -0.5, 0.3, 0.0] * (0.1 if link == "score" else 1.5)
    left, right = rng.integers(0, n_items, (2, n_pairs))
    sigmoid = 1 / (1 + np.exp(-g))
    c = {
        "probability": sigmoid[right] - sigmoid[left],
        "preference": np.tanh((g[right] - g[left]) / 2),
        "score": g[right] - g[left],
    }[link]
    c = np.clip(c + noise * rng.normal(size=n_pairs), -1, 1)
    return Pairs(items, left, right, c, **columns), g


@pytest.mark.parametrize("link", LINKS)
def test_each_link_recovers_the_scores_that_made_the_differences(link):
    pairs, g = graded(link)
    model = ConfDiffLogisticRegression(link=link, C=1e6).fit(pairs)
    scores = model.decision_function(pairs.items.numpy())
    assert model.link_ == link
    assert model.score(pairs) > 0.999
    assert scores - scores.mean() == pytest.approx(g - g.mean(), abs=0.02)
    assert model.predict_difference(pairs) == pytest.approx(pairs.difference.numpy(), abs=0.01)


@pytest.mark.parametrize("link", ["preference", "score"])
def test_without_classes_the_mean_score_of_the_training_items_is_zero(link):
    pairs, _ = graded(link)
    model = ConfDiffLogisticRegression(link=link).fit(pairs)
    scores = model.decision_function(pairs.compact().items.numpy())
    assert scores.mean() == pytest.approx(0, abs=1e-9)
    assert model.reference_scores_ == pytest.approx(np.sort(scores))
    assert not hasattr(model, "predict")
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "classes_")


def test_the_preference_link_predicts_the_probability_to_be_preferred():
    pairs, _ = graded("preference")
    model = ConfDiffLogisticRegression(link="preference").fit(pairs)
    items = pairs.compact().items.numpy()
    g = model.decision_function(items)
    expected = (1 / (1 + np.exp(g[None] - g[:, None]))).mean(axis=1)
    assert model.predict_preference(items) == pytest.approx(expected)


def test_a_refit_with_another_link_forgets_the_classes():
    pairs, _ = graded("preference")
    model = ConfDiffLogisticRegression(prior=0.5).fit(pairs)
    assert model.classes_.tolist() == [-1, 1]
    model.set_params(link="preference", prior=None).fit(pairs)
    assert not hasattr(model, "classes_")


def test_hard_answers_through_the_estimator_equal_scikit_learn():
    pairs, _ = graded("preference", noise=1.0)
    y = np.where(pairs.difference.numpy() > 0, 1.0, -1.0)
    items = pairs.items.numpy()
    differences = items[pairs.right] - items[pairs.left]
    expected = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-9, max_iter=10_000).fit(differences, y)
    rows = np.stack([pairs.left, pairs.right], axis=1)
    model = ConfDiffLogisticRegression(link="preference", C=0.3).fit(rows, y, items=items)
    assert model.coef_ == pytest.approx(expected.coef_, abs=1e-4)


@pytest.mark.parametrize("link", LINKS)
def test_auto_chooses_c_on_held_out_pairs_and_shows_the_candidates(link):
    pairs, _ = graded(link, noise=0.4)
    prior = 0.5 if link == "probability" else None
    model = ConfDiffLogisticRegression(link=link, C="auto", prior=prior).fit(pairs)
    best = max(model.C_search_.candidates, key=lambda row: row.r2)
    assert model.C_ == best.C
    fixed = ConfDiffLogisticRegression(link=link, C=best.C, prior=prior).fit(pairs)
    assert (model.coef_ == fixed.coef_).all()
    again = ConfDiffLogisticRegression(link=link, C="auto", prior=prior).fit(pairs)
    assert again.C_search_ == model.C_search_
    other = ConfDiffLogisticRegression(link=link, C="auto", prior=prior, random_state=1).fit(pairs)
    assert other.C_search_ != model.C_search_


def test_auto_takes_folds_of_groups_and_validation_pairs():
    group = np.arange(300) % 5
    pairs, _ = graded("preference", noise=0.4, group=group)
    by_rows = [(np.flatnonzero(group != number), np.flatnonzero(group == number)) for number in range(5)]
    folds = {"splitter": GroupKFold(5), "rows": by_rows}
    searches = {
        name: ConfDiffLogisticRegression(link="preference", C="auto", cv=cv).fit(pairs).C_search_
        for name, cv in folds.items()
    }
    assert [row.r2 for row in searches["splitter"].candidates] == pytest.approx(
        [row.r2 for row in searches["rows"].candidates]
    )
    training, held_out = by_rows[0]
    alone = ConfDiffLogisticRegression(link="preference", C="auto")
    by_validation = alone.fit(pairs[training], validation=pairs[held_out]).C_search_
    one_fold = ConfDiffLogisticRegression(link="preference", C=by_validation.best.C).fit(pairs[training])
    assert by_validation.best.r2 == pytest.approx(one_fold.score(pairs[held_out]), abs=1e-3)


@pytest.mark.parametrize("link", LINKS)
def test_contributions_add_up_to_the_scores(link):
    pairs, _ = graded(link)
    model = ConfDiffLogisticRegression(link=link, prior=0.4 if link == "probability" else None).fit(pairs)
    items = pairs.items.numpy()
    contributions, base = model.explain(items)
    assert contributions.sum(axis=1) + base == pytest.approx(model.decision_function(items))
    assert contributions[pairs.left].mean(axis=0) + contributions[pairs.right].mean(axis=0) == pytest.approx(0)


@pytest.mark.parametrize("link", LINKS)
def test_a_saved_state_predicts_the_same(link):
    pairs, _ = graded(link, noise=0.3, feature_names=tuple("abcd"))
    prior = 0.4 if link == "probability" else None
    model = ConfDiffLogisticRegression(link=link, C="auto", prior=prior).fit(pairs)
    state = model.to_state()
    weights = state.pop("weights")
    restored = ConfDiffLogisticRegression.from_state(json.loads(json.dumps(state)) | {"weights": weights})
    items = pd.DataFrame(pairs.items.numpy(), columns=list("abcd"))
    assert (restored.decision_function(items) == model.decision_function(items)).all()
    assert (restored.predict_difference(pairs) == model.predict_difference(pairs)).all()
    assert (restored.explain(items)[0] == model.explain(items)[0]).all()
    assert restored.C_search_ == model.C_search_
    assert restored.feature_names_in_.tolist() == list("abcd")
    if link == "probability":
        assert restored.prior_ == 0.4
        assert (restored.predict(items) == model.predict(items)).all()
    if link == "preference":
        assert (restored.predict_preference(items) == model.predict_preference(items)).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state["learned"].update(link="odds"), "unknown link"),
        (lambda state: state["learned"].update(n_features=5), "shape"),
        (lambda state: state["learned"].update(C=-1.0), "C must be"),
        (lambda state: state["learned"].update(classes=[0, 1]), "no classes"),
        (lambda state: state["learned"].update(feature_names=["a"]), "feature_names"),
        (lambda state: state["weights"].pop("coef"), "coef"),
        (lambda state: state["weights"].update(coef=state["weights"]["coef"] * np.nan), "finite"),
        (lambda state: state["weights"].update(reference=state["weights"]["reference"][:0]), "reference"),
    ],
)
def test_a_damaged_state_is_refused(change, message):
    pairs, _ = graded("preference")
    state = ConfDiffLogisticRegression(link="preference").fit(pairs).to_state()
    change(state)
    with pytest.raises(ValueError, match=message):
        ConfDiffLogisticRegression.from_state(state)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"link": "odds"}, "unknown link"),
        ({"link": "preference", "prior": 0.4}, r"link='preference' has no classes: prior=0.4 would not be used"),
        ({"C": "best"}, "unknown C"),
        ({"C": 0}, "C must be"),
        ({"prior": "guess"}, "unknown prior"),
    ],
)
def test_wrong_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        ConfDiffLogisticRegression(**parameters).fit(easy_pairs())


def test_labelled_items_need_classes_and_no_given_prior():
    pairs = easy_pairs()
    labelled = (pairs.items.numpy()[:5], [0, 1, 0, 1, 1])
    with pytest.raises(ValueError, match="labelled items would not be used"):
        ConfDiffLogisticRegression(link="score").fit(pairs, labelled=labelled)
    with pytest.raises(ValueError, match="pass one of the two"):
        ConfDiffLogisticRegression(prior=0.5).fit(pairs, labelled=labelled)
