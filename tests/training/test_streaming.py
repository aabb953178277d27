"""Training from a stream of pairs: the same loop, the same number of steps, and resumed at any of them."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

from confdiff.io.tensors import load_tree
from confdiff.methods import METHODS
from confdiff.models import build_model
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.training import Recipe, predict_scores, train
from confdiff.training.run import Run
from confdiff.training.sources import InMemorySource, StreamedSource, batch_sizes
from easy import easy_pairs
from streams import streamed, write


def source(stream, method="confdiff-abs", prior=0.5, **recipe):
    return StreamedSource(stream, METHODS[method], prior, Recipe(**({"epochs": 3, "batch_size": 64} | recipe)))


def flat(batches):
    """Everything that batches hold, as one list of numbers for each."""
    return [
        [
            *rows.reshape(-1).tolist(),
            *(column.tolist() if isinstance(column, torch.Tensor) else column for column in columns),
        ]
        for rows, columns in batches
    ]


def weights_after(pairs, method="confdiff-abs", model="mlp", prior=0.5, **options):
    network = build_model(model, 3)
    recipe = Recipe(**({"epochs": 3, "batch_size": 64} | options.pop("recipe", {})))
    train(network, pairs, method, prior=prior, recipe=recipe, **options)
    return torch.cat([parameter.detach().reshape(-1) for parameter in network.parameters()])


@pytest.mark.parametrize(("n", "size", "window"), [(1050, 64, 300), (1025, 64, 250), (1000, 1, 400), (513, 700, 200)])
def test_streamed_batches_have_the_number_and_sizes_of_batches_in_memory(tmp_path, n, size, window):
    pairs = easy_pairs(n_pairs=n)
    batches = list(source(streamed(tmp_path, pairs, window=window), batch_size=size).epoch(0, 0, []))
    assert [rows.shape[1] for rows, _ in batches] == batch_sizes(n, size)
    left, right = torch.cat([rows for rows, _ in batches], dim=1)
    c = torch.cat([columns[0] for _, columns in batches])
    turned = c * torch.where(left > right, -1, 1)  # coins have turned the pairs
    expected = pairs.difference * torch.where(pairs.left > pairs.right, -1, 1)
    assert sorted(turned.tolist()) == sorted(expected.tolist())


def test_streamed_columns_equal_columns_in_memory(tmp_path):
    plain = easy_pairs(n_pairs=500)
    pairs = Pairs(plain.items, plain.left, plain.right, plain.difference, weight=torch.arange(500.0))
    for method, data, prior in (("confdiff-abs", pairs, 0.5), ("pcomp-abs", pairs, 0.4), ("bpr", plain, None)):
        recipe = Recipe(batch_size=500)
        ((rows, columns),) = InMemorySource(data, METHODS[method], prior, recipe).epoch(0, 0, [])
        ((streamed_rows, others),) = source(streamed(tmp_path, data), method, prior, batch_size=500).epoch(0, 0, [])
        assert [type(column) for column in others] == [type(column) for column in columns]
        assert streamed_rows.shape == rows.shape
        for ours, theirs in zip(columns, others, strict=True):
            if isinstance(ours, torch.Tensor):
                torch.testing.assert_close(ours.abs().sort().values, theirs.abs().sort().values)


def test_a_stream_resumed_at_any_step_gives_the_same_batches(tmp_path):
    stream = streamed(tmp_path, easy_pairs(n_pairs=1050), window=250)
    whole = flat(source(stream).epoch(1, 0, []))
    for first in range(len(whole)):
        assert flat(source(stream).epoch(1, first, [])) == whole[first:], first


def test_windows_before_the_first_batch_are_not_read(tmp_path, monkeypatch):
    stream = streamed(tmp_path, easy_pairs(n_pairs=1200), window=300)
    read = []

    def record(self, window):
        read.append(window[1])
        return [torch.zeros(2, 300).long()]

    monkeypatch.setattr(StreamedSource, "_read", record)
    next(source(stream).epoch(0, 15, []))  # pairs 960 to 1024: in the last of four windows
    assert read[0] == tuple(stream.windows(0, 0)[-1])


def test_one_window_is_read_ahead(tmp_path, monkeypatch):
    stream = streamed(tmp_path, easy_pairs(n_pairs=1200), window=300)
    threads, original = [], StreamedSource._read

    def read(self, window):
        threads.append(threading.current_thread().name)
        return original(self, window)

    monkeypatch.setattr(StreamedSource, "_read", read)
    drawn = source(stream, epochs=1)
    batches = drawn.epoch(0, 0, [])
    for seen, expected in ((1, 2), (5, 3), (5, 4), (5, 4)):
        for _ in range(seen):
            next(batches)
        for future in drawn._pending.values():
            future.result()
        assert len(threads) == expected
    assert all(name.startswith("confdiff-reading") for name in threads)


@pytest.mark.parametrize("method", ["confdiff-abs", "confdiff-regression", "confdiff-unbiased", "pcomp-abs", "bpr"])
def test_streamed_and_in_memory_training_reach_the_same_quality(tmp_path, method):
    pairs = easy_pairs(n_pairs=2000)
    prior = None if method == "confdiff-regression" else 0.5
    risks, errors = [], []
    for data in (pairs, streamed(tmp_path, pairs, window=700)):
        network = build_model("linear", 3)
        recipe = Recipe(epochs=15, batch_size=64, learning_rate=0.05, schedule="one-cycle")
        risks.append(train(network, data, method, prior=prior, recipe=recipe)[-1]["risk"])
        errors.append((torch.sigmoid(predict_scores(network, pairs.items)) - pairs.posteriors).abs().mean().item())
    assert risks[1] == pytest.approx(risks[0], abs=0.01)
    assert errors[1] == pytest.approx(errors[0], abs=0.02)
    if method.startswith("confdiff"):
        assert errors[1] < 0.05


def test_weights_have_an_effect(tmp_path):
    pairs = easy_pairs(n_pairs=1000)
    spoiled = torch.where(torch.arange(1000) < 500, pairs.difference, -pairs.difference)
    weight = (torch.arange(1000) < 500).float()
    weighted = Pairs(pairs.items, pairs.left, pairs.right, spoiled, weight=weight)
    full = {"method": "confdiff-unbiased", "model": "linear", "recipe": {"batch_size": 1000, "weight_decay": 0}}
    torch.testing.assert_close(
        weights_after(streamed(tmp_path, weighted), **full), weights_after(pairs[:500], **full), atol=1e-5, rtol=0
    )


def test_sorted_pairs_give_the_same_answer_as_shuffled_ones(tmp_path):
    pairs = easy_pairs()
    better_second = streamed(tmp_path / "sorted", pairs.oriented(pairs.difference < 0))
    assert torch.equal(weights_after(better_second), weights_after(streamed(tmp_path, pairs)))


def test_same_seed_same_weights_and_another_seed_others(tmp_path):
    stream = streamed(tmp_path, easy_pairs())
    assert torch.equal(weights_after(stream), weights_after(stream))
    assert not torch.equal(weights_after(stream), weights_after(stream, recipe={"seed": 1}))


def test_methods_that_need_all_pairs_are_refused(tmp_path):
    stream = streamed(tmp_path, easy_pairs())
    with pytest.raises(ValueError, match="method 'pcomp-teacher' needs its pairs in memory; got streamed pairs"):
        weights_after(stream, "pcomp-teacher")
    for method, known in (("oracle-hard", "labels"), ("oracle-soft", "posteriors")):
        with pytest.raises(ValueError, match=f"{method}.* needs its pairs in memory.* learns from {known}"):
            weights_after(stream, method)
    with pytest.raises(ValueError, match="a prior for each pair needs its pairs in memory"):
        weights_after(stream, prior=torch.full((400,), 0.5))


def test_a_bad_entry_ends_the_training_with_its_message(tmp_path):
    pairs = easy_pairs(n_pairs=1000)
    c = pairs.difference.numpy().copy()
    c[777] = 1.7
    stream = StreamedPairs(pairs.items, write(tmp_path / "pairs.parquet", pairs, difference=c), window=300)
    with pytest.raises(ValueError, match=r"pairs.parquet, column 'difference', must lie in .* at row 777"):
        weights_after(stream)


class Stop(Exception):
    pass


def stopped_after(steps, monkeypatch, *arguments, **options):
    """Train, and stop after so many steps."""
    original, taken = Run.take_step, []

    def take_step(self):
        if len(taken) == steps:
            raise Stop
        taken.append(1)
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "take_step", take_step)
        with pytest.raises(Stop):
            weights_after(*arguments, **options)


@pytest.mark.parametrize("steps", [1, 4, 5, 7, 8, 20])
def test_a_run_resumed_at_any_step_equals_an_uninterrupted_one(tmp_path, monkeypatch, steps):
    stream = streamed(tmp_path, easy_pairs(n_pairs=450), window=250)
    kept = {"checkpoint": tmp_path / "c", "checkpoint_seconds": 0}
    stopped_after(steps, monkeypatch, stream, **kept)
    assert load_tree(tmp_path / "c")["step"] == steps
    assert torch.equal(weights_after(stream, **kept), weights_after(stream))


def test_the_checkpoint_of_another_stream_is_refused(tmp_path):
    pairs = easy_pairs(n_pairs=1000)
    path, kept = write(tmp_path / "pairs.parquet", pairs), {"checkpoint": tmp_path / "c"}
    items = pairs.items.clone()
    weights_after(StreamedPairs(items, path, window=500), **kept)
    weights_after(StreamedPairs(items.clone(), path, window=500), **kept)
    with pytest.raises(ValueError, match="another run: pairs was"):
        weights_after(StreamedPairs(items, path, window=700), **kept)
    with pytest.raises(ValueError, match="another run: pairs was"):
        weights_after(StreamedPairs(items, path, window=500, without_items=torch.arange(300) == 3), **kept)
    with pytest.raises(ValueError, match="another run: items was"):
        weights_after(StreamedPairs(items * 2, path, window=500), **kept)
    write(path, pairs, difference=-pairs.difference.numpy())
    with pytest.raises(ValueError, match="another run: pairs was"):
        weights_after(StreamedPairs(items, path, window=500), **kept)
    with pytest.raises(ValueError, match=r"another run: .*pairs was"):
        weights_after(pairs, **kept)


PROGRAM = """
import signal, sys
from confdiff.models import build_model
from confdiff.pairs import StreamedPairs
from confdiff.io.tensors import save_tree
from confdiff.training import Recipe, train

def evaluate(model):
    print("an epoch", flush=True)
    return {}

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a test runs in the background
folder, checkpoint, result, seconds = sys.argv[1:]
pairs = StreamedPairs(folder + "/items.npy", folder + "/pairs.parquet", window=300)
model = build_model("linear", 3)
recipe = Recipe(epochs=20, batch_size=16, schedule="one-cycle", device="cpu")
options = {} if checkpoint == "-" else {"checkpoint": checkpoint, "checkpoint_seconds": float(seconds)}
history = train(model, pairs, "confdiff-abs", prior=0.4, recipe=recipe, evaluate=evaluate, **options)
save_tree(result, {"model": model.state_dict(), "risks": [record["risk"] for record in history]})
"""


def start(*arguments):
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(*arguments):
    process = start(*arguments)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    return load_tree(arguments[2])


def stopped(how, *arguments):
    """What a process said that was stopped in its second or third epoch."""
    process = start(*arguments)
    for _ in range(2):
        assert process.stdout.readline() == "an epoch\n"
    process.send_signal(how)
    _, errors = process.communicate()
    assert process.returncode != 0
    return errors


def test_an_interrupted_and_killed_stream_resumes_with_the_same_result(tmp_path):
    pairs = easy_pairs(n_pairs=1000)
    write(tmp_path / "pairs.parquet", pairs)
    np.save(tmp_path / "items.npy", pairs.items.numpy())
    expected = finished(tmp_path, "-", tmp_path / "uninterrupted", 0)
    kept, result = tmp_path / "checkpoint", tmp_path / "resumed"
    assert "KeyboardInterrupt" in stopped(signal.SIGINT, tmp_path, kept, result, 1000)
    after_interrupt = load_tree(kept)["step"]
    stopped(signal.SIGKILL, tmp_path, kept, result, 0)
    assert 0 < after_interrupt < load_tree(kept)["step"] < 20 * 63
    assert not result.exists()
    resumed = finished(tmp_path, kept, result, 1000)
    assert resumed["risks"] == expected["risks"]
    assert all(torch.equal(value, expected["model"][name]) for name, value in resumed["model"].items())
