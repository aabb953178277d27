"""Any scikit-learn classifier, fitted to projected predictions."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from confdiff import ProjectedClassifier
from confdiff.estimators.checks import pair_estimator_checks
from confdiff.estimators.projected import _Task
from easy import easy_pairs, pairs_of_three_classes

CHECKS = dict(pair_estimator_checks())


@pytest.mark.parametrize("check", CHECKS)
def test_our_checks(check):
    CHECKS[check](ProjectedClassifier(LogisticRegression(C=100), prior=0.5))


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


def test_trees_learn_many_classes():
    pairs, r = pairs_of_three_classes(1500)
    model = ProjectedClassifier(HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8)).fit(pairs)
    assert (model.predict(pairs.items.numpy()) == r.argmax(axis=1)).mean() > 0.85
    assert model.score(pairs) > 0.8
