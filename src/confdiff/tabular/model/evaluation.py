"""Evaluate a model on items with labels, or on judged pairs."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.config import optional_config
from confdiff.display.figures import draw_diagonal, new_figure
from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import MEASURED
from confdiff.io.atomic import atomic_files, write_text
from confdiff.io.outputs import check_new_report
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.io.table_formats.registry import find_table_format
from confdiff.io.typed_table import joined_ids, joined_type
from confdiff.metrics import calibration_error, reliability
from confdiff.tabular.comparisons import compare
from confdiff.tabular.id_candidates import IdValues, columns_of_file
from confdiff.tabular.id_columns import find_id_columns
from confdiff.tabular.model.agreement import Agreement, agreement
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.model.scoring import scored_batches
from confdiff.tabular.roles import ROLES, check_roles
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.scales import Scale, parse_scale
from confdiff.tabular.tables import ItemTable, as_judged, table_columns
from confdiff.tabular.values import check_ids, is_missing
from confdiff.threads import follow_policy
from confdiff.validation import check_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Evaluation:
    """Metrics of probabilities against labels.

    Attributes
    ----------
    items, positives
        Number of items with a label, and of those with a positive one.
    without_label
        Number of items without a label, which are left out.
    accuracy
        Fraction of correct classes at threshold 0.5.
    auc
        Area under the ROC curve; None if there is only one class.
    brier, log_loss
        Brier score, and mean negative log-likelihood.
    calibration_error
        Expected calibration error.
    confusion
        ((true negatives, false positives), (false negatives, true positives)) at threshold 0.5.
    reliability
        (mean probability, fraction of positives, number of items) of each bin.
    roc
        (false positive rate, true positive rate) of points of the ROC curve.
    """

    items: int
    without_label: int
    positives: int
    accuracy: float
    auc: float | None
    brier: float
    log_loss: float
    calibration_error: float
    confusion: tuple[tuple[int, int], tuple[int, int]]
    reliability: list[list[float]]
    roc: list[list[float]]

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as JSON values."""
        return asdict(self)


@follow_policy
@takes_encoding
def evaluate_labels(
    model: ComparisonModel, items: Path, labels: str, *, id: str | None = None, encoding: str | None = None
) -> Evaluation:
    """Evaluate a model on the labels of a file of items.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    items : Path
        A table of items.
    labels : str
        The column of labels, 0/1 or -1/1, empty where unknown.
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
    p = np.concatenate([batch.probabilities for batch in batches])
    values = _label_values(items, labels, [batch.labels for batch in batches])
    has_label = ~np.isnan(values)
    if not has_label.any():
        raise ValueError(f"{items}, column {labels!r}, must have a label for at least one item; it is empty.")
    y = check_labels(values[has_label], int(has_label.sum()))
    return measure(p[has_label], y, without_label=int((~has_label).sum()))


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


def measure(p: NDArray[Any], y: NDArray[Any], *, without_label: int = 0) -> Evaluation:
    """Compare probabilities with labels, 0 or 1. Shapes: (m,)."""
    from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss, roc_auc_score

    confusion = confusion_matrix(y, p >= 0.5, labels=[0, 1]).tolist()
    has_both = len(np.unique(y)) == 2
    return Evaluation(
        items=len(p),
        without_label=without_label,
        positives=int(y.sum()),
        accuracy=float(np.mean((p >= 0.5) == (y > 0))),
        auc=float(roc_auc_score(y, p)) if has_both else None,
        brier=float(brier_score_loss(y, p, labels=[0, 1])),
        log_loss=float(log_loss(y, p.astype(np.float64), labels=[0, 1])),
        calibration_error=calibration_error(p, y),
        confusion=(tuple(confusion[0]), tuple(confusion[1])),
        reliability=reliability(p, y).tolist(),
        roc=_roc_points(p, y) if has_both else [],
    )


def _roc_points(p: NDArray[Any], y: NDArray[Any]) -> list[list[float]]:
    """Return points of the ROC curve, thinned out for many items."""
    from sklearn.metrics import roc_curve

    points = np.stack(roc_curve(y, p)[:2], axis=1)[:: max(1, len(p) // 500)]
    rates: list[list[float]] = points.tolist()
    return rates


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
    """Compare the differences of the probabilities with judged pairs.

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
    check_roles(columns)
    settings = optional_config(config)
    given = settings.fill(id=id, scale=scale, **{role: columns.get(role) for role in ROLES})
    id = given.pop("id")
    scale = None if given["scale"] is None else parse_scale(given["scale"])
    columns = {role: given[role] for role in ROLES}
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
    judged = as_judged(pairs_source, pair_columns, found.with_roles(columns))
    compared = compare(table, judged, scale or _training_scale(model))
    p = np.concatenate([batch.probabilities for batch in batches])
    return agreement(p[compared.left], p[compared.right], compared.difference, compared.weight)


def _training_scale(model: ComparisonModel) -> Scale | None:
    option = model.about.data.scale_option
    return None if option is None else parse_scale(option)


def evaluation_files(folder: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`write_evaluation` writes."""
    return {"page": folder / "evaluation.html", "numbers": folder / "evaluation.json"}


def write_evaluation(evaluation: Evaluation, folder: Path, title: str, *, overwrite: bool = False) -> dict[str, Path]:
    """Write evaluation.html and evaluation.json. Return the paths of both files.

    Files of an earlier evaluation are replaced, other files of these names only with ``overwrite``.
    """
    files = evaluation_files(folder)
    check_new_report(files, overwrite=overwrite)
    page = render(
        "confdiff.tabular.model",
        "evaluation.html",
        evaluation=evaluation,
        title=title,
        picture=as_data_uri(evaluation_figure(evaluation)),
    )
    with atomic_files(files) as temporaries:
        write_text(temporaries["page"], page)
        write_text(temporaries["numbers"], json.dumps(evaluation.to_json(), indent=1) + "\n")
    return files


def evaluation_figure(evaluation: Evaluation) -> "Figure":
    """Draw a reliability diagram, and the ROC curve if there are both classes."""
    figure, (left, right) = new_figure(8, 3.6, columns=2)
    for axes in (left, right):
        draw_diagonal(axes, 0, 1)
        axes.set(xlim=(0, 1), ylim=(0, 1))
    predicted, positives, count = np.array(evaluation.reliability).T
    left.scatter(predicted, positives, s=20 + 180 * count / count.sum(), color=MEASURED)
    left.set(xlabel="predicted probability", ylabel="fraction of positives")
    left.set_title(f"calibration error {evaluation.calibration_error:.3f}", fontsize=10)
    if evaluation.roc:
        right.plot(*np.array(evaluation.roc).T, color=MEASURED)
        right.set_title(f"area under the curve {evaluation.auc:.3f}", fontsize=10)
    right.set(xlabel="false positive rate", ylabel="true positive rate")
    return figure
