"""Score files of items that need not fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.io.batches import read_batches, read_column_names, writing_batches
from confdiff.io.outputs import check_new_file
from confdiff.io.table_formats.registry import find_table_format
from confdiff.tabular.features.encoders import Category
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ID, ItemTable, check_column
from confdiff.threads import follow_policy


@follow_policy
def predict_file(
    model: ComparisonModel,
    items: Path,
    output: Path,
    *,
    id: str | None = None,
    done: Callable[[int], None] | None = None,
    overwrite: bool = False,
) -> int:
    """Write a table with the id, the probability and the class of each item of a file.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    output : Path
        The table to write: ``id``, ``probability``, and ``positive`` (whether that is at least one half).
    id : str, optional
        The column of ids; a column with a usual name if not given, or row numbers if there is none.
    done : callable, optional
        Called with the number of items after each batch.
    overwrite : bool
        Replace a table that already exists.

    Returns
    -------
    int
        The number of items.
    """
    import pyarrow

    check_new_file(output, inputs=[items], overwrite=overwrite)
    count = 0
    with writing_batches(output) as write:
        for batch in scored_batches(model, items, id=id):
            columns = {
                "id": batch.ids,
                "probability": batch.probabilities,
                "positive": batch.probabilities >= 0.5,
            }
            write(pyarrow.record_batch({name: pyarrow.array(column) for name, column in columns.items()}))
            count += len(batch.probabilities)
            if done is not None:
                done(count)
    return count


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Consecutive items of a file with their probabilities.

    Attributes
    ----------
    ids : (b,) pyarrow array, or array of row numbers
        The ids of the items.
    probabilities : (b,) array
        The probabilities of the positive class.
    labels : (b,) array or None
        The column of labels as it is in the file, if one was asked for.
    """

    ids: Any
    probabilities: NDArray[np.float32]
    labels: Any = None


def scored_batches(
    model: ComparisonModel, items: Path, *, id: str | None = None, label_column: str | None = None
) -> Iterator[ScoredBatch]:
    """Score a file in batches.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    id : str, optional
        The column of ids, see :func:`predict_file`.
    label_column : str, optional
        A column to return with the scores.

    Raises
    ------
    ValueError
        If a column is missing, or the file has no rows.
    """
    names = read_column_names(items)
    feature_types = column_types(model, items, names)
    for argument, name in (("id", id), ("labels", label_column)):
        if name is not None:
            check_column(items, names, name, argument)
    id_column = id or find_id_column(model, names)
    start = 0
    for batch in read_batches(items, _types_to_read(items, feature_types, id_column, label_column)):
        rows = np.arange(start, start + batch.num_rows)
        columns = {name: _as_array(batch, name) for name in feature_types}
        table = ItemTable(source=TableSource.of_file(items, start), ids=rows, columns=columns)
        yield ScoredBatch(
            ids=rows if id_column is None else batch.column(id_column),
            probabilities=score_table(model, table),
            labels=None if label_column is None else _as_array(batch, label_column),
        )
        start += batch.num_rows
    if not start:
        raise ValueError(f"{items} must have at least one row of data; got none.")


def find_id_column(model: ComparisonModel, names: list[str]) -> str | None:
    """Return the id column of the model, else the first column with a usual name for ids that is not a feature."""
    features = model.features.feature_names_in_
    return model.id_name or next((name for name in names if name.lower() in ID and name not in features), None)


def _types_to_read(
    items: Path, feature_types: dict[str, Any], id_column: str | None, label_column: str | None
) -> dict[str, Any]:
    """Return each column to read with its pyarrow type; features that serve as ids or labels keep their type."""
    types = dict(feature_types)
    if id_column is not None:
        types.setdefault(id_column, _id_type(items))
    if label_column is not None:
        types.setdefault(label_column, None)
    return types


def _id_type(items: Path) -> Any:
    """Return the pyarrow type of ids: text if the format guesses types, so that 007 stays 007; otherwise None."""
    import pyarrow

    return pyarrow.string() if find_table_format(items).guesses_types else None


def _as_array(batch: Any, name: str) -> NDArray[Any]:
    column: NDArray[Any] = batch.column(name).to_numpy(zero_copy_only=False)
    return column


def column_types(model: ComparisonModel, items: Path, names: list[str]) -> dict[str, Any]:
    """Return the pyarrow type of each column that a model needs.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        The file, for messages.
    names : list of str
        The columns of the file.

    Raises
    ------
    ValueError
        A column is missing.
    """
    import pyarrow

    type_of_kind = {
        "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("us"),
        "category": pyarrow.string(),
        "text": pyarrow.string(),
    }
    types = {name: type_of_kind[model.features.kinds_[name]] for name in model.features.feature_names_in_}
    if model.id_name is not None and _has_integer_ids(model):
        types[model.id_name] = pyarrow.int64()  # 007 is 7, as in training
    missing = [name for name in types if name not in names]
    if missing:
        raise ValueError(
            f"{items} must have the training columns; missing: {listed(map(repr, missing))}. "
            f"The columns are {listed(names)}."
        )
    return types


def _has_integer_ids(model: ComparisonModel) -> bool:
    """Return whether the ids that are a feature of the model are integers."""
    categories = (encoder for encoder in model.features.encoders_ if isinstance(encoder, Category))
    (ids,) = (category.values for category in categories if category.columns == (model.id_name,))
    return all(value.isdecimal() and str(int(value)) == value for value in ids)


def score_table(model: ComparisonModel, table: ItemTable) -> NDArray[np.float32]:
    """Return the probability of the positive class for each item of a table. Shape: (N,)."""
    columns = {str(name): table.columns[name] for name in model.features.feature_names_in_}
    encoded = model.features.transform(replace(table, columns=columns))
    p: NDArray[np.float32] = model.classifier.predict_proba(encoded)[:, 1]
    return p
