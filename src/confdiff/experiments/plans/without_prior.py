"""Methods that need no class prior, with and without it, between ConfDiff-ABS and Oracle-Soft."""

from collections.abc import Sequence
from dataclasses import dataclass

from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.plans.paper_tables import PAPER_TABLES
from confdiff.experiments.report.blocks import Block, Commands, Heading, Paragraph, Table
from confdiff.experiments.report.numbers import signed_text, trials_text
from confdiff.experiments.report.style import dataset_label, label_of
from confdiff.experiments.statistics import Trials, grouped, paired
from confdiff.experiments.trials.record import Record, TrialRecord
from confdiff.methods import METHODS

_BASELINE = "confdiff-abs"
_ORACLE = "oracle-soft"
_TEXT = """\
Methods that do not need the class prior are shown with and without it, next to ConfDiff-ABS and Oracle-Soft. \
Differences are means over the seeds that both have, on the same pairs."""

_Place = tuple[str, int, str, float, str]
"""Protocol, epochs, data set, prior, method."""


@dataclass(frozen=True)
class PriorRow:
    """The trials of one method in one cell, and those of ConfDiff-ABS and Oracle-Soft on the same pairs.

    Attributes
    ----------
    protocol, epochs, dataset, prior, method
        What was run.
    with_prior, without_prior : Trials
        The method with and without the class prior.
    baseline, oracle : Trials
        ConfDiff-ABS and Oracle-Soft.
    """

    protocol: str
    epochs: int
    dataset: str
    prior: float
    method: str
    with_prior: Trials
    without_prior: Trials
    baseline: Trials
    oracle: Trials

    @property
    def gap_to_oracle(self) -> float | None:
        """Oracle-Soft minus the method with the prior, over the seeds that both have."""
        return _difference(self.oracle, self.with_prior)

    @property
    def gain_over_baseline(self) -> float | None:
        """The method with the prior minus ConfDiff-ABS."""
        return _difference(self.with_prior, self.baseline)

    @property
    def loss_without_prior(self) -> float | None:
        """The method with the prior minus the method without it."""
        return _difference(self.with_prior, self.without_prior)


def _difference(first: Trials, second: Trials) -> float | None:
    outcome = paired(first, second)
    return outcome.difference if outcome else None


def prior_rows(records: Sequence[TrialRecord]) -> list[PriorRow]:
    """Return a row for each cell of the paper's tables and each method with trials that does not need the prior."""
    with_prior = _trials([record for record in records if not record.options])
    without_prior = _trials([record for record in records if record.options == {"prior_is_told": False}])
    order = {name: place for place, name in enumerate((*PAPER_TABLES["table1"], *PAPER_TABLES["table2"]))}
    places = {place for place in (*with_prior, *without_prior) if place[2] in order and _is_optional(place[4])}
    return [
        PriorRow(
            *place,
            with_prior=with_prior.get(place, Trials()),
            without_prior=without_prior.get(place, Trials()),
            baseline=with_prior.get((*place[:4], _BASELINE), Trials()),
            oracle=with_prior.get((*place[:4], _ORACLE), Trials()),
        )
        for place in sorted(places, key=lambda place: (place[0], -place[1], place[4], place[3], order[place[2]]))
    ]


def _trials(records: Sequence[TrialRecord]) -> dict[_Place, Trials]:
    groups: dict[_Place, list[TrialRecord]] = {}
    for record in records:
        place = (record.protocol, record.epochs, record.dataset, record.prior, record.method)
        groups.setdefault(place, []).append(record)
    return {place: Trials.of(group) for place, group in groups.items()}


def _is_optional(method: str) -> bool:
    row = METHODS[method]
    return row.learns_from == "differences" and row.prior == "optional"


def _section(records: Sequence[Record]) -> list[Block]:
    """Return a table for each method, protocol and number of epochs."""
    rows = prior_rows(classifier_records(records))
    if not rows:
        return []
    title = "Between ConfDiff-ABS and the oracle"
    blocks: list[Block] = [Heading(title, anchor="oracle", link="Without the prior"), Paragraph(_TEXT)]
    for group in grouped(rows, lambda row: (row.method, row.protocol, row.epochs)):
        first = group[0]
        options = f"--methods {first.method} --protocol {first.protocol} --epochs {first.epochs}"
        head = ["data set", "prior", "ConfDiff-ABS", label_of(first.method), "prior not given", "Oracle-Soft"]
        head += ["gain over ABS", "gap to the oracle", "loss without the prior"]
        blocks += [
            Commands((f"confdiff reproduce table2 {options}  # also with --without-prior, and for table1",)),
            Table(head, [_row(row) for row in group]),
        ]
    return blocks


def _row(row: PriorRow) -> list[str]:
    accuracies = (row.baseline, row.with_prior, row.without_prior, row.oracle)
    differences = (row.gain_over_baseline, row.gap_to_oracle, row.loss_without_prior)
    return [
        dataset_label(row.dataset),
        f"{row.prior:g}",
        *map(trials_text, accuracies),
        *map(signed_text, differences),
    ]


WITHOUT_PRIOR = Experiment(section=_section)
