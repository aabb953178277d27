"""Score files of items that need not fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.config import Config
from confdiff.display.text import listed
from confdiff.io.batches import read_batches, read_column_names, writing_batches
from confdiff.io.outputs import check_new_file
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.roles import check_column, recognised
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ItemTable
from confdiff.threads import follow_policy


@follow_policy
@takes_encoding
def predict_file(
    model: ComparisonModel,
    items: Path,
    output: Path,
    *,
    id: str | None = None,
    done: Callable[[int], None] | None = None,
    overwrite: bool = False,
    encoding: str | None = None,
    escape: bool = True,
) -> int:
    """Write a table with the id, the probability and the class of each item of a file.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    output : Path
        The table to write: ``id``, ``probability``, and ``positive`` (whether that is at least one half). If the items
        have no column of ids, the first column is ``row``, the number of the row from 0, instead of ``id``.
    id : str, optional
        The column of ids; by default the one that the model was fitted with, see :func:`find_id_column`.
    done : callable, optional
        Called with the number of items after each batch.
    overwrite : bool
        Replace a table that already exists.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.
    escape : bool
        Whether to escape ids that a spreadsheet program would run as formulas, in CSV and TSV.

    Returns
    -------
    int
        The number of items.
    """
    import pyarrow

    check_new_file(output, inputs=[items], overwrite=overwrite)
    id_column = id or find_id_column(model, read_column_names(items))
    count = 0
    with writing_batches(output, escape=escape) as write:
        for batch in scored_batches(model, items, id=id):
            columns = {
                "row" if id_column is None else "id": batch.ids,
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
    labels : (b,) pyarrow array or None
        The column of labels as written, if one was asked for.
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
    for argument, name in (("id", id), ("labels", label_column)):
        if name is not None:
            check_column(items, names, name, argument)
    id_column = id or find_id_column(model, names)
    features = _columns_of_features(model, items, names, id_column)
    others = [name for name in (id_column, label_column) if name is not None]
    start = 0
    for batch in read_batches(items, list(dict.fromkeys([*features.values(), *others]))):
        rows = np.arange(start, start + batch.num_rows)
        columns = {name: batch.column(column) for name, column in features.items()}
        table = ItemTable(source=TableSource.of_file(items, start), ids=rows, columns=columns)
        yield ScoredBatch(
            ids=rows if id_column is None else batch.column(id_column),
            probabilities=score_table(model, table),
            labels=None if label_column is None else batch.column(label_column),
        )
        start += batch.num_rows
    if not start:
        raise ValueError(f"{items} must have at least one row of data; got none.")


def find_id_column(model: ComparisonModel, names: list[str], *, config: Config | None = None) -> str | None:
    """Return the column of ids that a configuration names, else that of the model, ignoring case and blanks, or None.

    >>> from types import SimpleNamespace
    >>> find_id_column(SimpleNamespace(id_name="sku"), ["name", " SKU "])
    ' SKU '
    """
    first = None if config is None else config.id
    return recognised(names, (model.id_name,) if first is None else (first, model.id_name))


def _columns_of_features(
    model: ComparisonModel, items: Path, names: list[str], id_column: str | None
) -> dict[str, str]:
    """Check that a file has the training columns of a model, and return each with its name in the file.

    Only the ids, where they are a feature, may have another name.
    """
    features = {str(name): str(name) for name in model.features.feature_names_in_}
    if model.knows_ids and id_column is not None:
        features[model.id_name] = id_column
    missing = [name for name in features.values() if name not in names]
    if missing:
        raise ValueError(
            f"{items} must have the training columns; missing: {listed(map(repr, missing))}. "
            f"The columns are {listed(names)}."
        )
    return features


def score_table(model: ComparisonModel, table: ItemTable) -> NDArray[np.float32]:
    """Return the probability of the positive class for each item of a table. Shape: (N,)."""
    encoded = model.features.transform(table)
    p: NDArray[np.float32] = model.classifier.predict_proba(encoded)[:, 1]
    return p
