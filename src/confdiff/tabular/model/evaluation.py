"""How good a model is on items with labels, or on judged pairs that it has not seen."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import MEASURED, NEUTRAL
from confdiff.io.atomic import write_text
from confdiff.metrics import calibration_error, reliability
from confdiff.tabular.comparisons import compare
from confdiff.tabular.model.agreement import Agreement, agreement
from confdiff.tabular.model.model import ComparisonModel
from confdiff.tabular.model.scoring import probabilities_of, scored_batches
from confdiff.tabular.scales import Scale
from confdiff.tabular.tables import read_items, read_judged
from confdiff.tabular.values import is_missing
from confdiff.validation import as_array, check_labels

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Evaluation:
    """What labels say of probabilities; items without a label are left out.

    confusion: ((true negatives, false positives), (false negatives, true positives)) at one half.
    auc: the share of (negative, positive) pairs in the right order; none where there is one class only.
    reliability: (mean prediction, share of positives, items) of each bin. roc: (false, true) positive rates.
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

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


def evaluate_labels(model: ComparisonModel, items: Path, labels: str, *, id: str | None = None) -> Evaluation:
    """Compare the probabilities of the items of a file with one of its columns: 0/1 or -1/1, empty if unknown."""
    parts = [(p, so) for _, p, so in scored_batches(model, items, id=id, also=labels)]
    p, so = (np.concatenate(part) for part in zip(*parts, strict=True))
    there = ~is_missing(so)
    if not there.any():
        raise ValueError(f"{items}, column {labels!r}, must have a label for at least one item; it is empty.")
    y = check_labels(as_array(f"{items}, column {labels!r},", so[there]), int(there.sum()))
    return measure(p[there], y, without_label=int((~there).sum()))


def measure(p: NDArray[Any], y: NDArray[Any], *, without_label: int = 0) -> Evaluation:
    """The figures for probabilities and labels. Shapes: (m,)."""
    from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss, roc_auc_score, roc_curve

    two = len(np.unique(y)) == 2
    curve = np.stack(roc_curve(y, p)[:2], axis=1)[:: max(1, len(p) // 500)] if two else np.zeros((0, 2))
    confusion = confusion_matrix(y, p >= 0.5, labels=[0, 1]).tolist()
    return Evaluation(
        items=len(p),
        without_label=without_label,
        positives=int(y.sum()),
        accuracy=float(np.mean((p >= 0.5) == (y > 0))),
        auc=float(roc_auc_score(y, p)) if two else None,
        brier=float(brier_score_loss(y, p, labels=[0, 1])),
        log_loss=float(log_loss(y, p.astype(np.float64), labels=[0, 1])),
        calibration_error=calibration_error(p, y),
        confusion=(tuple(confusion[0]), tuple(confusion[1])),
        reliability=reliability(p, y).tolist(),
        roc=curve.tolist(),
    )


def evaluate_pairs(
    model: ComparisonModel,
    items: Path,
    pairs: Path,
    *,
    id: str | None = None,
    scale: Scale | None = None,
    **columns: str | None,
) -> Agreement:
    """Compare the differences of the probabilities with judged pairs."""
    table = read_items(items, id=id or model.id_name)
    table = table if model.id_name is None else table.with_ids()
    compared = compare(table, read_judged(pairs, **columns), scale)
    p = probabilities_of(model, table)
    return agreement(p[compared.left], p[compared.right], compared.difference, compared.weight)


def write_evaluation(found: Evaluation, folder: Path, title: str) -> dict[str, Path]:
    """Write evaluation.html and evaluation.json. Returns: what is where."""
    import json

    files = {"page": folder / "evaluation.html", "figures": folder / "evaluation.json"}
    picture = as_data_uri(evaluation_figure(found))
    write_text(
        files["page"], render("confdiff.tabular.model", "evaluation.html", found=found, title=title, picture=picture)
    )
    write_text(files["figures"], json.dumps(found.as_dict(), indent=1) + "\n")
    return files


def evaluation_figure(found: Evaluation) -> "Figure":
    """Reliability, and the receiver operating characteristic where there are both classes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        axes.plot([0, 1], [0, 1], color=NEUTRAL, linewidth=0.8, linestyle=":")
        axes.set(xlim=(0, 1), ylim=(0, 1))
    said, so, count = np.array(found.reliability).T
    left.scatter(said, so, s=20 + 180 * count / count.sum(), color=MEASURED)
    left.set(xlabel="predicted probability", ylabel="share of positives")
    left.set_title(f"calibration error {found.calibration_error:.3f}", fontsize=10)
    if found.roc:
        right.plot(*np.array(found.roc).T, color=MEASURED)
        right.set_title(f"area under the curve {found.auc:.3f}", fontsize=10)
    right.set(xlabel="false positive rate", ylabel="true positive rate")
    return figure
