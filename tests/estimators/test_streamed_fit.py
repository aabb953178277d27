"""Fitting on a stream: the same estimator, with a sample in place of all pairs where these would be looked at."""

import warnings

import numpy as np
import pytest
import torch

from confdiff import ConfDiffClassifier, ConfDiffLogisticRegression, Pairs, PcompClassifier
from confdiff.estimators import inputs
from confdiff.pairs import splitting
from confdiff.pairs.splitting import hold_out_pairs
from easy import easy_pairs
from streams import streamed

QUICK = {"model": "linear", "epochs": 15, "batch_size": 64, "learning_rate": 0.05}


@pytest.fixture
def pairs():
    return easy_pairs(n_pairs=2000)


@pytest.fixture
def stream(tmp_path, pairs):
    return streamed(tmp_path, pairs, window=700)


@pytest.mark.parametrize(
    "parameters",
    [
        {"prior": 0.5},
        {"prior": 0.5, "method": "confdiff-abs"},
        {},
        {"early_stopping": True, "calibrated": True},
        {"prior": "estimate"},
    ],
)
def test_a_stream_gives_the_results_of_pairs_in_memory(pairs, stream, parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the prior may be left open, by either
        in_memory = ConfDiffClassifier(**(QUICK | parameters)).fit(pairs)
        from_stream = ConfDiffClassifier(**(QUICK | parameters)).fit(stream)
    assert from_stream.score(pairs) > 0.98
    np.testing.assert_allclose(from_stream.predict_proba(pairs.items), in_memory.predict_proba(pairs.items), atol=0.05)
    assert from_stream.prior_ == pytest.approx(in_memory.prior_, abs=0.05)
    assert vars(from_stream).keys() == vars(in_memory).keys()


def test_pairs_of_some_items_are_held_out(stream, monkeypatch):
    trained_on = []

    def train(model, pairs, *arguments, **options):
        trained_on.append(pairs)
        return original(model, pairs, *arguments, **options)

    from confdiff.estimators import networks

    original = networks.train
    monkeypatch.setattr(networks, "train", train)
    kept, held_out = hold_out_pairs(stream, 0.1, 0)
    assert len(kept) + len(held_out) == 2000
    assert 100 < len(held_out) < 300
    model = ConfDiffClassifier(prior=0.5, early_stopping=True, **QUICK).fit(stream)
    assert len(trained_on[0]) == len(kept)
    assert "agreement" in model.history_[0]


def test_an_open_prior_warns(tmp_path, pairs):
    narrow = pairs.graded_by(0.3 + 0.4 * pairs.posteriors)
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        ConfDiffClassifier(**QUICK).fit(streamed(tmp_path, narrow))


def test_only_a_sample_is_used_for_the_prior(stream, monkeypatch):
    for module in (inputs, splitting):
        monkeypatch.setattr(module, "SAMPLED", 500)
    model = ConfDiffClassifier(prior="estimate", early_stopping=True, **QUICK).fit(stream)
    assert model.prior_ == pytest.approx(0.5, abs=0.1)


def test_a_stream_of_fit_can_be_resumed(tmp_path, stream):
    def fit(checkpoint=None):
        return ConfDiffClassifier(**QUICK).fit(stream, checkpoint=checkpoint).predict_proba(stream.items)

    first = fit(tmp_path / "c")
    np.testing.assert_array_equal(fit(tmp_path / "c"), first)
    np.testing.assert_array_equal(fit(), first)


def test_feature_names_are_remembered(tmp_path, pairs):
    stream = streamed(tmp_path, pairs, feature_names=("a", "b", "c"))
    assert ConfDiffClassifier(prior=0.5, **QUICK).fit(stream).feature_names_in_.tolist() == ["a", "b", "c"]


def test_uses_that_need_pairs_in_memory_are_refused(stream, pairs):
    with pytest.raises(ValueError, match="streamed pairs have their own items"):
        ConfDiffClassifier(prior=0.5).fit(stream, pairs.difference)
    with pytest.raises(ValueError, match=r"oracle-soft.* needs its pairs in memory"):
        ConfDiffClassifier("oracle-soft").fit(stream)
    model = ConfDiffClassifier(prior=0.5, **QUICK).fit(stream)
    for use in (model.score, PcompClassifier(prior=0.5).fit, ConfDiffLogisticRegression().fit):
        with pytest.raises(ValueError, match=r"got streamed pairs. Take some of them, such as pairs.sample\(100000\)"):
            use(stream)
    assert model.score(stream.sample(500)) > 0.98


def test_validation_pairs_can_be_given(stream, pairs):
    model = ConfDiffClassifier(early_stopping=True, calibrated=True, **QUICK).fit(stream, validation=pairs[:300])
    error = (
        ConfDiffClassifier(early_stopping=True, **QUICK).fit(stream, validation=pairs[:300])._differences(pairs[:300])
        - pairs[:300].difference.numpy()
    )
    best = max(record["agreement"] for record in model.history_)
    assert best == pytest.approx(-np.mean(error**2), rel=1e-4)


def test_validation_pairs_must_match_the_training_pairs(pairs):
    model = ConfDiffClassifier(early_stopping=True, **QUICK)
    with pytest.raises(ValueError, match="validation must be a Pairs; got ndarray"):
        model.fit(pairs, validation=np.zeros((3, 2, 3)))
    with pytest.raises(ValueError, match="validation must have as many features as the pairs, 3; got 2"):
        model.fit(pairs, validation=pairs.with_items(pairs.items[:, :2]))
    with pytest.raises(ValueError, match="validation must have differences"):
        model.fit(pairs, validation=Pairs(pairs.items, pairs.left, pairs.right))
    of_three = Pairs(pairs.items, pairs.left, pairs.right, torch.zeros(len(pairs), 3))
    with pytest.raises(ValueError, match="as many classes as the pairs, 2; got 3"):
        model.fit(pairs, validation=of_three)
