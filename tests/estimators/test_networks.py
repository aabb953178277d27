"""Standardised features, dropout, hidden layers and the mean of several networks in classifiers with networks."""

import json

import numpy as np
import pytest
import torch
from sklearn.preprocessing import StandardScaler

from confdiff import ConfDiffClassifier, Pairs, PcompClassifier
from confdiff.models import mlp
from confdiff.models.composite import MeanOfNetworks, Standardised

QUICK = {"epochs": 3, "prior": 0.5, "batch_size": 16, "hidden": (8,)}


def data(n=60, scale=(1.0, 1000.0, 1e-3), seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * scale + [0, 500, 7]
    r = 1 / (1 + np.exp(-2 * (X[:, 1] - 500) / 1000))
    rows = rng.integers(0, n, size=(80, 2))
    return X, rows, r[rows[:, 1]] - r[rows[:, 0]]


def test_features_are_standardised_over_the_items_of_the_pairs():
    X, rows, c = data()
    fitted = ConfDiffClassifier(**QUICK).fit(rows, c, items=X)
    scaler = StandardScaler().fit(X[rows.reshape(-1)])
    Z = scaler.transform(X)
    by_hand = ConfDiffClassifier(**QUICK, standardise=False).fit(rows, c, items=Z)
    assert isinstance(fitted.model_, Standardised)
    assert not isinstance(by_hand.model_, Standardised)
    assert np.allclose(fitted.decision_function(X), by_hand.decision_function(Z), atol=1e-3)


@pytest.mark.parametrize("model", ["mlp", "linear", "authors-mlp"])
def test_units_of_features_do_not_matter(model):
    X, rows, c = data()
    options = {"epochs": 5, "prior": 0.5, "model": model}
    scores = ConfDiffClassifier(**options).fit(rows, c, items=X).decision_function(X)
    other_units = X * [1e-3, 1e3, 50.0] + [5, -7, 0]
    refitted = ConfDiffClassifier(**options).fit(rows, c, items=other_units)
    assert np.allclose(refitted.decision_function(other_units), scores, atol=0.02)


def test_a_feature_without_variation_has_no_effect_on_new_items():
    X, rows, c = data()
    X[:, 2] = 0.1 + 0.2
    fitted = ConfDiffClassifier(**QUICK).fit(rows, c, items=X)
    changed = X.copy()
    changed[:, 2] = 255.0
    assert (fitted.decision_function(changed) == fitted.decision_function(X)).all()


def test_bytes_and_networks_for_pictures_are_left_as_they_are():
    rng = np.random.default_rng(0)
    pixels = torch.from_numpy(rng.integers(0, 255, size=(8, 3 * 32 * 32)).astype(np.uint8))
    pairs = Pairs(pixels, range(4), range(4, 8), [0.1, -0.2, 0.3, 0.0])
    for items, model, standardised in (
        (pixels, "linear", False),
        (pixels.float(), "linear", True),
        (pixels.float(), "resnet32", False),
    ):
        fitted = ConfDiffClassifier(model=model, epochs=1, prior=0.5).fit(pairs.with_items(items))
        assert fitted.architecture_.standardised == standardised


def test_an_estimated_prior_uses_standardised_features():
    X, rows, c = data(scale=(1.0, 1e4, 1.0))
    options = {"prior": "estimate", "model": "linear", "epochs": 40, "batch_size": 16}
    with pytest.warns(UserWarning, match="do not determine"):
        raw = ConfDiffClassifier(**options).fit(rows, c, items=X)
    with pytest.warns(UserWarning, match="do not determine"):
        scaled = ConfDiffClassifier(**options).fit(rows, c, items=StandardScaler().fit_transform(X))
    assert raw.prior_ == pytest.approx(scaled.prior_, abs=0.05)


def test_dropout_and_hidden_layers_are_those_of_the_perceptron():
    X, rows, c = data()
    fitted = ConfDiffClassifier(epochs=2, prior=0.5, hidden=(5, 4), dropout=0.3).fit(rows, c, items=X)
    network = fitted.model_.network
    shapes = [tuple(weight.shape) for weight in network.parameters() if weight.ndim == 2]
    assert shapes == [(5, 3), (4, 5), (1, 4)]
    assert network.dropout == 0.3
    assert "dropout=0.3" in repr(network)
    assert (fitted.decision_function(X) == fitted.decision_function(X)).all()  # no dropout in predictions


def test_dropout_sets_a_fraction_of_the_outputs_to_zero_in_training_only():
    torch.manual_seed(0)
    network = mlp(2, hidden=(1000,), dropout=0.4)
    torch.nn.init.ones_(network[1].bias)
    network[1].weight.data.zero_()  # the outputs of the hidden layer are all 1
    network[3].weight.data.fill_(1.0)
    network[3].bias.data.zero_()
    x = torch.randn(50, 2)
    assert network.eval()(x).tolist() == [1000.0] * 50
    scores = network.train()(x)
    assert scores.mean().item() == pytest.approx(1000, rel=0.02)  # outputs that are left are scaled up
    assert scores.std().item() == pytest.approx(1000**0.5 * (0.4 / 0.6) ** 0.5, rel=0.5)


def test_several_networks_are_averaged_and_differ():
    X, rows, c = data()
    one = ConfDiffClassifier(**QUICK).fit(rows, c, items=X)
    three = ConfDiffClassifier(**QUICK, n_networks=3).fit(rows, c, items=X)
    assert isinstance(three.model_, MeanOfNetworks)
    first, second, third = three.model_.networks
    items = torch.from_numpy(X).float()
    scores = torch.stack([network(items) for network in (first, second, third)])
    assert np.allclose(three.decision_function(X), scores.mean(dim=0).detach().numpy(), atol=1e-6)
    assert np.allclose(one.decision_function(X), scores[0].detach().numpy(), atol=1e-6)
    assert not torch.allclose(scores[1], scores[2])
    assert three.n_iter_ == 3
    assert [record["network"] for record in three.history_] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


class _Stop(Exception):
    pass


@pytest.mark.parametrize("early_stopping", [False, True])
def test_training_resumes_in_the_third_network_with_the_same_weights(tmp_path, monkeypatch, early_stopping):
    X, rows, c = data()
    options = {**QUICK, "n_networks": 4, "dropout": 0.2, "early_stopping": early_stopping}
    expected = ConfDiffClassifier(**options).fit(rows, c, items=X)
    file = tmp_path / "run"
    steps = _stop_in_step(monkeypatch, len(expected.history_) // 4 * 2 * 5 + 7)
    with pytest.raises(_Stop):
        ConfDiffClassifier(**options).fit(rows, c, items=X, checkpoint=file)
    monkeypatch.undo()
    assert {path.name for path in tmp_path.iterdir()} == {"run", "run.2", "run.3"}
    resumed_steps = _stop_in_step(monkeypatch, None)
    resumed = ConfDiffClassifier(**options).fit(rows, c, items=X, checkpoint=file)
    assert (resumed.decision_function(X) == expected.decision_function(X)).all()
    assert 0 < len(resumed_steps) < len(steps)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def _stop_in_step(monkeypatch, number):
    """Count the steps of training, save after each, and raise an error in one of them."""
    from confdiff.training.checkpoint import Checkpoint
    from confdiff.training.run import Run

    steps = []
    take_step = Run.take_step

    def counted(run):
        if len(steps) == number:
            raise _Stop
        steps.append(run.step)
        take_step(run)

    monkeypatch.setattr(Run, "take_step", counted)
    monkeypatch.setattr(Checkpoint, "save_if_due", Checkpoint.save)
    return steps


@pytest.mark.parametrize("standardise", [True, False])
def test_the_state_restores_all_networks(standardise):
    X, rows, c = data()
    fitted = ConfDiffClassifier(**QUICK, n_networks=2, dropout=0.1, standardise=standardise).fit(rows, c, items=X)
    state = fitted.to_state()
    weights = state.pop("weights")
    restored = ConfDiffClassifier.from_state(json.loads(json.dumps(state)) | {"weights": weights})
    assert (restored.decision_function(X) == fitted.decision_function(X)).all()
    assert restored.get_params()["n_networks"] == 2
    assert restored.architecture_ == fitted.architecture_


DAMAGE = {
    "networks": ({"n_networks": 10**12}, "the weights must be those of 1000000000000 networks"),
    "fewer networks": ({"n_networks": 1}, "the weights of a 'mlp' network"),
    "hidden": ({"hidden": [9]}, "shape"),
    "no layer": ({"hidden": []}, "at least one layer"),
    "dropout": ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
    "standardised": ({"standardised": False}, "the weights of a 'mlp' network"),
    "unknown": ({"depth": 3}, "has no field 'depth'"),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_architecture_is_refused(what):
    X, rows, c = data()
    state = ConfDiffClassifier(**QUICK, n_networks=2).fit(rows, c, items=X).to_state()
    change, message = DAMAGE[what]
    state["architecture"] = state["architecture"] | change
    with pytest.raises(ValueError, match=message):
        ConfDiffClassifier.from_state(state)


WRONG = {
    "dropout of a linear model": ({"model": "linear", "dropout": 0.1}, "dropout need model='mlp'; got model='linear'"),
    "layers of a module": ({"model": torch.nn.Linear(3, 1), "hidden": (4,)}, "hidden need model='mlp'"),
    "a dropout of 1": ({"dropout": 1}, "dropout must be at least 0 and below 1; got 1"),
    "a negative dropout": ({"dropout": -0.1}, "dropout must be a finite number of at least 0"),
    "no networks": ({"n_networks": 0}, "n_networks must be a whole number of at least 1; got 0"),
    "a width of 0": ({"hidden": (0,)}, "hidden must be a whole number of at least 1; got 0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_settings_are_named(what):
    X, rows, c = data()
    options, message = WRONG[what]
    with pytest.raises(ValueError, match=message):
        ConfDiffClassifier(prior=0.5, **options).fit(rows, c, items=X)


def test_ordered_pairs_have_the_same_options():
    X, rows, c = data()
    ordered = np.where((c > 0)[:, None], rows[:, ::-1], rows)
    fitted = PcompClassifier(**QUICK, n_networks=2, dropout=0.1).fit(ordered, items=X)
    assert fitted.architecture_.standardised
    with pytest.raises(ValueError, match="method='pcomp-teacher' is for link='probability'; got link='score'"):
        PcompClassifier(**QUICK, link="score").fit(ordered, items=X)


def test_the_regularised_network_has_its_parameters_unless_others_are_passed():
    assert (
        ConfDiffClassifier.regularised("confdiff-abs", prior=0.2).get_params()
        == ConfDiffClassifier("confdiff-abs", prior=0.2, hidden=(128,), dropout=0.5, n_networks=3).get_params()
    )
    assert ConfDiffClassifier.regularised(n_networks=1).n_networks == 1


def test_the_regularised_network_is_better_on_noisy_differences_of_a_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1400, 10))
    r = 1 / (1 + np.exp(-X[:, :3].sum(axis=1)))
    y = rng.random(1400) < r
    rows = np.arange(400).reshape(200, 2)
    c = y[rows[:, 1]].astype(float) - y[rows[:, 0]]
    accuracies = []
    for classifier in (ConfDiffClassifier(prior=0.5), ConfDiffClassifier.regularised(prior=0.5, n_networks=1)):
        positive = classifier.fit(rows, c, items=X).decision_function(X[400:]) >= 0
        accuracies.append((positive == (r[400:] > 0.5)).mean())
    assert accuracies[1] > accuracies[0] + 0.05
