"""Measure predictions by labels: probabilities by classes, and scores by any order of the items."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.figures import draw_diagonal, new_figure
from confdiff.display.palette import MEASURED
from confdiff.metrics import calibration_error, reliability

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


@dataclass(frozen=True)
class RankEvaluation:
    """Metrics of scores, which have no classes, against labels or other numbers.

    Attributes
    ----------
    items
        Number of items with a label.
    without_label
        Number of items without a label, which are left out.
    rank_correlation
        Spearman correlation of scores and labels; None if one of them is constant.
    positives
        Number of items with a positive label; None if the labels are not two classes.
    auc
        Area under the ROC curve; None if the labels are not two classes.
    points
        (score, label) of some items, for the figure.
    """

    items: int
    without_label: int
    rank_correlation: float | None
    positives: int | None
    auc: float | None
    points: list[list[float]]

    def to_json(self) -> dict[str, Any]:
        """Return the metrics as JSON values."""
        return asdict(self)


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


_MOST_POINTS = 500  # of a scatter plot


def measure_ranks(scores: NDArray[Any], labels: NDArray[Any], *, without_label: int = 0) -> RankEvaluation:
    """Compare scores with labels, which may be any numbers. Shapes: (m,).

    >>> measure_ranks(np.array([0.1, 2.0, 0.3]), np.array([1.0, 5.0, 2.0])).rank_correlation
    1.0
    """
    from scipy.stats import spearmanr
    from sklearn.metrics import roc_auc_score

    varies = len(np.unique(scores)) > 1 and len(np.unique(labels)) > 1
    has_classes = set(np.unique(labels).tolist()) in ({0, 1}, {-1, 1})
    thinned = np.stack([scores, labels], axis=1)[:: -(-len(scores) // _MOST_POINTS)]
    return RankEvaluation(
        items=len(scores),
        without_label=without_label,
        rank_correlation=float(spearmanr(scores, labels).statistic) if varies else None,
        positives=int(np.count_nonzero(labels > 0)) if has_classes else None,
        auc=float(roc_auc_score(labels > 0, scores)) if has_classes else None,
        points=thinned.astype(float).tolist(),
    )


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


def rank_figure(evaluation: RankEvaluation) -> "Figure":
    """Draw the labels of items against their scores."""
    figure, axes = new_figure(5, 3.6)
    scores, labels = np.array(evaluation.points).T
    axes.scatter(scores, labels, s=12, alpha=0.5, color=MEASURED)
    axes.set(xlabel="score", ylabel="label")
    return figure
