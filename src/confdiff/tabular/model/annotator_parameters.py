"""The estimates of annotators as rows of text, for the card and for ``confdiff show``."""

from collections.abc import Sequence
from dataclasses import dataclass

from confdiff.annotators import AnnotatorEstimates

ANNOTATOR_MEASURES = ("answers", "scale", "side bias", "noise")
"""Titles of :attr:`AnnotatorParameters.measures`."""

MOST_ANNOTATORS = 40
"""Annotators that are shown."""


@dataclass(frozen=True)
class AnnotatorParameters:
    """The estimates of one annotator in words.

    Attributes
    ----------
    name
        The annotator.
    measures
        A text for each of :data:`ANNOTATOR_MEASURES`, with 95 % intervals.
    remark
        Such as "no better than chance"; mostly empty.
    """

    name: str
    measures: tuple[str, ...]
    remark: str


def annotator_parameters(estimates: AnnotatorEstimates) -> list[AnnotatorParameters]:
    """Return a row for each annotator: those with a remark first, then those with the most answers."""
    records = sorted(estimates.table(), key=lambda record: (not record["remark"], -record["n"], record["annotator"]))
    return [
        AnnotatorParameters(
            name=record["annotator"],
            measures=(
                f"{record['n']:,}",
                *(_with_interval(record[name], record[f"{name}_interval"]) for name in ("scale", "bias", "noise")),
            ),
            remark=record["remark"],
        )
        for record in records
    ]


def _with_interval(value: float | None, interval: Sequence[float] | None) -> str:
    """Return an estimate with its interval, and a dash if it was not estimated."""
    if value is None or interval is None:
        return "-"
    low, high = interval
    return f"{_two_digits(value)} ({_two_digits(low)} to {_two_digits(high)})"


def _two_digits(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # -0.00 becomes 0.00
