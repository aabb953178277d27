"""The saved state of boosted trees is checked when it is read."""

import copy
import json

import pytest

from confdiff import ConfDiffBoosting
from easy import easy_pairs, pairs_of_three_classes

PAIRS = easy_pairs()
QUICK = {"max_iter": 3, "n_folds": 2}
THREE, POSTERIORS = pairs_of_three_classes()
STATES = {
    "probability": ConfDiffBoosting(prior=0.5, **QUICK).fit(PAIRS).to_state(),
    "score": ConfDiffBoosting(link="score", **QUICK).fit(PAIRS).to_state(),
    "three": ConfDiffBoosting(prior=POSTERIORS.mean(axis=0) / POSTERIORS.mean(axis=0).sum(), **QUICK)
    .fit(THREE)
    .to_state(),
}


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("probability", {"n_features": 4}, "max_feature_idx=3"),
        ("probability", {"n_features": 10**9}, "n_features must be at most 1000000"),
        ("probability", {"n_classes": 1}, "n_classes"),
        ("probability", {"classes": ["a", "a"]}, "classes must be 2 different names"),
        ("probability", {"classes": None}, "classes must be 2 different names"),
        ("probability", {"prior": None}, "prior must be one probability"),
        ("probability", {"prior": 1.5}, "prior must be one probability"),
        ("probability", {"prior": [0.5, 0.5]}, "prior must be one probability"),
        ("probability", {"temperature": 0.0}, "temperature"),
        ("probability", {"offset": "1"}, "offset"),
        ("probability", {"start": []}, "start must be 1 finite numbers"),
        ("probability", {"link": "probit"}, "link"),
        ("probability", {"feature_names": ["a"]}, "feature_names must be 3 names; got 1"),
        ("probability", {"categories": {"columns": [3], "values": {}}}, "columns of categories must be below 3"),
        ("probability", {"extra": 1}, "extra"),
        ("score", {"reference_scores": []}, "reference_scores must be 1 to 1001 numbers"),
        ("score", {"classes": ["a", "b"]}, "the score link has no classes"),
        ("score", {"prior": 0.5}, "the score link has no classes"),
        ("three", {"n_classes": 2}, "start must be 2 finite numbers"),
        ("three", {"prior": [0.5, 0.5]}, "prior must be 3 probabilities; got 2"),
    ],
)
def test_learned_values_are_checked(kind, changes, message):
    state = json.loads(json.dumps(STATES[kind]))
    state["learned"].update(changes)
    with pytest.raises(ValueError, match=message):
        ConfDiffBoosting.from_state(state)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("parameters",), {}, "the saved parameters must be method, target_prior"),
        (("parameters", "method"), "pcomp-abs", "unknown method 'pcomp-abs'"),
        (("parameters", "target_prior"), 2.0, "target_prior must be a probability"),
        (("texts",), {}, "the saved texts must be trees.txt"),
        (("texts", "trees.txt"), "tree", "has no end"),
    ],
)
def test_other_values_are_checked(path, value, message):
    state = copy.deepcopy(STATES["probability"])
    *above, last = path
    entry = state
    for name in above:
        entry = entry[name]
    entry[last] = value
    with pytest.raises(ValueError, match=message):
        ConfDiffBoosting.from_state(state)


@pytest.mark.parametrize("kind", STATES)
def test_a_state_comes_back(kind):
    state = json.loads(json.dumps(STATES[kind]))
    assert json.loads(json.dumps(ConfDiffBoosting.from_state(state).to_state())) == state
