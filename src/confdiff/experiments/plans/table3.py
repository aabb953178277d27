"""Table 3 of the paper: methods that rank items for users, by the sampled and by the full ranking."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from confdiff.datasets import find_interactions, names_of_kind
from confdiff.experiments.plans.experiment import Experiment
from confdiff.experiments.plans.paper_tables import PAPER_TRIALS
from confdiff.experiments.plans.printed import printed_numbers
from confdiff.experiments.plans.recommender_trial import (
    ITEM_MEANS,
    RecommenderSpec,
    run_recommender_trial,
)
from confdiff.experiments.report.blocks import Block, Cell, Commands, CsvFile, Heading, Paragraph, Table
from confdiff.experiments.report.numbers import accuracy_text, digits
from confdiff.experiments.report.style import label_of
from confdiff.experiments.statistics import Trials, grouped
from confdiff.experiments.trials.record import RANKING_METRICS, RankingRecord, Record
from confdiff.experiments.trials.runner import run_missing
from confdiff.experiments.trials.store import Store
from confdiff.recommender.learning import PATIENCE
from confdiff.recommender.protocol import CUTOFF
from confdiff.validation import check_choice, check_count

_EPOCHS = 50  # the paper's
_METHODS = ("bpr", "mrl", "oracle-hard", "oracle-soft", "pcomp-teacher", "confdiff-abs")
_OURS = ("confdiff-regression", ITEM_MEANS)
_SETTING = ("dataset", "source", "prior", "model", "epochs", "partners", "patience", "candidates")
_NOTES = {
    "small_matrix.csv": "KuaiRec's small matrix, as in the paper.",
    "small_matrix_subset.csv": "A subset of KuaiRec's small matrix: 2.5 % of the paper's 4,676,570 rows, without their "
    "times. The paper's numbers are those of the whole matrix and cannot be compared.",
    "jester1.npz": "Jester, which is not in the paper: the 2,000 users with the most ratings, positive above 5 of 10.",
}
_UNKNOWN = "A file that is not in the paper."
_TEXT = """\
The latest positive of each user is ranked among sampled candidates, as in the paper. The paper's number is shown \
below ours. Without times, the positive is drawn at random. The full metrics rank it among all items that were not \
in that user's training set. Values are mean and standard deviation over trials; the best NDCG comes first."""


def table3_grid(
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    trials: int = PAPER_TRIALS,
    epochs: int = _EPOCHS,
    prior: str = "global",
    early_stopping: bool = False,
    folder: Path | None = None,
) -> list[RecommenderSpec]:
    """Return the trials: the paper's six methods, ours and the means of items, all of one seed before the next.

    Parameters
    ----------
    datasets, methods : sequences of str, optional
        Only these.
    trials : int
        Number of seeds.
    epochs : int
        Number of passes over the pairs.
    prior : {"global", "user"}
        Prior given to the methods: one for all users, or one per user.
    early_stopping : bool
        Whether to use early stopping on held-out interactions; the paper does not.
    folder : Path, optional
        Folder to search first for data sets. The trials depend on which of their files exist.
    """
    interactions = names_of_kind("interactions")
    names = [check_choice("data set of table3", name, interactions) for name in datasets or interactions]
    patience = PATIENCE if early_stopping else None
    sources = {name: find_interactions(name, folder).name for name in names}
    return [
        RecommenderSpec(method, seed, epochs, prior=prior, patience=patience, dataset=name, source=source)
        for seed in range(check_count("trials", trials))
        for name, source in sources.items()
        for method in methods or (*_METHODS, *_OURS)
    ]


def _run(specs: Sequence[RecommenderSpec], store: Store, **options: Any) -> list[tuple[RecommenderSpec, str]]:
    return run_missing(specs, run_recommender_trial, store, **options)


@dataclass(frozen=True)
class RankingRow:
    """The trials of one method under one setting.

    Attributes
    ----------
    dataset, source, prior, model, epochs, partners, patience, candidates, method
        What was run.
    trials : dict
        Metric -> its values.
    evaluated, pairs : int
        Number of users and of training pairs.
    seconds : float
        Processor time per trial.
    printed : dict
        Metric -> the paper's number, where it has one.
    """

    dataset: str
    source: str
    prior: str
    model: str
    epochs: int
    partners: int
    patience: int | None
    candidates: int
    method: str
    trials: dict[str, Trials]
    evaluated: int
    pairs: int
    seconds: float
    printed: dict[str, float]

    @property
    def setting(self) -> tuple[Any, ...]:
        """The setting that the rows of one table share."""
        return tuple(getattr(self, name) for name in _SETTING)

    @property
    def label(self) -> str:
        """The label of the method."""
        return "Means of items" if self.method == ITEM_MEANS else label_of(self.method)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return self.trials["hr@10"].n

    @property
    def command(self) -> str:
        """The command that runs trials of this setting."""
        words = [f"confdiff reproduce table3 --datasets {self.dataset}"]
        if self.epochs != _EPOCHS:
            words.append(f"--epochs {self.epochs}")
        if self.prior == "user":
            words.append("--user-prior")
        if self.patience is not None:
            words.append("--early-stopping")
        return " ".join(words)

    @property
    def description(self) -> str:
        """The setting in words."""
        length = f"{self.epochs} epochs" if self.patience is None else "early stopping on held-out pairs"
        prior = {"global": "one prior for all", "user": "each user's own prior"}[self.prior]
        baseline = f"Random scores have HR@{CUTOFF} {min(1.0, CUTOFF / self.candidates):.3f}."
        return (
            f"{_NOTES.get(self.source, _UNKNOWN)} Settings: {self.model}, {length}, {prior}. "
            f"Sizes: {self.evaluated:,} users evaluated, {self.pairs:,} pairs, {self.candidates} candidates. {baseline}"
        )


def ranking_rows(records: Iterable[Record]) -> list[RankingRow]:
    """Return the rows that have trials, the best NDCG of each setting first."""
    rankings = [record for record in records if isinstance(record, RankingRecord)]
    printed: dict[tuple[str, str], dict[str, float]] = {}
    for number in printed_numbers():
        if number.table == "table3":
            printed.setdefault((number.dataset, number.method), {})[number.metric] = number.mean
    groups = grouped(rankings, lambda record: (*(getattr(record, name) for name in _SETTING), record.method))
    return sorted((_summarise(group, printed) for group in groups), key=_order)


def _order(row: RankingRow) -> tuple[Any, ...]:
    """Sort by the paper's data first, then the paper's setting, then by NDCG."""
    unusual = (row.patience is not None, row.prior != "global", row.model, row.epochs, row.partners, row.candidates)
    sources = [*_NOTES, row.source]  # others come last
    return (sources.index(row.source), *unusual, -row.trials["ndcg@10"].mean)


def _summarise(group: Sequence[RankingRecord], printed: dict[tuple[str, str], dict[str, float]]) -> RankingRow:
    first = group[0]
    return RankingRow(
        **{name: getattr(first, name) for name in _SETTING},
        method=first.method,
        trials={
            metric: Trials({record.seed: record.metrics[metric] for record in group}) for metric in RANKING_METRICS
        },
        evaluated=first.evaluated,
        pairs=first.pairs,
        seconds=mean(record.processor_seconds for record in group),
        printed=printed.get((first.dataset, first.method), {}),
    )


def _section(records: Sequence[Record]) -> list[Block]:
    """Return a table for each data set and setting: the sampled ranking with the paper's numbers, and the full one."""
    rows = ranking_rows(records)
    if not rows:
        return []
    blocks: list[Block] = [Heading("Table 3, recommenders", anchor="table3", link="Table 3"), Paragraph(_TEXT)]
    for group in grouped(rows, lambda row: row.setting):
        first = group[0]
        trials = max(row.n_trials for row in group)
        blocks += [
            Commands((f"{first.command} --trials {trials}",)),
            Paragraph(f"{first.description} {first.seconds:.0f} s per trial."),
            Table(
                ["method", "HR@10", "NDCG@10", "full HR@10", "full NDCG@10", "trials"],
                [[row.label, *_cells(row), str(row.n_trials)] for row in group],
            ),
        ]
    return blocks


def _cells(row: RankingRow) -> list[Cell]:
    cells = []
    for metric, trials in row.trials.items():
        note = accuracy_text(row.printed[metric]) if metric in row.printed else ""
        cells.append(Cell(accuracy_text(trials.mean, trials.std), note=note))
    return cells


def _summary(records: Sequence[Record]) -> Table:
    rows = [
        [row.dataset, row.method, *(cell.text for cell in _cells(row)), str(row.n_trials)]
        for row in ranking_rows(records)
    ]
    return Table(["data set", "method", *RANKING_METRICS, "trials"], rows)


def _files(records: Sequence[Record]) -> list[CsvFile]:
    rows = ranking_rows(records)
    header = [*_SETTING, "method", "trials", "evaluated", "pairs"]
    for metric in RANKING_METRICS:
        header += [metric, f"{metric} std", f"{metric} printed"]
    return [CsvFile("rankings", header, [_csv_row(row) for row in rows])] if rows else []


def _csv_row(row: RankingRow) -> list[object]:
    values: list[object] = [*row.setting, row.method, row.n_trials, row.evaluated, row.pairs]
    for metric, trials in row.trials.items():
        values += [digits(trials.mean), digits(trials.std), row.printed.get(metric)]
    return values


TABLE3 = Experiment(section=_section, files=_files, grid=table3_grid, run=_run, summary=_summary)
