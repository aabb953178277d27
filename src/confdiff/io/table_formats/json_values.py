"""JSON objects as rows of a table: parse a text, and collect the values of each column."""

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from confdiff.io.vectors import as_vectors

JsonRow = dict[str, Any]

_NESTED = "json"  # the field of a nested value


def parse_json(text: str, position: str) -> Any:
    """Return the value of a JSON text.

    Parameters
    ----------
    text : str
        The text.
    position : str
        Name of the text in messages, such as ``"items.jsonl, line 3,"``.

    Raises
    ------
    ValueError
        If the text is not JSON, repeats a key, or is nested too deeply.

    Examples
    --------
    >>> parse_json('{"id": 7}', "items.json")
    {'id': 7}
    """
    try:
        return _DECODER.decode(text)
    except RecursionError:
        message = "is nested too deeply"
    except ValueError as error:
        message = f"is not valid JSON: {error}"
    raise ValueError(f"{position} {message}.")


def check_is_object(value: Any, position: str) -> JsonRow:
    """Check that the value of a row is a JSON object, and return it."""
    if not isinstance(value, dict):
        raise ValueError(f'{position} must be a JSON object, such as {{"id": 7, "size": 2.5}}; got {value!r:.60}.')
    return value


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> JsonRow:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated!r} is repeated")
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeated_keys)


def names_of(rows: Iterable[JsonRow]) -> list[str]:
    """Return the keys of all rows, in the order of their first occurrence.

    >>> names_of([{"id": 1}, {"size": 2, "id": 3}])
    ['id', 'size']
    """
    names: dict[str, None] = {}
    keys: Any = None
    for row in rows:
        if row.keys() != keys:
            keys = row.keys()
            names.update(dict.fromkeys(keys))
    return list(names)


def as_batch(path: Path, rows: Sequence[JsonRow], names: Sequence[str]) -> Any:
    """Return columns of the rows as a ``pyarrow.RecordBatch``; a key that a row lacks is a missing value."""
    import pyarrow

    columns = [_named_column(path, rows, name) for name in names]
    return pyarrow.record_batch(columns, names=list(names))


def _named_column(path: Path, rows: Sequence[JsonRow], name: str) -> Any:
    try:
        return as_column([row.get(name) for row in rows])
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{path}, column {name!r}, contains a lone surrogate, which cannot be written as UTF-8; got "
            f"{error.object!r:.60}."
        ) from error


def as_column(values: list[Any]) -> Any:
    """Return values as a pyarrow array of their common type, else of their canonical texts.

    NaN is a missing value. Lists of numbers of one length are vectors. If another value is a list or an object, the
    column is a struct whose field holds the values as JSON, and cannot be used.

    >>> as_column([1, 2.5, None]).to_pylist(), as_column([[1, 2.5], None]).to_pylist()
    ([1.0, 2.5, None], [[1.0, 2.5], None])
    >>> as_column([1, "a", True]).to_pylist()
    ['1', 'a', 'true']
    """
    import pyarrow

    from confdiff.io.column_types.objects import from_objects

    kinds = set(map(type, values)) - {type(None)}
    if kinds & {list, dict}:
        vectors = as_vectors(values)
        return _nested(values) if vectors is values else vectors
    if kinds == {str}:
        return pyarrow.array(values, pyarrow.string())
    if kinds == {float}:
        return pyarrow.array(values, pyarrow.float64(), from_pandas=True)
    pyarrow.array([value for value in values if isinstance(value, str)], pyarrow.string())  # can be written as UTF-8
    return from_objects(values)


def _nested(values: list[Any]) -> Any:
    import pyarrow

    cells = [None if value is None else {_NESTED: json.dumps(value)} for value in values]
    return pyarrow.array(cells, pyarrow.struct([(_NESTED, pyarrow.string())]))


def as_json(row: JsonRow) -> str:
    """Return a row of a table as JSON text on one line; NaN, which JSON lacks, is written as null.

    >>> as_json({"id": "é", "p": float("nan")})
    '{"id": "é", "p": null}'
    """
    values = {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
    return json.dumps(values, ensure_ascii=False, default=str)
