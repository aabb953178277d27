"""The numbers that the paper prints in its tables."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

PAPER_EPOCHS = 200
"""Number of passes over the pairs behind the printed numbers."""


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


@cache
def printed_numbers() -> tuple[Printed, ...]:
    """Return all numbers that the paper prints in its tables."""
    text = files("confdiff.experiments.plans").joinpath("paper_numbers.csv").read_text()
    return tuple(
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
    )


def printed_accuracies() -> dict[tuple[str, float | None, str], Printed]:
    """Return (data set, prior, method) -> the printed accuracy."""
    return {
        (number.dataset, number.prior, number.method): number
        for number in printed_numbers()
        if number.metric == "accuracy"
    }
