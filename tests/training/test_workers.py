"""``train(workers=...)``: the results, the checkpoint and the errors of several workers."""

from dataclasses import replace

import pytest
import torch

from confdiff import ConfDiffClassifier
from confdiff.engines import MemberEndedError, start_gang
from confdiff.training import Recipe, train
from easy import easy_pairs
from gangs import train_without_common_disk
from resumed import WRONG, dying, job, network, train_in_parts, train_until

RECIPE = Recipe(epochs=4, batch_size=20, device="cpu")


def same(first, second):
    return all(torch.equal(tensor, second[name]) for name, tensor in first.items())


def close(first, second):
    return all(torch.allclose(tensor, second[name], rtol=0, atol=1e-8) for name, tensor in first.items())


def test_the_best_weights_and_the_history_are_those_of_one_process():
    def evaluate(model):
        return {"weight": float(-model[0].weight.detach().sum())}

    results = []
    for workers in (1, 2):
        model = network()
        options = {"evaluate": evaluate, "keep_best": "weight", "patience": 2}
        history = train(
            model, easy_pairs(n_pairs=60), "confdiff-abs", prior=0.5, recipe=RECIPE, workers=workers, **options
        )
        results.append((model.state_dict(), [(record["risk"], record["weight"]) for record in history]))
        assert not model.training
    (one, one_history), (two, two_history) = results
    assert close(one, two)
    assert torch.allclose(torch.tensor(one_history), torch.tensor(two_history))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_run_is_resumed_by_the_same_or_another_number_of_workers(tmp_path, dropout):
    alone = train_until(job(None, dropout), 100)
    train_until(job(tmp_path / "one", dropout), 5)
    whole, parts, mixed = start_gang(train_in_parts, (str(tmp_path), dropout), 2)
    assert same(whole, parts)
    assert close(mixed, alone) == close(whole, alone) == (dropout == 0)


def test_a_killed_worker_is_one_error_and_the_checkpoint_is_resumed(tmp_path):
    file = tmp_path / "checkpoint"
    options = {"prior": 0.5, "recipe": RECIPE, "workers": 2, "checkpoint": file, "checkpoint_seconds": 0}
    model = network()
    with pytest.raises(MemberEndedError, match="worker 0 was killed by signal 9"):
        train(model, easy_pairs(n_pairs=60), "confdiff-abs", evaluate=dying, **options)
    assert file.exists()
    assert same(model.state_dict(), network().state_dict())
    with pytest.raises(ValueError, match="belongs to another run: evaluated was after each epoch, now never"):
        train(model, easy_pairs(n_pairs=60), "confdiff-abs", **options)


def test_workers_without_a_common_disk_send_the_checkpoint_and_resume_from_it(tmp_path):
    place = tmp_path / "of the caller" / "checkpoint"  # which workers could not even write
    checkpoints = []

    def keep(message):
        if isinstance(message, bytes):
            checkpoints.append(message)

    def trained(saved, **changes):
        arguments = (replace(job(place), **changes), saved)
        return start_gang(train_without_common_disk, arguments, 2, on_message=keep)

    whole = trained(None)
    assert len(checkpoints) == 12  # one per step
    middle = checkpoints[4]
    checkpoints.clear()
    assert same(trained(middle).weights, whole.weights)
    assert len(checkpoints) == 7
    assert not place.parent.exists()
    with pytest.raises(ValueError, match=f"the checkpoint {place} belongs to another run"):
        trained(middle, recipe=replace(job(None).recipe, seed=1))


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("meta", r"several workers train on the CPU; got device='meta'. Pass 'cpu', or workers=1"),
        ("cuda:99", "device 'cuda:99' is not available; pass device='auto'"),
    ],
)
def test_workers_on_other_devices_are_refused(device, message):
    with pytest.raises(ValueError, match=message):
        ConfDiffClassifier(prior=0.5, workers=2, device=device).fit(easy_pairs(n_pairs=60))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": WRONG}, ValueError, "'mine' are those of a part of the batch.*mean_over_pairs"),
        (
            {"factor": 1e308},
            FloatingPointError,
            "the risk is not finite at epoch",
        ),
        ({"evaluate": lambda model: 1 / 0}, ZeroDivisionError, "division by zero"),
    ],
)
def test_an_error_of_workers_reaches_the_caller(options, error, message):
    options = {"method": "confdiff-abs"} | options
    model = network()
    with torch.no_grad():
        model[-1].weight.mul_(options.pop("factor", 1))
    with pytest.raises(error, match=message):
        train(model, easy_pairs(n_pairs=60), prior=0.5, recipe=RECIPE, workers=2, **options)


def test_options_of_workers_must_be_used():
    pairs = easy_pairs(n_pairs=60)
    with pytest.raises(ValueError, match=r"address='auto' would not be used: pass workers=2 or more and engine='ray'"):
        train(network(), pairs, "confdiff-abs", prior=0.5, recipe=RECIPE, address="auto")
    with pytest.raises(ValueError, match="unknown engine 'locale'"):
        ConfDiffClassifier(prior=0.5, workers=2, engine="locale").fit(pairs)
    with pytest.raises(ValueError, match="workers must be a whole number of at least 1; got 0"):
        ConfDiffClassifier(prior=0.5, workers=0).fit(pairs)
