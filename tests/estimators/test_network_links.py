"""Links of classifiers with networks."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import torch
from scipy.special import expit

from confdiff import ConfDiffClassifier, Pairs, StreamedPairs
from confdiff.links import LINKS, find_link

WITHOUT_CLASSES = [name for name, link in LINKS.items() if not link.has_classes]
without_classes = pytest.mark.parametrize("link", WITHOUT_CLASSES)
QUICK = {"model": "linear", "epochs": 60}


def make_pairs(link, n=150, seed=0):
    """Pairs whose differences are exactly those of a linear score under a link."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    g = X @ [0.6, -0.3, 0.0]
    left, right = rng.integers(0, n, size=(2, 300))
    c = find_link(link).difference(g[left], g[right])
    return Pairs(X, left, right).with_difference(torch.from_numpy(c).float()), g


@without_classes
def test_the_scores_of_a_link_are_learned_up_to_a_constant(link):
    pairs, g = make_pairs(link)
    fitted = ConfDiffClassifier(link=link, **QUICK).fit(pairs)
    X = pairs.items.numpy()
    used = np.unique(np.concatenate([pairs.left, pairs.right]))
    assert fitted.link_ == link
    assert fitted.score(pairs) > 0.99
    assert np.corrcoef(fitted.decision_function(X), g)[0, 1] > 0.99
    assert np.std(fitted.decision_function(X)) == pytest.approx(np.std(g), rel=0.1)
    assert fitted.decision_function(X[used]).mean() == pytest.approx(0, abs=1e-5)
    expected = find_link(link).difference(*fitted.decision_function(X)[np.stack([pairs.left, pairs.right])])
    assert np.allclose(fitted.predict_difference(pairs), expected, atol=1e-5)


@without_classes
def test_links_without_classes_have_no_class_predictions(link):
    pairs, _ = make_pairs(link)
    fitted = ConfDiffClassifier(link=link, model="linear", epochs=1).fit(pairs)
    for name in ("predict", "predict_proba"):
        with pytest.raises(AttributeError) as error:
            getattr(fitted, name)
        assert f"link='{link}'" in str(error.value.__cause__)
    assert not hasattr(fitted, "classes_")
    assert not hasattr(fitted, "prior_")


def test_preferences_are_means_over_the_training_items():
    pairs, _ = make_pairs("preference")
    fitted = ConfDiffClassifier(link="preference", **QUICK).fit(pairs)
    X = pairs.items.numpy()
    used = np.unique(np.concatenate([pairs.left, pairs.right]))
    scores = fitted.decision_function(X).astype(float)
    expected = expit(scores[:, None] - scores[used]).mean(axis=1)
    assert np.allclose(fitted.predict_preference(X), expected, atol=1e-5)
    assert not hasattr(ConfDiffClassifier(link="score", model="linear", epochs=1).fit(pairs), "predict_preference")


@without_classes
def test_a_refit_with_another_link_leaves_nothing_of_the_first(link):
    pairs, _ = make_pairs(link)
    estimator = ConfDiffClassifier(model="linear", epochs=1, prior=0.5).fit(pairs)
    estimator.set_params(link=link, prior=None).fit(pairs)
    assert not hasattr(estimator, "classes_")
    estimator.set_params(link="probability", prior=0.5).fit(pairs)
    assert estimator.predict(pairs.items).shape == (150,)
    assert not hasattr(estimator, "reference_scores_")


@without_classes
def test_early_stopping_keeps_the_best_differences_of_held_out_pairs(link):
    pairs, _ = make_pairs(link)
    fitted = ConfDiffClassifier(link=link, early_stopping=True, epochs=15).fit(pairs)
    best = max(record["agreement"] for record in fitted.history_)
    validation = ConfDiffClassifier(link=link, early_stopping=True, epochs=15).fit(pairs, validation=pairs)
    error = ((validation.predict_difference(pairs) - pairs.difference.numpy()) ** 2).mean()
    assert error == pytest.approx(-max(record["agreement"] for record in validation.history_), rel=1e-3)
    assert best <= 0


@without_classes
def test_the_state_restores_a_link(link):
    pairs, _ = make_pairs(link)
    fitted = ConfDiffClassifier(link=link, n_networks=2, epochs=2).fit(pairs)
    state = fitted.to_state()
    weights = state.pop("weights")
    restored = ConfDiffClassifier.from_state(json.loads(json.dumps(state)) | {"weights": weights})
    assert restored.link_ == restored.link == link
    assert (restored.decision_function(pairs.items) == fitted.decision_function(pairs.items)).all()
    assert restored.score(pairs) == fitted.score(pairs)
    assert (restored.reference_scores_ == fitted.reference_scores_).all()


DAMAGE = {
    "another link": ({"link": "score"}, "do not agree"),
    "an unknown link": ({"link": "odds"}, "unknown link"),
    "classes": ({"classes": [0, 1]}, "has no classes"),
    "a prior": ({"prior": 0.5}, "has no classes"),
    "no reference": ({"reference_scores": None}, "reference_scores must be 1 to 1001 numbers; got 0"),
    "a long reference": ({"reference_scores": [0.0] * 1002}, "got 1002"),
    "no number": ({"reference_scores": ["a"]}, "must be a number"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_link_is_refused(what):
    pairs, _ = make_pairs("preference")
    state = ConfDiffClassifier(link="preference", model="linear", epochs=1).fit(pairs).to_state()
    change, message = DAMAGE[what]
    state["learned"] = state["learned"] | change
    with pytest.raises(ValueError, match=message):
        ConfDiffClassifier.from_state(state)


@without_classes
def test_streamed_pairs_are_learned_under_a_link(link, tmp_path):
    pairs, _ = make_pairs(link)
    columns = {"left": pairs.left, "right": pairs.right, "difference": pairs.difference.clamp(-1, 1)}
    table = pyarrow.table({name: column.numpy() for name, column in columns.items()})
    pyarrow.parquet.write_table(table, tmp_path / "pairs.parquet", row_group_size=100)
    streamed = StreamedPairs(pairs.items.float().numpy(), tmp_path / "pairs.parquet")
    fitted = ConfDiffClassifier(link=link, **QUICK, early_stopping=True).fit(streamed)
    assert fitted.link_ == link
    assert fitted.architecture_.standardised
    assert fitted.score(pairs) > 0.9


REFUSED = {
    "a prior": ({"prior": 0.3}, {}, "link='score' has no classes: prior=0.3 would not be used"),
    "a target prior": ({"target_prior": 0.3}, {}, "target_prior=0.3 would not be used"),
    "calibration": ({"calibrated": True}, {}, "calibrated=True would not be used"),
    "names of classes": ({"classes": ["a", "b"]}, {}, "classes=.* would not be used"),
    "another loss": ({"loss": "squared"}, {}, "link='score' needs loss='logistic'; got loss='squared'"),
    "labelled items": ({}, {"labelled": ([[0.0] * 3], [1])}, "labelled items would not be used"),
    "another method": (
        {"method": "confdiff-abs"},
        {},
        "'confdiff-abs' is for link='probability'; got link='score'",
    ),
    "an unknown link": ({"link": "scores"}, {}, "unknown link 'scores'. Did you mean 'score'"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_options_that_need_classes_are_refused(what):
    pairs, _ = make_pairs("score")
    options, arguments, message = REFUSED[what]
    with pytest.raises(ValueError, match=message):
        ConfDiffClassifier(**({"link": "score", "epochs": 1} | options)).fit(pairs, **arguments)


def test_several_classes_need_the_probability_link():
    pairs, _ = make_pairs("score")
    c = pairs.difference.clamp(-1, 1)
    vectors = torch.stack([-c, c / 2, c / 2], dim=1)
    with pytest.raises(ValueError, match="several classes need link='probability'; got link='score'"):
        ConfDiffClassifier(link="score", epochs=1).fit(Pairs(pairs.items, pairs.left, pairs.right, vectors))


def test_the_method_of_a_link_needs_the_link():
    pairs, _ = make_pairs("score")
    with pytest.raises(ValueError, match="method='preference' is for link='preference'; got link='probability'"):
        ConfDiffClassifier("preference", epochs=1).fit(pairs)
