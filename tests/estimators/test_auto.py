"""Tests of ConfDiffAuto: choices that the data force, checks of estimators, and messages."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from confdiff import LINKS, ConfDiffAuto, ConfDiffClassifier, ConfDiffLogisticRegression, Pairs
from confdiff.estimators.candidates import CANDIDATES, resolve_candidates
from confdiff.estimators.checks import pair_estimator_checks

CHECKS = dict(pair_estimator_checks())


def _pairs(n=300, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(2 * n, n_features)).astype(np.float32)
    return items, rng.permutation(2 * n).reshape(n, 2)


@pytest.mark.parametrize("name", CHECKS)
def test_estimator_checks(name):
    CHECKS[name](
        ConfDiffAuto(prior=0.5, candidates=[ConfDiffLogisticRegression(C=100), ConfDiffLogisticRegression(C=0.01)])
    )


def test_forced_family():
    items, rows = _pairs()
    r = expit(3 * items[:, 0])
    c = r[rows[:, 1]] - r[rows[:, 0]]
    candidates = [ConfDiffLogisticRegression(C=1e-6), ConfDiffLogisticRegression(C=100)]
    model = ConfDiffAuto(prior=0.5, candidates=candidates).fit(rows, c, items=items)
    assert model.estimator_.C == 100
    assert model.selection_.chosen.candidate == "ConfDiffLogisticRegression 2"


def test_of_equal_candidates_the_first_is_chosen():
    items, rows = _pairs()
    c = np.tanh(items[rows[:, 1], 0] - items[rows[:, 0], 0])
    candidates = [ConfDiffLogisticRegression(C=1.0), ConfDiffLogisticRegression(C=1.0)]
    model = ConfDiffAuto(prior=0.5, candidates=candidates).fit(rows, c, items=items)
    assert model.selection_.chosen is model.selection_.rows[0]


def test_chosen_estimator_is_fitted_to_all_pairs():
    items, rows = _pairs()
    r = expit(items[:, 0])
    c = r[rows[:, 1]] - r[rows[:, 0]]
    validation = Pairs.from_rows(rows[200:], items, c[200:])
    model = ConfDiffAuto(prior=0.5, candidates=["linear"])
    model.fit(Pairs.from_rows(rows[:200], items, c[:200]), validation=validation)
    direct = CANDIDATES["linear"].make(validation).set_params(prior=0.5).fit(rows, c, items=items)
    assert np.allclose(model.decision_function(items), direct.decision_function(items), atol=1e-4)
    assert model.selection_.held_out == "validation pairs"
    assert model.selection_.folds == 1


def test_same_seed_same_table():
    items, rows = _pairs(n=100)
    c = np.tanh(items[rows[:, 1], 0] - items[rows[:, 0], 0])
    fits = [ConfDiffAuto(prior=0.5, candidates=["linear"], random_state=3).fit(rows, c, items=items) for _ in range(2)]
    first, second = ([row.r2 for row in model.selection_.rows] for model in fits)
    assert first == second
    other = ConfDiffAuto(prior=0.5, candidates=["linear"], random_state=4).fit(rows, c, items=items)
    assert [row.r2 for row in other.selection_.rows] != first


def test_units_are_held_out_together(monkeypatch):
    items, rows = _pairs(n=60)
    c = np.tanh(items[rows[:, 1], 0] - items[rows[:, 0], 0])
    units = np.repeat(np.arange(12), 5)
    training_sets = []
    fit = ConfDiffLogisticRegression.fit

    def recording_fit(self, pairs, *args, **kwargs):
        training_sets.append(pairs)
        return fit(self, pairs, *args, **kwargs)

    monkeypatch.setattr(ConfDiffLogisticRegression, "fit", recording_fit)
    model = ConfDiffAuto(prior=0.5, candidates=["linear"]).fit(rows, c, items=items, units=units)
    unit_of = dict(zip(c.astype(np.float32).tolist(), units.tolist(), strict=True))
    for pairs in training_sets[:-1]:
        present = [unit_of[value] for value in pairs.difference.tolist()]
        assert all(present.count(unit) == 5 for unit in set(present))
    assert model.selection_.held_out == "units"


def test_prior_labels_and_classes_restrict_to_probabilities():
    items, rows = _pairs(n=100)
    c = np.tanh(3 * (items[rows[:, 1], 0] - items[rows[:, 0], 0]))
    model = ConfDiffAuto(prior=0.5, candidates=["linear"]).fit(rows, c, items=items)
    assert {row.link for row in model.selection_.rows} == {"probability"}


def test_scikit_learn_classifiers_are_wrapped():
    items, rows = _pairs(n=60)
    r = expit(2 * items[:, 0])
    model = ConfDiffAuto(candidates=[LogisticRegression()], prior=0.5)
    model.fit(rows, r[rows[:, 1]] - r[rows[:, 0]], items=items)
    assert model.selection_.chosen.candidate == "LogisticRegression"
    assert model.score(rows, r[rows[:, 1]] - r[rows[:, 0]], items=items) > 0.9


def test_default_candidates_of_many_classes_take_them():
    pairs = Pairs(np.eye(3), [0, 1], [1, 2], [[0.5, -0.5, 0.0], [0.2, 0.2, -0.4]])
    names = [candidate.name for candidate in resolve_candidates(None, pairs)]
    assert "linear" not in names
    assert "mlp" in names


@pytest.mark.parametrize("kind", ["probability", "preference", "score"])
def test_link_of_the_data_is_chosen(kind):
    items, rows = _pairs(n=300)
    g = 2 * items[:, 0] - items[:, 1]
    noise = np.random.default_rng(1).normal(0, 0.1, len(rows))
    unit = {"probability": 1.0, "preference": 1.0, "score": 12.0}[kind]
    c = LINKS[kind].difference(g[rows[:, 0]], g[rows[:, 1]]) / unit + noise
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the prior may be open
        model = ConfDiffAuto(candidates=["linear"]).fit(rows, np.clip(c, -1, 1), items=items)
    assert model.link_ == kind
    assert hasattr(model, "predict_proba") == (kind == "probability")
    assert hasattr(model, "predict_preference") == (kind == "preference")
    assert model.predict_difference(rows, items=items) == pytest.approx(
        LINKS[kind].difference(*model.decision_function(items)[rows.T])
    )


@pytest.mark.parametrize("verbose", [0, 1])
def test_progress_names_every_fit(verbose, monkeypatch):
    updates = []

    @contextmanager
    def recording(title, total, *, shown):
        updates.append((title, total, shown))
        yield lambda completed, *, detail: updates.append((completed, detail))

    monkeypatch.setattr("confdiff.estimators.auto.reporting_progress", recording)
    items, rows = _pairs(n=60)
    c = np.tanh(items[rows[:, 1], 0] - items[rows[:, 0], 0])
    candidates = [ConfDiffLogisticRegression(), ConfDiffLogisticRegression()]
    ConfDiffAuto(prior=0.5, candidates=candidates, folds=2, verbose=verbose).fit(rows, c, items=items)
    assert updates == [
        ("comparing", 4, bool(verbose)),
        (1, "ConfDiffLogisticRegression, probability (fold 1)"),
        (2, "ConfDiffLogisticRegression 2, probability (fold 1)"),
        (3, "ConfDiffLogisticRegression, probability (fold 2)"),
        (4, "ConfDiffLogisticRegression 2, probability (fold 2)"),
    ]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"link": "odds"}, "unknown link"),
        ({"candidates": "linear"}, "candidates must be a list of names"),
        ({"candidates": []}, "candidates must be a list of names"),
        ({"candidates": ["lineer"]}, "linear"),
        ({"candidates": [ConfDiffClassifier]}, "candidates must be names or estimators"),
        ({"folds": 1}, "folds"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_refused_parameters(parameters, message):
    items, rows = _pairs(n=40)
    model = ConfDiffAuto(**{"candidates": ["linear"], **parameters})
    with pytest.raises(ValueError, match=message):
        model.fit(rows, np.linspace(-1, 1, 40), items=items)


def test_refused_inputs():
    items, rows = _pairs(n=40)
    pairs = Pairs.from_rows(rows, items, np.linspace(-1, 1, 40))
    model = ConfDiffAuto(candidates=["linear"])
    with pytest.raises(ValueError, match="one entry for each of 40 pairs"):
        model.fit(pairs, units=np.arange(39))
    with pytest.raises(ValueError, match="as many different values as folds"):
        ConfDiffAuto(candidates=["linear"], folds=5).fit(pairs, units=np.arange(40) % 3)
    with pytest.raises(ValueError, match="pass one of the two"):
        model.fit(pairs, units=np.arange(40), validation=pairs)
    with pytest.raises(ValueError, match="differences"):
        model.fit(Pairs.from_rows(rows, items))


def test_few_pairs_are_not_compared():
    X = np.random.default_rng(0).normal(size=(8, 2, 3))
    model = ConfDiffAuto(prior=0.5).fit(X, np.tanh(X[:, 1, 0] - X[:, 0, 0]))
    assert model.selection_.held_out == "nothing"
    assert model.selection_.chosen.candidate == "linear"
    assert model.selection_.chosen.r2 is None


def test_parameters_reach_the_candidates_that_have_them():
    X = np.random.default_rng(0).normal(size=(8, 2, 3))
    model = ConfDiffAuto(candidates=["mlp"], prior=0.5, standardise=False, device="cpu").fit(X, np.zeros(8))
    assert model.estimator_.standardise is False
    assert model.estimator_.device == "cpu"


def test_wide_features_leave_the_linear_model_unless_others_are_named():
    items = csr_array(np.eye(40, 6_000))
    pairs = Pairs.from_rows(np.arange(40).reshape(20, 2), items, np.linspace(-1, 1, 20))
    reasons = {candidate.name: candidate.reason_to_skip(pairs) for candidate in resolve_candidates(None, pairs)}
    assert [name for name, reason in reasons.items() if not reason] == ["linear"]
    assert reasons["mlp"] == "not tried: 6,000 features, at most 5,000"
    narrow = Pairs.from_rows(np.arange(40).reshape(20, 2), csr_array(np.eye(40, 5_000)), np.linspace(-1, 1, 20))
    assert not any(candidate.reason_to_skip(narrow) for candidate in resolve_candidates(None, narrow))
    (named,) = resolve_candidates(["boosting"], pairs)
    assert named.reason_to_skip(pairs) == ""
    vectors = np.stack([np.linspace(-1, 1, 20), np.linspace(1, -1, 20), np.zeros(20)], axis=1)
    many = Pairs.from_rows(np.arange(40).reshape(20, 2), items, vectors)
    assert not any(candidate.reason_to_skip(many) for candidate in resolve_candidates(None, many))
