"""Trials on other data than the paper's, on a subset of it, with other networks or numbers of pairs: no verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.plans.paper_tables import table_of
from confdiff.experiments.plans.plugin_flags import plugin_flags
from confdiff.experiments.plans.printed import printed_accuracies
from confdiff.experiments.report.blocks import Block, Commands, CsvFile, Heading, Paragraph, Table
from confdiff.experiments.report.csv import TRIAL_COLUMNS, CsvColumns, attributes, csv_file
from confdiff.experiments.report.numbers import accuracy_text, digits, optional_text, trials_text
from confdiff.experiments.report.style import dataset_label, label_of
from confdiff.experiments.statistics import Trials, grouped, training_seconds
from confdiff.experiments.trials.record import Record, TrialRecord

_OPTIONS = {"n_pairs", "incomplete", "model"}
_TITLE = "Other data sets, subsets and networks"
_TEXT = """\
These trials use data sets or networks that the paper does not have, or other numbers of pairs or images. They have \
no verdict; the paper's number is given where it exists."""
_COLUMNS: CsvColumns = {
    **attributes("dataset", "prior", "method", "protocol", "network", "n_pairs", "incomplete", "epochs"),
    "trials": TRIAL_COLUMNS["trials"],
    "mean": TRIAL_COLUMNS["mean"],
    "mean_after_the_last_epoch": lambda row: digits(row.last.mean),
    "teacher": lambda row: digits(row.teacher),
    "printed": lambda row: digits(row.printed),
    "seconds": lambda row: f"{row.seconds:.1f}",
}


@dataclass(frozen=True)
class OtherDataRow:
    """The trials of one method on a data set at a prior.

    Attributes
    ----------
    dataset, prior, method, protocol, epochs, network
        What was run.
    n_pairs : int or None
        Number of pairs; None for the paper's.
    incomplete : bool
        Whether batches of the training images were missing.
    model : str or None
        The network that was asked for; None for that of the protocol.
    trials, last : Trials
        Accuracies: mean of the last ten epochs, and after the last.
    teacher : float
        Mean accuracy of the teacher.
    seconds : float
        Training time per trial.
    printed : float or None
        The paper's accuracy, with all of its pairs and epochs, if it has one.
    """

    dataset: str
    prior: float
    method: str
    protocol: str
    epochs: int
    network: str
    n_pairs: int | None
    incomplete: bool
    model: str | None
    trials: Trials
    last: Trials
    teacher: float
    seconds: float
    printed: float | None

    @property
    def command(self) -> str:
        """The command that runs the trials."""
        pairs = "" if self.n_pairs is None else f" --n-pairs {self.n_pairs}"
        incomplete = " --incomplete" if self.incomplete else ""
        model = "" if self.model is None else f" --model {self.model}"
        plugins = plugin_flags([("method", self.method), ("data set", self.dataset), ("model", self.network)])
        return (
            f"confdiff run {self.dataset} --protocol {self.protocol}{model}{incomplete}{pairs} --priors {self.prior:g} "
            f"--methods {self.method} --epochs {self.epochs} --trials {self.trials.n}{plugins}"
        )


def other_data_rows(records: Sequence[TrialRecord]) -> list[OtherDataRow]:
    """Return a row for each method, data set and prior with trials on other data."""
    return [_summarise(group) for group in grouped(filter(_is_other_data, records), _setting)]


def _is_other_data(record: TrialRecord) -> bool:
    """Return whether a trial differs from those of the tables in its data, and in nothing else."""
    options = record.options.keys()
    return options <= _OPTIONS and (bool(options) or table_of(record.dataset) is None)


def _setting(record: TrialRecord) -> tuple[object, ...]:
    place = (record.dataset, record.prior, record.method, record.protocol, record.epochs, record.network)
    return (*place, record.spec.task.n_pairs, record.spec.task.incomplete, record.spec.task.model)


def _summarise(group: Sequence[TrialRecord]) -> OtherDataRow:
    first = group[0]
    printed = printed_accuracies().get((first.dataset, first.prior, first.method))
    return OtherDataRow(
        dataset=first.dataset,
        prior=first.prior,
        method=first.method,
        protocol=first.protocol,
        epochs=first.epochs,
        network=first.network,
        n_pairs=first.spec.task.n_pairs,
        incomplete=first.spec.task.incomplete,
        model=first.spec.task.model,
        trials=Trials.of(group),
        last=Trials.of(group, lambda record: record.curve[-1][1]),
        teacher=mean(record.teacher_accuracy for record in group),
        seconds=training_seconds(group) / len(group),
        printed=None if printed is None else printed.mean,
    )


def _section(records: Sequence[Record]) -> list[Block]:
    rows = other_data_rows(classifier_records(records))
    if not rows:
        return []
    head = ["data set", "prior", "method", "network", "pairs", "epochs", "accuracy", "after the last epoch"]
    head += ["teacher", "printed", "s per trial"]
    return [
        Heading(_TITLE, anchor="parts", link=_TITLE),
        Paragraph(_TEXT),
        Commands(tuple(row.command for row in rows)),
        Table(head, [_row(row) for row in rows]),
    ]


def _row(row: OtherDataRow) -> list[str]:
    return [
        dataset_label(row.dataset),
        f"{row.prior:g}",
        label_of(row.method),
        row.network,
        "" if row.n_pairs is None else f"{row.n_pairs:,}",
        str(row.epochs),
        trials_text(row.trials),
        trials_text(row.last),
        accuracy_text(row.teacher),
        optional_text(row.printed),
        f"{row.seconds:.0f}",
    ]


def _files(records: Sequence[Record]) -> list[CsvFile]:
    rows = other_data_rows(classifier_records(records))
    return [csv_file("parts", _COLUMNS, rows)] if rows else []


OTHER_DATA = Experiment(section=_section, files=_files)
