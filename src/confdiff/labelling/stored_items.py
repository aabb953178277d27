"""Store the items of a study in its database, and read them with their types."""

import json
from collections.abc import Iterator
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, insert, select

from confdiff.labelling.schema import items, studies
from confdiff.tabular.tables import ItemTable

_BATCH = 1000
_MOST_ITEMS = 2**31


def types_of(table: ItemTable) -> dict[str, str]:
    """Return column -> type of the items, with that of the ids first."""
    return {table.id_name: table.types[table.id_name], **{name: table.types[name] for name in table.columns}}


def insert_items(connection: Connection, table: ItemTable) -> None:
    """Insert the items into an empty table."""
    rows = _rows_of(table)
    while values := list(islice(rows, _BATCH)):
        connection.execute(insert(items), values)


def has_items_of(connection: Connection, table: ItemTable) -> bool:
    """Return whether a study has the items of a table, with the same columns and values."""
    if column_types(connection) != types_of(table):
        return False
    stored = connection.execute(select(items).order_by(items.c.number)).mappings()
    return all(row == value for row, value in zip_longest(map(dict, stored), _rows_of(table)))


def _rows_of(table: ItemTable) -> Iterator[dict[str, Any]]:
    columns = [_as_json_values(column) for column in table.columns.values()]
    for row, name in enumerate(table.ids.tolist()):
        yield {"number": row, "id": str(name), "cells": _cells(columns, row)}


def _cells(columns: list[list[Any]], row: int) -> str:
    return json.dumps([column[row] for column in columns])


def _as_json_values(column: NDArray[Any]) -> list[Any]:
    """Return values that JSON can hold; times become text, durations microseconds, and missing values None."""
    if column.dtype.kind == "M":
        texts = np.datetime_as_string(column.astype("datetime64[us]"), unit="us").tolist()
        return [None if text == "NaT" else text for text in texts]
    if column.dtype.kind == "m":
        counts = column.astype("timedelta64[us]")
        return [None if np.isnat(count) else int(count.astype(np.int64)) for count in counts]
    values = [value.item() if isinstance(value, np.generic) else value for value in column.tolist()]
    return [None if isinstance(value, float) and value != value else value for value in values]


def column_types(connection: Connection) -> dict[str, str]:
    """Return column -> type, with that of the ids first."""
    types: dict[str, str] = json.loads(connection.execute(select(studies.c.columns)).scalar_one())
    return types


def item_cells(connection: Connection, number: int) -> dict[str, Any]:
    """Return the values of an item by column, with its id; numbers of JSON, texts and None."""
    query = select(items.c.id, items.c.cells).where(items.c.number == number)
    row = connection.execute(query).first() if 0 <= number < _MOST_ITEMS else None
    if row is None:
        raise IndexError(f"item must be the number of an item; got {number}.")
    names = list(column_types(connection))
    return dict(zip(names, [row.id, *json.loads(row.cells)], strict=True))


def item_names(connection: Connection) -> list[str]:
    """Return the ids of all items as text, in their order."""
    return list(connection.execute(select(items.c.id).order_by(items.c.number)).scalars())


def read_columns(connection: Connection) -> dict[str, NDArray[Any]]:
    """Return the columns of all items with their types, the ids first."""
    types = column_types(connection)
    rows = connection.execute(select(items.c.id, items.c.cells).order_by(items.c.number)).all()
    cells = [[row.id, *json.loads(row.cells)] for row in rows]
    names = list(types)
    return {name: as_typed([row[k] for row in cells], types[name]) for k, name in enumerate(names)}


def as_typed(values: list[Any], type: str) -> NDArray[Any]:
    """Return values of JSON as an array of a type of columns.

    >>> as_typed(["7", "8"], "integer"), as_typed([1.5, None], "number"), as_typed(["a"], "text")
    (array([7, 8]), array([1.5, nan]), array(['a'], dtype=object))
    """
    is_whole = None not in values
    if type == "integer" and is_whole and not any(isinstance(value, float) for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    if type == "number" or (type == "integer" and all(value is None or isinstance(value, float) for value in values)):
        return np.array([np.nan if value is None else float(value) for value in values])
    if type == "flag" and is_whole:
        return np.array(values, dtype=bool)
    if type == "time":
        return np.array(["NaT" if value is None else value for value in values], dtype="datetime64[us]")
    if type == "duration":
        return np.array(["NaT" if value is None else value for value in values], dtype="timedelta64[us]")
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
