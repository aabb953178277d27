"""Tables in files: Parquet, CSV or TSV by the ending of the name, written whole or not at all."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs
from confdiff.storage import replacing
from confdiff.validation import as_array, as_tensor, check_difference, check_vector

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


def read_table(path: Path, columns: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """The columns of a table, or those that are named."""
    import pyarrow
    from pyarrow import csv, parquet

    ending = check_table_name(path).suffix.lower()
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a table.")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    try:
        if ending == ".parquet":
            table = parquet.read_table(path, columns=columns)
        else:
            table = csv.read_csv(
                path,
                parse_options=csv.ParseOptions(delimiter=_DELIMITERS[ending]),
                convert_options=csv.ConvertOptions(include_columns=columns),
            )
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} cannot be read as a table: {error}") from error
    twice = [name for name, count in Counter(table.column_names).items() if count > 1]
    if twice:
        raise ValueError(f"the columns of {path} must have different names; {twice[0]!r} stands there more than once.")
    return {name: table[name].to_numpy() for name in table.column_names}


def companion(path: Path, what: str) -> Path:
    """The file that belongs to a file of pairs: ``pairs.parquet`` has its items in ``pairs-items.parquet``.

    >>> companion(Path("a/pairs.csv"), "items")
    PosixPath('a/pairs-items.csv')
    """
    return path.with_name(f"{path.stem}-{what}{path.suffix}")


def read_pairs(path: Path, items: Path | None = None, *, bounded: bool = True) -> Pairs:
    """Pairs from a table with columns left, right and difference, and a table of items with their id and features.

    items: ``pairs-items.parquet`` beside ``pairs.parquet``, if none is given.
    bounded: whether differences beyond [-1, 1], which unclipped noise gives, are an error.
    """
    items = items or companion(path, "items")
    pairs, features = with_columns(path, "left", "right", "difference"), with_columns(items, "id")
    ids = features.pop("id")
    if not features:
        raise ValueError(f"{items} must have at least one feature beside the column 'id'.")
    columns = [_feature(items, name, column) for name, column in features.items()]
    left, right = (rows_of(ids, pairs[side], f"{path}, column {side!r}", items) for side in ("left", "right"))
    graded = Pairs(np.stack(columns, axis=1), left, right, feature_names=tuple(features))
    c = check_vector(f"{path}, column 'difference',", pairs["difference"])
    return graded.with_difference(as_tensor(check_difference(c) if bounded else c.astype(np.float32)))


def with_columns(path: Path, *needed: str) -> dict[str, NDArray[Any]]:
    """The columns of a table that has at least these, and at least one row."""
    table = read_table(path)
    missing = [name for name in needed if name not in table]
    if missing:
        there = ", ".join(list(table)[:8]) + (" ..." if len(table) > 8 else "")
        raise ValueError(f"{path} must have a column {missing[0]!r}; it has {there or 'none'}.")
    if not len(table[needed[0]]):
        raise ValueError(f"{path} must have at least one row below its header.")
    return table


def rows_of(ids: NDArray[Any], wanted: NDArray[Any], what: str, where: Path) -> NDArray[Any]:
    """The places of ``wanted`` among ``ids``, which stand in the file ``where`` and must differ."""
    for name, column in ((f"{where}, column 'id'", ids), (what, wanted)):
        empty = [row for row, value in enumerate(column.tolist()) if value is None or value != value]
        if empty:
            raise ValueError(f"{name}: an id is missing in row {empty[0]}.")
    if (ids.dtype.kind in "iuf") != (wanted.dtype.kind in "iuf"):
        raise ValueError(f"{what} and the ids in {where} must both be numbers or both text.")
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if len(twice):
        raise ValueError(f"{where}: the ids must differ; the id {ids[order][twice[0]]} stands there more than once.")
    places = np.searchsorted(ids[order], wanted).clip(max=len(ids) - 1)
    unknown = np.flatnonzero(ids[order][places] != wanted)
    if len(unknown):
        row = int(unknown[0])
        raise ValueError(f"{what}: the id {wanted[row]} in row {row} is not among the items.")
    rows: NDArray[Any] = order[places]
    return rows


def _feature(path: Path, name: str, column: NDArray[Any]) -> NDArray[Any]:
    what = f"{path}, column {name!r},"
    return check_vector(what, as_array(what, column), of="item")
