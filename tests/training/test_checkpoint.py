"""A run that was stopped, however hard, and resumed ends with the same bits as one that was never stopped."""

import random
import signal
import subprocess
import sys
import time
from functools import partial

import pytest
import torch
from torch import nn

from confdiff.io.tensors import load_tree
from confdiff.models import build_model
from confdiff.training import Recipe, train
from confdiff.training.checkpoint import _name
from easy import easy_pairs

# A network with batch norm and dropout, a schedule and a momentum: everything that has a state.
PROGRAM = """
import sys, torch
from torch import nn
from confdiff.pairs import Pairs
from confdiff.io.tensors import save_tree
from confdiff.training import Recipe, train

def network(d):
    return nn.Sequential(nn.Linear(d, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 1))

rng = torch.Generator().manual_seed(0)
items = torch.randn(200, 5, generator=rng)
r = torch.sigmoid(items[:, 0])
rows = torch.randint(0, 200, (2, 300), generator=rng)
pairs = Pairs(items, rows[0], rows[1], r[rows[1]] - r[rows[0]])
torch.manual_seed(0)
model = network(5)
recipe = Recipe(epochs=8, batch_size=32, schedule="one-cycle", optimizer="adamw", device="cpu")
checkpoint = None if sys.argv[1] == "-" else sys.argv[1]
print("ready", flush=True)
history = train(model, pairs, "confdiff-abs", prior=0.4, recipe=recipe, checkpoint=checkpoint, checkpoint_seconds=0)
save_tree(sys.argv[2], {"model": model.state_dict(), "risks": [record["risk"] for record in history]})
"""


def start(*arguments):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def run(*arguments):
    process = start(*arguments)
    process.communicate()
    assert process.returncode == 0


def same(first, second):
    return first["risks"] == second["risks"] and all(
        torch.equal(value, second["model"][name]) for name, value in first["model"].items()
    )


def test_a_killed_and_resumed_run_equals_an_uninterrupted_one(tmp_path):
    run("-", tmp_path / "uninterrupted")
    expected = load_tree(tmp_path / "uninterrupted")
    kept, result = tmp_path / "checkpoint", tmp_path / "resumed"
    random.seed(0)
    steps = []
    for _ in range(4):
        process = start(kept, result)
        assert process.stdout.readline() == "ready\n"
        before = load_tree(kept)["step"] if kept.exists() else 0
        while (not kept.exists() or load_tree(kept)["step"] <= before) and process.poll() is None:
            time.sleep(0.002)
        time.sleep(random.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        steps.append(load_tree(kept)["step"])
        if result.exists():
            break
    assert 0 < steps[0] < 80, f"never killed under way: {steps}"
    assert steps == sorted(steps)
    run(kept, result)
    assert same(load_tree(result), expected)
    assert not same(load_tree(result), expected | {"risks": [0.0]})


def train_linear(pairs, path, **recipe):
    network = build_model("linear", 3)
    history = train(
        network,
        pairs,
        "confdiff-abs",
        prior=0.5,
        recipe=Recipe(**({"epochs": 3, "batch_size": 64} | recipe)),
        checkpoint=path,
        checkpoint_seconds=0,
    )
    return network.weight.detach().clone(), history


def test_a_finished_run_is_not_repeated(tmp_path):
    first, history = train_linear(easy_pairs(), tmp_path / "c")
    again, same_history = train_linear(easy_pairs(), tmp_path / "c")
    assert torch.equal(first, again)
    assert same_history == history


def test_an_interrupted_run_resumes_and_keeps_counting(tmp_path):
    expected, _ = train_linear(easy_pairs(), None)
    errors = iter([KeyboardInterrupt(), None, None])

    def interrupt_once(model):
        if error := next(errors):
            raise error
        return {"accuracy": 0.5}

    def run():
        network = build_model("linear", 3)
        recipe = Recipe(epochs=3, batch_size=64)
        options = {"evaluate": interrupt_once, "evaluate_at": range(2, 100), "checkpoint_seconds": 0}
        history = train(
            network, easy_pairs(), "confdiff-abs", prior=0.5, recipe=recipe, checkpoint=tmp_path / "c", **options
        )
        return network.weight, history

    with pytest.raises(KeyboardInterrupt):
        run()
    before = load_tree(tmp_path / "c")["seconds"]
    weight, history = run()
    assert torch.equal(weight, expected)
    assert ["accuracy" in record for record in history] == [False, True, True]
    assert history[-1]["seconds"] > before > 0


def test_a_checkpoint_of_another_run_is_refused_with_the_differences(tmp_path):
    train_linear(easy_pairs(), tmp_path / "c")
    with pytest.raises(ValueError, match="belongs to another run: epochs was 3, now 4"):
        train_linear(easy_pairs(), tmp_path / "c", epochs=4)
    with pytest.raises(ValueError, match=r"belongs to another run: .*pairs was"):
        train_linear(easy_pairs()[:300], tmp_path / "c")
    with pytest.raises(ValueError, match="belongs to another run: items was"):
        train_linear(easy_pairs().with_items(easy_pairs().items * 2), tmp_path / "c")


def test_networks_and_losses_of_the_same_shape_are_distinguished(tmp_path):
    def run(activation=nn.Tanh, loss=lambda z: (1 - z) ** 2):
        torch.manual_seed(0)
        network = nn.Sequential(nn.Linear(3, 4), activation(), nn.Linear(4, 1))
        recipe = Recipe(epochs=1, batch_size=64)
        train(network, easy_pairs(), "confdiff-abs", prior=0.5, loss=loss, recipe=recipe, checkpoint=tmp_path / "c")

    run()
    run()
    with pytest.raises(ValueError, match="another run: network was"):
        run(activation=nn.ReLU)
    with pytest.raises(ValueError, match="another run: loss was"):
        run(loss=lambda z: (2 - z) ** 2)
    with pytest.raises(ValueError, match="another run: loss was"):
        run(loss=lambda z: torch.exp(-z))


def test_a_name_is_the_same_in_every_process():
    assert _name(partial(torch.optim.SGD, momentum=0.9)) == "torch.optim.sgd.SGD(){'momentum': 0.9}"
    assert "0x" not in _name(partial(lambda z, k: z * k, k=2))


def test_a_folder_as_checkpoint_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must be a file"):
        train_linear(easy_pairs(), tmp_path)


def test_a_damaged_checkpoint_is_refused(tmp_path):
    (tmp_path / "c").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="damaged"):
        train_linear(easy_pairs(), tmp_path / "c")


def test_a_checkpoint_is_saved_at_intervals(tmp_path):
    class Stop(Exception):
        pass

    def stop(model):
        raise Stop

    with pytest.raises(Stop):
        train(
            build_model("linear", 3),
            easy_pairs(),
            "confdiff-abs",
            prior=0.5,
            recipe=Recipe(epochs=3, batch_size=64),
            evaluate=stop,
            checkpoint=tmp_path / "c",
            checkpoint_seconds=1000,
        )
    assert not (tmp_path / "c").exists()
