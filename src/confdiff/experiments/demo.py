"""The demonstration: even and odd digits of scikit-learn, learned from differences alone."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from confdiff.display.figures import save_figure
from confdiff.io.atomic import atomic_files, write_text
from confdiff.io.outputs import check_new_report
from confdiff.methods import METHODS
from confdiff.metrics import accuracy, calibration_error
from confdiff.models import build_model
from confdiff.tasks import Task, TaskSpec, make_task
from confdiff.threads import follow_policy
from confdiff.training import History, predict_scores, train

_PRIOR = 0.5
_N_PAIRS = 600
SHOWN = (
    "confdiff-unbiased",
    "confdiff-relu",
    "confdiff-abs",
    "confdiff-regression",
    "oracle-hard",
    "oracle-soft",
)
"""The methods of the demonstration: the paper's, the default of the library, and the oracles."""


@dataclass(frozen=True)
class Outcome:
    """The result of one method on the test set.

    Attributes
    ----------
    method, learns_from : str
        The method, and the supervision that it reads.
    accuracy : float
        Mean over the last ten epochs.
    calibration_error : float
        After the last epoch.
    seconds : float
        Time of the training.
    history : list of dict
        Measures of each epoch.
    probabilities : list of float
        Predictions after the last epoch.
    """

    method: str
    learns_from: str
    accuracy: float
    calibration_error: float
    seconds: float
    history: History
    probabilities: list[float]


@dataclass(frozen=True)
class Demo:
    """The results of all methods, and the task that they share."""

    pairs: int
    prior: float
    seed: int
    epochs: int
    test_labels: list[int]
    teacher_accuracy: float
    outcomes: list[Outcome]


@follow_policy
def run_demo(*, seed: int = 0, epochs: int = 60, done: Callable[[Outcome], None] = lambda outcome: None) -> Demo:
    """Train a teacher, sample pairs, and learn from them by every method in :data:`SHOWN`.

    Parameters
    ----------
    seed : int
        Seed of all random draws.
    epochs : int
        Passes over the pairs.
    done : callable, optional
        Called with each outcome as it is finished.
    """
    task = make_task(TaskSpec("digits", _PRIOR, n_pairs=_N_PAIRS, seed=seed), keep_teacher=False)
    outcomes = []
    for name in SHOWN:
        outcomes.append(_learn(name, task, epochs))
        done(outcomes[-1])
    return Demo(
        pairs=len(task.pairs),
        prior=_PRIOR,
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


def demo_files(folder: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`save_demo` writes."""
    return {"figure": folder / "demo.png", "numbers": folder / "demo.json"}


def save_demo(demo: Demo, folder: Path, *, overwrite: bool = False) -> dict[str, Path]:
    """Write the figure and the numbers to a folder, and return their paths.

    Files of an earlier demonstration are replaced, other files of these names only with ``overwrite``.
    """
    from confdiff.experiments.report.plots import demo_figure

    files = demo_files(folder)
    check_new_report(files, overwrite=overwrite)
    with atomic_files(files) as temporaries:
        save_figure(demo_figure(demo), temporaries["figure"])
        write_text(temporaries["numbers"], json.dumps(asdict(demo)))
    return files
