"""The study of noise on real tables: learners, their automatic choice and oracles, all given the class prior."""

from collections.abc import Sequence
from itertools import product
from typing import Any, get_args

from confdiff.experiments.plans.experiment import Experiment
from confdiff.experiments.plans.paper_tables import PAPER_TRIALS
from confdiff.experiments.plans.real_table_learners import LEARNERS
from confdiff.experiments.plans.real_table_section import table_blocks, table_files, table_summary
from confdiff.experiments.plans.real_table_task import DIFFERENCES, why_not_loaded
from confdiff.experiments.plans.real_table_trial import run_table_trial
from confdiff.experiments.trials.runner import run_missing
from confdiff.experiments.trials.store import Store
from confdiff.experiments.trials.table_record import Balance, TableSpec
from confdiff.validation import check_choice, check_count

_TABLES = ("framingham", "wine", "spambase", "adult")
PAIRS = (300, 1500, 100)
"""Numbers of pairs, in the order in which trials are run; a table with fewer items gives as many as it can."""


def real_tables_grid(
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    points: Sequence[float] | None = None,
    trials: int = PAPER_TRIALS,
) -> list[TableSpec]:
    """Return the trials, the cheap learners of a number of pairs first, and all learners and seeds of a cell together.

    Oracles do not depend on the noise and run once for all kinds of differences.

    Parameters
    ----------
    datasets, methods : sequences of str, optional
        Only these data sets and learners.
    points : sequence of float, optional
        Only these numbers of pairs.
    trials : int
        Number of seeds.
    """
    chosen = [check_choice("data set of real_tables", name, _TABLES) for name in datasets or _TABLES]
    learners = [check_choice("learner", name, LEARNERS) for name in methods or LEARNERS]
    sizes = [check_count("number of pairs", int(size) if size == int(size) else size) for size in points or PAIRS]
    seeds = range(check_count("trials", trials))
    stages = sorted({LEARNERS[name].stage for name in learners})
    places = product(sizes, stages, chosen, get_args(Balance), DIFFERENCES, seeds)
    return [
        TableSpec(
            dataset=dataset,
            balance=balance,
            differences=differences,
            pairs=size,
            learner=name,
            version=LEARNERS[name].version,
            seed=seed,
        )
        for size, stage, dataset, balance, differences, seed in places
        for name in learners
        if LEARNERS[name].stage == stage and (LEARNERS[name].role != "oracle" or differences == "exact")
    ]


def _run(specs: Sequence[TableSpec], store: Store, **options: Any) -> list[tuple[TableSpec, str]]:
    """Run the trials whose data sets can be loaded; the others fail with the reason."""
    reasons = why_not_loaded({spec.dataset for spec in specs}, folder=options.get("folder"))
    failures = [(spec, reasons[spec.dataset]) for spec in specs if spec.dataset in reasons]
    feasible = [spec for spec in specs if spec.dataset not in reasons]
    return failures + run_missing(feasible, run_table_trial, store, **options)


REAL_TABLES = Experiment(
    section=table_blocks, files=table_files, grid=real_tables_grid, run=_run, summary=table_summary
)
