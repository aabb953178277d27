"""Do probabilities mean what they say? Reliability before and after rescaling, and at another prior, without labels.

A network that learns noisy differences by heart is surer of itself than it should be. ``calibrated=True`` holds out
pairs and finds the temperature at which their differences are explained best; no label is looked at. Then the model
goes where positives are rarer than in training, and ``target_prior`` tells it so.
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
CASES = ("as learned", "calibrated", "calibrated, rarer", "... and told so")
RARE = 0.1  # the share of positives where the model is used


def rarer(labels: NDArray[np.bool_], share: float) -> NDArray[np.int64]:
    """Rows of all negatives and of the first so many positives."""
    positives, negatives = np.flatnonzero(labels), np.flatnonzero(~labels)
    return np.sort(np.concatenate([negatives, positives[: round(len(negatives) * share / (1 - share))]]))


def main() -> None:
    """Expected calibration error over ten bins, and the log-loss, of the test items."""
    print(f"{'differences':12s} {'':24s} {'calibration error':>18s} {'log-loss':>10s}")
    shown = {}
    for kind, noise in KINDS.items():
        rows = []
        for seed in SEEDS:
            task = make_task(TaskSpec("digits", n_pairs=600, seed=seed, folds=5, calibrated=True, **noise))
            items, truth = task.test_items.numpy(), task.test_labels.numpy() > 0
            few = rarer(truth, RARE)
            model = ConfDiffClassifier(prior=task.spec.prior, calibrated=True, epochs=60, random_state=seed)
            after = model.fit(task.pairs).predict_proba(items)[:, 1]
            before = expit(model.decision_function(items) * model.temperature_ - model.offset_)
            moved = model.set_params(target_prior=RARE).predict_proba(items)[:, 1]
            rows.append(
                [measures(before, truth), measures(after, truth)]
                + [measures(p[few], truth[few]) for p in (after, moved)]
            )
            shown[kind] = reliability(before, truth), reliability(after, truth)
        for name, (error, loss) in zip(CASES, np.mean(rows, axis=0), strict=True):
            print(f"{kind:12s} {name:24s} {error:18.4f} {loss:10.4f}")
    draw(shown)


def measures(p: NDArray[np.float32], truth: NDArray[np.bool_]) -> tuple[float, float]:
    """Calibration error and log-loss."""
    of_truth = np.clip(np.where(truth, p, 1 - p), 1e-7, 1)
    return calibration_error(p, truth), float(-np.log(of_truth).mean())


def draw(shown: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]) -> None:
    """reliability.png: the share of positives against what was said, before and after."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for axes, (kind, curves) in zip(figure.subplots(1, len(shown), sharey=True), shown.items(), strict=True):
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for curve, name, style in zip(curves, ("as learned", "calibrated"), ("o--", "s-"), strict=True):
            axes.plot(curve[:, 0], curve[:, 1], style, label=name, markersize=4)
        axes.set(title=f"differences: {kind}", xlabel="probability said")
    figure.axes[0].set_ylabel("share of positives")
    figure.axes[0].legend()
    figure.savefig("reliability.png", dpi=150)
    print("picture: reliability.png")


if __name__ == "__main__":
    main()
