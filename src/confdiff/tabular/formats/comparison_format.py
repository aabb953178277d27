"""Describe a format of judged pairs: how to recognise, read and write the files of one tool."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.formats.judgement import Judgement, Skipped
from confdiff.tabular.formats.rows import FileRow

JsonRecord = dict[str, Any]


@dataclass(frozen=True)
class FormatOptions:
    """Options of single formats.

    Attributes
    ----------
    item_kind
        What the items are: ``"answers"`` (texts), ``"models"``, or ``"ids"`` of items that the user has. None means
        answers, or models where a file has no texts.
    individual
        Whether single judgements are read instead of the overall one.
    max_margin
        The margin that means certainty. Recognised if None.
    scale
        The scale of choices, or their words in their order. Recognised if None.
    left, right, difference
        The keys of both items, and the name of the question.
    seed
        Seed of random swaps.
    chat
        Whether texts are written as conversations.
    question
        The question that people are asked.
    """

    item_kind: str | None = None
    individual: bool = False
    max_margin: float | None = None
    scale: Any = None
    left: str | None = None
    right: str | None = None
    difference: str | None = None
    seed: int = 0
    chat: bool = False
    question: str | None = None

    def check_used(self, used: Iterable[str], what: str) -> None:
        """Check that only options that have an effect were given.

        Parameters
        ----------
        used
            Their names.
        what
            The file, for messages, such as ``"a file of format trl"``.
        """
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name not in used and value != option.default:
                raise ValueError(f"{option.name}={value!r} would not be used to {what}. Omit it.")


Reader = Callable[[Iterator[FileRow], FormatOptions], Iterator[Judgement | Skipped]]
Writer = Callable[[Iterable[Judgement], FormatOptions], Iterator[JsonRecord]]


@dataclass(frozen=True, eq=False)
class ReadDifferences:
    """Judgements on the scale from -1 to 1.

    Attributes
    ----------
    values
        (n,) differences.
    note
        How they were read, if that was recognised; else empty.
    """

    values: NDArray[np.float64]
    note: str = ""


def plain_differences(values: list[Any], positions: list[str], options: FormatOptions) -> ReadDifferences:
    """Return judgements that are differences from -1 to 1."""
    return ReadDifferences(np.array(values, dtype=np.float64) + 0.0)  # -0 becomes 0


@dataclass(frozen=True)
class ComparisonFormat:
    """A format of judged pairs.

    Attributes
    ----------
    name
        Its name.
    summary
        Its files, in one line.
    recognise
        Return whether a row is of this format, by its keys.
    read
        Return the judgements of rows.
    write
        Return judgements as the records of a file.
    differences
        Return the values of judgements as differences from -1 to 1, given their positions in the file.
    reading_options, writing_options
        The options that have an effect.
    item_kinds
        What the items can be, see ``item_kind``.
    needs_differences
        Whether only judged pairs can be written.
    points
        The number of points from "equal" to either end, if the format holds no other judgements.
    companion
        Return the ending and the text of a second file, from the records of the first one; or None.
    """

    name: str
    summary: str
    recognise: Callable[[FileRow], bool]
    read: Reader
    write: Writer
    differences: Callable[[list[Any], list[str], FormatOptions], ReadDifferences] = plain_differences
    reading_options: frozenset[str] = frozenset()
    item_kinds: tuple[str, ...] = ("answers",)
    writing_options: frozenset[str] = frozenset()
    needs_differences: bool = True
    points: int | None = None
    companion: Callable[[list[JsonRecord], FormatOptions], tuple[str, str]] | None = None


def others(row: FileRow, *used: str) -> dict[str, Any]:
    """Return the values of a row that its format does not use; they become columns of the pairs."""
    values = {name: value for name, value in row.values.items() if name not in used and value is not None}
    for name, value in values.items():
        row.encodable("a key", name)
        if isinstance(value, str):
            row.encodable(name, value)
    return values


def with_pair_columns(record: JsonRecord, columns: Mapping[str, Any]) -> JsonRecord:
    """Return a record with columns of its pair as further keys; a key that the record has gets a prefix.

    >>> with_pair_columns({"margin": 1.0}, {"source": "exam", "margin": 3})
    {'margin': 1.0, 'source': 'exam', 'other_margin': 3}
    """
    return record | {f"other_{name}" if name in record else name: value for name, value in columns.items()}
