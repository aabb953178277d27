"""An experiment: its grid of trials, its section of the report, and its CSV tables."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from confdiff.experiments.report.blocks import Block, CsvFile, Table
from confdiff.experiments.report.numbers import trials_text
from confdiff.experiments.statistics import Trials, grouped
from confdiff.experiments.trials.record import Record, TrialRecord
from confdiff.experiments.trials.runner import run_trials


def classifier_records(records: Sequence[Record]) -> list[TrialRecord]:
    """Return the records of classifiers, without those of recommenders."""
    return [record for record in records if isinstance(record, TrialRecord)]


def accuracy_table(records: Sequence[Record]) -> Table:
    """Return the accuracy of each data set, prior, method and set of options."""
    rows = []
    for group in grouped(
        classifier_records(records), lambda record: (record.dataset, record.prior, record.method, _options(record))
    ):
        first = group[0]
        rows.append(
            [first.dataset, f"{first.prior:g}", first.method, _options(first), trials_text(Trials.of(group))],
        )
    return Table(["data set", "prior", "method", "options", "accuracy (trials)"], rows)


def _options(record: TrialRecord) -> str:
    words = [f"{name} {value}" for name, value in record.options.items() if name != "prior_is_told"]
    if not record.spec.prior_given:
        words.append("prior not given")
    return ", ".join(words)


@dataclass(frozen=True)
class Experiment:
    """An experiment: its grid of trials, how to run them, and its part of the report.

    Attributes
    ----------
    section : callable
        All records -> its blocks in the report; empty if it has no trials.
    files : callable
        All records -> its tables for programs.
    grid : callable, optional
        Keyword options -> specifications of its trials. None if it only arranges trials of other experiments.
    run : callable
        ``run(specs, store, jobs=, engine=, address=, folder=, progress=)`` runs the missing trials and returns the
        failures.
    summary : callable
        The records of its trials -> the table that ``confdiff reproduce`` prints.
    """

    section: Callable[[Sequence[Record]], list[Block]]
    files: Callable[[Sequence[Record]], list[CsvFile]] = lambda records: []
    grid: Callable[..., list[Any]] | None = None
    run: Callable[..., list[tuple[Any, str]]] = run_trials
    summary: Callable[[Sequence[Record]], Table] = accuracy_table

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that the grid takes."""
        return () if self.grid is None else tuple(inspect.signature(self.grid).parameters)
