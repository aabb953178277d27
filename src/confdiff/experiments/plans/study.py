"""A study of methods under noise, to choose the default by evidence.

It has two data sets, two priors and seven conditions of noise or a wrong prior, all chosen before the first trial.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.plans.figure3 import FIGURE3_PLAN
from confdiff.experiments.plans.paper_tables import DEFAULT_PROTOCOL, PAPER_TRIALS
from confdiff.experiments.plans.plugin_flags import plugin_flags
from confdiff.experiments.plans.verdicts import SIGNIFICANCE_TEXT, SIGNS
from confdiff.experiments.report.blocks import Block, Cell, Commands, CsvFile, Heading, Paragraph, Row, Table
from confdiff.experiments.report.csv import TRIAL_COLUMNS, CsvColumns, attributes, csv_file
from confdiff.experiments.report.numbers import accuracy_text, digits, gain_text, signed_text
from confdiff.experiments.report.style import dataset_label, label_of
from confdiff.experiments.statistics import Paired, Trials, averaged, corrected, grouped, paired
from confdiff.experiments.trials.record import Record, TrialRecord
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.methods import BUILT_IN_METHODS, METHODS
from confdiff.multiple_tests import benjamini_hochberg
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
"""Name of a condition -> the options of its tasks."""
STUDY_METHODS = (
    "confdiff-abs",
    "confdiff-regression",
    "confdiff-combined",
    "confdiff-projection",
    "confdiff-information",
    "oracle-soft",
)
_BASELINE = "confdiff-abs"
_DATASETS = ("usps", "pendigits")
_PRIORS = (0.2, 0.5)
_EPOCHS = 50
_IN_FIGURE_3 = frozenset(
    name for name, options in CONDITIONS.items() for place in FIGURE3_PLAN.places if dict(place.options) == options
)
_TEXT = f"""\
Accuracy as above, with the number of trials in brackets. Each method is compared with ConfDiff-ABS on the same \
pairs, by a paired t-test over trials at the {SIGNIFICANCE_TEXT}, corrected for the number of these tests by the \
method of Benjamini and Hochberg: of the differences that it finds, at most 5 % are expected to be chance. The signs \
are `+` above, `-` below, and `=` for no significant difference. The conditions were chosen before any trial was \
run. The mean gain is over all cells; its 95 % t-interval is over seeds."""
_COLUMNS: CsvColumns = {
    **attributes("protocol", "epochs", "dataset", "prior", "condition", "method"),
    **TRIAL_COLUMNS,
    "gain": lambda cell: digits(cell.gain),
    "p_value": lambda cell: digits(cell.p_value),
    "bh_p": lambda cell: digits(cell.against_baseline and cell.against_baseline.adjusted_p),
    "verdict": attrgetter("verdict"),
}


def study_grid(
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    priors: Sequence[float] | None = None,
    trials: int = PAPER_TRIALS,
    epochs: int = _EPOCHS,
    protocol: str = DEFAULT_PROTOCOL,
) -> list[TrialSpec]:
    """Return the trials of the study, all cells of one seed before the next.

    Parameters
    ----------
    datasets, methods, priors : sequences, optional
        Only these.
    trials : int
        Number of seeds.
    epochs, protocol
        As in :class:`~confdiff.experiments.trials.spec.TrialSpec` and its task.
    """
    chosen = [check_choice("data set of the study", name, _DATASETS) for name in datasets or _DATASETS]
    return [
        TrialSpec(TaskSpec(dataset, prior, protocol, seed, **options), method, epochs)
        for seed in range(check_count("trials", trials))
        for dataset in chosen
        for prior in priors or _PRIORS
        for options in CONDITIONS.values()
        for method in methods or STUDY_METHODS
    ]


@dataclass(frozen=True)
class StudyCell:
    """The trials of one method under one condition.

    Attributes
    ----------
    protocol, epochs, dataset, prior, condition, method
        What was run.
    trials : Trials
        The accuracies.
    against_baseline : Paired or None
        The method minus ConfDiff-ABS on the same tasks; None for ConfDiff-ABS itself.
    """

    protocol: str
    epochs: int
    dataset: str
    prior: float
    condition: str
    method: str
    trials: Trials
    against_baseline: Paired | None

    @property
    def verdict(self) -> str:
        """``above`` or ``below`` the baseline where significant at the 5 % level after correction, else ``level``."""
        return self.against_baseline.direction if self.against_baseline else ""

    @property
    def gain(self) -> float | None:
        """The mean difference from the baseline."""
        return self.against_baseline.difference if self.against_baseline else None

    @property
    def p_value(self) -> float | None:
        """The p-value of a paired t-test against the baseline; None for fewer than three tasks."""
        return self.against_baseline.p_value if self.against_baseline else None


def study_cells(records: Sequence[TrialRecord]) -> list[StudyCell]:
    """Return the cells that have trials, for any protocol and number of epochs with more trials than Figure 3."""
    in_study = [record for record in records if _condition(record) is not None and record.method in _shown_methods()]
    settings = grouped(in_study, lambda record: (record.protocol, record.epochs))
    settings.sort(key=lambda group: (group[0].protocol, group[0].epochs))
    return [
        cell
        for group in settings
        if any(_condition(record) not in _IN_FIGURE_3 for record in group)
        for cell in _corrected(list(_cells(group)))
    ]


def _corrected(cells: Sequence[StudyCell]) -> list[StudyCell]:
    """Adjust the p-values of all cells for their number."""
    outcomes = corrected([cell.against_baseline for cell in cells], benjamini_hochberg)
    return [replace(cell, against_baseline=outcome) for cell, outcome in zip(cells, outcomes, strict=True)]


def _condition(record: TrialRecord) -> str | None:
    """Return the condition of a trial; None if it is not a trial of a study."""
    if record.dataset not in _DATASETS or record.prior not in _PRIORS:
        return None
    return next((name for name, options in CONDITIONS.items() if options == record.options), None)


def _cells(records: Sequence[TrialRecord]) -> Iterator[StudyCell]:
    """Yield the cells of one protocol and number of epochs, by data set, prior, condition and method."""
    order = {name: place for place, name in enumerate((*CONDITIONS, *_shown_methods()))}
    groups: dict[tuple[str, float, str, str], list[TrialRecord]] = {}
    for record in records:
        place = (record.dataset, record.prior, _condition(record) or "", record.method)
        groups.setdefault(place, []).append(record)
    for place in sorted(groups, key=lambda place: (place[0], place[1], order[place[2]], order[place[3]])):
        dataset, prior, condition, method = place
        trials = Trials.of(groups[place])
        baseline = Trials.of(groups.get((dataset, prior, condition, _BASELINE), []))
        yield StudyCell(
            protocol=records[0].protocol,
            epochs=records[0].epochs,
            dataset=dataset,
            prior=prior,
            condition=condition,
            method=method,
            trials=trials,
            against_baseline=paired(trials, baseline) if method != _BASELINE else None,
        )


def _section(records: Sequence[Record]) -> list[Block]:
    return study_blocks(study_cells(classifier_records(records)))


def study_blocks(cells: Sequence[StudyCell]) -> list[Block]:
    """Return the section of the study: two tables for each protocol and number of epochs."""
    if not cells:
        return []
    title = "Our methods and ConfDiff-ABS under noise"
    blocks: list[Block] = [Heading(title, anchor="study", link="Under noise"), Paragraph(_TEXT)]
    for group in grouped(cells, lambda cell: (cell.protocol, cell.epochs)):
        blocks += [Commands(_commands(group)), _accuracies(group), _counts(group)]
    return blocks


def _commands(cells: Sequence[StudyCell]) -> tuple[str, ...]:
    """Return the command that runs the trials, and one for the methods of plug-ins if there are any."""
    trials = max(cell.trials.n for cell in cells)
    command = f"confdiff reproduce study --protocol {cells[0].protocol} --epochs {cells[0].epochs} --trials {trials}"
    foreign = [name for name in _methods(cells) if name not in STUDY_METHODS]
    if not foreign:
        return (command,)
    return command, f"{command} --methods {','.join(foreign)}{plugin_flags(('method', name) for name in foreign)}"


def _methods(cells: Sequence[StudyCell]) -> list[str]:
    return [name for name in _shown_methods() if any(cell.method == name for cell in cells)]


def _shown_methods() -> tuple[str, ...]:
    """Return the methods of the study, and those of plug-ins."""
    return (*STUDY_METHODS, *(name for name in METHODS if name not in BUILT_IN_METHODS))


def _accuracies(cells: Sequence[StudyCell]) -> Table:
    """One row per condition, one column per method."""
    by_place = {(cell.dataset, cell.prior, cell.condition, cell.method): cell for cell in cells}
    methods = _methods(cells)
    rows: list[Row] = []
    for dataset, prior in dict.fromkeys((cell.dataset, cell.prior) for cell in cells):
        for condition in CONDITIONS:
            values = [_cell(by_place.get((dataset, prior, condition, name))) for name in methods]
            rows.append([dataset_label(dataset), f"{prior:g}", condition, *values])
    return Table(["data set", "prior", "condition", *map(label_of, methods)], rows, group_columns=2)


def _cell(cell: StudyCell | None) -> Cell:
    if cell is None:
        return Cell("")
    shade = cell.verdict if cell.verdict in ("above", "below") else ""
    text = accuracy_text(cell.trials.mean, cell.trials.std)
    return Cell(text, detail=f"({cell.trials.n})", sign=SIGNS[cell.verdict], shade=shade)


def _counts(cells: Sequence[StudyCell]) -> Table:
    """Count the cells in which each method is above or below ConfDiff-ABS."""
    rows = []
    for name in _methods(cells)[1:]:
        compared = [cell for cell in cells if cell.method == name and cell.gain is not None]
        counts = [sum(cell.verdict == verdict for cell in compared) for verdict in ("above", "level", "below")]
        gain = _mean_gain(cells, compared)
        values = [signed_text(gain.difference), gain_text(gain.interval)] if gain else ["", ""]
        rows.append([label_of(name), *map(str, counts), *values])
    return Table(["method", "above ABS", "level", "below ABS", "mean gain", "95 % interval"], rows)


def _mean_gain(cells: Sequence[StudyCell], compared: Sequence[StudyCell]) -> Paired | None:
    """Return the gain of the compared cells over the baseline in the same places, averaged for each seed."""
    baselines = {_place(cell): cell.trials for cell in cells if cell.method == _BASELINE}
    places = [baselines[_place(cell)] for cell in compared]
    return paired(averaged([cell.trials for cell in compared]), averaged(places))


def _place(cell: StudyCell) -> tuple[str, float, str]:
    return cell.dataset, cell.prior, cell.condition


def _files(records: Sequence[Record]) -> list[CsvFile]:
    cells = study_cells(classifier_records(records))
    return [study_file(cells)] if cells else []


def study_file(cells: Sequence[StudyCell]) -> CsvFile:
    """Return the cells of the study as a table, one row each."""
    return csv_file("study", _COLUMNS, cells)


STUDY = Experiment(section=_section, files=_files, grid=study_grid)
