"""Export a study: the tables of items and pairs that ``confdiff check`` and ``confdiff fit`` read without flags."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, exists, select

from confdiff.labelling.schema import annotators, answers, assignments, judge_requests
from confdiff.labelling.stored_items import as_typed, column_types, item_names
from confdiff.tabular.tables import Columns
from confdiff.validation import check_choice

EXPORT_FORMATS = ("csv", "parquet", "jsonl")
"""Formats of exported tables."""


def answer_columns(connection: Connection, *, superseded: bool = False) -> Columns:
    """Return the answers in the order in which they were given, as columns.

    Parameters
    ----------
    connection : Connection
        Inside a transaction.
    superseded : bool
        Whether to add answers that were taken back, and a column of that name.
    """
    later = answers.alias("later")
    is_superseded = exists().where(later.c.supersedes == answers.c.id)
    query = (
        select(answers, assignments, annotators.c.name.label("annotator_name"), is_superseded.label("superseded"))
        .join(assignments, answers.c.assignment == assignments.c.id)
        .join(annotators, assignments.c.annotator == annotators.c.id)
        .where(answers.c.is_undo.is_(False))
        .order_by(answers.c.id)
    )
    rows = connection.execute(query if superseded else query.where(~is_superseded)).all()
    names = item_names(connection)
    columns: Columns = {
        "left": _objects([names[row.left] for row in rows]),
        "right": _objects([names[row.right] for row in rows]),
        "difference": _floats([_difference(row) for row in rows]),
        "same": _floats([row.same for row in rows]),
        "annotator": _objects([row.annotator_name for row in rows]),
        "shown_first": _objects([names[row.shown_left] for row in rows]),
        "time": _times([row.at for row in rows]),
        "seconds": _floats([row.seconds for row in rows]),
        "kind": _objects([row.kind for row in rows]),
        "reason": _objects([row.reason for row in rows]),
        "note": _objects([row.note for row in rows]),
        "client_id": _objects([row.client_id for row in rows]),
    }
    if superseded:
        columns["superseded"] = np.array([bool(row.superseded) for row in rows], dtype=bool)
    return columns


def reply_columns(connection: Connection) -> Columns:
    """Return the requests to LLM judges and their raw replies as columns, in the order of sending."""
    query = (
        select(judge_requests, assignments, annotators.c.name.label("annotator_name"))
        .join(assignments, judge_requests.c.assignment == assignments.c.id)
        .join(annotators, judge_requests.c.annotator == annotators.c.id)
        .order_by(judge_requests.c.id)
    )
    rows = connection.execute(query).all()
    names = item_names(connection)
    return {
        "left": _objects([names[row.left] for row in rows]),
        "right": _objects([names[row.right] for row in rows]),
        "annotator": _objects([row.annotator_name for row in rows]),
        "shown_first": _objects([names[row.shown_left] for row in rows]),
        "time": _times([row.sent_at for row in rows]),
        "outcome": _objects([row.outcome or "lost" for row in rows]),
        "status": _floats([row.status for row in rows]),
        "tokens": np.array([row.tokens for row in rows], dtype=np.int64),
        "reply": _objects([row.reply or "" for row in rows]),
    }


def _difference(row: Any) -> float | None:
    """Return right minus left of the stored pair, from a grade on the screen."""
    if row.grade is None:
        return None
    return float(row.grade if row.shown_left == row.left else -row.grade) + 0.0


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _floats(values: list[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _times(values: list[float]) -> NDArray[Any]:
    microseconds = np.array([round(value * 1e6) for value in values], dtype=np.int64)
    return microseconds.view("datetime64[us]") if len(values) else np.array([], dtype="datetime64[us]")


def pair_columns(columns: Columns, id_type: str) -> Columns:
    """Return the columns of the answers as the table of pairs; ids get their type, and empty columns are left out."""
    pairs = dict(columns)
    for name in ("left", "right", "shown_first"):
        pairs[name] = as_typed(columns[name].tolist(), id_type)
    for name in ("same", "reason", "note"):
        if _is_empty(columns[name]):
            del pairs[name]
    return pairs


def _is_empty(column: NDArray[Any]) -> bool:
    return all(value is None or value != value for value in column.tolist())


def select_rows(columns: Columns, rows: NDArray[np.bool_]) -> Columns:
    """Return some rows of columns."""
    return {name: column[rows] for name, column in columns.items()}


def is_judged(columns: Columns) -> NDArray[np.bool_]:
    """Return a mask of the answers that carry a difference or a same-class answer."""
    judged: NDArray[np.bool_] = ~(np.isnan(columns["difference"]) & np.isnan(columns["same"]))
    return judged


def export_tables(
    tables: dict[str, Columns],
    folder: Path,
    *,
    format: str,
    escape: bool,
    overwrite: bool,
) -> list[Path]:
    """Write tables to a folder, all of them or none, and return their paths."""
    from confdiff.io.atomic import atomic_files
    from confdiff.io.outputs import check_new_files
    from confdiff.io.tables import write_table

    check_choice("format", format, EXPORT_FORMATS)
    files = {name: folder / f"{name}.{format}" for name in tables}
    check_new_files(files, overwrite=overwrite)
    with atomic_files(files) as temporary:
        for name, columns in tables.items():
            write_table(temporary[name], columns, escape=escape)
    return list(files.values())


def id_type_of(connection: Connection) -> str:
    """Return the type of the ids."""
    return next(iter(column_types(connection).values()))
