"""A study of methods under noise: which of them should be the default, chosen by evidence.

Two data sets, two priors and seven ways in which differences or the prior may be wrong, fixed before any of it was run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from confdiff.experiments.spec import TrialSpec
from confdiff.experiments.trial import Record
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

    p_value: of a paired t-test against the baseline on the same tasks; None for fewer than three of these.
    """

    dataset: str
    prior: float
    condition: str
    method: str
    accuracies: tuple[float, ...]
    gain: float | None
    p_value: float | None

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
        if self.p_value is None or self.gain is None:
            return ""
        return "level" if self.p_value >= 0.05 else "above" if self.gain > 0 else "below"


def study_cells(records: Iterable[Record]) -> list[StudyCell]:
    """The cells of the study that there are trials for, in its order."""
    found = {record["key"]: record for record in records}
    trials: dict[tuple[str, float, str, str], dict[int, float]] = {}
    names = {tuple(options.items()): name for name, options in CONDITIONS.items()}
    for spec in study_grid(trials=100):
        if spec.key in found:
            options = {name: found[spec.key][name] for name in _OPTIONS if name in found[spec.key]}
            place = (spec.task.dataset, spec.task.prior, names[tuple(options.items())], spec.method)
            trials.setdefault(place, {})[spec.task.seed] = found[spec.key]["accuracy"]
    cells = []
    for (dataset, prior, condition, method), by_seed in trials.items():
        gains = _gains(by_seed, trials.get((dataset, prior, condition, BASELINE), {})) if method != BASELINE else []
        accuracies = tuple(by_seed.values())
        gain = mean(gains) if gains else None
        cells.append(StudyCell(dataset, prior, condition, method, accuracies, gain, _paired_test(gains)))
    return cells


def _gains(ours: dict[int, float], theirs: dict[int, float]) -> list[float]:
    return [accuracy - theirs[seed] for seed, accuracy in ours.items() if seed in theirs]


def _paired_test(gains: Sequence[float]) -> float | None:
    from scipy.stats import ttest_1samp

    if len(gains) < 3 or len(set(gains)) == 1:
        return None
    return float(ttest_1samp(gains, 0.0).pvalue)
