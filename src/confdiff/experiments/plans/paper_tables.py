"""Tables 1 and 2 of the paper: the grid of trials, and the cells of our trials with the printed numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from confdiff.experiments.plans.printed import PAPER_EPOCHS, Printed, printed_accuracies
from confdiff.experiments.plans.verdicts import table_verdict
from confdiff.experiments.statistics import Trials, grouped, training_seconds
from confdiff.experiments.trials.record import TrialRecord
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count

PAPER_PRIORS = (0.2, 0.5, 0.8)
PAPER_TRIALS = 5
"""Number of trials per cell if an experiment is run without ``--trials``."""
DEFAULT_PROTOCOL = "authors"
"""Protocol if an experiment is run without ``--protocol``; its numbers can be compared with the printed ones."""
PAPER_METHODS = (
    "confdiff-abs",
    "confdiff-relu",
    "confdiff-unbiased",
    "oracle-soft",
    "oracle-hard",
    "pcomp-teacher",
    "pcomp-abs",
    "pcomp-relu",
    "pcomp-unbiased",
)
PAPER_TABLES: dict[str, tuple[str, ...]] = {
    "table1": ("mnist", "kmnist", "fashion", "cifar10"),
    "table2": ("optdigits", "usps", "pendigits", "letter"),
}
"""Name of a table -> its data sets."""


def table_of(dataset: str) -> str | None:
    """Return the table of the paper that a data set is in, if any."""
    return next((table for table, datasets in PAPER_TABLES.items() if dataset in datasets), None)


def table_grid(
    table: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    priors: Sequence[float] | None = None,
    trials: int = PAPER_TRIALS,
    epochs: int = PAPER_EPOCHS,
    protocol: str = DEFAULT_PROTOCOL,
    prior_given: bool = True,
) -> list[TrialSpec]:
    """Return the trials of a table, all cells of one seed before the next, so that early results cover everything.

    Parameters
    ----------
    table : str
        A name in :data:`PAPER_TABLES`.
    datasets, methods, priors : sequences, optional
        Only these; by default the paper's.
    trials : int
        Number of seeds.
    epochs, protocol, prior_given
        As in :class:`~confdiff.experiments.trials.spec.TrialSpec` and its task.
    """
    offered = PAPER_TABLES[check_choice("table", table, PAPER_TABLES)]
    chosen = [check_choice(f"data set of {table}", name, offered) for name in datasets or offered]
    return [
        TrialSpec(TaskSpec(dataset, prior, protocol, seed), method, epochs, prior_given)
        for seed in range(check_count("trials", trials))
        for dataset in chosen
        for prior in priors or PAPER_PRIORS
        for method in methods or PAPER_METHODS
    ]


@dataclass(frozen=True)
class TableCell:
    """Our trials of one method on one data set at one prior, and the paper's number.

    Attributes
    ----------
    protocol, table, dataset, prior, method, epochs
        What was run.
    trials : Trials
        The accuracies.
    seconds : float
        Training time of all trials.
    printed : Printed or None
        The paper's number, where it has one.
    """

    protocol: str
    table: str
    dataset: str
    prior: float
    method: str
    epochs: int
    trials: Trials
    seconds: float
    printed: Printed | None

    @property
    def difference(self) -> float | None:
        """Our mean minus the printed one."""
        return None if self.printed is None else self.trials.mean - self.printed.mean

    @property
    def verdict(self) -> str:
        """Whether our mean is ``within``, ``above`` or ``below`` the printed number: see :func:`table_verdict`."""
        return table_verdict(self.trials, self.printed, self.epochs)


def table_cells(records: Iterable[TrialRecord]) -> list[TableCell]:
    """Return the cells that have trials without further options, in the order of the records."""
    printed = printed_accuracies()
    plain = [record for record in records if not record.options and table_of(record.dataset) is not None]
    cells = []
    for group in grouped(
        plain, lambda record: (record.protocol, record.dataset, record.prior, record.method, record.epochs)
    ):
        first = group[0]
        cells.append(
            TableCell(
                protocol=first.protocol,
                table=table_of(first.dataset) or "",
                dataset=first.dataset,
                prior=first.prior,
                method=first.method,
                epochs=first.epochs,
                trials=Trials.of(group),
                seconds=training_seconds(group),
                printed=printed.get((first.dataset, first.prior, first.method)),
            )
        )
    return cells
