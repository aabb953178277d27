"""Fuzz for minutes with random seeds: ``make fuzz MINUTES=10``, or ``python -m fuzzing.run`` with PYTHONPATH=tests.

Cases run in child processes, some at a time, so that a crash or a hang ends one process and is reported with the seed
of its case. ``--target NAME --seed N`` runs that case alone.
"""

import argparse
import faulthandler
import itertools
import json
import multiprocessing
import os
import resource
import secrets
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from fuzzing.cases import ACCEPTED, FAILED, REFUSED, Outcome, run_case
from fuzzing.target import Target

_MEMORY = 16 * 2**30  # bytes of address space of a child: a damaged size must not exhaust the machine


@dataclass(frozen=True)
class Limits:
    """How long to fuzz: in all, per process and per case. Each target gets at least one process."""

    seconds: float
    cases_per_process: int = 100
    seconds_per_case: float = 60.0


@dataclass
class Tally:
    """The outcomes of a target."""

    counts: Counter = field(default_factory=Counter)
    failures: list[tuple[int, Outcome]] = field(default_factory=list)

    def add(self, seed: int, outcome: Outcome) -> None:
        self.counts[outcome.kind] += 1
        if outcome.kind == FAILED:
            self.failures.append((seed, outcome))


def fuzz(targets: Mapping[str, Target], first_seed: int, limits: Limits) -> int:
    """Fuzz targets in turn until the time is over, print counts and failures, and return the number of failures."""
    print(f"first seed {first_seed}; targets: {', '.join(targets)}", flush=True)
    end = time.monotonic() + limits.seconds
    tallies = {name: Tally() for name in targets}
    with tempfile.TemporaryDirectory(prefix="confdiff-fuzz-") as folder:
        samples = {name: _prepared(target, Path(folder) / name) for name, target in targets.items()}
        seeds = itertools.count(first_seed, limits.cases_per_process)
        for seed, name in ((seed, name) for seed in seeds for name in targets):
            if time.monotonic() >= end and tallies[name].counts:
                break
            for case_seed, outcome in _run_chunk(targets[name], samples[name], seed, limits):
                tallies[name].add(case_seed, outcome)
                if outcome.kind == FAILED:
                    _print_failure(name, case_seed, outcome)
    _print_counts(tallies)
    return sum(len(tally.failures) for tally in tallies.values())


def _prepared(target: Target, folder: Path) -> Path:
    """Write valid files in a child process: this process must not start threads, which a fork would lose."""
    (folder / "valid").mkdir(parents=True)
    (folder / "scratch").mkdir()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            target.prepare(folder / "valid")
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError(f"the valid files of {target.name} could not be written")
    return folder


def _run_chunk(target: Target, sample: Path, first_seed: int, limits: Limits) -> Iterator[tuple[int, Outcome]]:
    """Yield (seed, outcome) of some cases; after a crash or a hang a new process goes on with the next case."""
    seeds = range(first_seed, first_seed + limits.cases_per_process)
    while seeds:
        done = 0
        for seed, outcome in _run_process(target, sample, seeds, limits.seconds_per_case):
            done += 1
            yield seed, outcome
        seeds = seeds[done:]


def _run_process(target: Target, sample: Path, seeds: range, timeout: float) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcomes of cases in one child process, up to the first that crashes or hangs."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        receiver.close()
        _run_in_child(target, sample, seeds, sender)
    sender.close()
    try:
        for seed in seeds:
            outcome = _received(receiver, child, timeout)
            yield seed, outcome
            if outcome.damage == _UNKNOWN:
                return
    finally:
        receiver.close()
        _end(child)


_UNKNOWN = "unknown damage"


def _received(receiver: Connection, child: int, timeout: float) -> Outcome:
    try:
        if not receiver.poll(timeout):
            return Outcome(FAILED, _UNKNOWN, f"hang: no result after {timeout:g} s")
        return Outcome(**json.loads(receiver.recv()))
    except EOFError:
        _, status = os.waitpid(child, 0)
        signal = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
        return Outcome(FAILED, _UNKNOWN, f"crash: the process ended with {signal}")


def _end(child: int) -> None:
    """End a child process of ours that still runs."""
    try:
        if os.waitpid(child, os.WNOHANG) == (0, 0):
            os.kill(child, 9)
            os.waitpid(child, 0)
    except ChildProcessError:  # it ended before, and was waited for
        return


def _run_in_child(target: Target, sample: Path, seeds: range, sender: Connection) -> None:
    """Run cases and send their outcomes, with little memory, and never return."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()  # the parent reports a crash
    status = 1
    try:
        for seed in seeds:
            scratch = Path(tempfile.mkdtemp(dir=sample / "scratch"))
            outcome = run_case(target, sample / "valid", scratch, seed)
            scratch.rmdir()
            sender.send(json.dumps(asdict(outcome)))
        status = 0
    finally:
        sender.close()
        os._exit(status)


def _print_failure(name: str, seed: int, outcome: Outcome) -> None:
    print(f"FAILED {name}, seed {seed}: {outcome.damage!a}")
    target = f'"{name}"' if " " in name else name
    print(f"  again with: make fuzz FUZZ='--target {target} --seed {seed}'")
    for line in outcome.detail.splitlines()[-12:]:
        print(f"  {line!a}", flush=True)


def _print_counts(tallies: Mapping[str, Tally]) -> None:
    width = max(map(len, tallies))
    for name, tally in tallies.items():
        counts = tally.counts
        outcomes = f"{counts[ACCEPTED]:,} accepted, {counts[REFUSED]:,} refused, {counts[FAILED]:,} failed"
        print(f"{name:{width}} {counts.total():,} cases: {outcomes}")
    total = sum((tally.counts for tally in tallies.values()), Counter())
    print(f"in all {total.total():,} cases, {total[FAILED]:,} failed", flush=True)


def main() -> None:
    """Read the options and fuzz."""
    from fuzzing.targets import TARGETS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--target", choices=TARGETS, help="only this target")
    parser.add_argument("--seed", type=int, help="only the case of this seed")
    options = parser.parse_args()
    targets = TARGETS if options.target is None else {options.target: TARGETS[options.target]}
    limits = Limits(seconds=60 * options.minutes)
    if options.seed is not None:
        limits = Limits(seconds=0, cases_per_process=1)
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    warnings.simplefilter("ignore", UserWarning)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["CONFDIFF_CACHE"] = cache
        sys.exit(1 if fuzz(targets, seed, limits) else 0)


if __name__ == "__main__":
    main()
