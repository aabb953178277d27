"""Label differences, one bit about the classes, labelled items and intervals, for every learner."""

import warnings

import numpy as np
import pytest

from confdiff import ConfDiffAuto, ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression, Pairs
from confdiff.prior import estimate_prior

NETWORK = {"hidden": (16,), "epochs": 60}
ESTIMATORS = {
    "linear": ConfDiffLogisticRegression,
    "boosting": ConfDiffBoosting,
    "network": lambda **options: ConfDiffClassifier(**NETWORK, **options),
    "auto": lambda **options: ConfDiffAuto(candidates=["linear"], **options),
}
OPEN = "ignore:the differences do not determine the class prior"


def _data(low, high, kind, *, n=500, seed=0, steep=3.0):
    """Return pairs of different items, the items, their posteriors and labels."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(2 * n, 3))
    r = low + (high - low) / (1 + np.exp(-(steep * items[:, 0] - 0.6 * steep)))
    labels = (rng.random(2 * n) < r).astype(float)
    truth = labels if kind == "labels" else r
    c = truth[n:] - truth[:n]
    if kind == "noisy":
        c = np.clip(c + rng.normal(0, 0.3, n), -1, 1)
    return Pairs(items, np.arange(n), np.arange(n, 2 * n), c), items, r, labels


@pytest.fixture(params=ESTIMATORS)
def make(request):
    return ESTIMATORS[request.param]


def test_declared_label_differences_and_one_bit_determine_the_prior(make):
    pairs, items, r, _ = _data(0.05, 0.5, "labels")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(differences="labels", positives="rarer").fit(pairs)
    assert model.prior_ == pytest.approx(r.mean(), abs=0.04)
    assert model.prior_interval_[0] < r.mean() < model.prior_interval_[1]
    assert model.prior_source_ == "label differences"
    assert model.is_offset_determined_
    assert model.predict_proba(items)[:, 1].mean() == pytest.approx(r.mean(), abs=0.15)
    mirrored = Pairs(items, pairs.right, pairs.left, pairs.difference)  # exchange the classes
    assert make(differences="labels", positives="commoner").fit(mirrored).prior_ == pytest.approx(1 - model.prior_)


def test_two_priors_are_reported_if_nothing_decides(make):
    pairs, _, _, _ = _data(0.3, 0.4, "labels")
    with pytest.warns(UserWarning, match="two class priors fit the label differences: .* Pass positives=") as warned:
        model = make(differences="labels").fit(pairs)
    assert len(warned) == 1
    (low, high), (mirrored_low, mirrored_high) = model.prior_estimate_.alternatives
    assert low < high < mirrored_low < mirrored_high
    assert model.prior_interval_ == (low, mirrored_high)
    assert not model.is_offset_determined_


def test_labelled_items_decide_between_two_priors(make):
    pairs, items, r, labels = _data(0.05, 0.5, "labels")
    model = make(differences="labels").fit(pairs, labelled=(items[:40], labels[:40]))
    assert model.prior_ == pytest.approx(r.mean(), abs=0.05)
    assert model.prior_source_ == "labelled items"
    assert model.is_offset_determined_


@pytest.mark.filterwarnings(OPEN)
def test_forty_labels_narrow_an_open_interval(make):
    pairs, items, r, labels = _data(0.05, 0.5, "noisy")
    wide = make(prior="estimate").fit(pairs).prior_interval_
    low, high = make().fit(pairs, labelled=(items[:40], labels[:40])).prior_interval_
    assert low < r.mean() < high
    assert high - low < 0.5 * (wide[1] - wide[0])


def test_label_differences_are_checked_and_options_that_would_not_be_used_are_refused(make):
    pairs, _, _, _ = _data(0.0, 1.0, "exact", n=60)
    with pytest.raises(ValueError, match=r"needs differences of -1, 0 and 1; got \d+ other values, such as"):
        make(differences="labels", prior=0.3).fit(pairs)
    with pytest.raises(ValueError, match=r"positives='rarer' would not be used: the prior is given"):
        make(positives="rarer", prior=0.3).fit(pairs)
    with pytest.raises(ValueError, match=r"unknown differences 'label'\. Did you mean 'labels'"):
        make(differences="label").fit(pairs)
    with pytest.raises(ValueError, match=r"positives='rarer' is for link='probability'; got link='preference'"):
        make(positives="rarer", link="preference").fit(pairs)


@pytest.mark.parametrize("name", ["boosting", "network", "auto"])
def test_several_classes_have_no_label_differences(name):
    pairs = Pairs(np.random.default_rng(0).normal(size=(80, 2)), range(40), range(40, 80), np.zeros((40, 3)))
    options = {"candidates": ["boosting"]} if name == "auto" else {}
    make = ConfDiffAuto if name == "auto" else ESTIMATORS[name]
    with pytest.raises(ValueError, match="differences='labels' is for two classes"):
        make(differences="labels", **options).fit(pairs)


def test_a_given_prior_is_marked(make):
    pairs, _, _, _ = _data(0.0, 1.0, "exact", n=60)
    model = make(prior=0.3).fit(pairs)
    assert (model.prior_source_, model.prior_interval_, model.is_offset_determined_) == ("given", None, True)


@pytest.mark.filterwarnings(OPEN)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_rare_class_with_noise_and_without_a_prior_is_open_or_right(make, seed):
    pairs, _, r, _ = _data(0.0, 1.0, "noisy", seed=seed, steep=2.5)
    pairs = Pairs(pairs.items[:, :1] - 0.5, pairs.left, pairs.right, pairs.difference)
    model = make().fit(pairs)
    low, high = model.prior_interval_
    assert low - 0.02 < r.mean() < high
    assert not model.is_offset_determined_ or abs(model.prior_ - r.mean()) < 0.1


def test_boosting_leaves_its_start():
    """Without several starts, the mean probability is about .45."""
    pairs, _, r, _ = _data(0.0, 1.0, "noisy", steep=6)
    assert ConfDiffBoosting().fit(pairs).prior_ == pytest.approx(r.mean(), abs=0.07)


@pytest.mark.filterwarnings(OPEN)
@pytest.mark.parametrize("name", ["linear", "boosting", "network"])
@pytest.mark.parametrize("kind", ["exact", "noisy"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.05, 0.5)])
def test_intervals_cover_the_prior_and_are_hardly_wider_than_what_is_open(name, kind, low, high):
    """A small version of benchmarks/offset.py."""
    covered = 0
    excess = []
    n_seeds = 8 if name == "linear" else 1
    for seed in range(n_seeds):
        pairs, _, r, _ = _data(low, high, kind, seed=seed, steep=6, n=600)
        ends = ESTIMATORS[name](prior="estimate", random_state=seed).fit(pairs).prior_interval_
        covered += ends[0] - 0.01 <= r.mean() <= ends[1] + 0.01
        excess.append(ends[1] - ends[0] - (1 - (r.max() - r.min())))
    assert covered >= n_seeds - (name == "linear")
    assert np.mean(excess) < 0.2


@pytest.mark.filterwarnings(OPEN)
@pytest.mark.parametrize("model", [ConfDiffBoosting(), ConfDiffLogisticRegression(prior=0.4)])
def test_any_estimator_of_pairs_estimates_the_prior(model):
    pairs, _, r, _ = _data(0.0, 1.0, "noisy", steep=6, n=300)
    estimate = estimate_prior(pairs, model=model)
    assert estimate.confidence_low < r.mean() < estimate.confidence_high
    assert estimate.confidence_high - estimate.confidence_low < 0.3
    by_network = estimate_prior(pairs, model="linear", positives="rarer")
    assert by_network.confidence_high <= 0.5


@pytest.mark.parametrize("name", ["linear", "boosting", "network"])
def test_the_source_is_saved_with_the_model(name):
    pairs, _, _, _ = _data(0.05, 0.5, "labels", n=100)
    options = {"model": "linear", "epochs": 5} if name == "network" else {}
    make = ConfDiffClassifier if name == "network" else ESTIMATORS[name]
    model = make(differences="labels", positives="rarer", **options).fit(pairs)
    restored = type(model).from_state(model.to_state())
    assert restored.prior_source_ == "label differences"
    assert restored.prior_interval_ == model.prior_interval_
