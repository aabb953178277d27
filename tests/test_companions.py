"""The companion of Pcomp-Teacher: pruning, the moving average, and resuming from a state."""

import pytest
import torch
from torch import nn

from confdiff.companions import PcompTeacher
from confdiff.methods import METHODS
from confdiff.models import build_model
from confdiff.pairs import STRATEGIES, order_by_labels
from confdiff.risks.pcomp import mislabelled_fractions, noise_rates
from confdiff.training import Recipe, predict_scores, train
from easy import easy_pairs


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_noise_rates_are_those_of_ordered_pairs(strategy, prior):
    """By counting: all four kinds of pairs with their probabilities, ordered by the strategy."""
    probability = {(y, z): (prior if y else 1 - prior) * (prior if z else 1 - prior) for y in (0, 1) for z in (0, 1)}
    low_first = probability.pop((0, 1))
    probability[1, 0] += low_first if strategy == "reverse" else 0
    first = {y: sum(p for (a, _), p in probability.items() if a == y) for y in (0, 1)}
    second = {y: sum(p for (_, b), p in probability.items() if b == y) for y in (0, 1)}
    rates = second[1] / (first[1] + second[1]), first[0] / (first[0] + second[0])
    assert noise_rates(prior, strategy) == pytest.approx(rates)
    fractions = first[0] / (first[0] + first[1]), second[1] / (second[0] + second[1])
    assert mislabelled_fractions(prior, strategy) == pytest.approx(fractions)


def companion(**options):
    model = nn.Linear(1, 1)
    with torch.no_grad():
        model.weight.fill_(1.0)
        model.bias.zero_()
    items = torch.arange(8.0)[:, None]
    rows = torch.tensor([[0, 1, 2, 3], [4, 5, 6, 7]])
    return PcompTeacher(model, items, rows, 0.5, **options), model


def test_the_least_confident_fraction_of_each_side_is_pruned():
    teacher, _ = companion(prune_from=2)
    assert [weight.tolist() for weight in teacher.columns(0)] == [[1, 1, 1, 1], [1, 1, 1, 1]]
    first, second = teacher.columns(2)
    assert first.tolist() == pytest.approx([0, 4 / 3, 4 / 3, 4 / 3])  # the lowest score among the "positives"
    assert second.tolist() == pytest.approx([4 / 3, 4 / 3, 4 / 3, 0])  # the highest among the "negatives"


def test_the_teacher_is_a_moving_average():
    teacher, model = companion(decay=0.9)
    for step in range(60):
        with torch.no_grad():
            model.weight.fill_(float(step))
        before = teacher.model.weight.item()
        teacher.after_step()
        rate = 1 - min(0.9, (step + 1) / (step + 11))
        assert teacher.model.weight.item() == pytest.approx(before + rate * (step - before), rel=1e-5)
    assert not teacher.model.weight.requires_grad


def test_consistency_grows_to_its_weight():
    teacher, _ = companion(consistency=4.0, ramp=3)
    weights = []
    for epoch in range(5):
        teacher.columns(epoch)
        weights.append(teacher.targets(torch.zeros(4, 1), 2)[2])
    assert weights == sorted(weights)
    assert weights[0] < 1 < weights[-1] == weights[2] == 4.0


def test_the_trained_model_is_the_teacher():
    """The model evaluated during training is the model at the end."""
    pairs = order_by_labels(easy_pairs())
    scores = []
    network = build_model("mlp", 3)
    train(
        network,
        pairs,
        "pcomp-teacher",
        prior=0.5,
        recipe=Recipe(epochs=8, batch_size=64),
        evaluate=lambda model: scores.append(predict_scores(model, pairs.items)) or {},
    )
    assert torch.equal(scores[-1], predict_scores(network, pairs.items))


def test_stopped_and_resumed_is_never_stopped(tmp_path):
    pairs = order_by_labels(easy_pairs())
    recipe = Recipe(epochs=9, batch_size=64)

    def stop(model):
        raise KeyboardInterrupt

    whole = build_model("mlp", 3)
    train(whole, pairs, "pcomp-teacher", prior=0.5, recipe=recipe, evaluate=lambda model: {}, evaluate_at=[7])
    half = build_model("mlp", 3)
    options = {
        "prior": 0.5,
        "recipe": recipe,
        "evaluate_at": [7],
        "checkpoint": tmp_path / "c",
        "checkpoint_seconds": 0,
    }
    with pytest.raises(KeyboardInterrupt):
        train(half, pairs, "pcomp-teacher", evaluate=stop, **options)
    resumed = build_model("mlp", 3)
    train(resumed, pairs, "pcomp-teacher", evaluate=lambda model: {}, **options)
    assert all(
        torch.equal(a, b) for a, b in zip(whole.state_dict().values(), resumed.state_dict().values(), strict=True)
    )


def test_one_prior_for_all():
    pairs = order_by_labels(easy_pairs())
    with pytest.raises(ValueError, match="takes one prior for all pairs"):
        train(build_model("linear", 3), pairs, "pcomp-teacher", prior=torch.full((len(pairs),), 0.5))


def test_a_risk_without_its_companion_is_an_error():
    with pytest.raises(ValueError, match=r"keeps state during training.*Use train\(\), or a PcompTeacher"):
        METHODS["pcomp-teacher"].risk(torch.zeros(2), torch.zeros(2), prior=0.5)
