"""Explain the scores of items by the columns of the user's table: contributions that add up to the score."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.contributions import divide_scores
from confdiff.io.batches import writing_batches
from confdiff.io.outputs import check_new_file
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.tabular.features.reading import FeatureColumns
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.model.scoring import item_batches
from confdiff.tabular.model.words import WordEffect, word_effects
from confdiff.tabular.tables import ItemTable, table_columns
from confdiff.threads import follow_policy
from confdiff.validation import check_count

BASE = "(base)"
"""The column of the base value in a table of contributions."""
OTHERS = "(other columns)"
"""The sum of the columns that a table of contributions leaves out."""

_STEP = 1000  # items that are explained between two reports of progress
_Words = dict[str, list[WordEffect]]


@dataclass(frozen=True, eq=False)
class Explanation:
    """The scores of m items, divided among k columns.

    Attributes
    ----------
    ids : array of shape (m,)
        The ids of the items, or their row numbers.
    columns : tuple of str
        The columns of the user's table.
    values : array of shape (m, k)
        The cells of the table as text, empty where a value is missing.
    contributions : array of shape (m, k)
        The contribution of each column to the score. Features that were made from one column are summed up.
    base : float
        The score without any column. ``base + contributions.sum(axis=1)`` is ``decision_function`` of the model.
    words : tuple of dict
        For each item, text column -> the words with the strongest effects. Empty if no words were asked for.
    """

    ids: NDArray[Any]
    columns: tuple[str, ...]
    values: NDArray[Any]
    contributions: NDArray[np.float64]
    base: float
    words: tuple[_Words, ...] = ()

    def __len__(self) -> int:
        return len(self.contributions)

    @property
    def scores(self) -> NDArray[np.float64]:
        """The scores of the items, (m,)."""
        scores: NDArray[np.float64] = self.base + self.contributions.sum(axis=1)
        return scores

    def head(self, count: int) -> "Explanation":
        """Return the explanation of the first items."""
        return replace(
            self,
            ids=self.ids[:count],
            values=self.values[:count],
            contributions=self.contributions[:count],
            words=self.words[:count],
        )

    def with_words(self, model: ComparisonModel, table: ItemTable, most: int) -> "Explanation":
        """Return the explanation with the strongest words of each text column.

        Parameters
        ----------
        model : ComparisonModel
            The model that was explained.
        table : ItemTable
            The items, of which the first are those of this explanation.
        most : int
            Number of words per text column.
        """
        encoded = model.features.encode(table)
        unit = float(model.in_units(np.ones(1))[0])
        rows = (encoded[[row]] for row in range(len(self)))
        effects = [word_effects(model.classifier, model.features, row, most) for row in rows]
        return replace(self, words=tuple(_in_units(of_item, unit) for of_item in effects))

    def to_frame(self) -> Any:
        """Return the contributions as a pandas data frame: one row per item, one column per column of the table."""
        import pandas as pd

        return pd.DataFrame(self.contributions, index=pd.Index(self.ids, name="id"), columns=list(self.columns))

    def to_long(self, top: int | None = None) -> dict[str, NDArray[Any]]:
        """Return one row per item and column, as ``confdiff explain`` writes it.

        Parameters
        ----------
        top : int, optional
            Number of columns per item, from the largest absolute contribution on. The others are summed up in a row
            :data:`OTHERS`. All columns if not given.

        Returns
        -------
        dict
            ``row`` (position of the item), ``column``, ``value`` and ``contribution``. The first row of an item is
            :data:`BASE`. The contributions of an item add up to its score.
        """
        m, k = self.contributions.shape
        count = k if top is None else min(check_count("top", top), k)
        order = np.argsort(-np.abs(self.contributions), axis=1, kind="stable")[:, :count]
        shown = np.take_along_axis(self.contributions, order, axis=1)
        rest = self.contributions.sum(axis=1, keepdims=True) - shown.sum(axis=1, keepdims=True)
        base = np.full((m, 1), self.base)
        first = np.full((m, 1), BASE, dtype=object)
        last = np.full((m, 1), OTHERS, dtype=object)
        empty = np.full((m, 1), "", dtype=object)
        end = 1 if count < k else 0  # whether there is a row of the others
        names = np.array(self.columns, dtype=object)[order]
        cells = np.take_along_axis(self.values, order, axis=1)
        return {
            "row": np.repeat(np.arange(m), 1 + count + end),
            "column": np.hstack([first, names, last[:, :end]]).reshape(-1),
            "value": np.hstack([empty, cells, empty[:, :end]]).reshape(-1),
            "contribution": np.hstack([base, shown, rest[:, :end]]).reshape(-1),
        }

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values."""
        rows = zip(self.ids.tolist(), self.scores.tolist(), self.contributions.tolist(), strict=True)
        items = [
            {"id": id, "score": score, "contributions": dict(zip(self.columns, contributions, strict=True))}
            for id, score, contributions in rows
        ]
        for item, words in zip(items, self.words, strict=False):
            item["words"] = {column: [asdict(effect) for effect in effects] for column, effects in words.items()}
        return {"base": self.base, "items": items}


def _in_units(effects: _Words, unit: float) -> _Words:
    return {column: [replace(word, effect=unit * word.effect) for word in words] for column, words in effects.items()}


@follow_policy
def explain_items(model: ComparisonModel, items: Any, *, words: int = 0) -> Explanation:
    """Explain the scores of the items of a data frame; see :meth:`~confdiff.ComparisonModel.explain`."""
    source, typed = table_columns(items, "items")
    columns = dict(typed.columns)
    ids: NDArray[Any] = np.arange(typed.rows)
    if model.id_name in columns:
        ids = np.asarray(columns[model.id_name], dtype=object)
    elif hasattr(items, "iloc"):
        ids = np.asarray(items.index)
    if model.knows_ids and model.id_name not in columns:
        columns[model.id_name] = ids
    table = ItemTable(source=source, ids=np.arange(typed.rows), columns=columns)
    explanation = explain_table(model, table, ids)
    return explanation.with_words(model, table, words) if words else explanation


def explain_table(
    model: ComparisonModel, table: ItemTable, ids: NDArray[Any], *, done: Callable[[int], None] | None = None
) -> Explanation:
    """Explain the scores of the items of a table.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    table : ItemTable
        Items with the training columns.
    ids : array of shape (m,)
        The ids to show.
    done : callable, optional
        Called with the number of items that are explained.
    """
    features = model.features
    groups = features.feature_groups()
    encoded = features.encode(table)
    unit = float(model.in_units(np.ones(1))[0])
    parts = []
    for start in range(0, len(table), _STEP):
        part = encoded[start : start + _STEP]
        divided = divide_scores(
            model.classifier, part, groups, background=model.background, seed=model.about.options.seed
        )
        parts.append(divided.values)
        if done is not None:
            done(start + part.shape[0])
    cells = FeatureColumns(table, features.types_)
    names = tuple(map(str, features.feature_names_in_))
    return Explanation(
        ids=ids,
        columns=names,
        values=np.stack([np.asarray(cells.text(name), dtype=object) for name in names], axis=1),
        contributions=unit * np.concatenate(parts),
        base=unit * divided.base,
    )


@follow_policy
@takes_encoding
def explain_file(
    model: ComparisonModel,
    items: Path,
    output: Path,
    *,
    id: str | None = None,
    top: int | None = None,
    first: int = 5,
    words: int = 5,
    done: Callable[[int], None] | None = None,
    overwrite: bool = False,
    encoding: str | None = None,
    escape: bool = True,
) -> tuple[int, Explanation]:
    """Write a table with the contribution of each column to the score of each item of a file.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    output : Path
        The table to write: ``id`` (or ``row``), ``column``, ``value`` and ``contribution``, see
        :meth:`Explanation.to_long`.
    id : str, optional
        The column of ids, as in :func:`~confdiff.tabular.model.scoring.predict_file`.
    top : int, optional
        Number of columns per item; all if not given.
    first, words : int
        Number of items to return, and of words per text column whose effects are returned with them.
    done : callable, optional
        Called with the number of items that are explained.
    overwrite, encoding, escape
        As in :func:`~confdiff.tabular.model.scoring.predict_file`.

    Returns
    -------
    tuple (int, Explanation)
        The number of items, and the explanation of the first of them.
    """
    check_new_file(output, inputs=[items], overwrite=overwrite)
    count = 0
    shown: Explanation | None = None
    with writing_batches(output, escape=escape) as write:
        for batch in item_batches(model, items, id=id):
            report = None if done is None else partial(_report, done, count)
            explanation = explain_table(model, batch.table, _as_numpy(batch.ids), done=report)
            write(_long_batch(explanation, batch.ids, top))
            if shown is None:
                shown = explanation.head(first).with_words(model, batch.table, words)
            count += len(explanation)
    assert shown is not None  # a file without rows is an error
    return count, shown


def _report(done: Callable[[int], None], before: int, count: int) -> None:
    done(before + count)


def _as_numpy(ids: Any) -> NDArray[Any]:
    return ids if isinstance(ids, np.ndarray) else np.array(ids.to_pylist(), dtype=object)


def _long_batch(explanation: Explanation, ids: Any, top: int | None) -> Any:
    """Return the rows of a table of contributions, with the ids as they are written in the file of items."""
    import pyarrow

    columns = explanation.to_long(top)
    rows = columns.pop("row")
    name = "row" if isinstance(ids, np.ndarray) else "id"
    arrays = {name: pyarrow.array(ids).take(pyarrow.array(rows))}
    arrays |= {column: pyarrow.array(values) for column, values in columns.items()}
    return pyarrow.record_batch(arrays)
