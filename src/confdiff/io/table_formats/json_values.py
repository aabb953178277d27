"""JSON objects as rows of a table: parse a text, and collect the values of each column."""

import datetime
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from confdiff.io.column_types.value_text import text_of_value

JsonRow = dict[str, Any]

_LEAST_INTEGER = -(2**63)
_GREATEST_INTEGER = 2**63 - 1
_NESTED = "json"  # the field of a nested value


def parse_json(text: str | bytes, position: str) -> Any:
    """Return the value of a JSON text.

    Parameters
    ----------
    text : str or bytes
        The text. Bytes are UTF-8.
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
        return _DECODER.decode(text if isinstance(text, str) else text.decode())
    except RecursionError:
        message = "is nested too deeply"
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 text (byte 0x{text[error.start]:02x})"
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
    """Return JSON values as a pyarrow array of one type.

    Integers of 64 bits, numbers, flags and texts keep their type if all values of the column have it. Otherwise
    the values become their canonical text. NaN is a missing value. If a value is a list or an object, the
    column is a struct, whose field holds the values as JSON: only columns of plain values can be used.

    >>> as_column([1, 2.5, None]).to_pylist()
    [1.0, 2.5, None]
    >>> as_column([1, "a", True]).to_pylist()
    ['1', 'a', 'true']
    """
    import pyarrow

    kinds = set(map(type, values)) - {type(None)}
    if float in kinds:
        values = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    if kinds & {list, dict}:
        return _nested(values)
    if kinds <= {bool}:
        return pyarrow.array(values, pyarrow.bool_() if kinds else pyarrow.null())
    if kinds <= {int, float} and _fit_64_bits(values):
        return pyarrow.array(values, pyarrow.int64() if kinds == {int} else pyarrow.float64())
    if len(kinds) == 1 and kinds <= {datetime.datetime, datetime.timedelta}:
        return pyarrow.array(values)
    texts = values if kinds == {str} else [None if value is None else text_of_value(value) for value in values]
    return pyarrow.array(texts, pyarrow.string())


def _fit_64_bits(values: list[Any]) -> bool:
    integers = [value for value in values if type(value) is int]
    return not integers or (min(integers) >= _LEAST_INTEGER and max(integers) <= _GREATEST_INTEGER)


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
