"""An assignment as the page shows it: two items with their cells, and nothing that could sway the judge.

A view has no item ids, no kind of the question, no scores and no answers of others. It has the items in the order of
the screen.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from confdiff.labelling.app.markdown import markdown_html
from confdiff.labelling.checking import shown_columns

if TYPE_CHECKING:
    from confdiff.labelling.assigning import Assignment
    from confdiff.labelling.study import Study

ItemCell = dict[str, str]
"""One value of an item: its column, its kind, and its ``text``, ``html`` or ``src``."""


def assignment_view(study: "Study", assignment: "Assignment") -> dict[str, Any]:
    """Return an assignment as JSON for the page."""
    shown_right = assignment.right if assignment.shown_left == assignment.left else assignment.left
    return {
        "id": assignment.id,
        "question": assignment.question,
        "left": item_view(study, assignment.shown_left),
        "right": item_view(study, shown_right),
    }


def item_view(study: "Study", number: int) -> dict[str, list[ItemCell]]:
    """Return the cells of an item that the study shows.

    Parameters
    ----------
    study : Study
        The study.
    number : int
        Row of the item, counted from 0.
    """
    item = study.item(number)
    columns = enumerate(columns_of(study))
    return {"cells": [_cell(column, kind, item, f"media/{number}/{k}") for k, (column, kind) in columns]}


def columns_of(study: "Study") -> list[tuple[str, str]]:
    """Return the columns that a study shows, each with its kind."""
    names = shown_columns(study.settings, study.columns, study.id_column)
    return [(name, study.settings.kinds.get(name, "text")) for name in names]


def training_views(study: "Study") -> list[dict[str, Any]]:
    """Return the examples of the training round, each with its expected answer from -1 (left) to +1 (right)."""
    examples = study.settings.examples
    numbers = {name: number for number, name in enumerate(study.item_ids())} if examples else {}
    return [
        {
            "question": "difference",
            "left": item_view(study, numbers[left]),
            "right": item_view(study, numbers[right]),
            "expected": expected,
        }
        for left, right, expected in examples
    ]


def _cell(column: str, kind: str, item: Mapping[str, Any], address: str) -> ItemCell:
    text = cell_text(item.get(column))
    cell = {"column": column, "kind": kind}
    if not text:
        return cell | {"kind": "text", "text": ""}
    if kind in ("image", "audio"):
        return cell | {"src": address}
    if kind == "markdown":
        return cell | {"html": str(markdown_html(text)), "text": text}
    return cell | {"text": text}


def cell_text(value: object) -> str:
    """Return a value of a table as text: numbers without needless digits, missing ones empty.

    >>> [cell_text(value) for value in (None, float("nan"), 3.0, 0.1 + 0.2, True, " a ")]
    ['', '', '3', '0.3', 'yes', 'a']
    """
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(value).strip()
