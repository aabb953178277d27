from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from confdiff.losses import logistic
from confdiff.methods import METHODS
from confdiff.models import build_model
from confdiff.pairs import Pairs, supervised_pairs
from confdiff.training import OPTIMIZERS, SCHEDULES, Recipe, predict_scores, train
from confdiff.training.sources import batch_sizes
from easy import easy_pairs


def weights_after(pairs, method="confdiff-abs", model="mlp", prior=0.5, **recipe):
    network = build_model(model, 3)
    train(network, pairs, method, prior=prior, recipe=Recipe(**({"epochs": 3, "batch_size": 64} | recipe)))
    return torch.cat([parameter.detach().reshape(-1) for parameter in network.parameters()])


def test_training_needs_no_gradient_mode_of_its_caller():
    expected = weights_after(easy_pairs())
    with torch.no_grad():
        assert torch.equal(weights_after(easy_pairs()), expected)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", ["linear", "mlp", "authors-mlp"])
def test_every_method_learns_with_every_model(method, model):
    pairs = easy_pairs()
    prior = 0.5
    if METHODS[method].family == "similarity":  # which needs a prior other than 1/2
        r = torch.sigmoid(torch.logit(pairs.posteriors) - 2)
        labels = (torch.rand(len(r), generator=torch.Generator().manual_seed(0)) < r).float()
        pairs = pairs.graded_by(r).with_truth(r, labels)
        prior = r.mean().item()
    pairs = supervised_pairs(
        pairs, METHODS[method].learns_from, "discard" if "and" in METHODS[method].learns_from else "reverse"
    )
    network = build_model(model, 3)
    recipe = Recipe(epochs=30, batch_size=64, learning_rate=0.05 if model == "linear" else 1e-3)
    history = train(network, pairs, method, prior=prior, recipe=recipe)
    scores = predict_scores(network, pairs.items)
    unbounded = ("pcomp-unbiased", "sconf-unbiased", "sconf-confdiff-unbiased", "sd-unbiased", "sd-pcomp-unbiased")
    bound = 0.3 if method in unbounded else 0.2
    if METHODS[method].classifies and METHODS[method].family != "baseline":  # whose bias moves the probabilities
        assert (torch.sigmoid(scores) - pairs.posteriors).abs().mean() < bound
    else:
        agree = (scores[pairs.right] > scores[pairs.left]) == (pairs.difference > 0)
        assert agree.float().mean() > 0.9
    assert len(history) == 30
    assert history[-1]["risk"] < history[0]["risk"]


def test_the_unbiased_linear_risk_reaches_its_minimum():
    """Full batches of a convex problem: the same weights as an independent solver, and the true ones in the limit."""
    pairs = easy_pairs(n_pairs=20_000)
    network = build_model("linear", 3)
    recipe = Recipe(epochs=400, batch_size=20_000, learning_rate=0.05, weight_decay=0)
    train(network, pairs, "confdiff-unbiased", prior=pairs.posteriors.mean().item(), recipe=recipe)
    solver = nn.Linear(3, 1)
    optimizer = torch.optim.LBFGS(solver.parameters(), max_iter=200, line_search_fn="strong_wolfe")
    prior, c = pairs.posteriors.mean(), pairs.difference

    def closure():
        optimizer.zero_grad()
        g = solver(pairs.items)[:, 0]
        cross_entropy = nn.functional.binary_cross_entropy_with_logits
        risk = (cross_entropy(g[pairs.left], prior - c) + cross_entropy(g[pairs.right], prior + c)) / 2
        risk.backward()
        return risk

    optimizer.step(closure)
    torch.testing.assert_close(network.weight, solver.weight, atol=2e-3, rtol=0)
    assert network.weight[0].tolist() == pytest.approx([2, 0, 0], abs=0.15)


def test_same_seed_same_weights_and_another_seed_others():
    pairs = easy_pairs()
    assert torch.equal(weights_after(pairs, seed=1), weights_after(pairs, seed=1))
    assert not torch.equal(weights_after(pairs, seed=1), weights_after(pairs, seed=2))


def test_the_global_generator_is_neither_used_nor_changed():
    pairs, dropout = easy_pairs(), nn.Sequential(nn.Linear(3, 8), nn.Dropout(), nn.Linear(8, 1))
    torch.manual_seed(0)
    first = weights_after(pairs, model=dropout)
    torch.manual_seed(1)
    after = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(weights_after(pairs, model=dropout), first)
    assert torch.equal(torch.rand(1), after)


@pytest.mark.parametrize("method", ["confdiff-relu", "confdiff-abs"])
def test_sorted_pairs_give_the_same_answer_as_shuffled_ones(method):
    """A chosen/rejected file has the better item always second; corrected risks must not be fooled by that."""
    pairs = easy_pairs()
    turn = pairs.difference < 0
    sorted_pairs = Pairs(
        pairs.items,
        torch.where(turn, pairs.right, pairs.left),
        torch.where(turn, pairs.left, pairs.right),
        pairs.difference.abs(),
    )
    assert torch.equal(weights_after(sorted_pairs, method), weights_after(pairs, method))


def test_a_corrected_risk_depends_on_the_orientation_of_pairs():
    """The test above has teeth: on pairs left as sorted, the corrected risk learns something else."""
    pairs = easy_pairs(n_pairs=4000)
    turn = pairs.difference < 0
    left, right = torch.where(turn, pairs.right, pairs.left), torch.where(turn, pairs.left, pairs.right)

    def learned(left, right, c):
        network = build_model("linear", 3)
        optimizer = torch.optim.Adam(network.parameters(), lr=0.05)
        for _ in range(200):
            g = network(pairs.items)[:, 0]
            risk = METHODS["confdiff-abs"].risk(g[left], g[right], c, prior=0.2)
            optimizer.zero_grad()
            risk.backward()
            optimizer.step()
        return torch.sigmoid(predict_scores(network, pairs.items))

    mixed = learned(pairs.left, pairs.right, pairs.difference)
    fooled = learned(left, right, pairs.difference.abs())
    assert (mixed - fooled).abs().mean() > 0.05


def test_a_last_batch_of_one_is_merged():
    assert batch_sizes(9, 4) == [4, 5]
    assert batch_sizes(10, 4) == [4, 4, 2]
    assert batch_sizes(1, 4) == [1]
    assert batch_sizes(3, 1) == [1, 1, 1]
    for forward_passes in (1, 2):
        weights_after(easy_pairs(n_pairs=9), batch_size=4, forward_passes=forward_passes)


def test_two_forward_passes_differ_only_by_batch_statistics():
    pairs = easy_pairs()
    without_norm = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    one, two = (weights_after(pairs, model=without_norm, forward_passes=passes) for passes in (1, 2))
    torch.testing.assert_close(one, two, atol=1e-5, rtol=0)
    assert not torch.allclose(weights_after(pairs, forward_passes=1), weights_after(pairs, forward_passes=2), atol=1e-3)
    with pytest.raises(ValueError, match="forward_passes=2 needs at least two pairs"):
        weights_after(pairs[:1], forward_passes=2)


def test_weights_have_an_effect_and_zero_weights_remove_pairs():
    pairs = easy_pairs()
    spoiled = pairs.difference.clone()
    spoiled[200:] *= -1
    weight = torch.ones(400)
    weight[200:] = 0
    full_batch = {"model": "linear", "batch_size": 400, "method": "confdiff-unbiased", "weight_decay": 0}
    half = weights_after(Pairs(pairs.items, pairs.left, pairs.right, spoiled, weight=weight), **full_batch)
    expected = weights_after(pairs[:200], **full_batch)
    torch.testing.assert_close(half, expected, atol=1e-5, rtol=0)


def test_a_prior_for_each_pair():
    pairs = easy_pairs()
    assert torch.equal(weights_after(pairs, prior=0.3), weights_after(pairs, prior=torch.full((400,), 0.3)))
    mixed = torch.where(torch.arange(400) < 200, 0.3, 0.6)
    assert not torch.equal(weights_after(pairs, prior=0.3), weights_after(pairs, prior=mixed))
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        weights_after(pairs, prior=torch.full((400,), 1.0))
    with pytest.raises(ValueError, match="prior must have one entry for each pair: expected 400, got 3"):
        weights_after(pairs, prior=torch.full((3,), 0.5))
    assert torch.equal(weights_after(pairs, prior=np.full(400, 0.3)), weights_after(pairs, prior=0.3))


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, torch.optim.Adagrad, partial(torch.optim.SGD, momentum=0.5)])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_optimisers_and_schedules(optimizer, schedule):
    network = build_model("linear", 3)
    recipe = Recipe(epochs=20, batch_size=64, learning_rate=0.1, optimizer=optimizer, schedule=schedule)
    history = train(network, easy_pairs(), "confdiff-abs", prior=0.5, recipe=recipe)
    assert history[-1]["risk"] < history[0]["risk"] - 0.02


def test_one_cycle_is_torch_s():
    recipe = Recipe(epochs=10, batch_size=40, learning_rate=0.3, optimizer=torch.optim.SGD, schedule="one-cycle")
    reference = torch.optim.SGD([torch.zeros(1)], lr=0.3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        reference, 0.3, total_steps=101, cycle_momentum=False, final_div_factor=1e9
    )
    rates = []
    for _ in range(100):
        rates.append(reference.param_groups[0]["lr"])
        reference.step()
        schedule.step()
    ours = [recipe.learning_rate * SCHEDULES["one-cycle"](step / 100) for step in range(100)]
    assert ours == pytest.approx(rates, abs=7e-3)  # torch rounds the phases to whole steps


def test_evaluation_happens_on_request_and_in_evaluation_mode():
    calls = []

    def evaluate(model):
        calls.append(model.training)
        return {"accuracy": 0.5}

    recipe = Recipe(epochs=5, batch_size=64)
    history = train(
        build_model("mlp", 3),
        easy_pairs(),
        "confdiff-abs",
        prior=0.5,
        recipe=recipe,
        evaluate=evaluate,
        evaluate_at=range(4, 100),
    )
    assert calls == [False, False]
    assert ["accuracy" in record for record in history] == [False, False, False, True, True]
    assert [record["epoch"] for record in history] == [1, 2, 3, 4, 5]


def test_a_risk_that_is_not_finite_is_named_at_once():
    pairs = easy_pairs()
    recipe = Recipe(epochs=5, batch_size=64, learning_rate=1e30, optimizer="sgd")
    with pytest.raises(
        FloatingPointError, match=r"not finite at epoch 1, step [2-4]: partial risk .*[ABCD] = .*learning"
    ):
        train(
            build_model("linear", 3), pairs, "confdiff-unbiased", prior=0.5, loss=lambda z: (1 - z) ** 2, recipe=recipe
        )


def test_a_model_must_return_one_score_per_item():
    with pytest.raises(ValueError, match=r"one score per item, shape \(128,\) or \(128, 1\); got shape \(128, 2\)"):
        weights_after(easy_pairs(), model=nn.Linear(3, 2))


def test_a_progress_bar_is_shown_on_request(capfd):
    recipe = Recipe(epochs=2, batch_size=64)
    train(build_model("linear", 3), easy_pairs(), "confdiff-abs", prior=0.5, recipe=recipe)
    assert capfd.readouterr() == ("", "")
    train(build_model("linear", 3), easy_pairs(), "confdiff-abs", prior=0.5, recipe=recipe, progress=True)
    out, err = capfd.readouterr()
    assert "epoch 2/2" in err
    assert out == ""


BAD_RECIPES = {
    "epochs": (0, "epochs must be a whole number of at least 1; got 0"),
    "batch_size": (2.5, "batch_size must be a whole number"),
    "learning_rate": (-1, "learning_rate must be a finite number above 0; got -1"),
    "weight_decay": (float("nan"), "weight_decay must be a finite number of at least 0; got nan"),
    "optimizer": ("adm", "unknown optimizer 'adm'. Did you mean 'adam'"),
    "schedule": ("cosine", "unknown schedule 'cosine'"),
    "forward_passes": (3, "must be 1 or 2; got 3"),
    "seed": (-1, "seed must be a whole number of at least 0"),
    "device": ("gpu0", "device 'gpu0' is not available; pass device='auto'"),
}


@pytest.mark.parametrize("name", BAD_RECIPES)
def test_bad_recipes_are_named(name):
    value, message = BAD_RECIPES[name]
    with pytest.raises(ValueError, match=message):
        weights_after(easy_pairs(), **{name: value})


def test_scores_do_not_depend_on_the_batch():
    network = build_model("mlp", 3).train()
    items = torch.randn(50, 3)
    whole = predict_scores(network, items)
    torch.testing.assert_close(predict_scores(network, items, batch_size=7), whole, atol=1e-5, rtol=0)
    assert network.training


def test_the_loss_reaches_the_risk():
    pairs = easy_pairs()
    first, second = (build_model("linear", 3) for _ in range(2))
    recipe = Recipe(epochs=1, batch_size=64)
    train(first, pairs, "confdiff-unbiased", prior=0.5, recipe=recipe, loss=logistic)
    train(second, pairs, "confdiff-unbiased", prior=0.5, recipe=recipe, loss=lambda z: 2 * logistic(z))
    assert not torch.equal(first.weight, second.weight)


def test_frozen_modules_stay_frozen_through_predictions():
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)).train()
    network[1].eval()
    predict_scores(network, torch.randn(5, 3))
    assert [module.training for module in network.modules()] == [True, True, False, True]


def test_arguments_of_the_wrong_type_are_refused():
    network, pairs = build_model("linear", 3), easy_pairs()
    with pytest.raises(ValueError, match="pairs must be a Pairs; got ndarray"):
        train(network, np.zeros((3, 2)), "confdiff-abs", prior=0.5)
    with pytest.raises(ValueError, match="recipe must be a Recipe; got dict"):
        train(network, pairs, "confdiff-abs", prior=0.5, recipe={"epochs": 3})
    with pytest.raises(ValueError, match="unknown method None"):
        train(network, pairs, None, prior=0.5)


def evaluations(values):
    """An evaluation that gives one value after the other."""
    told = iter(values)
    return lambda model: {"value": next(told)}


def run_for(epochs, **options):
    model = build_model("linear", 3)
    history = train(model, easy_pairs(), "confdiff-abs", prior=0.5, recipe=Recipe(epochs=epochs), **options)
    return [value.clone() for value in model.parameters()], history


@pytest.mark.parametrize(
    ("values", "patience", "best", "ran"),
    [
        ([1, 3, 2, 1, 0], None, 2, 5),
        ([1, 3, 2, 1, 0], 2, 2, 4),
        ([1, 1, 1, 2, 1], None, 4, 5),
        ([0.9, float("nan"), 0.2], None, 1, 3),
        ([float("nan"), 0.5, 0.2], None, 2, 3),
    ],
)
def test_the_best_weights_are_kept(values, patience, best, ran):
    kept, history = run_for(len(values), evaluate=evaluations(values), keep_best="value", patience=patience)
    expected, _ = run_for(best)
    assert len(history) == ran
    assert all(torch.equal(a, b) for a, b in zip(kept, expected, strict=True))


def test_keep_best_needs_an_evaluation_that_returns_it():
    with pytest.raises(ValueError, match="pass evaluate"):
        run_for(2, keep_best="value")
    with pytest.raises(ValueError, match="name it with keep_best="):
        run_for(2, evaluate=evaluations([1, 2]), patience=1)
    with pytest.raises(ValueError, match="must be a number that evaluate returns"):
        run_for(2, evaluate=evaluations([1, 2]), keep_best="accuracy")


def test_a_run_that_stops_early_is_finished(tmp_path):
    file = tmp_path / "run.safetensors"
    options = {"keep_best": "value", "patience": 1, "checkpoint": file}
    kept, _ = run_for(5, evaluate=evaluations([2, 1, 0, 0, 0]), **options)
    again, history = run_for(5, evaluate=evaluations([]), **options)  # nothing is left to evaluate
    assert len(history) == 2
    assert all(torch.equal(a, b) for a, b in zip(kept, again, strict=True))
