"""Same-class answers determine the offset that differences leave open."""

import numpy as np
import pytest

from confdiff import ConfDiffAuto, ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression, PcompClassifier
from confdiff.estimators.projected import ProjectedClassifier
from confdiff.pairs import Pairs, StreamedPairs


def answered_pairs(n_answers=200, seed=0, **columns):
    """Pairs with posteriors inside [.05, .5]; separate pairs have the answers."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(600, 3)).astype(np.float32)
    r = 0.05 + 0.45 / (1 + np.exp(-3 * items[:, 0]))
    labels = rng.random(600) < r
    graded = rng.integers(0, 600, (600, 2))
    asked = rng.integers(0, 600, (n_answers, 2))
    rows = np.concatenate([graded, asked])
    c = np.concatenate([r[graded[:, 1]] - r[graded[:, 0]], np.full(n_answers, np.nan)])
    same = np.concatenate([np.full(600, np.nan), labels[asked[:, 0]] == labels[asked[:, 1]]])
    return Pairs(items, rows[:, 0], rows[:, 1], c, same=same, **columns), r


LEARNERS = {
    "linear": lambda: ConfDiffLogisticRegression(),
    "trees": lambda: ConfDiffBoosting(random_state=0),
    "network": lambda: ConfDiffClassifier(epochs=15, random_state=0),
    "auto": lambda: ConfDiffAuto(candidates=["linear"], random_state=0),
    "regression": lambda: ConfDiffClassifier(method="confdiff-similarity", epochs=15, random_state=0),
    "combination": lambda: ConfDiffClassifier(method="sconf-confdiff-abs", epochs=15, random_state=0),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_answers_determine_the_offset(name):
    pairs, r = answered_pairs()
    model = LEARNERS[name]().fit(pairs)
    assert model.prior_source_ == "same-class answers"
    low, high = model.prior_interval_
    assert low < r.mean() < high
    assert model.predict_proba(pairs.items.numpy())[:, 1].mean() == pytest.approx(r.mean(), abs=0.08)
    if name != "auto":
        assert model.prior_estimate_.n_answers == 200


def test_answers_besides_differences_move_no_rank():
    pairs, _ = answered_pairs()
    without = pairs.carrying("differences").with_same(None)
    with pytest.warns(UserWarning, match="constant"):
        plain = ConfDiffLogisticRegression(C=1.0).fit(without)
    answered = ConfDiffLogisticRegression(C=1.0).fit(pairs)
    x = pairs.items.numpy()
    assert np.corrcoef(plain.decision_function(x), answered.decision_function(x))[0, 1] > 0.999


def test_answers_are_refused_where_they_would_not_be_used():
    pairs, _ = answered_pairs(20)
    for model in (
        ConfDiffLogisticRegression(link="score"),
        ConfDiffBoosting(link="score"),
        ConfDiffClassifier(link="score"),
        ConfDiffAuto(link="score"),
    ):
        with pytest.raises(ValueError, match="same-class answers are for link='probability'"):
            model.fit(pairs)
    with pytest.raises(ValueError, match="does not use same-class answers"):
        ProjectedClassifier().fit(pairs)


def test_ordered_pairs_and_answers():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(400, 2)).astype(np.float32)
    labels = items[:, 0] > 0.8
    rows = rng.integers(0, 400, (800, 2))
    y, y_prime = labels[rows].T
    asked = np.arange(800) % 2 == 0
    kept = asked | (y >= y_prime)
    same = np.where(asked, y == y_prime, np.nan)
    pairs = Pairs(items, rows[kept, 0], rows[kept, 1], same=same[kept])
    model = PcompClassifier(method="sd-pcomp-abs", prior=float(labels.mean()), epochs=30, random_state=0).fit(pairs)
    assert (model.predict(items) == np.where(labels, 1, -1)).mean() > 0.85


def answers_alone(n=1_500, seed=0):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(2 * n, 2)).astype(np.float32)
    labels = rng.random(2 * n) < 1 / (1 + np.exp(-(4 * items[:, 0] - 3)))
    same = (labels[:n] == labels[n:]).astype(float)
    return Pairs(items, np.arange(n), np.arange(n, 2 * n), same=same), labels


@pytest.mark.parametrize("method", [None, "sconf-unbiased", "sconf-relu", "sconf-abs", "sd-unbiased", "sd-abs"])
def test_answers_alone_and_the_rarer_class(method):
    pairs, labels = answers_alone()
    model = ConfDiffClassifier(method, positives="rarer", early_stopping=True, epochs=15, random_state=0).fit(pairs)
    assert model.prior_source_ == "same-class answers"
    low, high = model.prior_interval_
    assert low < labels.mean() < high
    assert (model.predict(pairs.items.numpy()) == np.where(labels, 1, -1)).mean() > 0.8


def test_answers_do_not_say_which_class_is_positive():
    """The likelihood of answers is the same for reflected posteriors; the prior decides."""
    pairs, labels = answers_alone()
    for prior in (labels.mean(), 1 - labels.mean()):
        model = ConfDiffClassifier(prior=float(prior), model="linear", epochs=30, random_state=0).fit(pairs)
        accuracy = (model.predict(pairs.items.numpy()) == np.where(labels, 1, -1)).mean()
        assert accuracy > 0.8 if prior < 0.5 else accuracy < 0.2
    with pytest.raises(ValueError, match=r"a prior of 0\.\d+ as well as 0\.\d+. Pass positives='rarer'"):
        ConfDiffClassifier(random_state=0).fit(pairs)


def test_learners_of_differences_refuse_answers_alone():
    pairs, _ = answers_alone(60)
    for model in (
        ConfDiffLogisticRegression(),
        ConfDiffBoosting(),
        ConfDiffAuto(),
        ConfDiffClassifier("confdiff-regression"),
        ConfDiffClassifier("confdiff-similarity", prior=0.3),
    ):
        with pytest.raises(ValueError, match="differences"):
            model.fit(pairs)
    with pytest.raises(ValueError, match="calibrated=True needs differences"):
        ConfDiffClassifier(prior=0.3, calibrated=True).fit(pairs)


@pytest.mark.parametrize("has_differences", [False, True])
def test_streamed_answers_in_some_row_groups(tmp_path, has_differences):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pairs, r = answered_pairs()
    if not has_differences:
        pairs, labels = answers_alone()
        r = labels
    columns = {"left": pairs.left.numpy(), "right": pairs.right.numpy(), "same": pairs.same.numpy()}
    if has_differences:
        columns["difference"] = pairs.difference.numpy()
    parquet.write_table(pyarrow.table(columns), tmp_path / "pairs.parquet", row_group_size=100)
    stream = StreamedPairs(pairs.items.numpy(), tmp_path, window=100)
    assert stream.has("differences") == has_differences
    assert stream.has("same")
    methods = ("confdiff-similarity", "sconf-confdiff-abs", "sconf-abs") if has_differences else ("sconf-abs", "sd-abs")
    for method in methods:
        options = {} if has_differences else {"positives": "rarer"}
        model = ConfDiffClassifier(method, epochs=30, random_state=0, **options).fit(stream)
        assert model.prior_ == pytest.approx(r.mean(), abs=0.1)
    if not has_differences:
        with pytest.raises(ValueError, match="these pairs have no differences"):
            stream.carrying("differences")


def test_a_stream_whose_answers_are_all_missing(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pairs, _ = answered_pairs(0)
    columns = {"left": pairs.left.numpy(), "right": pairs.right.numpy(), "difference": pairs.difference.numpy()}
    columns["same"] = np.full(len(pairs), np.nan)
    parquet.write_table(pyarrow.table(columns), tmp_path / "pairs.parquet")
    stream = StreamedPairs(pairs.items.numpy(), tmp_path)
    assert not stream.has("same")
    model = ConfDiffClassifier(prior=0.3, epochs=2, random_state=0).fit(stream)
    assert model.prior_source_ == "given"
