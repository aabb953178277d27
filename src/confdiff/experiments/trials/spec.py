"""A trial, described: one method on one task. Frozen and validated; its key is a hash of what it says."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from confdiff.methods import METHODS
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count

_VERSION = 1
"""Of everything in the code that decides a result. Who raises it removes the results of the version before: those are
other trials, and reports would take both for seeds of one cell."""


@dataclass(frozen=True)
class TrialSpec:
    """One method on one task, for so many epochs.

    prior_is_told: whether the learner is told the class prior; only some methods can do without.
    """

    task: TaskSpec
    method: str
    epochs: int = 200
    prior_is_told: bool = True

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_count("epochs", self.epochs)
        if not METHODS[self.method].classifies:
            raise ValueError(f"{self.method} only ranks items: its scores tell no class, so there is no accuracy.")
        if METHODS[self.method].needs_prior and not self.prior_is_told:
            able = ", ".join(name for name, row in METHODS.items() if row.classifies and row.prior == "optional")
            raise ValueError(f"{self.method!r} needs the class prior. Methods that can do without: {able}.")

    def __str__(self) -> str:
        """What it says beyond the defaults.

        >>> str(TrialSpec(TaskSpec("letter", 0.2, n_pairs=50), "confdiff-abs"))
        'confdiff-abs, 200 epochs, dataset letter, prior 0.2, protocol paper, seed 0, n_pairs 50'
        """
        without = "" if self.prior_is_told else ", prior not told"
        task = ", ".join(f"{name} {value}" for name, value in said(self.task).items())
        return f"{self.method}, {self.epochs} epochs, {task}{without}"

    @property
    def key(self) -> str:
        """A name for the trial. Options left at their defaults do not enter, so that new ones change nothing."""
        says = {"version": _VERSION, "method": self.method, "epochs": self.epochs, "task": said(self.task)}
        says |= {} if self.prior_is_told else {"prior_is_told": False}
        return hashlib.sha256(json.dumps(says, sort_keys=True).encode()).hexdigest()[:20]


def said(task: TaskSpec) -> dict[str, Any]:
    """What a specification says beyond the defaults, and always the data set, prior, protocol and seed.

    >>> said(TaskSpec("letter", 0.2, fraction=0.1))
    {'dataset': 'letter', 'prior': 0.2, 'protocol': 'paper', 'seed': 0, 'fraction': 0.1}
    """
    always = ("dataset", "prior", "protocol", "seed")
    defaults = {field.name: field.default for field in fields(task)}
    return {name: value for name, value in asdict(task).items() if name in always or value != defaults[name]}
