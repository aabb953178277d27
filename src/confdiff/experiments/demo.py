"""The demonstration: scikit-learn's digits, even against odd, learned from differences alone."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.datasets import load
from confdiff.methods import METHODS
from confdiff.metrics import accuracy, calibration_error
from confdiff.models import build_model
from confdiff.pairs import Pairs, sample_pairs
from confdiff.storage import replacing
from confdiff.teacher import fit_teacher, grade
from confdiff.training import History, Recipe, predict_scores, train

PRIOR = 0.5
N_PAIRS = 600


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
    """Teach, sample pairs, learn by every method of the table; ``done`` is told each outcome as it comes."""
    data = load("digits")
    order = np.random.default_rng(seed).permutation(len(data.items))
    train_rows, test_rows = order[: len(order) * 4 // 5], order[len(order) * 4 // 5 :]
    items, labels = data.items[train_rows], data.labels[train_rows]
    test_items, test_labels = torch.from_numpy(data.items[test_rows]), data.labels[test_rows]
    teacher = fit_teacher(items, labels, recipe=Recipe(epochs=10, batch_size=32, seed=seed))
    pairs = sample_pairs(
        items, labels=labels, posteriors=grade(teacher, items), n_pairs=N_PAIRS, prior=PRIOR, seed=seed
    )
    outcomes = []
    for name in METHODS:
        outcomes.append(_learn(name, pairs, test_items, test_labels, Recipe(epochs=epochs, batch_size=128, seed=seed)))
        done(outcomes[-1])
    return Demo(
        pairs=len(pairs),
        prior=PRIOR,
        seed=seed,
        epochs=epochs,
        test_labels=test_labels.astype(int).tolist(),
        teacher_accuracy=accuracy(predict_scores(teacher, test_items), test_labels),
        outcomes=outcomes,
    )


def _learn(
    name: str, pairs: Pairs, test_items: torch.Tensor, test_labels: NDArray[np.float32], recipe: Recipe
) -> Outcome:
    model = build_model("mlp", test_items.shape[1], seed=recipe.seed)

    def evaluate(model: torch.nn.Module) -> dict[str, float]:
        return {"accuracy": accuracy(predict_scores(model, test_items), test_labels)}

    history = train(model, pairs, name, prior=PRIOR, recipe=recipe, evaluate=evaluate)
    probabilities = torch.sigmoid(predict_scores(model, test_items)).numpy()
    return Outcome(
        method=name,
        learns_from=METHODS[name].learns_from,
        accuracy=float(np.mean([record["accuracy"] for record in history[-10:]])),
        calibration_error=calibration_error(probabilities, test_labels),
        seconds=history[-1]["seconds"],
        history=history,
        probabilities=probabilities.tolist(),
    )


def save_demo(demo: Demo, folder: Path) -> dict[str, Path]:
    """Write the figure and the numbers; returns what is where."""
    from confdiff.experiments.plots import demo_figure

    files: dict[str, Any] = {"figure": folder / "demo.png", "numbers": folder / "demo.json"}
    with replacing(files["figure"]) as temporary:
        demo_figure(demo).savefig(temporary, dpi=150)
    with replacing(files["numbers"]) as temporary:
        temporary.write_text(json.dumps(asdict(demo)))
    return files
