"""The specification of a trial: one method on one task, frozen and validated. Its key is a hash of its fields."""

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from confdiff.methods import METHODS
from confdiff.plugins import look_up, versions_of
from confdiff.tasks import TaskSpec
from confdiff.validation import check_count

_VERSION = 1
"""Version of all code that affects results. Whoever raises it removes the results of the version before:
those are other trials, and reports would take both for seeds of one cell."""

_ALWAYS_NAMED = ("dataset", "prior", "protocol", "seed")


@dataclass(frozen=True)
class TrialSpec:
    """One method on one task.

    Parameters
    ----------
    task : TaskSpec
        Data set, class prior, protocol, seed, and the options of the task.
    method : str
        A name in :data:`confdiff.methods.METHODS` whose scores classify.
    epochs : int
        Number of passes over the pairs.
    prior_given : bool
        Whether the learner is given the class prior. Only methods with an optional prior work without it.
    """

    task: TaskSpec
    method: str
    epochs: int = 200
    prior_given: bool = True

    def __post_init__(self) -> None:
        method = look_up("method", METHODS, self.method)
        check_count("epochs", self.epochs)
        if not method.classifies:
            raise ValueError(f"{self.method} only ranks items: its scores determine no class, so it has no accuracy.")
        if method.needs_prior and not self.prior_given:
            able = ", ".join(name for name, row in METHODS.items() if row.classifies and row.prior == "optional")
            raise ValueError(f"{self.method!r} needs the class prior. Methods that do not need it: {able}.")

    def __str__(self) -> str:
        """Name the fields that are not at their defaults.

        >>> str(TrialSpec(TaskSpec("letter", 0.2, n_pairs=50), "confdiff-abs"))
        'confdiff-abs, 200 epochs, dataset letter, prior 0.2, protocol paper, seed 0, n_pairs 50'
        """
        ending = "" if self.prior_given else ", prior not given"
        task = ", ".join(f"{name} {value}" for name, value in explicit_fields(self.task).items())
        return f"{self.method}, {self.epochs} epochs, {task}{ending}"

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.task.dataset

    @property
    def options(self) -> dict[str, Any]:
        """The options, by their names in result files, that make this another experiment than the paper's tables.

        >>> TrialSpec(TaskSpec("letter", fraction=0.1), "confdiff-regression", prior_given=False).options
        {'fraction': 0.1, 'prior_is_told': False}
        """
        task = {name: value for name, value in explicit_fields(self.task).items() if name not in _ALWAYS_NAMED}
        return task | _prior_field(self)

    @property
    def plugins(self) -> dict[str, str]:
        """Name -> version of the plug-ins that the method, the data set and the network come from."""
        return dict(sorted((versions_of([("method", self.method)]) | self.task.plugins).items()))

    @property
    def key(self) -> str:
        """A name for the trial. Options at their defaults do not enter it, so that a new option changes no key."""
        return trial_key(self.method, self.epochs, explicit_fields(self.task), _prior_field(self), self.plugins)


def trial_key(
    method: str, epochs: int, task: dict[str, Any], prior_field: dict[str, bool], plugins: dict[str, str]
) -> str:
    """Return the key of a trial with these fields. Plug-ins enter it only if there are any.

    >>> spec = TrialSpec(TaskSpec("letter"), "confdiff-abs")
    >>> spec.key == trial_key("confdiff-abs", 200, explicit_fields(spec.task), {}, {})
    True
    """
    hashed = {"version": _VERSION, "method": method, "epochs": epochs, "task": task}
    return hash_fields(hashed | prior_field | ({"plugins": plugins} if plugins else {}))


def _prior_field(spec: TrialSpec) -> dict[str, bool]:
    """Return the field of a withheld prior, under the name that it has in keys and result files."""
    return {} if spec.prior_given else {"prior_is_told": False}


def hash_fields(values: dict[str, Any]) -> str:
    """Return the key of a specification with these fields: 20 hexadecimal digits."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]


def explicit_fields(task: TaskSpec) -> dict[str, Any]:
    """Return the fields of a task that are not at their defaults, and always data set, prior, protocol and seed.

    >>> explicit_fields(TaskSpec("letter", 0.2, fraction=0.1))
    {'dataset': 'letter', 'prior': 0.2, 'protocol': 'paper', 'seed': 0, 'fraction': 0.1}
    """
    defaults = {field.name: field.default for field in fields(task)}
    return {name: value for name, value in asdict(task).items() if name in _ALWAYS_NAMED or value != defaults[name]}
