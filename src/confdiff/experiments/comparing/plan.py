"""The plan of a comparison: methods on data sets, at class priors, under noise; from arguments or a TOML file."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from confdiff.experiments.plans.paper_tables import DEFAULT_PROTOCOL, PAPER_TRIALS
from confdiff.experiments.plans.plugin_flags import plugin_flags
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.pairs import NOISES
from confdiff.plugins import TableKind, load_plugins
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count, check_number

WITHOUT_NOISE = "exact"
"""The name of no noise."""


@dataclass(frozen=True)
class Setting:
    """What all methods of a comparison are run on.

    Attributes
    ----------
    dataset : str
        The data set.
    prior : float
        The class prior.
    noise : str
        The noise on the differences, such as ``"exact"`` or ``"additive:0.3"``.
    """

    dataset: str
    prior: float
    noise: str


@dataclass(frozen=True)
class ComparisonPlan:
    """Methods x data sets x priors x noise, with several seeds each.

    Parameters
    ----------
    methods : tuple of str
        At least two methods; the trials of a seed share their pairs.
    datasets : tuple of str
        Labelled data sets.
    priors : tuple of float
        Class priors.
    noise : tuple of str
        Kinds of noise on the differences: ``"exact"``, ``"labels"``, or a kind and its amount, ``"additive:0.3"``.
    trials : int
        Number of seeds, from 0.
    epochs : int, optional
        Passes over the pairs; by default the number of each data set: 200, as in the paper, or that of a plug-in.
    protocol : str
        As in the task of a :class:`~confdiff.experiments.trials.spec.TrialSpec`.
    n_pairs : int, optional
        Number of pairs; by default the number of each data set.
    model : str, optional
        The network; by default the one of the protocol.
    reference : str, optional
        The method that all others are compared with in each setting; by default the first.

    Examples
    --------
    >>> plan = ComparisonPlan(methods=("confdiff-abs", "oracle-soft"), datasets=("digits",), noise=("additive:0.3",))
    >>> len(plan.grid()), plan.grid()[0].options
    (10, {'noise': 'additive', 'noise_amount': 0.3})
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    priors: tuple[float, ...] = (0.5,)
    noise: tuple[str, ...] = (WITHOUT_NOISE,)
    trials: int = PAPER_TRIALS
    epochs: int | None = None
    protocol: str = DEFAULT_PROTOCOL
    n_pairs: int | None = None
    model: str | None = None
    reference: str | None = None

    def __post_init__(self) -> None:
        for name in ("methods", "datasets", "priors", "noise"):
            _check_distinct(name, getattr(self, name))
        if len(self.methods) < 2:
            raise ValueError(f"a comparison needs at least two methods; got {', '.join(self.methods)}.")
        check_count("trials", self.trials)
        if self.reference is not None:
            check_choice("reference among the methods", self.reference, self.methods)
        self.grid(seeds=range(1))  # checks every name and number

    @property
    def baseline(self) -> str:
        """The method that all others are compared with in each setting."""
        return self.reference or self.methods[0]

    @property
    def settings(self) -> list[Setting]:
        """The settings, by data set, prior and noise."""
        return [
            Setting(dataset, prior, noise) for dataset in self.datasets for prior in self.priors for noise in self.noise
        ]

    def grid(self, seeds: range | None = None) -> list[TrialSpec]:
        """Return the trials, all settings of one seed before the next; by default for all seeds."""
        return [
            self.spec(setting, method, seed)
            for seed in (range(self.trials) if seeds is None else seeds)
            for setting in self.settings
            for method in self.methods
        ]

    def spec(self, setting: Setting, method: str, seed: int) -> TrialSpec:
        """Return the trial of a method in a setting."""
        task = TaskSpec(
            setting.dataset,
            setting.prior,
            self.protocol,
            seed,
            n_pairs=self.n_pairs,
            model=self.model,
            **noise_options(setting.noise),
        )
        return TrialSpec(task, method, task.setting.epochs if self.epochs is None else self.epochs)

    @property
    def command(self) -> str:
        """The command that runs the comparison and writes its page."""
        words = ["confdiff compare"]
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                flag = field.name.replace("_", "-")
                words.append(f"--{flag} {_typed(value)}")
        return " ".join(words) + self.plugin_flags

    @property
    def plugin_flags(self) -> str:
        """The flags that load the plug-ins of the plan, with a blank before each."""
        methods: list[tuple[TableKind, str]] = [("method", name) for name in self.methods]
        datasets: list[tuple[TableKind, str]] = [("data set", name) for name in self.datasets]
        models: list[tuple[TableKind, str]] = [] if self.model is None else [("model", self.model)]
        return plugin_flags([*methods, *datasets, *models])

    def to_json(self) -> dict[str, Any]:
        """Return the plan by the keys of its TOML file, without what is not set."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }


def _typed(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(f"{part:g}" if isinstance(part, float) else part for part in value)
    return str(value)


def _check_distinct(name: str, values: tuple[Any, ...]) -> None:
    if not values:
        raise ValueError(f"a comparison needs {name}; got none. Pass {name}=[...].")
    repeated = [value for value in dict.fromkeys(values) if values.count(value) > 1]
    if repeated:
        raise ValueError(f"{name} must be distinct; {repeated[0]} is repeated.")


def noise_options(text: str) -> dict[str, Any]:
    """Return the options of a task for a kind of noise.

    >>> noise_options("likert:5"), noise_options("labels"), noise_options("exact")
    ({'noise': 'likert', 'noise_amount': 5.0}, {'noise': 'labels'}, {})
    """
    kind, _, amount = text.partition(":")
    check_choice("noise", kind, [WITHOUT_NOISE, "labels", *NOISES])
    if kind not in NOISES:
        if amount:
            raise ValueError(f"{kind!r} has no amount; got noise {text!r}.")
        return {} if kind == WITHOUT_NOISE else {"noise": kind}
    try:
        size = float(amount)
    except ValueError as error:
        example = f"{kind}:{5 if kind == 'likert' else 0.3:g}"
        raise ValueError(f"noise {kind!r} needs its amount after a colon, such as {example}; got {text!r}.") from error
    return {"noise": kind, "noise_amount": check_number("the amount of noise", size, least=0)}


def make_plan(path: str | os.PathLike[str] | None = None, **given: Any) -> ComparisonPlan:
    """Return a plan from a TOML file, from arguments, or from both.

    Parameters
    ----------
    path : path, optional
        A TOML file whose keys are the parameters of :class:`ComparisonPlan`, and ``plugins``: a list of files, relative
        to the folder of the plan, or names of packages.
    **given
        Values of these parameters; None if not given. A value that the file sets, too, must be the same.

    Raises
    ------
    FileNotFoundError
        The file does not exist.
    ValueError
        The file is not TOML or has an unknown key; or a value is wrong, missing, or contradicts the file.
    """
    values = {name: value for name, value in given.items() if value is not None}
    written = {} if path is None else _read(Path(path))
    load_plugins(*written.pop("plugins", ()))
    for name in values.keys() & written.keys():
        if values[name] != written[name]:
            raise ValueError(
                f"{name}={_argument(values[name])} contradicts {name} = {_toml(written[name])} in {path}: "
                "remove one of them."
            )
    merged = written | values
    for name in ("methods", "datasets"):
        if name not in merged:
            place = "" if path is None else f", or the key {name} in {path}"
            raise ValueError(f"a comparison needs {name}: pass {name}=...{place}.")
    return ComparisonPlan(**merged)


def _argument(value: Any) -> str:
    return f"[{', '.join(map(repr, value))}]" if isinstance(value, tuple) else repr(value)


def _toml(value: Any) -> str:
    return str(list(value)) if isinstance(value, tuple) else repr(value)


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"the plan {path} does not exist.")
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested without end
        raise ValueError(f"{path} cannot be read as TOML: {error}") from error
    try:
        values = _checked(written)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    values["plugins"] = [_beside(path, source) for source in values.get("plugins", ())]
    return values


def _beside(plan: Path, source: str) -> str:
    """Return the source of a plug-in: a file relative to the folder of the plan, or the name of a package."""
    return str(plan.parent / source) if source.endswith(".py") else source


def _checked(written: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in written.items():
        check_choice("key", name, _KINDS)
        kind, expected = _KINDS[name]
        is_list = name in _LISTS
        parts = value if isinstance(value, list) and is_list else [value]
        if isinstance(value, list) != is_list or not all(_is_of(part, kind) for part in parts):
            raise ValueError(f"{name} must be {expected}; got {value!r:.80}.")
        values[name] = tuple(map(kind, parts)) if is_list else value
    return values


def _is_of(value: Any, kind: type) -> bool:
    accepted = (int, float) if kind is float else kind
    return isinstance(value, accepted) and not isinstance(value, bool)


_LISTS = ("methods", "datasets", "priors", "noise", "plugins")
_KINDS: dict[str, tuple[Any, str]] = {
    "methods": (str, 'a list of names, such as ["confdiff-abs", "oracle-soft"]'),
    "datasets": (str, 'a list of names, such as ["digits", "usps"]'),
    "priors": (float, "a list of numbers, such as [0.2, 0.5]"),
    "noise": (str, 'a list of kinds, such as ["exact", "additive:0.3"]'),
    "trials": (int, "a whole number, such as 5"),
    "epochs": (int, "a whole number, such as 200"),
    "protocol": (str, "a name, such as 'authors'"),
    "n_pairs": (int, "a whole number, such as 1000"),
    "model": (str, "the name of a network, such as 'linear'"),
    "reference": (str, "one of the methods"),
    "plugins": (str, 'a list of files or packages, such as ["mine.py"]'),
}
"""Key -> the type of its values, and its description in messages."""
