"""Score files of items that need not fit into memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.config import Config
from confdiff.display.text import listed
from confdiff.io.batches import BATCH_ROWS, read_ahead, read_batches, read_column_names, writing_batches
from confdiff.io.outputs import check_new_file
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.model.new_ids import count_new_ids, warn_of_new_ids
from confdiff.tabular.model.outputs import has_ranks, output_columns, ranks_of
from confdiff.tabular.roles import check_column, recognised
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ItemTable
from confdiff.threads import follow_policy
from confdiff.validation import check_fraction

_NUMBERS_PER_BATCH = 2**21
_LEAST_ROWS = 4096


@follow_policy
@takes_encoding
def predict_file(
    model: ComparisonModel,
    items: Path,
    output: Path,
    *,
    id: str | None = None,
    threshold: float | None = None,
    done: Callable[[int], None] | None = None,
    overwrite: bool = False,
    encoding: str | None = None,
    escape: bool = True,
    with_ranks: bool = True,
) -> int:
    """Write a table with the id and the predictions of each item of a file.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    output : Path
        The table to write: ``id``, and the columns of the link in
        :data:`~confdiff.tabular.model.outputs.OUTPUT_COLUMNS`. If the items have no column of ids, the first column is
        ``row``, the number of the row from 0, instead of ``id``.
    id : str, optional
        The column of ids; by default the one that the model was fitted with, see :func:`find_id_column`.
    threshold : float, optional
        The probability from which an item is positive, for the probability link. By default one half. If the
        differences left the offset open, the table has ranks and no decisions, unless a threshold is given.
    done : callable, optional
        Called with the number of items after each batch.
    overwrite : bool
        Replace a table that already exists.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.
    escape : bool
        Whether to escape ids that a spreadsheet program would run as formulas, in CSV and TSV.
    with_ranks : bool
        Whether to write ranks where the link has them; they are ranks among the items of this file.

    Returns
    -------
    int
        The number of items.

    Raises
    ------
    ValueError
        A column is missing, or a threshold is given although the link has no classes.

    Warns
    -----
    UserWarning
        The model uses ids as a feature, and some items have an id without training comparisons.
    """
    check_new_file(output, inputs=[items], overwrite=overwrite)
    threshold = _threshold(model, threshold)
    id_column = id or find_id_column(model, read_column_names(items))
    scored = _with_ranks if with_ranks and has_ranks(model, threshold) else _without_ranks
    count = 0
    n_new = 0
    with writing_batches(output, escape=escape) as write:
        for ids, scores, ranks in scored(model, items, id_column, done or _ignore):
            columns = {"row" if id_column is None else "id": ids}
            columns |= output_columns(model, scores, threshold=threshold)
            write(_record_batch(columns if ranks is None else columns | {"rank": ranks}))
            count += len(scores)
            n_new += count_new_ids(model, ids)
    warn_of_new_ids(n_new, count)
    return count


def set_target_prior(model: ComparisonModel, target_prior: float) -> None:
    """Shift the probabilities of a model to another fraction of positives.

    Raises
    ------
    ValueError
        The link of the model has no classes.
    """
    if not model.link.has_classes:
        raise ValueError(
            f"target_prior={target_prior:g} would not be used: the model has link={model.link.name!r}, which has no "
            "classes."
        )
    model.classifier.set_params(target_prior=target_prior)


def _threshold(model: ComparisonModel, threshold: float | None) -> float | None:
    """Return the probability from which an item is positive, or None if the model makes no decisions."""
    if not model.link.has_classes:
        if threshold is not None:
            raise ValueError(
                f"threshold={threshold:g} would not be used: the model has link={model.link.name!r}, which has no "
                "classes. Use its scores and ranks."
            )
        return None
    if threshold is not None:
        return check_fraction("threshold", threshold)
    return 0.5 if model.makes_decisions else None


def _ignore(count: int) -> None:
    pass


def _record_batch(columns: dict[str, Any]) -> Any:
    import pyarrow

    return pyarrow.record_batch({name: pyarrow.array(column) for name, column in columns.items()})


_Scored = Iterator[tuple[Any, NDArray[Any], NDArray[np.int64] | None]]


def _without_ranks(model: ComparisonModel, items: Path, id_column: str | None, done: Callable[[int], None]) -> _Scored:
    """Yield ids, scores and None for the ranks, batch by batch."""
    count = 0
    for batch in scored_batches(model, items, id=id_column):
        yield batch.ids, batch.scores, None
        count += len(batch.scores)
        done(count)


def _with_ranks(model: ComparisonModel, items: Path, id_column: str | None, done: Callable[[int], None]) -> _Scored:
    """Yield ids, scores and ranks, batch by batch.

    All scores are needed before the first rank is known, so the ids are read again: only the scores stay in memory.
    """
    parts = []
    count = 0
    for batch in scored_batches(model, items, id=id_column):
        parts.append(batch.scores)
        count += len(batch.scores)
        done(count)
    scores = np.concatenate(parts)
    ranks = ranks_of(scores)
    start = 0
    for ids in _id_batches(items, id_column, [len(part) for part in parts]):
        end = start + len(ids)
        yield ids, scores[start:end], ranks[start:end]
        start = end


def _id_batches(items: Path, id_column: str | None, lengths: list[int]) -> Iterator[Any]:
    """Yield the column of ids in batches, or row numbers."""
    if id_column is not None:
        for batch in read_batches(items, [id_column]):
            yield batch.column(id_column)
        return
    start = 0
    for length in lengths:
        yield np.arange(start, start + length)
        start += length


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """Consecutive items of a file with their scores.

    Attributes
    ----------
    ids : (b,) pyarrow array, or array of row numbers
        The ids of the items.
    scores : (b,) array
        The scores of the classifier.
    labels : (b,) pyarrow array or None
        The column of labels as written, if one was asked for.
    """

    ids: Any
    scores: NDArray[Any]
    labels: Any = None


@dataclass(frozen=True, eq=False)
class ItemBatch:
    """Consecutive items of a file with the training columns of a model.

    Attributes
    ----------
    ids : (b,) pyarrow array, or array of row numbers
        The ids of the items.
    table : ItemTable
        The items.
    labels : (b,) pyarrow array or None
        The column of labels as written, if one was asked for.
    """

    ids: Any
    table: ItemTable
    labels: Any = None


def scored_batches(
    model: ComparisonModel, items: Path, *, id: str | None = None, label_column: str | None = None
) -> Iterator[ScoredBatch]:
    """Score a file in batches; parameters and errors as in :func:`item_batches`."""
    for batch in item_batches(model, items, id=id, label_column=label_column):
        yield ScoredBatch(ids=batch.ids, scores=score_table(model, batch.table), labels=batch.labels)


def item_batches(
    model: ComparisonModel, items: Path, *, id: str | None = None, label_column: str | None = None
) -> Iterator[ItemBatch]:
    """Read the training columns of a model from a file, in batches.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    id : str, optional
        The column of ids, see :func:`predict_file`.
    label_column : str, optional
        A column of labels to return with the items.

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
    columns_read = list(dict.fromkeys([*features.values(), *others]))
    start = 0
    for batch in read_ahead(read_batches(items, columns_read, _rows_per_batch(model))):
        rows = np.arange(start, start + batch.num_rows)
        columns = {name: batch.column(column) for name, column in features.items()}
        table = ItemTable(source=TableSource.of_file(items, start), ids=rows, columns=columns)
        yield ItemBatch(
            ids=rows if id_column is None else batch.column(id_column),
            table=table,
            labels=None if label_column is None else batch.column(label_column),
        )
        start += batch.num_rows
    if not start:
        raise ValueError(f"{items} must have at least one row of data; got none.")


def _rows_per_batch(model: ComparisonModel) -> int:
    """Return fewer rows for many features, so that a batch fits into the caches of a processor.

    A power of two keeps the batches of the network the same, and so the scores.
    """
    rows = BATCH_ROWS
    while rows > _LEAST_ROWS and rows * model.features.width > _NUMBERS_PER_BATCH:
        rows //= 2
    return rows


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


def score_table(model: ComparisonModel, table: ItemTable) -> NDArray[Any]:
    """Return the score of the classifier for each item of a table. Shape: (N,)."""
    scores: NDArray[Any] = model.classifier.decision_function(model.features.encode(table))
    return scores
