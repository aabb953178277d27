"""The paper's experiments as grids of trials, and the numbers that it prints."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count

PRIORS = (0.2, 0.5, 0.8)
EPOCHS = 200
METHODS_OF_THE_PAPER = (
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
TABLES: dict[str, tuple[str, ...]] = {
    "table1": ("mnist", "kmnist", "fashion", "cifar10"),
    "table2": ("optdigits", "usps", "pendigits", "letter"),
}
"""Name of a table -> its data sets."""


@dataclass(frozen=True)
class Printed:
    """A number in the paper."""

    table: str
    dataset: str
    prior: float | None
    method: str
    metric: str
    mean: float
    std: float | None


def printed_numbers() -> list[Printed]:
    """All numbers that the paper prints in its tables."""
    text = files("confdiff.experiments").joinpath("paper_numbers.csv").read_text()
    return [
        Printed(
            table=row["table"],
            dataset=row["dataset"],
            prior=float(row["prior"]) if row["prior"] else None,
            method=row["method"],
            metric=row["metric"],
            mean=float(row["mean"]),
            std=float(row["std"]) if row["std"] else None,
        )
        for row in csv.DictReader(text.splitlines())
    ]


def table_grid(
    table: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    priors: Sequence[float] | None = None,
    trials: int = 5,
    epochs: int = EPOCHS,
    protocol: str = "authors",
    prior_is_told: bool = True,
) -> list[TrialSpec]:
    """The trials of a table, a whole round of all cells before the next seed: what is there early covers everything."""
    known = TABLES[check_choice("table", table, TABLES)]
    chosen = [check_choice(f"data set of {table}", name, known) for name in datasets or known]
    return [
        TrialSpec(TaskSpec(dataset, prior, protocol, seed), method, epochs, prior_is_told)
        for seed in range(check_count("trials", trials))
        for dataset in chosen
        for prior in priors or PRIORS
        for method in methods or METHODS_OF_THE_PAPER
    ]
