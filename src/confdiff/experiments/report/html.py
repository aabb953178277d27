"""Render blocks as one HTML page that needs no other file."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from confdiff.display.html import as_data_uri, as_svg, environment
from confdiff.experiments.report.blocks import Block, Cell, Row, Table, to_cell

if TYPE_CHECKING:
    from markupsafe import Markup

_PACKAGE = "confdiff.experiments.report"
_LONG = 30  # characters


def as_html(title: str, lead: str, blocks: Iterable[Block]) -> str:
    """Return a page with a title, a line below it, a list of contents (after an opening), and these blocks.

    Figures are embedded in the page; headings with a ``link`` are in the list of contents.
    """
    templates = environment(_PACKAGE)
    templates.filters |= {
        "to_cell": to_cell,
        "as_data_uri": lambda picture: as_data_uri(picture.draw()),
        "as_svg": lambda picture: as_svg(picture.draw()),
        "kind": lambda block: type(block).__name__,
        "with_code": _with_code,
        "classes": _classes,
        "with_groups": _with_groups,
    }
    return templates.get_template("report.html").render(title=title, lead=lead, blocks=list(blocks))


def _with_code(text: str) -> "Markup":
    """Escape a text, and set words in backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _classes(cell: Cell) -> str:
    """Return the classes of a cell: its shade, and whether it is long, so that its lines may be wrapped."""
    is_long = len(cell.text) + len(cell.detail) > _LONG
    return " ".join(name for name in (cell.shade, "long" if is_long else "") if name)


def _with_groups(table: Table) -> list[tuple[bool, bool, Row]]:
    """Return each row with whether it begins a group, and whether its group columns are shown."""
    rows = []
    previous: list[str | Cell] = []
    for row in table.rows:
        group = list(row[: table.group_columns])
        begins = bool(table.group_columns) and group != previous
        rows.append((begins, begins or not table.group_columns, row))
        previous = group
    return rows
