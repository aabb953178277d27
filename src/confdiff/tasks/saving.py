"""Save a task as files: two tables for learners, and a third with the truth, for evaluation only."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from confdiff.io.atomic import atomic_files, write_text
from confdiff.io.outputs import check_new_files
from confdiff.io.tables import check_table_name, write_table
from confdiff.io.typed_table import read_table
from confdiff.pairs import Pairs
from confdiff.pairs.describe import describe_pairs
from confdiff.pairs.files import companion, read_pairs, rows_in_table, with_columns
from confdiff.pairs.sparse import require_dense
from confdiff.tasks.task import Task


def task_files(path: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`save_task` writes for pairs in ``path``, which come last."""
    description = path.with_suffix(".json")
    return {
        "items": companion(path, "items"),
        "truth": companion(path, "truth"),
        "description": companion(path, "description") if description == path else description,
        "pairs": check_table_name(path),
    }


def save_task(task: Task, path: Path, *, overwrite: bool = False) -> dict[str, Path]:
    """Write the pairs of a task to ``path``, and the other files next to it.

    For ``pairs.parquet`` the files are:

    - pairs.parquet: left, right, difference. The ids are row numbers in the data set.
    - pairs-items.parquet: id and features of the items of the pairs and of the test set.
    - pairs-truth.parquet: id, part (train or test), class, label, posterior. Not for learners.
    - pairs.json: the specification and a description (pairs-description.json if the pairs are in pairs.json).

    Existing files are replaced only with ``overwrite``.

    Returns
    -------
    dict
        The paths of ``"pairs"``, ``"items"``, ``"truth"`` and ``"description"``.
    """
    files = task_files(path)
    check_new_files(files, overwrite=overwrite)
    with atomic_files(files) as temporaries:
        _write(task, temporaries)
        files["pairs"].unlink(missing_ok=True)  # the new pairs come last: then all files belong together
    return {kind: files[kind] for kind in ("pairs", "items", "truth", "description")}


def _write(task: Task, files: Mapping[str, Path]) -> None:
    pairs = task.pairs
    ids = torch.cat([task.rows, task.test_rows]).numpy()
    features = torch.cat([require_dense(pairs.items, "saving a task"), task.test_items]).numpy()
    names = pairs.feature_names or [f"x{column}" for column in range(features.shape[1])]
    write_table(files["items"], {"id": ids, **dict(zip(names, features.T, strict=True))})
    write_table(files["truth"], _truth(task, ids))
    description = {
        "specification": asdict(task.spec),
        "given_prior": task.prior,
        "teacher_accuracy": task.teacher_accuracy,
    }
    write_text(files["description"], json.dumps(description | describe_pairs(pairs).as_dict(), indent=1))
    columns = {"left": task.rows[pairs.left], "right": task.rows[pairs.right], "difference": pairs.difference}
    write_table(files["pairs"], columns)


def _truth(task: Task, ids: np.ndarray) -> dict[str, np.ndarray]:
    names = np.array(task.data.class_names)
    part = np.repeat(["train", "test"], [len(task.rows), len(task.test_rows)])
    assert task.pairs.posteriors is not None
    posteriors = torch.cat([task.pairs.posteriors, task.test_posteriors]).numpy()
    labels = task.data.labels[ids].astype(np.int8)
    return {"id": ids, "part": part, "class": names[task.data.classes[ids]], "label": labels, "posterior": posteriors}


def read_truth(path: Path) -> Pairs:
    """Read the pairs in a file, with the labels and posteriors of their items if the file of the truth exists."""
    pairs = read_pairs(path, bounded=False)
    truth_path = companion(path, "truth")
    items_path = companion(path, "items")
    if not truth_path.is_file():
        return pairs
    truth = with_columns(truth_path, "id", "label", "posterior")
    items = read_table(items_path, ["id"])["id"]
    rows = rows_in_table(truth_path, truth["id"], items, f"{items_path}, column 'id'")
    return pairs.with_truth(truth["posterior"][rows], truth["label"][rows])
