"""Render blocks as Markdown."""

import textwrap
from collections.abc import Iterable, Sequence

from confdiff.experiments.report.blocks import (
    Block,
    Cell,
    Commands,
    Heading,
    Opening,
    Paragraph,
    Picture,
    Row,
    Table,
    to_cell,
)

_WIDTH = 100


def as_markdown(title: str, blocks: Iterable[Block]) -> str:
    """Return a document with a title and these blocks.

    Pictures are shown from the folder ``images``; those without a name are left out.

    Examples
    --------
    >>> print(as_markdown("Results", [Table(["method", "accuracy"], [["ABS", Cell(".95", "(3)", bold=True)]])]))
    # Results
    <BLANKLINE>
    | method | accuracy |
    |---|---|
    | ABS | **.95** (3) |
    <BLANKLINE>
    """
    parts = [[f"# {title}"], *(lines for block in blocks if (lines := _lines(block)))]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _lines(block: Block) -> list[str]:
    match block:
        case Heading():
            return [f"{'#' * block.level} {block.text}"]
        case Paragraph():
            return _wrapped(block.text)
        case Commands():
            return [f"    {line}" for line in block.lines]
        case Table():
            return [] if block.page_only else _table(block)
        case Picture():
            return _picture(block)
        case Opening():
            return [*_wrapped(" ".join(block.sentences)), "", *_picture(block.chart)]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


def _picture(picture: Picture) -> list[str]:
    return [f"![{picture.title}](images/{picture.name}.png)"] if picture.name else []


def _table(table: Table) -> list[str]:
    rule = "|" + "---|" * len(table.head)
    return [_row(table.head), rule, *(_row(row) for row in table.rows)]


def _row(row: Row | Sequence[str]) -> str:
    return f"| {' | '.join(_cell(to_cell(value)) for value in row)} |"


def _cell(cell: Cell) -> str:
    plain = cell.text.replace("|", r"\|").replace("<", "&lt;")
    value = f"**{plain}**" if cell.bold else plain
    first = f"{value} {cell.detail}" if cell.detail else value
    text = f"{first}<br>{cell.note}" if cell.note else first
    return f"{text} {cell.sign}" if cell.sign else text
