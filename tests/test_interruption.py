"""Ctrl-C and SIGTERM wait for the current step; a second one does not; and the handlers are restored afterwards."""

import os
import signal
import threading

import pytest
import torch

from confdiff.interruption import Terminated, end_like_interrupts, interrupts_held_back
from confdiff.io.tensors import load_tree
from confdiff.models import build_model
from confdiff.training import Recipe, train
from confdiff.training.run import Run
from easy import easy_pairs


@pytest.fixture(autouse=True)
def _python_s_own_handler():
    """Ctrl-C raises KeyboardInterrupt, also where the tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


def weights_after(**options):
    network = build_model("mlp", 3)
    train(network, easy_pairs(), "confdiff-abs", prior=0.5, recipe=Recipe(epochs=3, batch_size=64), **options)
    return torch.cat([parameter.detach().reshape(-1) for parameter in network.parameters()])


def pressing_in_step(monkeypatch, number, times=1, pressed=signal.SIGINT):
    """Press Ctrl-C in the midst of a step; tells whether that step came to its end."""
    original, ended = Run._set_learning_rate, []

    def set_learning_rate(self):
        if self.step == number:
            for _ in range(times):
                press(pressed)
            ended.append(self.step)
        original(self)

    monkeypatch.setattr(Run, "_set_learning_rate", set_learning_rate)
    return ended


def test_ctrl_c_finishes_the_step_and_saves_the_checkpoint(tmp_path, monkeypatch):
    kept = {"checkpoint": tmp_path / "c", "checkpoint_seconds": 1000}
    with monkeypatch.context() as patch:
        ended = pressing_in_step(patch, 9)
        with pytest.raises(KeyboardInterrupt):
            weights_after(**kept)
    assert ended == [9]
    assert load_tree(tmp_path / "c")["step"] == 10
    assert torch.equal(weights_after(**kept), weights_after())


def test_ctrl_c_without_a_checkpoint_only_interrupts(monkeypatch):
    pressing_in_step(monkeypatch, 3)
    with pytest.raises(KeyboardInterrupt):
        weights_after()


def test_the_last_step_can_be_interrupted_too(tmp_path, monkeypatch):
    pressing_in_step(monkeypatch, 20)
    with pytest.raises(KeyboardInterrupt):
        weights_after(checkpoint=tmp_path / "c")
    assert load_tree(tmp_path / "c")["step"] == 21


def test_a_second_ctrl_c_interrupts_at_once(tmp_path, monkeypatch):
    ended = pressing_in_step(monkeypatch, 9, times=2)
    with pytest.raises(KeyboardInterrupt):
        weights_after(checkpoint=tmp_path / "c", checkpoint_seconds=1000)
    assert ended == []
    assert not (tmp_path / "c").exists()


def test_other_handlers_of_ctrl_c_are_not_replaced():
    pressed = []
    for handler in (lambda *_: pressed.append(1), signal.SIG_IGN):
        signal.signal(signal.SIGINT, handler)
        with interrupts_held_back() as interrupted:
            press()
            assert not interrupted()
        assert signal.signal(signal.SIGINT, signal.default_int_handler) is handler
    assert pressed == [1]


def test_an_error_is_not_hidden():
    def breaks():
        with interrupts_held_back() as interrupted:
            press()
            assert interrupted()
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        breaks()


def test_ctrl_c_is_not_deferred_in_other_threads():
    found = []

    def train_there():
        with interrupts_held_back() as interrupted:
            found.append((signal.getsignal(signal.SIGINT), interrupted()))

    thread = threading.Thread(target=train_there)
    thread.start()
    thread.join()
    assert found == [(signal.default_int_handler, False)]


@pytest.fixture
def _ending_like_interrupts():
    # a command that another test ran in this process has set handlers of its own
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    end_like_interrupts()
    yield
    for number, handler in before.items():
        assert signal.getsignal(number) not in (signal.SIG_DFL, None)
        signal.signal(number, handler)


@pytest.mark.usefixtures("_ending_like_interrupts")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_saves_the_checkpoint_like_ctrl_c(tmp_path, monkeypatch, number):
    kept = {"checkpoint": tmp_path / "c", "checkpoint_seconds": 1000}
    with monkeypatch.context() as patch:
        ended = pressing_in_step(patch, 9, pressed=number)
        with pytest.raises(Terminated, match=number.name):
            weights_after(**kept)
    assert ended == [9]
    assert load_tree(tmp_path / "c")["step"] == 10
    assert torch.equal(weights_after(**kept), weights_after())


def test_without_a_handler_sigterm_saves_the_checkpoint_and_ends_the_process(tmp_path, monkeypatch):
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        pressing_in_step(monkeypatch, 9, pressed=signal.SIGTERM)
        weights_after(checkpoint=tmp_path / "c", checkpoint_seconds=1000)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM
    assert load_tree(tmp_path / "c")["step"] == 10


def test_handlers_of_others_are_respected():
    for handler in (signal.SIG_IGN, lambda *_: None):
        before = signal.signal(signal.SIGTERM, handler)
        try:
            end_like_interrupts()
            with interrupts_held_back() as interrupted:
                press(signal.SIGTERM)
                assert not interrupted()
            assert signal.getsignal(signal.SIGTERM) is handler
        finally:
            signal.signal(signal.SIGTERM, before)
