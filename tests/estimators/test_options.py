"""Options beyond the paper: no prior, a prior from labels, early stopping, calibration, several classes."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV

from confdiff import ConfDiffClassifier, ItemKFold, Pairs
from confdiff.pairs.splitting import hold_out_items
from easy import easy_pairs

QUICK = {"model": "linear", "batch_size": 64}


def pairs_between(low, high, n_pairs=1500, noise=0.0, seed=0):
    """Pairs whose posteriors lie in [low, high], the posteriors, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(1000, 3)).astype(np.float32)
    r = low + (high - low) / (1 + np.exp(-4 * items[:, 0]))
    rows = rng.integers(0, 1000, (n_pairs, 2))
    c = r[rows[:, 1]] - r[rows[:, 0]] + noise * rng.normal(size=n_pairs)
    return Pairs.from_rows(rows, items, c.clip(-1, 1)), r, rng.random(1000) < r


def many_classes(n_classes=4, n_pairs=800, seed=0):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(600, 3)).astype(np.float32)
    scores = items @ rng.normal(size=(3, n_classes)) * 2
    r = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = rng.integers(0, 600, (n_pairs, 2))
    labels = (rng.random(600)[:, None] > r.cumsum(axis=1)).sum(axis=1)
    return Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]], posteriors=r, labels=labels), r


def test_no_prior_is_needed_if_posteriors_span_zero_to_one():
    pairs, r, _ = pairs_between(0, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ConfDiffClassifier(**QUICK).fit(pairs)
    assert np.abs(model.predict_proba(pairs.items.numpy())[:, 1] - r).mean() < 0.03
    assert model.prior_ == pytest.approx(r.mean(), abs=0.03)


def test_an_open_prior_warns_and_a_given_prior_is_used():
    pairs, r, _ = pairs_between(0.2, 0.6)
    with pytest.warns(
        UserWarning, match=r"do not determine the class prior: any value from 0\.\d+ to 0\.\d+"
    ) as caught:
        ConfDiffClassifier(model="mlp").fit(pairs)
    assert [warning.filename for warning in caught] == [__file__]
    told = ConfDiffClassifier(model="mlp", prior=float(r.mean())).fit(pairs)
    assert np.abs(told.predict_proba(pairs.items.numpy())[:, 1] - r).mean() < 0.03


def test_a_few_labels_determine_an_open_prior():
    pairs, r, y = pairs_between(0.2, 0.6)
    some = np.random.default_rng(1).permutation(1000)[:500]
    items = pairs.items.numpy()
    model = ConfDiffClassifier(model="mlp", epochs=20).fit(pairs, labelled=(items[some], y[some]))
    assert model.prior_estimate_.n_labels == 500
    assert model.prior_ == pytest.approx(r.mean(), abs=0.1)
    assert np.abs(model.predict_proba(items)[:, 1] - r).mean() < 0.1


def test_label_differences_of_uncertain_items_leave_the_prior_open():
    pairs, _, y = pairs_between(0.2, 0.6)
    c = y[pairs.right].astype(float) - y[pairs.left]
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        ConfDiffClassifier().fit(Pairs(pairs.items, pairs.left, pairs.right, c))


def test_an_uncertain_estimate_warns():
    pairs, _, _ = pairs_between(0.2, 0.6)
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        ConfDiffClassifier("confdiff-abs", prior="estimate", epochs=20).fit(pairs)


def test_labelled_items_must_have_the_features_of_the_pairs():
    pairs, _, y = pairs_between(0, 1)
    items = pairs.items.numpy()
    with pytest.raises(ValueError, match="pass one of the two"):
        ConfDiffClassifier(prior=0.5).fit(pairs, labelled=(items[:5], y[:5]))
    frame = pd.DataFrame(items, columns=["a", "b", "c"])
    named = Pairs(frame, pairs.left, pairs.right, pairs.difference)
    with pytest.raises(ValueError, match=r"must have the columns \['a', 'b', 'c'\]"):
        ConfDiffClassifier().fit(named, labelled=(frame[["c", "b", "a"]], y))
    told = ConfDiffClassifier("confdiff-abs", epochs=40, model="linear").fit(named, labelled=(frame[:50], y[:50]))
    assert told.prior_estimate_.n_labels == 50


def test_a_second_fit_removes_attributes_of_the_first():
    pairs, _, _ = pairs_between(0, 1)
    model = ConfDiffClassifier(prior="estimate", **QUICK).fit(pairs)
    assert not hasattr(model.set_params(prior=0.5).fit(pairs), "prior_estimate_")
    with pytest.raises(ValueError, match="supports two classes only"):
        model.set_params(method="confdiff-information", prior=None).fit(many_classes()[0])
    assert model.predict(pairs.items.numpy()[:3]).shape == (3,)  # still what it was


def test_held_out_pairs_touch_items_outside_the_training_pairs():
    pairs = easy_pairs(n_items=100, n_pairs=2000)
    kept, held_out = hold_out_items(pairs, 0.2, seed=0)
    trained = set(torch.cat([pairs.left[kept], pairs.right[kept]]).tolist())
    first, second = (
        np.array([row in trained for row in side[held_out].tolist()]) for side in (pairs.left, pairs.right)
    )
    assert not (first & second).any()
    assert len(kept) + len(held_out) == 2000
    assert len(held_out) / 2000 == pytest.approx(0.2, abs=0.05)


def test_calibration_detects_overfitting():
    """Label differences of few items in many pairs: pairs of known items would say that all is well."""
    generator = np.random.default_rng(0)
    items = generator.normal(size=(1150, 20)).astype(np.float32)
    r = 1 / (1 + np.exp(-items[:, 0]))
    y = (generator.random(1150) < r).astype(float)
    rows = generator.integers(0, 150, (600, 2))
    pairs = Pairs.from_rows(rows, items[:150], y[rows[:, 1]] - y[rows[:, 0]])
    losses = []
    for flag in (False, True):
        model = ConfDiffClassifier(prior=0.5, calibrated=flag, validation_fraction=0.2).fit(pairs)
        losses.append(log_loss(y[150:], model.predict_proba(items[150:])[:, 1].astype(float)))
    assert model.temperature_ > 1
    assert losses[1] < losses[0]


def test_weights_apply_to_every_fitted_quantity():
    pairs, r, _ = pairs_between(0, 1)
    garbage = Pairs(
        torch.cat([pairs.items, pairs.items]),
        torch.cat([pairs.left, pairs.left]),
        torch.cat([pairs.right, pairs.right]),
        torch.cat([pairs.difference, -pairs.difference]),
        weight=np.repeat([1.0, 0.0], len(pairs)),
    )
    model = ConfDiffClassifier("confdiff-abs", prior="estimate", calibrated=True, epochs=30).fit(garbage)
    assert model.prior_ == pytest.approx(r.mean(), abs=0.05)
    assert model.temperature_ < 2


def test_ties_alone_do_not_stop_training():
    generator = np.random.default_rng(0)
    items = generator.normal(size=(80, 2)).astype(np.float32)
    y = (items[:, 0] > 0).astype(float)
    rows = np.arange(80).reshape(40, 2)
    c = np.where(generator.random(40) < 0.7, 0.0, y[rows[:, 1]] - y[rows[:, 0]])
    model = ConfDiffClassifier(prior=0.5, early_stopping=True, validation_fraction=0.05, **QUICK).fit(
        rows, c, items=items
    )
    agreements = [record["agreement"] for record in model.history_]
    assert max(agreements) > agreements[0]


@pytest.mark.parametrize(
    ("parameters", "known", "message"),
    [
        (
            {"method": "confdiff-abs", "loss": "hinge", "early_stopping": True},
            True,
            "hinge loss do not determine probabilities",
        ),
        ({"method": "oracle-hard", "early_stopping": True}, False, "early_stopping=True needs differences"),
        ({"method": "oracle-hard", "calibrated": True}, False, "calibrated=True needs differences"),
    ],
)
def test_impossible_combinations_are_refused_before_training(parameters, known, message):
    pairs = easy_pairs()
    if not known:
        pairs = Pairs(pairs.items, pairs.left, pairs.right, labels=pairs.labels)
    with pytest.raises(ValueError, match=message):
        ConfDiffClassifier(prior=0.5, **(QUICK | parameters)).fit(pairs)


@pytest.mark.parametrize("method", ["confdiff-abs", "confdiff-regression"])
def test_an_estimated_prior_is_used(method):
    pairs, r, _ = pairs_between(0, 1)
    model = ConfDiffClassifier(method, prior="estimate", **QUICK).fit(pairs)
    assert model.prior_ == pytest.approx(r.mean(), abs=0.05)
    assert model.prior_estimate_.is_identified


def test_early_stopping_keeps_the_best_weights_and_helps_with_noise():
    pairs, r, _ = pairs_between(0, 1, n_pairs=300, noise=0.5)
    items = pairs.items.numpy()
    long = {"epochs": 150, "batch_size": 64, "schedule": "constant", "prior": 0.5, "random_state": 1}
    plain = ConfDiffClassifier(**long).fit(pairs)
    stopped = ConfDiffClassifier(**long, early_stopping=True, validation_fraction=0.2).fit(pairs)
    assert stopped.n_iter_ < plain.n_iter_ == 150
    errors = [np.abs(model.predict_proba(items)[:, 1] - r).mean() for model in (plain, stopped)]
    assert errors[1] < errors[0]
    best = max(record["agreement"] for record in stopped.history_)
    assert stopped.history_[-1]["agreement"] < best


def test_calibration_needs_no_labels():
    pairs, _, y = pairs_between(0, 1, n_pairs=400)
    items = pairs.items.numpy()
    fits = [
        ConfDiffClassifier("confdiff-abs", prior=0.5, batch_size=64, epochs=100, calibrated=flag).fit(pairs)
        for flag in (False, True)
    ]
    losses = [log_loss(y, model.predict_proba(items)[:, 1].astype(float)) for model in fits]
    assert fits[1].temperature_ != 1
    assert losses[1] < losses[0]


def test_another_prior_at_prediction_is_a_shift_of_the_log_odds():
    pairs, _, _ = pairs_between(0, 1)
    model = ConfDiffClassifier(prior=0.5, **QUICK).fit(pairs)
    items = pairs.items.numpy()
    before = model.decision_function(items)
    after = model.set_params(target_prior=0.1).decision_function(items)
    assert after - before == pytest.approx(np.log(1 / 9), abs=1e-5)
    assert model.score(pairs) == model.set_params(target_prior=None).score(pairs)  # differences are those of training
    with pytest.raises(ValueError, match=r"target_prior must be a probability .* got 3"):
        model.set_params(target_prior=3).predict_proba(items)


@pytest.mark.parametrize("method", ["confdiff-regression", "confdiff-projection", "confdiff-abs", "oracle-soft"])
def test_many_classes(method):
    pairs, r = many_classes()
    prior = r.mean(axis=0) if method == "confdiff-abs" else None
    model = ConfDiffClassifier(method, prior=prior, **QUICK).fit(pairs)
    p = model.predict_proba(pairs.items.numpy())
    assert p.shape == r.shape
    assert p.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (model.predict(pairs.items.numpy()) == r.argmax(axis=1)).mean() > 0.9
    assert model.score(pairs) > 0.85
    assert model.classes_.tolist() == [0, 1, 2, 3]


def test_many_classes_at_another_prior():
    pairs, r = many_classes()
    model = ConfDiffClassifier(prior=r.mean(axis=0), **QUICK).fit(pairs)
    before = model.predict_proba(pairs.items.numpy()).mean(axis=0)
    after = model.set_params(target_prior=[0.7, 0.1, 0.1, 0.1]).predict_proba(pairs.items.numpy()).mean(axis=0)
    assert after[0] > before[0]


def test_two_classes_as_vectors_are_two_classes():
    pairs = easy_pairs()
    c = pairs.difference.numpy()
    vectors = np.stack([-c, c], axis=1)
    rows = np.stack([pairs.left, pairs.right], axis=1)
    items = pairs.items.numpy()
    one = ConfDiffClassifier(prior=0.5, **QUICK).fit(rows, c, items=items).predict_proba(items)
    two = ConfDiffClassifier(prior=[0.5, 0.5], **QUICK).fit(rows, vectors, items=items).predict_proba(items)
    assert np.abs(one - two).mean() < 0.03


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c * 0.5 + 0.01, "summed over the classes, must lie in"),
        (lambda c: c * 5, "must lie in"),
        (lambda c: c[:-1], "one row for each pair"),
        (lambda c: np.where(c == c[3, 1], np.nan, c), "must be finite"),
    ],
)
def test_bad_vectors_are_named(change, message):
    pairs, _ = many_classes()
    with pytest.raises(ValueError, match=message):
        Pairs(pairs.items, pairs.left, pairs.right, change(pairs.difference.numpy()))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "confdiff-information"}, "supports two classes only"),
        ({"prior": 0.5}, "prior must be one number for each class"),
        ({"prior": [0.5, 0.5]}, "prior must have one entry for each class: expected 4, got 2"),
        ({"prior": [0.5, 0.5, 0.5, 0.5]}, "with sum 1"),
        ({"prior": "estimate"}, "differences of two classes"),
        ({"classes": ("a", "b")}, "4 different names"),
        ({"loss": "squared"}, "several classes need loss='logistic'"),
        ({"calibrated": True}, "calibrated=True needs two classes"),
    ],
)
def test_options_for_two_classes_are_refused_with_several(parameters, message):
    pairs, _ = many_classes()
    with pytest.raises(ValueError, match=message):
        ConfDiffClassifier(**(QUICK | parameters)).fit(pairs)


@pytest.mark.parametrize("uses", [{"calibrated": True}, {"target_prior": 0.3}])
def test_rescaling_is_for_the_logistic_loss(uses):
    with pytest.raises(ValueError, match="the logistic loss; got loss='squared'"):
        ConfDiffClassifier(loss="squared", **uses, **QUICK).fit(easy_pairs())


def test_rescaling_after_fit_is_for_the_logistic_loss_too():
    model = ConfDiffClassifier("confdiff-abs", prior=0.5, loss="squared", **QUICK).fit(easy_pairs())
    with pytest.raises(ValueError, match="target_prior shifts the log-odds of the logistic loss"):
        model.set_params(target_prior=0.1).predict_proba(easy_pairs().items.numpy())


def test_too_few_pairs_for_a_validation_set_are_refused():
    with pytest.raises(ValueError, match="3 pairs are too few to hold some of them out"):
        ConfDiffClassifier(early_stopping=True, **QUICK).fit(easy_pairs()[:3])


def test_validation_pairs_can_be_given():
    pairs = easy_pairs(n_pairs=400)
    options = {"prior": 0.5, "model": "linear", "epochs": 15, "early_stopping": True}
    given = ConfDiffClassifier(**options).fit(pairs[:300], validation=pairs[300:])
    error = given._differences(pairs[300:]) - pairs[300:].difference.numpy()
    assert max(record["agreement"] for record in given.history_) == pytest.approx(-np.mean(error**2), rel=1e-5)
    drawn = ConfDiffClassifier(**options).fit(pairs[:300])
    assert given.history_ != drawn.history_


def test_a_grid_search_over_folds_of_items():
    model = ConfDiffClassifier(prior=0.5, model="linear", epochs=5)
    search = GridSearchCV(model, {"learning_rate": [1e-6, 0.1]}, cv=ItemKFold(3)).fit(easy_pairs())
    assert search.best_params_ == {"learning_rate": 0.1}
