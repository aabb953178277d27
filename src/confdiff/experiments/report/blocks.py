"""Blocks, the elements of a section of a report. Experiments make blocks, and renderers depend on blocks only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Heading:
    """A heading.

    Attributes
    ----------
    text : str
        The heading.
    level : int
        2 for a section, 3 for a part of one.
    anchor : str
        Target of links to it; may be empty.
    link : str
        Its short name in the list of contents; empty to leave it out.
    """

    text: str
    level: int = 2
    anchor: str = ""
    link: str = ""


@dataclass(frozen=True)
class Paragraph:
    """A paragraph of text. Words in backticks are code."""

    text: str


@dataclass(frozen=True)
class Commands:
    """Commands that reproduce the results shown, one per line."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
        The value.
    detail : str
        Follows the value and is never bold, such as the number of trials.
    note : str
        A second line, such as the paper's number.
    sign : str
        A verdict in one character, at the end.
    shade : str
        Background: ``within``, ``above``, ``below``, or empty.
    bold : bool
        Whether the value is emphasised.
    """

    text: str
    detail: str = ""
    note: str = ""
    sign: str = ""
    shade: str = ""
    bold: bool = False


Row = Sequence[str | Cell]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    head : sequence of str
        Names of the columns.
    rows : sequence of rows
        Strings and cells.
    group_columns : int
        Number of leading columns that identify a group of rows. A renderer may show them once per group.
    page_only : bool
        Whether it is shown on pages only, where long tables can be sorted and filtered.
    """

    head: Sequence[str]
    rows: Sequence[Row]
    group_columns: int = 0
    page_only: bool = False


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes
    ----------
    title : str
        Title, also used as the alternative text.
    draw : callable
        Draws the figure when a renderer needs it.
    name : str
        Name of its files in the folder ``images``; empty for a figure that is only embedded in HTML pages.
    inline : bool
        Whether pages draw it in their own colours, dark ones included; for figures of few points.
    """

    title: str
    draw: "Callable[[], Figure]"
    name: str = ""
    inline: bool = False


@dataclass(frozen=True)
class Opening:
    """The first thing on a page: what was found, in three sentences, and one chart.

    Attributes
    ----------
    sentences : sequence of str
        The sentences.
    chart : Picture
        The chart.
    """

    sentences: Sequence[str]
    chart: Picture


@dataclass(frozen=True)
class CsvFile:
    """A table for programs.

    Attributes
    ----------
    name : str
        Name of the file without its ending.
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Values; None is an empty field.
    """

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]


Block = Opening | Heading | Paragraph | Commands | Table | Picture


def to_cell(value: str | Cell) -> Cell:
    """Return a cell as it is, and a string as a cell."""
    return value if isinstance(value, Cell) else Cell(value)
