"""Estimators without a network: any scikit-learn classifier, logistic regression, reductions of many classes to two."""

from contextlib import nullcontext

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from confdiff import (
    ConfDiffClassifier,
    ConfDiffLogisticRegression,
    OneVersusOne,
    OneVersusRest,
    Pairs,
    ProjectedClassifier,
    estimate_prior,
    prior_sensitivity,
)
from confdiff.estimators import logistic
from confdiff.estimators.checks import pair_estimator_checks
from confdiff.estimators.projected import _Task
from confdiff.models import mlp
from easy import easy_pairs

CHECKS = dict(pair_estimator_checks())
ESTIMATORS = {
    "projected": ProjectedClassifier(LogisticRegression(C=100), prior=0.5),
    "logistic": ConfDiffLogisticRegression(prior=0.5, C=100),
    "logistic without a prior": ConfDiffLogisticRegression(C=100),
}


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=list(ESTIMATORS))
def test_our_checks(estimator, check):
    CHECKS[check](estimator)


def test_logistic_regression_finds_the_weights_with_and_without_the_prior():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2, 3))
    r = 1 / (1 + np.exp(-(X @ [2.0, -1.0, 0.0] - 1.5)))
    c = r[:, 1] - r[:, 0]
    for prior in (None, float(r.mean())):
        model = ConfDiffLogisticRegression(prior=prior, C=1e6).fit(X, c)
        assert model.coef_[0] == pytest.approx([2, -1, 0], abs=0.02 if prior is None else 0.2)
        assert model.intercept_ == pytest.approx(-1.5, abs=0.02 if prior is None else 0.2)


def test_logistic_regression_needs_no_scaling():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2, 3))
    r = 1 / (1 + np.exp(-(X @ [2.0, -1.0, 0.5])))
    wide = X * [12, 15_000, 0.5] + [50, 40_000, 0]
    for prior in (0.5, None):
        plain, raw = (ConfDiffLogisticRegression(prior=prior, C=1e9).fit(x, r[:, 1] - r[:, 0]) for x in (X, wide))
        assert raw.score(wide, r[:, 1] - r[:, 0]) == pytest.approx(plain.score(X, r[:, 1] - r[:, 0]), abs=1e-4)
        assert raw.coef_[0] * [12, 15_000, 0.5] == pytest.approx(plain.coef_[0], abs=1e-3)
    assert raw.coef_[0] * [12, 15_000, 0.5] == pytest.approx([2, -1, 0.5], abs=0.01)


def test_an_unconverged_solver_warns(monkeypatch):
    from scipy import optimize

    def lazy(*arguments, **options):
        return real(*arguments, **(options | {"options": {"maxiter": 1}}))

    real = optimize.minimize
    monkeypatch.setattr(optimize, "minimize", lazy)
    with pytest.warns(ConvergenceWarning, match="the solver did not converge"):
        ConfDiffLogisticRegression(prior=0.5).fit(easy_pairs())


def test_logistic_regression_s_gradients():
    rng = np.random.default_rng(0)
    x, point = rng.normal(size=(6, 3)), rng.normal(size=4)
    ends = rng.integers(0, 6, (2, 9))
    c, weight = rng.uniform(-1, 1, 9), rng.random(9)
    for function, extra in ((logistic._unbiased, (0.3,)), (logistic._regression, ())):
        arguments = (function, x, tuple(ends), c, weight, np.array([0.7, 0.1, 2.0]), *extra)
        error = check_grad(lambda p, f, *a: f(p, *a)[0], lambda p, f, *a: f(p, *a)[1], point, *arguments)
        assert error < 1e-5


def test_logistic_regression_is_what_the_network_converges_to():
    pairs = easy_pairs()
    solved = ConfDiffLogisticRegression(prior=0.5, C=1e9).fit(pairs)
    trained = ConfDiffClassifier(
        "confdiff-unbiased", prior=0.5, model="linear", batch_size=400, epochs=2000, weight_decay=0.0
    ).fit(pairs)
    items = pairs.items.numpy()
    assert np.abs(solved.decision_function(items) - trained.decision_function(items)).max() < 0.02


@pytest.mark.parametrize(
    "classifier",
    [
        RandomForestClassifier(50, min_samples_leaf=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=8),
        LogisticRegression(),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
@pytest.mark.filterwarnings("ignore:the differences do not determine")  # trees say nothing for certain
def test_any_classifier_that_takes_weights_learns(classifier):
    pairs = easy_pairs(n_items=800, n_pairs=800)
    model = ProjectedClassifier(classifier).fit(pairs)
    right = (model.predict(pairs.items.numpy()) > 0) == (pairs.posteriors.numpy() > 0.5)
    assert right.mean() > 0.93
    assert model.history_[-1] > model.history_[0]
    assert model.prior_ == pytest.approx(float(pairs.posteriors.mean()), abs=0.06)


def test_trees_find_rare_positives():
    """Trees of few leaves are never certain: without rescaling their predictions draw the prior towards 1/2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2, 3))
    r = 1 / (1 + np.exp(-8 * (X[..., 0] * X[..., 1] - 0.8)))
    c = r[:, 1] - r[:, 0]
    trees = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=6)
    model = ProjectedClassifier(trees, rounds=4).fit(X, c)
    new = rng.normal(size=(4000, 3))
    right = (model.predict(new) > 0) == (new[:, 0] * new[:, 1] > 0.8)
    assert r.mean() < 0.18
    assert model.prior_ == pytest.approx(r.mean(), abs=0.04)
    assert right.mean() > 0.975


def test_a_forest_memorises_its_own_targets():
    """In-sample a forest repeats what it was told; out of fold it learns more of the differences each round."""
    pairs = easy_pairs(n_items=800, n_pairs=800)
    forest = RandomForestClassifier(50, random_state=0)
    task = _Task(pairs, forest, None)
    first = task.targets(np.full((len(task.items), 2), 0.5))
    by_heart = task.targets(task.predicted(task.fitted(first, np.ones(len(task.items), dtype=bool)), task.items))
    held_out = task.targets(task.out_of_fold(first, np.arange(len(task.items)) % 5))
    assert np.abs(held_out - first).mean() > 1.2 * np.abs(by_heart - first).mean()
    model = ProjectedClassifier(forest, prior=0.5, tol=0).fit(pairs)
    assert max(model.history_) > model.history_[0] + 0.02


def test_the_best_round_is_kept(monkeypatch):
    """Rounds whose out-of-fold predictions are made to explain more, then less."""
    pairs = easy_pairs(n_items=60, n_pairs=60)
    told = iter([0.1, 0.5, 0.9, 0.3, 0.2])
    monkeypatch.setattr(_Task, "score", lambda self, predictions: next(told))
    seen = []
    whole = _Task.fitted

    def fitted(self, targets, kept):
        if kept.all():
            seen.append(targets)
        return whole(self, targets, kept)

    monkeypatch.setattr(_Task, "fitted", fitted)
    rounds = []
    out_of_fold = _Task.out_of_fold
    monkeypatch.setattr(_Task, "out_of_fold", lambda self, t, f: rounds.append(t) or out_of_fold(self, t, f))
    model = ProjectedClassifier(LogisticRegression(), prior=0.5).fit(pairs)
    assert model.history_ == [0.1, 0.5, 0.9, 0.3, 0.2]
    assert seen[0] is rounds[3]  # the predictions of the third round, projected: the fourth began with them


def test_an_open_prior_warns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2, 2))
    r = 0.2 + 0.4 / (1 + np.exp(-3 * X[..., 0]))
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        ProjectedClassifier(LogisticRegression()).fit(X, r[:, 1] - r[:, 0])
    told = ProjectedClassifier(LogisticRegression(), prior=float(r.mean())).fit(X, r[:, 1] - r[:, 0])
    assert told.prior_ == pytest.approx(r.mean(), abs=0.02)


def test_a_classifier_without_weights_is_refused():
    with pytest.raises(ValueError, match="KNeighborsClassifier does not"):
        ProjectedClassifier(KNeighborsClassifier()).fit(easy_pairs())


def three_classes(n_pairs=500):
    rng = np.random.default_rng(0)
    items = rng.normal(size=(400, 3)).astype(np.float32)
    scores = 3 * items
    r = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = rng.integers(0, 400, (n_pairs, 2))
    return Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]]), r


@pytest.mark.filterwarnings("ignore:the differences do not determine")  # of two classes, even if not of all three
@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("kind", [OneVersusRest, OneVersusOne])
def test_reductions_of_many_classes_to_two(kind, told):
    pairs, r = three_classes()
    prior = r.mean(axis=0) if told else None
    model = kind(ConfDiffClassifier(model="linear", batch_size=64), prior=prior, classes=("a", "b", "c"))
    items = pairs.items.numpy()
    shares = model.fit(pairs).predict_proba(items)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (model.predict(items) == np.array(["a", "b", "c"])[r.argmax(axis=1)]).mean() > 0.85
    if kind is OneVersusRest:
        assert model.score(pairs) > 0.8
    else:
        assert not hasattr(model, "score")
    with pytest.raises(ValueError, match=r"shape \(n, K\)"):
        kind(ConfDiffClassifier()).fit(easy_pairs())


def test_trees_learn_many_classes():
    pairs, r = three_classes(1500)
    model = ProjectedClassifier(HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8)).fit(pairs)
    assert (model.predict(pairs.items.numpy()) == r.argmax(axis=1)).mean() > 0.85
    assert model.score(pairs) > 0.8


def _small(n_features):
    return mlp(n_features, hidden=(32, 32))


def test_the_estimated_interval_contains_the_prior_and_reports_when_it_is_open():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(900, 2)).astype(np.float32)
    rows = rng.integers(0, 900, (900, 2))
    for low, high, known in ((0.0, 1.0, True), (0.2, 0.6, False)):
        r = low + (high - low) / (1 + np.exp(-(4 * items[:, 0] - 1)))
        pairs = Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]])
        with nullcontext() if known else pytest.warns(UserWarning, match="do not determine the class prior"):
            estimate = estimate_prior(pairs, model=_small)
        assert estimate.is_identified == known
        assert estimate.confidence_low <= r.mean() <= estimate.confidence_high
        assert ("do not determine the class prior" in str(estimate)) != known
    with pytest.raises(ValueError, match="needs at least 6 pairs; got 4"):
        estimate_prior(easy_pairs()[:4])


def test_sensitivity_to_the_assumed_prior():
    """A wrong prior costs little where posteriors reach both ends, and the unbiased risk much."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(600, 2)).astype(np.float32)
    r = 1 / (1 + np.exp(-8 * items[:, 0]))
    rows = rng.integers(0, 600, (600, 2))
    pairs = Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]])
    labelled = (items, r > 0.5)
    found = {}
    for method in ("confdiff-unbiased", "confdiff-regression"):
        model = ConfDiffClassifier(method, model="linear", batch_size=64)
        wrong, right = prior_sensitivity(model, pairs, (0.25, 0.5), labelled=labelled, cv=2)
        assert (wrong.prior, right.prior) == (0.25, 0.5)
        assert wrong.score < right.score
        assert wrong.mean < right.mean
        found[method] = right.accuracy - wrong.accuracy
    assert found["confdiff-regression"] < 0.03 < found["confdiff-unbiased"]
    assert prior_sensitivity(model, pairs, (0.5,), cv=2)[0].accuracy is None


def test_warnings_are_not_repeated_per_fold_and_prior():
    pairs = easy_pairs()
    grouped = Pairs(pairs.items, [0, 1, 2, 4, 5, 6], [1, 2, 0, 5, 6, 4], [0.1, -0.2, 0.1] * 2, group=[0, 0, 0, 1, 1, 1])
    model = ConfDiffClassifier("confdiff-unbiased", model="linear", epochs=1)
    with pytest.warns(UserWarning, match="connected components") as caught:
        prior_sensitivity(model, grouped, (0.3, 0.5), cv=3)
    assert [warning.filename for warning in caught] == [__file__]
