"""The specification and the record of a trial on a real table: one learner on one task."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from confdiff.experiments.trials.fields import check_fields, check_unit
from confdiff.experiments.trials.spec import hash_fields
from confdiff.io.decoding import decode_fields
from confdiff.io.documents import check_plain_name
from confdiff.validation import check_count, check_number, check_prior

PROTOCOL = "tables"
"""What records of this kind have as their protocol; the text and the program of the paper have no such trials."""
Balance = Literal["natural", "equal"]
"""Class balance of the pairs: that of the data set, or as many positives as negatives."""
MEASURES = ("accuracy", "auc", "brier", "calibration_error")
"""Fields of a record that hold a number from 0 to 1, measured on the test set."""


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """Everything that determines a trial on a real table.

    Parameters
    ----------
    dataset : str
        A labelled data set.
    balance : {"natural", "equal"}
        Class balance of pairs and test set.
    differences : str
        The kind of differences; see :data:`confdiff.experiments.plans.real_table_task.DIFFERENCES`.
    pairs : int
        Number of pairs, or as many as can be drawn.
    learner : str
        A name in :data:`confdiff.experiments.plans.real_table_learners.LEARNERS`.
    version : int
        Version of the learner; trials of an earlier one are other trials.
    seed : int
        Seed of all random draws.
    """

    dataset: str
    balance: Balance
    differences: str
    pairs: int
    learner: str
    version: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_plain_name("data set", self.dataset)
        check_count("pairs", self.pairs)
        check_count("version", self.version)
        check_count("seed", self.seed, least=0)

    def __str__(self) -> str:
        task = f"{self.dataset}, {self.balance} class balance, {self.differences} differences, {self.pairs} pairs"
        return f"{self.learner}, {task}, seed {self.seed}"

    @property
    def key(self) -> str:
        """A name for the trial."""
        return hash_fields({"kind": "real table", **asdict(self)})


_SPEC_FIELDS = tuple(item.name for item in fields(TableSpec))


@dataclass(frozen=True, kw_only=True)
class TableRecord:
    """The result of one trial on a real table.

    Attributes
    ----------
    key : str
        The key that the trial was stored under.
    spec : TableSpec
        Everything that determines the trial.
    prior : float
        The class prior that the learner was given.
    n_pairs, n_test : int
        Number of training pairs and of test items.
    accuracy, auc, brier, calibration_error : float
        Measures on the test set.
    teacher_accuracy : float
        Accuracy of the posteriors on the items that the pairs were drawn from; the teacher never saw their labels.
    seconds, processor_seconds : float
        Wall time and processor time of the fit.
    chosen : str or None
        What a learner with candidates chose.
    versions : mapping
        Versions of this package and of its main dependencies.
    """

    key: str
    spec: TableSpec
    prior: float
    n_pairs: int
    n_test: int
    accuracy: float
    auc: float
    brier: float
    calibration_error: float
    teacher_accuracy: float
    seconds: float
    processor_seconds: float
    chosen: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_plain_name("key", self.key)
        check_prior(self.prior)
        check_count("n_pairs", self.n_pairs)
        check_count("n_test", self.n_test)
        for name in (*MEASURES, "teacher_accuracy"):
            check_unit(name, getattr(self, name))
        for name in ("seconds", "processor_seconds"):
            check_number(name, getattr(self, name), least=0)

    @property
    def dataset(self) -> str:
        """Name of the data set."""
        return self.spec.dataset

    @property
    def protocol(self) -> str:
        """The same for all records of this kind."""
        return PROTOCOL

    @property
    def method(self) -> str:
        """Name of the learner."""
        return self.spec.learner

    @property
    def seed(self) -> int:
        """Seed of the trial."""
        return self.spec.seed

    @property
    def epochs(self) -> int:
        """Always 0: learners decide their number of steps."""
        return 0

    def to_json(self) -> dict[str, Any]:
        """Return the record as the fields of a line of a result file."""
        values = {"key": self.key, **asdict(self.spec)}
        values |= {item.name: getattr(self, item.name) for item in fields(self) if item.name not in ("key", "spec")}
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "TableRecord":
        """Return the record of a line of a result file, checked.

        Raises
        ------
        ValueError
            If a field is missing, unknown, or has a value that it cannot have.
        """
        rest = {name: value for name, value in values.items() if name not in _SPEC_FIELDS}
        spec = decode_fields(TableSpec, {name: values[name] for name in _SPEC_FIELDS if name in values})
        check_fields(cls, rest)
        record = decode_fields(cls, rest, spec=spec)
        if record.key != spec.key:
            raise ValueError(f"its key {record.key!r:.40} is not the key of its fields, {spec.key!r}")
        return record
