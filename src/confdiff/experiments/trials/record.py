"""The records of finished trials, and how they are written to and read from result files."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from confdiff.experiments.trials.fields import check_fields, check_unit, take
from confdiff.experiments.trials.foreign_record import ForeignRecord, is_foreign
from confdiff.experiments.trials.spec import TrialSpec, explicit_fields
from confdiff.experiments.trials.table_record import TableRecord
from confdiff.io.decoding import decode, decode_fields
from confdiff.io.documents import check_plain_name
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count, check_number

Curve = tuple[tuple[int, float], ...]
"""(epoch, accuracy) pairs, in the order of the epochs."""

RANKING_METRICS = ("hr@10", "ndcg@10", "full hr@10", "full ndcg@10")
"""Fields of a recommender's record. The 10 is part of the format, as :data:`confdiff.recommender.protocol.CUTOFF`."""
_TASK_FIELDS = frozenset(item.name for item in fields(TaskSpec))


@dataclass(frozen=True)
class TrialRecord:
    """The result of one trial of a classifier.

    Attributes
    ----------
    key : str
        The key that the trial was stored under.
    spec : TrialSpec
        Everything that determines the trial.
    accuracy : float
        Test accuracy, the mean over the last epochs.
    seconds : float
        Wall time of the training.
    processor_seconds : float or None
        Processor time of the training; None in records from before it was measured.
    teacher_accuracy : float
        Test accuracy of the teacher.
    network : str
        Name of the network of teacher and learner.
    curve : tuple of (int, float)
        Test accuracy after some epochs.
    versions : mapping
        Versions of this package and of torch.
    """

    key: str
    spec: TrialSpec
    accuracy: float
    seconds: float
    teacher_accuracy: float
    network: str
    curve: Curve
    processor_seconds: float | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_plain_name("key", self.key)
        check_unit("accuracy", self.accuracy)
        check_unit("teacher_accuracy", self.teacher_accuracy)
        check_number("seconds", self.seconds, least=0)
        if self.processor_seconds is not None:
            check_number("processor_seconds", self.processor_seconds, least=0)
        for epoch, accuracy in self.curve:
            check_count("epoch", epoch)
            check_unit("accuracy", accuracy)
        if not self.curve or not self.network:
            raise ValueError("its curve is empty, or its network has no name")

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.spec.task.dataset

    @property
    def prior(self) -> float:
        """Class prior at which the pairs were drawn."""
        return self.spec.task.prior

    @property
    def protocol(self) -> str:
        """Name of the protocol."""
        return self.spec.task.protocol

    @property
    def seed(self) -> int:
        """Seed of the trial."""
        return self.spec.task.seed

    @property
    def method(self) -> str:
        """Name of the method."""
        return self.spec.method

    @property
    def epochs(self) -> int:
        """Number of passes over the pairs."""
        return self.spec.epochs

    @property
    def options(self) -> dict[str, Any]:
        """The options that make it another experiment than the paper's tables."""
        return self.spec.options

    def to_json(self) -> dict[str, Any]:
        """Return the record as the fields of a line of a result file."""
        values = {
            "key": self.key,
            **explicit_fields(self.spec.task),
            **({} if self.spec.prior_given else {"prior_is_told": False}),
            "method": self.method,
            "epochs": self.epochs,
            "accuracy": self.accuracy,
            "seconds": self.seconds,
            "processor_seconds": self.processor_seconds,
            "teacher_accuracy": self.teacher_accuracy,
            "network": self.network,
            "plugins": self.spec.plugins or None,
            "curve": [list(point) for point in self.curve],
            "versions": dict(self.versions),
        }
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "TrialRecord":
        """Return the record of a line of a result file, checked.

        Raises
        ------
        ValueError
            If a field is missing, unknown, or has a value that it cannot have.
        """
        rest = dict(values)
        task = {name: take(rest, name) for name in ("dataset", "prior", "protocol", "seed")}
        task |= {name: rest.pop(name) for name in values if name in _TASK_FIELDS and name in rest}
        plugins = decode(dict[str, str], rest.pop("plugins", {}), "plugins")
        spec = TrialSpec(
            task=decode_fields(TaskSpec, task),
            method=decode(str, take(rest, "method"), "method"),
            epochs=decode(int, take(rest, "epochs"), "epochs"),
            prior_given=decode(bool, rest.pop("prior_is_told", True), "prior_is_told"),
        )
        check_fields(cls, rest)
        record = decode_fields(cls, rest, spec=spec)
        if plugins != spec.plugins:
            raise ValueError(f"its plug-ins are {plugins!r:.60}, but its names come from {spec.plugins!r:.60}")
        if record.key != spec.key:
            raise ValueError(f"its key {record.key!r:.40} is not the key of its fields, {spec.key!r}")
        return record


@dataclass(frozen=True)
class RankingRecord:
    """The result of one trial of a recommender (Table 3).

    Attributes
    ----------
    key, dataset, protocol, method, seed, epochs, seconds, processor_seconds, versions
        As in :class:`TrialRecord`.
    source : str
        The file of the data set.
    prior : str
        The prior that the method was given, ``global`` or ``user``.
    model : str
        Name of the network.
    partners : int
        Number of pairs that each interaction is in.
    patience : int or None
        Epochs without improvement before training stopped; None without early stopping.
    metrics : mapping
        Value of each of :data:`RANKING_METRICS`.
    evaluated, candidates, pairs : int
        Number of users, of items ranked for each of them, and of training pairs.
    """

    key: str
    dataset: str
    source: str
    protocol: str
    method: str
    prior: str
    seed: int
    epochs: int
    model: str
    partners: int
    metrics: Mapping[str, float]
    evaluated: int
    candidates: int
    pairs: int
    seconds: float
    processor_seconds: float
    patience: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_plain_name("key", self.key)
        check_plain_name("data set", self.dataset)
        check_choice("prior", self.prior, ("global", "user"))
        check_count("seed", self.seed, least=0)
        for name in ("epochs", "partners", "evaluated", "candidates", "pairs"):
            check_count(name, getattr(self, name))
        for name, value in self.metrics.items():
            check_unit(name, value)
        for name in ("seconds", "processor_seconds"):
            check_number(name, getattr(self, name), least=0)

    def to_json(self) -> dict[str, Any]:
        """Return the record as the fields of a line of a result file; each metric is a field."""
        before = {name: getattr(self, name) for name in _BEFORE_METRICS}
        after = {name: getattr(self, name) for name in _AFTER_METRICS}
        return before | dict(self.metrics) | after

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "RankingRecord":
        """Return the record of a line of a result file, checked; errors as in :meth:`TrialRecord.from_json`."""
        rest = dict(values)
        metrics = {name: take(rest, name) for name in RANKING_METRICS}
        check_fields(cls, rest)
        return decode_fields(cls, rest | {"metrics": metrics})


_BEFORE_METRICS = (
    "key",
    "dataset",
    "source",
    "protocol",
    "method",
    "prior",
    "seed",
    "epochs",
    "model",
    "partners",
    "patience",
)
_AFTER_METRICS = ("evaluated", "candidates", "pairs", "seconds", "processor_seconds", "versions")

Record = TrialRecord | RankingRecord | TableRecord | ForeignRecord


def record_from_json(values: Any) -> Record:
    """Return the record of a line of a result file, of any kind.

    Parameters
    ----------
    values : dict
        The parsed line. Records of recommenders have the field ``ndcg@10``, those of real tables ``learner``, and those
        of plug-ins ``plugins``.

    Raises
    ------
    ValueError
        If it is not the record of a trial.
    """
    if not isinstance(values, dict):
        raise ValueError(f"expected an object with the fields of a trial, got {values!r}")
    if is_foreign(values):
        return ForeignRecord.from_json(values)
    if "ndcg@10" in values:
        return RankingRecord.from_json(values)
    return TableRecord.from_json(values) if "learner" in values else TrialRecord.from_json(values)
