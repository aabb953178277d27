"""Score files of items that need not fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.io.batches import read_batches, read_column_names, writing_batches
from confdiff.io.table_formats.registry import find_table_format
from confdiff.tabular.features.encoders import Category
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ID, ItemTable


def predict_file(
    model: ComparisonModel,
    items: Path,
    output: Path,
    *,
    id: str | None = None,
    done: Callable[[int], None] | None = None,
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

    Returns
    -------
    int
        The number of items.
    """
    import pyarrow

    count = 0
    with writing_batches(output) as write:
        for ids, probabilities in scored_batches(model, items, id=id):
            columns = {"id": ids, "probability": probabilities, "positive": probabilities >= 0.5}
            write(pyarrow.record_batch({name: pyarrow.array(column) for name, column in columns.items()}))
            count += len(probabilities)
            if done is not None:
                done(count)
        if not count:
            raise ValueError(f"{items} must have at least one row of data; got none.")
    return count


def scored_batches(
    model: ComparisonModel, items: Path, *, id: str | None = None, also: str | None = None
) -> Iterator[tuple[Any, ...]]:
    """Yield (ids, probabilities) of a file in batches; with ``also``, a third entry is that column of the file."""
    names = read_column_names(items)
    types = column_types(model, items, names)
    for argument, name in (("id", id), ("labels", also)):
        if name is not None and name not in names:
            raise ValueError(
                f"no column of {items} is named {name!r} ({argument}={name!r}); the columns are {listed(names)}."
            )
    usual = (name for name in names if name.lower() in ID and name not in types)
    key = id or model.id_name or next(usual, None)
    extra = {name: None for name in (key, also) if name is not None and name not in types}
    start = 0
    for batch in read_batches(items, _with_text_ids(items, types | extra, key)):
        rows = np.arange(start, start + batch.num_rows)
        columns = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in types}
        table = ItemTable(source=TableSource.of_file(items, start), ids=rows, columns=columns)
        scores = (rows if key is None else batch.column(key), score_table(model, table))
        yield scores if also is None else (*scores, batch.column(also).to_numpy(zero_copy_only=False))
        start += batch.num_rows


def _with_text_ids(path: Path, types: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Read ids in text files as text: a type guessed from the first rows may not fit all, and 007 stays 007."""
    import pyarrow

    if key is None or not find_table_format(path).guesses_types or types[key] is not None:
        return types
    return types | {key: pyarrow.string()}


def column_types(model: ComparisonModel, items: Path, names: list[str]) -> dict[str, Any]:
    """Return the columns that a model needs, each with its pyarrow type in a text file.

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
