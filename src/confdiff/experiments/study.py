"""A study of methods under noise: which of them should be the default, chosen by evidence.

Two data sets, two priors and seven ways in which differences or the prior may be wrong, fixed before any of it was run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from confdiff.experiments.cells import is_plain
from confdiff.experiments.comparison import Paired, paired
from confdiff.experiments.figures import FIGURES
from confdiff.experiments.trials.run import Record
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count

CONDITIONS: dict[str, dict[str, Any]] = {
    "exact": {},
    "c times N(1, .5^2)": {"noise": "multiplicative", "noise_amount": 0.5},
    "c plus N(0, .3^2)": {"noise": "additive", "noise_amount": 0.3},
    "five grades": {"noise": "likert", "noise_amount": 5.0},
    "label differences": {"noise": "labels"},
    "prior times .8": {"prior_factor": 0.8},
    "prior times 1.2": {"prior_factor": 1.2},
}
"""What is said of the differences or the prior -> the options of a task."""
IN_FIGURE_3 = frozenset(
    name
    for name, options in CONDITIONS.items()
    for place in FIGURES["figure3"].places
    if dict(place.options) == options
)

DATASETS = ("usps", "pendigits")
PRIORS = (0.2, 0.5)
BASELINE = "confdiff-abs"
METHODS = (
    BASELINE,
    "confdiff-regression",
    "confdiff-combined",
    "confdiff-projection",
    "confdiff-information",
    "oracle-soft",
)
EPOCHS = 50
_OPTIONS = ("noise", "noise_amount", "prior_factor")


def study_grid(
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    priors: Sequence[float] | None = None,
    trials: int = 5,
    epochs: int = EPOCHS,
    protocol: str = "authors",
) -> list[TrialSpec]:
    """The trials of the study, a whole round of all cells before the next seed."""
    return [
        TrialSpec(TaskSpec(dataset, prior, protocol, seed, **options), method, epochs)
        for seed in range(check_count("trials", trials))
        for dataset in [check_choice("data set of the study", name, DATASETS) for name in datasets or DATASETS]
        for prior in priors or PRIORS
        for options in CONDITIONS.values()
        for method in methods or METHODS
    ]


@dataclass(frozen=True)
class StudyCell:
    """The trials of one method under one condition.

    against_baseline: the method minus ConfDiff-ABS on the same tasks; None for that method itself.
    """

    protocol: str
    epochs: int
    dataset: str
    prior: float
    condition: str
    method: str
    accuracies: tuple[float, ...]
    against_baseline: Paired | None

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return mean(self.accuracies)

    @property
    def std(self) -> float | None:
        """Standard deviation with n - 1; None for a single trial."""
        return stdev(self.accuracies) if len(self.accuracies) > 1 else None

    @property
    def verdict(self) -> str:
        """``above`` or ``below`` the baseline where that is significant at the 5 % level, else ``level``."""
        return self.against_baseline.verdict if self.against_baseline else ""

    @property
    def gain(self) -> float | None:
        """The mean difference from the baseline."""
        return self.against_baseline.difference if self.against_baseline else None

    @property
    def p_value(self) -> float | None:
        """Of a paired t-test against the baseline; None for fewer than three tasks."""
        return self.against_baseline.p_value if self.against_baseline else None


def study_command(cells: Sequence[StudyCell]) -> str:
    """What makes the cells of one study."""
    trials = max(len(cell.accuracies) for cell in cells)
    return f"confdiff reproduce study --protocol {cells[0].protocol} --epochs {cells[0].epochs} --trials {trials}"


def study_cells(records: Iterable[Record]) -> list[StudyCell]:
    """The cells of studies that there are trials for: of any number of epochs, if there is more than Figure 3 has."""
    trials: dict[tuple[str, int], dict[tuple[str, float, str, str], dict[int, float]]] = {}
    for record in records:
        condition = _condition(record)
        if condition is not None and record["method"] in METHODS:
            place = (record["dataset"], record["prior"], condition, record["method"])
            group = trials.setdefault((record["protocol"], record["epochs"]), {})
            group.setdefault(place, {})[record["seed"]] = record["accuracy"]
    return [
        cell
        for (protocol, epochs), group in sorted(trials.items())
        if any(condition not in IN_FIGURE_3 for _, _, condition, _ in group)
        for cell in _cells(group, protocol, epochs)
    ]


def _condition(record: Record) -> str | None:
    """The name of the condition that a trial was made under; None where it is no trial of a study."""
    options = {name: record[name] for name in _OPTIONS if name in record}
    rest = {name: value for name, value in record.items() if name not in options}
    if not is_plain(rest) or record["dataset"] not in DATASETS or record["prior"] not in PRIORS:
        return None
    return next((name for name, known in CONDITIONS.items() if known == options), None)


def _cells(
    group: dict[tuple[str, float, str, str], dict[int, float]], protocol: str, epochs: int
) -> Iterable[StudyCell]:
    order = {name: place for place, name in enumerate((*CONDITIONS, *METHODS))}
    for place in sorted(group, key=lambda place: (place[0], place[1], order[place[2]], order[place[3]])):
        dataset, prior, condition, method = place
        baseline = group.get((dataset, prior, condition, BASELINE), {})
        against = paired(group[place], baseline) if method != BASELINE else None
        yield StudyCell(protocol, epochs, *place, tuple(group[place].values()), against)
