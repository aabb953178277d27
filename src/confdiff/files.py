"""Tables in files: Parquet, CSV or TSV by the ending of the name, written whole or not at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs
from confdiff.storage import replacing
from confdiff.validation import as_array

TABLES = (".parquet", ".csv", ".tsv")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_table_name(path: Path) -> Path:
    """A path whose ending says how the table in it is written."""
    if path.suffix.lower() not in TABLES:
        raise ValueError(f"the name of a table must end in {', '.join(TABLES)}; got {path.name!r}.")
    return path


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of one length."""
    import pyarrow
    from pyarrow import csv, parquet

    table = pyarrow.table({name: pyarrow.array(np.asarray(column)) for name, column in columns.items()})
    ending = check_table_name(path).suffix.lower()
    with replacing(path) as temporary:
        if ending == ".parquet":
            parquet.write_table(table, temporary)
        else:
            csv.write_csv(table, temporary, csv.WriteOptions(delimiter=_DELIMITERS[ending]))


def read_table(path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a table."""
    import pyarrow
    from pyarrow import csv, parquet

    ending = check_table_name(path).suffix.lower()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    try:
        if ending == ".parquet":
            table = parquet.read_table(path)
        else:
            table = csv.read_csv(path, parse_options=csv.ParseOptions(delimiter=_DELIMITERS[ending]))
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    return {name: table[name].to_numpy() for name in table.column_names}


def companion(path: Path, what: str) -> Path:
    """The file that belongs to a file of pairs: ``pairs.parquet`` has its items in ``pairs-items.parquet``.

    >>> companion(Path("a/pairs.csv"), "items")
    PosixPath('a/pairs-items.csv')
    """
    return path.with_name(f"{path.stem}-{what}{path.suffix}")


def read_pairs(path: Path, items: Path | None = None) -> Pairs:
    """Pairs from a table with columns left, right and difference, and a table of items with their id and features.

    items: ``pairs-items.parquet`` beside ``pairs.parquet``, if none is given.
    """
    pairs = _with_columns(path, "left", "right", "difference")
    items = items or companion(path, "items")
    features = _with_columns(items, "id")
    ids = features.pop("id")
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if len(twice):
        raise ValueError(f"{items}: the ids must differ; the id {ids[order][twice[0]]} stands there more than once.")
    left, right = (_rows_of(ids[order], order, pairs[side], f"{path}, column {side!r}") for side in ("left", "right"))
    columns = [as_array(f"{items}, column {name!r},", column) for name, column in features.items()]
    return Pairs(np.stack(columns, axis=1), left, right, pairs["difference"], feature_names=tuple(features))


def _with_columns(path: Path, *needed: str) -> dict[str, NDArray[Any]]:
    table = read_table(path)
    missing = [name for name in needed if name not in table]
    if missing:
        raise ValueError(f"{path} must have a column {missing[0]!r}; it has {', '.join(table) or 'none'}.")
    return table


def _rows_of(sorted_ids: NDArray[Any], order: NDArray[Any], ids: NDArray[Any], what: str) -> NDArray[Any]:
    places = np.searchsorted(sorted_ids, ids).clip(max=len(sorted_ids) - 1)
    unknown = np.flatnonzero(sorted_ids[places] != ids)
    if len(unknown):
        row = int(unknown[0])
        raise ValueError(f"{what}: the id {ids[row]} in row {row} is not among the items.")
    rows: NDArray[Any] = order[places]
    return rows
