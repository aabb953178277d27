"""Scores for files of items that need not fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.batches import column_names, read_batches, writing_batches
from confdiff.tabular.features.encoders import Category
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.sources import Source
from confdiff.tabular.tables import ID, ItemTable


def predict_file(
    model: ComparisonModel,
    items: Path,
    output: Path,
    *,
    id: str | None = None,
    done: Callable[[int], None] | None = None,
) -> int:
    """Write id, probability and whether that is at least one half for each item of a file. Returns: how many.

    id: the column of the ids; if not given one that is called so, or row numbers where there is none.
    done: called with the number of items after each batch.
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
            raise ValueError(f"{items} must have at least one row below its header.")
    return count


def scored_batches(
    model: ComparisonModel, items: Path, *, id: str | None = None, also: str | None = None
) -> Iterator[tuple[Any, ...]]:
    """(ids, probabilities) of a file, a batch after the other; with ``also`` a further column of the file."""
    there = column_names(items)
    types = column_types(model, items, there)
    for named in (id, also):
        if named is not None and named not in there:
            raise ValueError(f"{items} has no column {named!r}; it has {', '.join(there[:8])}.")
    usual = (name for name in there if name.lower() in ID and name not in types)
    key = id or model.id_name or next(usual, None)
    wanted = dict(types) | {name: None for name in (key, also) if name is not None and name not in types}
    start = 0
    for batch in read_batches(items, _text_ids(items, wanted, key)):
        columns = {name: batch.column(name).to_numpy(zero_copy_only=False) for name in types}
        ids = batch.column(key) if key is not None else np.arange(start, start + batch.num_rows)
        table = ItemTable(Source.of_file(items, start), np.arange(start, start + batch.num_rows), columns)
        found = (ids, probabilities_of(model, table))
        yield found if also is None else (*found, batch.column(also).to_numpy(zero_copy_only=False))
        start += batch.num_rows


def _text_ids(path: Path, types: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Ids in text files are text: a guess from the first rows may not hold for all, and 007 stays 007."""
    import pyarrow

    if key is None or path.suffix.lower() in (".parquet", ".jsonl") or types[key] is not None:
        return types
    return types | {key: pyarrow.string()}


def column_types(model: ComparisonModel, items: Path, there: list[str]) -> dict[str, Any]:
    """The columns that a model needs, each with the type that it has in a text file."""
    import pyarrow

    of_kind = {
        "number": pyarrow.float64(),
        "flag": pyarrow.bool_(),
        "time": pyarrow.timestamp("us"),
        "category": pyarrow.string(),
        "text": pyarrow.string(),
    }
    needed = {name: of_kind[model.features.kinds_[name]] for name in model.features.feature_names_in_}
    if model.id_name is not None and _counted(model):
        needed[model.id_name] = pyarrow.int64()  # so that 007 is 7, as in training
    missing = [name for name in needed if name not in there]
    if missing:
        listed = ", ".join(map(repr, missing[:5])) + (" ..." if len(missing) > 5 else "")
        has = ", ".join(there[:8]) + (" ..." if len(there) > 8 else "")
        raise ValueError(f"{items} must have the columns of training; {listed} not there. It has {has}.")
    return needed


def _counted(model: ComparisonModel) -> bool:
    """Whether the ids that a model knows are whole numbers."""
    learned = (encoder for encoder in model.features.encoders_ if isinstance(encoder, Category))
    (known,) = (category.values for category in learned if category.columns == (model.id_name,))
    return all(value.isdecimal() and str(int(value)) == value for value in known)


def probabilities_of(model: ComparisonModel, table: ItemTable) -> NDArray[np.float32]:
    """The probabilities of the positive class of the items of a table."""
    needed = {str(name): table.columns[name] for name in model.features.feature_names_in_}
    encoded = model.features.transform(replace(table, columns=needed))
    p: NDArray[np.float32] = model.classifier.predict_proba(encoded)[:, 1]
    return p
