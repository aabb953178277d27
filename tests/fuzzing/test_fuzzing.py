"""A few seeded cases of every target: valid files are accepted, damaged ones are accepted or refused by name."""

import os
import random
import signal
import time
from dataclasses import replace

import pytest

from fuzzing.cases import ACCEPTED, FAILED, run_case
from fuzzing.run import Limits, fuzz
from fuzzing.target import Target
from fuzzing.targets import TARGETS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
CASES = 40
WAYS = ("crash", "hang", "traceback", "nameless", "named", "fine")
SEED_OF_ALL_WAYS = next(
    seed for seed in range(1000) if len({random.Random(seed + case).choice(WAYS) for case in range(6)}) == 6
)


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_files_are_refused_by_name(name, tmp_path):
    target = TARGETS[name]
    valid = tmp_path / "valid"
    scratch = tmp_path / "scratch"
    valid.mkdir()
    scratch.mkdir()
    target.prepare(valid)
    undamaged = run_case(replace(target, forge=lambda folder, rng: "none"), valid, scratch, 0)
    assert undamaged.kind == ACCEPTED, undamaged.detail
    outcomes = [run_case(target, valid, scratch, seed) for seed in range(CASES)]
    failures = [f"seed {seed}: {o.damage}: {o.detail}" for seed, o in enumerate(outcomes) if o.kind == FAILED]
    assert not failures, "\n".join(failures)
    assert list(scratch.iterdir()) == []


def _open(folder):
    kind = (folder / "file").read_text()
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "hang":
        time.sleep(60)
    if kind == "traceback":
        raise KeyError(kind)
    if kind == "nameless":
        raise ValueError("something is wrong")
    if kind == "named":
        raise ValueError(f"{folder / 'file'} is damaged")


def _forge(folder, rng):
    kind = rng.choice(WAYS)
    (folder / "file").write_text(kind)
    return kind


def test_crashes_hangs_and_tracebacks_are_caught_with_their_seeds(capsys):
    """The runner itself is proved on a target that fails in every way."""
    target = Target("all-ways", lambda folder: (folder / "file").write_text("fine"), _forge, _open)
    limits = Limits(seconds=0, cases_per_process=6, seconds_per_case=1.0)
    assert fuzz({"all-ways": target}, first_seed=SEED_OF_ALL_WAYS, limits=limits) == 4
    lines = capsys.readouterr().out.splitlines()
    text = "\n".join(lines)
    for expected in ("crash: the process ended with signal 11", "hang: no result", "KeyError", "names no path"):
        assert expected in text
    assert "--target all-ways --seed " in text
    counts = next(line for line in lines if line.startswith("all-ways"))
    numbers = [int(word) for word in counts.replace(",", "").split() if word.isdigit()]
    cases, accepted, refused, failed = numbers[:4]
    assert cases == 6
    assert (accepted, refused, failed) == (1, 1, 4)
