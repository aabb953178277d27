"""Show how judgements are written, and what each was read as."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from confdiff.display.text import plural
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding

_MOST_READINGS = 15  # different judgements that are shown


@dataclass(frozen=True)
class JudgementReading:
    """What a judgement was read as.

    Attributes
    ----------
    written : str
        The judgement as written.
    difference : float
        The difference in [-1, 1].
    count : int
        Number of pairs with this judgement.
    row : int
        Number of the first such row.
    """

    written: str
    difference: float
    count: int
    row: int

    @property
    def difference_text(self) -> str:
        """The difference with its sign, and 0 without one.

        >>> JudgementReading(written="tie", difference=0.0, count=1, row=0).difference_text
        '0'
        """
        return f"{self.difference:+.3g}" if self.difference else "0"


@dataclass(frozen=True)
class ScaleReadings:
    """How the judgements were read.

    Attributes
    ----------
    notation : str
        How they are written, see :data:`confdiff.tabular.notation.Notation`.
    readings : tuple of JudgementReading
        The most frequent judgements, in the order of their differences.
    distinct : int
        Number of different judgements.
    """

    notation: str
    readings: tuple[JudgementReading, ...]
    distinct: int


def measure_notation(data: CheckData) -> ScaleReadings:
    """Return what the judgements were read as."""
    rows = np.flatnonzero(data.is_usable)
    c = data.c[rows]
    _, first, _code, count = np.unique(np.round(c, 6), return_index=True, return_inverse=True, return_counts=True)
    shown = np.sort(np.argsort(-count, kind="stable")[:_MOST_READINGS])
    readings = tuple(_reading(data, int(rows[first[value]]), int(count[value])) for value in shown.tolist())
    return ScaleReadings(notation=data.pairs.notation, readings=readings, distinct=len(count))


def _reading(data: CheckData, row: int, count: int) -> JudgementReading:
    cells: Any = data.pairs.difference if data.pairs.written is None else data.pairs.written
    cell = cells[row : row + 1].tolist()[0]
    return JudgementReading(
        written=f"{cell:g}" if isinstance(cell, float) else str(cell).strip(),
        difference=float(data.c[row].clip(-1, 1)) + 0.0,
        count=count,
        row=data.pairs.source.row(row),
    )


_NOTATIONS = {
    "per cent": "per cent",
    "fraction": "fractions",
    "word": "words of the given scale",
    "winner": "the favoured item (1 if it is the second)",
}


def notation_findings(data: CheckData, measure: ScaleReadings) -> list[Finding]:
    """Return a note about judgements that are not plain numbers."""
    return [] if measure.notation == "number" else [_read_as(measure)]


def _read_as(measure: ScaleReadings) -> Finding:
    readings = "; ".join(
        f"{reading.written!r:.40} as {reading.difference_text} ({plural(reading.count, 'pair')}, "
        f"first in row {reading.row})"
        for reading in measure.readings
    )
    more = f"; and {measure.distinct - len(measure.readings)} others" if measure.distinct > _MOST_READINGS else ""
    return Finding(
        kind="notation",
        severity="note",
        count=1,
        text=f"The judgements were read as {_NOTATIONS[measure.notation]}: {readings}{more}.",
        action="`fit` and `evaluate` read them in the same way. If they mean something else, pass scale='...'.",
    )
