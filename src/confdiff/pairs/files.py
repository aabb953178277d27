"""Read pairs from files: a table of items with an id each, and a table of pairs that name two of them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.lookup import first_repeated, rows_of_ids
from confdiff.io.table_formats.registry import table_format_of
from confdiff.io.typed_table import read_table
from confdiff.pairs.pairs import Pairs
from confdiff.validation import as_array, as_tensor, check_difference, check_difference_beside, check_same, check_vector


def companion(path: Path, what: str) -> Path:
    """Return the file that belongs to a file of pairs: ``pairs.parquet`` has its items in ``pairs-items.parquet``.

    >>> companion(Path("a/pairs.csv"), "items")
    PosixPath('a/pairs-items.csv')
    >>> companion(Path("a/pairs.csv.gz"), "items")
    PosixPath('a/pairs-items.csv.gz')
    """
    table_format = table_format_of(path)
    ending = path.name[-len(table_format.ending) :] if table_format is not None else path.suffix
    return path.with_name(f"{path.name.removesuffix(ending)}-{what}{ending}")


def read_pairs(path: Path, items: Path | None = None, *, bounded: bool = True) -> Pairs:
    """Read pairs from a table of pairs and a table of items.

    Parameters
    ----------
    path : Path
        A table with the columns left and right, and with a column difference, same or both; a difference may be
        missing where same has an answer.
    items : Path, optional
        A table with the ids and the features of the items; by default ``pairs-items.parquet`` next to
        ``pairs.parquet``.
    bounded : bool
        Whether differences beyond [-1, 1], which unclipped noise causes, are an error.
    """
    pairs = with_columns(path, "left", "right")
    if "same" not in pairs:
        _check_columns(path, pairs, "difference")
    if items is None:
        items = companion(path, "items")
        if not items.exists():
            raise FileNotFoundError(
                f"the items of {path} must be in {items}, which does not exist. "
                "For two tables of your own use `confdiff check`."
            )
    features = with_columns(items, "id")
    ids = features.pop("id")
    if not features:
        raise ValueError(f"{items} must have at least one feature besides the column 'id'.")
    columns = [_feature(items, name, column) for name, column in features.items()]
    left, right = (rows_in_table(items, ids, pairs[side], f"{path}, column {side!r}") for side in ("left", "right"))
    graded = Pairs(np.stack(columns, axis=1), left, right, feature_names=tuple(features))
    if "same" in pairs:
        return _with_answers(graded, path, pairs.get("difference"), pairs["same"])
    c = check_vector(f"{path}, column 'difference',", pairs["difference"])
    return graded.with_difference(as_tensor(check_difference(c) if bounded else c.astype(np.float32)))


def _with_answers(pairs: Pairs, path: Path, difference: NDArray[Any] | None, same: NDArray[Any]) -> Pairs:
    """Return pairs with checked same-class answers and, unless there are none, differences."""
    answers = check_same(same, len(pairs), name=f"{path}, column 'same',")
    if difference is None:
        return pairs.with_same(answers)
    c = check_difference_beside(difference, answers, name=f"{path}, column 'difference',")
    return pairs.with_same(answers).with_difference(as_tensor(c))


def rows_in_table(table: Path, ids: NDArray[Any], wanted: NDArray[Any], name: str) -> NDArray[np.int64]:
    """Return the rows of ids in a table, whose own ids must be complete and differ.

    Parameters
    ----------
    table : Path
        The file that holds ``ids`` in its column ``id``.
    ids, wanted, name :
        As in :func:`~confdiff.io.lookup.rows_of_ids`.
    """
    for column_name, column in ((f"{table}, column 'id'", ids), (name, wanted)):
        missing = [row for row, value in enumerate(column.tolist()) if value is None or value != value]
        if missing:
            raise ValueError(f"{column_name}: an id is missing in row {missing[0]}.")
    repeated = first_repeated(ids, name=f"{table}, column 'id'")
    if repeated is not None:
        raise ValueError(f"{table}: the ids must differ; the id {ids[repeated]} occurs more than once.")
    return rows_of_ids(ids, wanted, name=name)


def with_columns(path: Path, *needed: str) -> dict[str, NDArray[Any]]:
    """Read a table, which must have the needed columns and at least one row."""
    table = read_table(path)
    _check_columns(path, table, *needed)
    if not len(table[needed[0]]):
        raise ValueError(f"{path} must have at least one row below its header.")
    return table


def _check_columns(path: Path, table: dict[str, NDArray[Any]], *needed: str) -> None:
    missing = [name for name in needed if name not in table]
    if missing:
        names = ", ".join(list(table)[:8]) + (" ..." if len(table) > 8 else "")
        raise ValueError(f"{path} must have a column {missing[0]!r}; it has {names or 'none'}.")


def _feature(path: Path, name: str, column: NDArray[Any]) -> NDArray[Any]:
    place = f"{path}, column {name!r},"
    return check_vector(place, as_array(place, column), of="item")
