"""The demonstration: scikit-learn's digits, even against odd, learned from differences alone."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from confdiff.io.atomic import atomic_file
from confdiff.methods import METHODS
from confdiff.metrics import accuracy, calibration_error
from confdiff.models import build_model
from confdiff.tasks import Task, TaskSpec, make_task
from confdiff.training import History, predict_scores, train

PRIOR = 0.5
N_PAIRS = 600
SHOWN = (
    "confdiff-unbiased",
    "confdiff-relu",
    "confdiff-abs",
    "confdiff-regression",
    "oracle-hard",
    "oracle-soft",
)
"""The methods that are shown: the paper's, the default of the library, and the oracles."""


@dataclass(frozen=True)
class Outcome:
    """What one method reached: on test items with true labels, which it never saw."""

    method: str
    learns_from: str
    accuracy: float
    calibration_error: float
    seconds: float
    history: History
    probabilities: list[float]


@dataclass(frozen=True)
class Demo:
    """The whole demonstration."""

    pairs: int
    prior: float
    seed: int
    epochs: int
    test_labels: list[int]
    teacher_accuracy: float
    outcomes: list[Outcome]


def run_demo(*, seed: int = 0, epochs: int = 60, done: Callable[[Outcome], None] = lambda outcome: None) -> Demo:
    """Teach, sample pairs, learn by every method that is shown; ``done`` is told each outcome as it comes."""
    task = make_task(TaskSpec("digits", PRIOR, n_pairs=N_PAIRS, seed=seed), keep_teacher=False)
    outcomes = []
    for name in SHOWN:
        outcomes.append(_learn(name, task, epochs))
        done(outcomes[-1])
    return Demo(
        pairs=len(task.pairs),
        prior=PRIOR,
        seed=seed,
        epochs=epochs,
        test_labels=task.test_labels.int().tolist(),
        teacher_accuracy=task.teacher_accuracy,
        outcomes=outcomes,
    )


def _learn(name: str, task: Task, epochs: int) -> Outcome:
    model = build_model(task.spec.network, task.test_items.shape[1], seed=task.spec.seed)

    def evaluate(model: torch.nn.Module) -> dict[str, float]:
        return {"accuracy": accuracy(predict_scores(model, task.test_items), task.test_labels)}

    history = train(model, task.pairs, name, prior=task.prior, recipe=task.spec.learning(epochs), evaluate=evaluate)
    probabilities = torch.sigmoid(predict_scores(model, task.test_items)).numpy()
    return Outcome(
        method=name,
        learns_from=METHODS[name].learns_from,
        accuracy=float(np.mean([record["accuracy"] for record in history[-10:]])),
        calibration_error=calibration_error(probabilities, task.test_labels),
        seconds=history[-1]["seconds"],
        history=history,
        probabilities=probabilities.tolist(),
    )


def save_demo(demo: Demo, folder: Path) -> dict[str, Path]:
    """Write the figure and the numbers; returns what is where."""
    from confdiff.experiments.plots import demo_figure

    files: dict[str, Any] = {"figure": folder / "demo.png", "numbers": folder / "demo.json"}
    with atomic_file(files["figure"]) as temporary:
        demo_figure(demo).savefig(temporary, dpi=150)
    with atomic_file(files["numbers"]) as temporary:
        temporary.write_text(json.dumps(asdict(demo)))
    return files
