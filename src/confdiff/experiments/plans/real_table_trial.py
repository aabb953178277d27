"""A trial of the study on real tables: a specification in, a record out."""

import warnings
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff import __version__
from confdiff.estimators import ConfDiffAuto
from confdiff.experiments.plans.real_table_learners import LEARNERS, Predictor
from confdiff.experiments.plans.real_table_task import TableTask, make_table_task
from confdiff.experiments.trials.table_record import TableRecord, TableSpec
from confdiff.metrics import calibration_error
from confdiff.validation import check_choice

_PACKAGES = ("torch", "scikit-learn", "lightgbm")


def run_table_trial(spec: TableSpec, *, folder: Path | None = None) -> TableRecord:
    """Make the task, fit the learner, and test it. The same specification gives the same measures.

    Parameters
    ----------
    spec : TableSpec
        The trial.
    folder : Path, optional
        Folder to search first for the data set.
    """
    task = _task(spec.dataset, spec.balance, spec.differences, spec.pairs, spec.seed, folder)
    learner = LEARNERS[check_choice("learner", spec.learner, LEARNERS)]
    start = process_time()
    wall_start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a study has no reader for them: its measures show what they warn of
        model = learner.fit(task.pairs, task.prior, spec.seed)
    processor_seconds = process_time() - start
    seconds = perf_counter() - wall_start
    probabilities = model.predict_proba(task.test_items)[:, 1]
    return TableRecord(
        key=spec.key,
        spec=spec,
        prior=round(task.prior, 6),
        n_pairs=len(task.pairs),
        n_test=len(task.test_labels),
        **{name: round(value, 6) for name, value in measure_predictions(probabilities, task.test_labels).items()},
        teacher_accuracy=round(task.teacher_accuracy, 6),
        seconds=round(seconds, 3),
        processor_seconds=round(processor_seconds, 3),
        chosen=_chosen(model),
        versions={"confdiff": __version__, **{name: version(name) for name in _PACKAGES}},
    )


@lru_cache(maxsize=1)
def _task(dataset: str, balance: Any, differences: str, pairs: int, seed: int, folder: Path | None) -> TableTask:
    """Make a task; learners of one task follow each other and share it."""
    spec = TableSpec(dataset=dataset, balance=balance, differences=differences, pairs=pairs, learner="any", seed=seed)
    return make_table_task(spec, folder=folder)


def measure_predictions(probabilities: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    """Return accuracy, area under the ROC curve, Brier score and calibration error of predicted probabilities.

    >>> measures = measure_predictions(np.array([0.9, 0.4, 0.2]), np.array([1, 1, 0]))
    >>> {name: round(value, 3) for name, value in measures.items()}
    {'accuracy': 0.667, 'auc': 1.0, 'brier': 0.137, 'calibration_error': 0.3}
    """
    from sklearn.metrics import roc_auc_score

    return {
        "accuracy": float(np.mean((probabilities >= 0.5) == (labels > 0))),
        "auc": float(roc_auc_score(labels, probabilities)),
        "brier": float(np.mean((probabilities - labels) ** 2)),
        "calibration_error": calibration_error(probabilities, labels),
    }


def _chosen(model: Predictor) -> str | None:
    """Return the candidate that a learner chose, if it compares candidates."""
    if not isinstance(model, ConfDiffAuto):
        return None
    row = model.selection_.chosen
    return row.candidate if row.link == "probability" else f"{row.candidate}, {row.link}"
