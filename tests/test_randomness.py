import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from confdiff.randomness import derived_seed, generator, seeded


def test_streams_are_independent():
    paths = [("a",), ("b",), ("a", 0), ("a", 1), (0, "a")]
    assert len({derived_seed(7, *path) for path in paths}) == len(paths)
    assert torch.rand(1, generator=generator(7, "a")) == torch.rand(1, generator=generator(7, "a"))


def test_seeded_restores_the_global_generator():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    with seeded(3, "x"):
        inside = torch.rand(2)
    assert torch.equal(torch.get_rng_state(), before)
    with seeded(3, "x"):
        assert torch.equal(torch.rand(2), inside)


def test_blocks_of_several_threads_draw_as_one_after_another():
    def draw(number):
        with seeded(number, "thread"):
            first = torch.rand(1)
            time.sleep(0.01)
            return torch.cat([first, torch.rand(1)])

    expected = [draw(number) for number in range(8)]
    with ThreadPoolExecutor(4) as threads:
        drawn = list(threads.map(draw, range(8)))
    assert all(torch.equal(one, other) for one, other in zip(expected, drawn, strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent():
    script = """
import os, threading, torch
from confdiff.randomness import seeded
entered, release = threading.Event(), threading.Event()
def hold():
    with seeded(0, "held"):
        entered.set()
        release.wait()
threading.Thread(target=hold, daemon=True).start()
entered.wait()
child = os.fork()
if child == 0:
    with seeded(1, "child"):
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
release.set()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)
