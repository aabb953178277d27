"""Evaluate a model on items with labels, or on judged pairs."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.html import as_data_uri, render
from confdiff.io.atomic import atomic_files, write_text
from confdiff.io.outputs import check_new_report
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.io.table_formats.registry import find_table_format
from confdiff.io.typed_table import joined_ids, joined_type
from confdiff.links import class_probability
from confdiff.tabular.comparisons import compare, require_differences
from confdiff.tabular.id_candidates import IdValues, columns_of_file
from confdiff.tabular.id_columns import find_id_columns
from confdiff.tabular.model.agreement import Agreement, agreement
from confdiff.tabular.model.judged_pairs import configured_columns, grade_values, training_scale
from confdiff.tabular.model.label_measures import (
    Evaluation,
    RankEvaluation,
    evaluation_figure,
    measure,
    measure_ranks,
    rank_figure,
)
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.model.scoring import scored_batches
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.scales import Scale
from confdiff.tabular.tables import ItemTable, as_judged, table_columns
from confdiff.tabular.values import check_ids, is_missing
from confdiff.threads import follow_policy
from confdiff.validation import check_labels


@follow_policy
@takes_encoding
def evaluate_labels(
    model: ComparisonModel, items: Path, labels: str, *, id: str | None = None, encoding: str | None = None
) -> Evaluation | RankEvaluation:
    """Evaluate a model on the labels of a file of items.

    Probabilities are compared with classes. A model whose link has no classes is measured by the order of its scores.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    labels : str
        The column of labels, empty where unknown: 0/1 or -1/1, or any numbers for a model of scores.
    id : str, optional
        The column of ids.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.

    Raises
    ------
    ValueError
        A column is missing, or no item has a label.
    """
    batches = list(scored_batches(model, items, id=id, label_column=labels))
    scores = np.concatenate([batch.scores for batch in batches])
    values = _label_values(items, labels, [batch.labels for batch in batches])
    has_label = ~np.isnan(values)
    if not has_label.any():
        raise ValueError(f"{items}, column {labels!r}, must have a label for at least one item; it is empty.")
    without_label = int((~has_label).sum())
    if not model.link.has_classes:
        return measure_ranks(model.in_units(scores[has_label]), values[has_label], without_label=without_label)
    y = check_labels(values[has_label], int(has_label.sum()))
    return measure(class_probability(scores[has_label]), y, without_label=without_label)


def _label_values(items: Path, name: str, parts: list[Any]) -> NDArray[np.float64]:
    """Return a column of labels, which was read in parts, as floats; NaN where a label is missing."""
    from confdiff.io.column_types.converting import as_type

    type = joined_type(parts, find_table_format(items).parse_text)
    values = []
    start = 0
    for part in parts:
        labels = as_type(part, "flag" if type == "flag" else "number", TableSource.of_file(items, start).cell(name))
        values.append(np.where(is_missing(labels), np.nan, labels).astype(np.float64))
        start += len(part)
    return np.concatenate(values)


@follow_policy
@takes_encoding
def evaluate_pairs(
    model: ComparisonModel,
    items: Path,
    pairs: Path,
    *,
    id: str | None = None,
    scale: Scale | None = None,
    encoding: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **columns: str | None,
) -> Agreement:
    """Compare the predicted differences with judged pairs.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items, pairs : Path
        Tables of items and of judged pairs.
    id : str, optional
        The column of ids of the items; by default that of the model, else the one that holds the ids of the pairs.
    scale : Scale, optional
        Scale of the judgements; that of the training pairs if not given.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.
    config : path, optional
        A ``confdiff.toml`` with columns and a scale, see :class:`confdiff.config.Config`; arguments win over it.
    **columns
        Columns of the pairs, such as ``left="arg1"``.

    Raises
    ------
    ValueError
        A role is unknown, or the tables cannot be used.
    """
    id, scale, columns = configured_columns(config, id=id, scale=scale, columns=columns)
    scale = scale or training_scale(model)
    source = TableSource.of_file(items)
    pairs_source, pair_columns = table_columns(pairs, "pairs")
    found = find_id_columns(
        columns_of_file(items),
        IdValues(pair_columns),
        pairs_source=pairs_source,
        id=id,
        first=model.id_name,
        chosen=columns,
    )
    batches = list(scored_batches(model, items, id=found.id))
    ids = joined_ids([batch.ids for batch in batches], find_table_format(items).parse_text)
    table = ItemTable(source=source, ids=check_ids(source, ids), columns={}, id_name=found.id)
    judged = as_judged(pairs_source, pair_columns, found.with_roles(columns), scale=scale)
    compared = compare(table, judged, scale)
    require_differences(judged, compared)
    scores = np.concatenate([batch.scores for batch in batches])
    predicted = model.link.difference(scores[compared.left], scores[compared.right])
    return agreement(predicted, grade_values(model, compared.difference), compared.weight)


def evaluation_files(folder: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`write_evaluation` writes."""
    return {"page": folder / "evaluation.html", "numbers": folder / "evaluation.json"}


def write_evaluation(
    evaluation: Evaluation | RankEvaluation, folder: Path, title: str, *, overwrite: bool = False
) -> dict[str, Path]:
    """Write evaluation.html and evaluation.json. Return the paths of both files.

    Files of an earlier evaluation are replaced, other files of these names only with ``overwrite``.
    """
    files = evaluation_files(folder)
    check_new_report(files, overwrite=overwrite)
    if isinstance(evaluation, RankEvaluation):
        template = "rank_evaluation.html"
        figure = rank_figure(evaluation)
    else:
        template = "evaluation.html"
        figure = evaluation_figure(evaluation)
    page = render(
        "confdiff.tabular.model",
        template,
        evaluation=evaluation,
        title=title,
        picture=as_data_uri(figure),
    )
    with atomic_files(files) as temporaries:
        write_text(temporaries["page"], page)
        write_text(temporaries["numbers"], json.dumps(evaluation.to_json(), indent=1) + "\n")
    return files
