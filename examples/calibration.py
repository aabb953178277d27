"""Measure the reliability of probabilities before and after calibration, and at another prior, without labels.

A network that memorises noisy differences is overconfident. ``calibrated=True`` holds out pairs and finds the
temperature with the best R² of their differences; no label is used. Then the model is applied where positives are rarer
than in training, and ``target_prior`` corrects for that.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from confdiff import ConfDiffClassifier
from confdiff.metrics import calibration_error, reliability
from confdiff.tasks import TaskSpec, make_task

SEEDS = range(3)
KINDS: dict[str, dict[str, Any]] = {
    "exact": {},
    "labels": {"noise": "labels"},
    "additive .3": {"noise": "additive", "noise_amount": 0.3},
}
CASES = ("as learned", "calibrated", "calibrated, rarer", "... and target_prior")
RARE = 0.1  # the fraction of positives where the model is used


def rarer(labels: NDArray[np.bool_], fraction: float) -> NDArray[np.int64]:
    """Return the rows of all negatives and of as many positives as make the given fraction."""
    positives = np.flatnonzero(labels)
    negatives = np.flatnonzero(~labels)
    count = round(len(negatives) * fraction / (1 - fraction))
    return np.sort(np.concatenate([negatives, positives[:count]]))


def main() -> None:
    """Print the expected calibration error over ten bins, and the log-loss, of the test items."""
    print(f"{'differences':12s} {'':24s} {'calibration error':>18s} {'log-loss':>10s}")
    curves = {}
    for kind, noise in KINDS.items():
        rows = []
        for seed in SEEDS:
            task = make_task(TaskSpec("digits", n_pairs=600, seed=seed, folds=5, calibrated=True, **noise))
            items = task.test_items.numpy()
            truth = task.test_labels.numpy() > 0
            few = rarer(truth, RARE)
            model = ConfDiffClassifier(prior=task.spec.prior, calibrated=True, epochs=60, random_state=seed)
            after = model.fit(task.pairs).predict_proba(items)[:, 1]
            before = expit(model.decision_function(items) * model.temperature_ - model.offset_)
            moved = model.set_params(target_prior=RARE).predict_proba(items)[:, 1]
            rows.append(
                [measures(before, truth), measures(after, truth)]
                + [measures(p[few], truth[few]) for p in (after, moved)]
            )
            curves[kind] = reliability(before, truth), reliability(after, truth)
        for name, (error, loss) in zip(CASES, np.mean(rows, axis=0), strict=True):
            print(f"{kind:12s} {name:24s} {error:18.4f} {loss:10.4f}")
    draw(curves)


def measures(p: NDArray[np.float32], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Return calibration error and log-loss."""
    of_truth = np.clip(np.where(truth, p, 1 - p), 1e-7, 1)
    return calibration_error(p, truth), float(-np.log(of_truth).mean())


def draw(curves: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]) -> None:
    """Draw reliability.png: the fraction of positives by predicted probability, before and after."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True)
    for axes, (kind, before_and_after) in zip(panels, curves.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for curve, name, style in zip(before_and_after, ("as learned", "calibrated"), ("o--", "s-"), strict=True):
            axes.plot(curve[:, 0], curve[:, 1], style, label=name, markersize=4)
        axes.set(title=f"differences: {kind}", xlabel="predicted probability")
    figure.axes[0].set_ylabel("fraction of positives")
    figure.axes[0].legend()
    figure.savefig("reliability.png", dpi=150)
    print("picture: reliability.png")


if __name__ == "__main__":
    main()
