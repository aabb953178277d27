"""Export comparisons by people as two ordinary tables: items and judged pairs."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets import ComparisonDataset, Dataset, Interactions
from confdiff.io.atomic import atomic_files
from confdiff.io.outputs import check_new_files
from confdiff.io.tables import write_table

_VERDICTS = {"a1": -1, "equal": 0, "a2": 1, "": None}


def exported_files(folder: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`export_comparisons` writes."""
    return {"items": folder / "items.csv", "pairs": folder / "pairs.csv"}


def export_comparisons(
    data: ComparisonDataset | Dataset | Interactions, folder: Path, *, overwrite: bool = False, escape: bool = True
) -> dict[str, Path]:
    """Write items.csv and pairs.csv into a folder, which is created if it is missing.

    items.csv has the columns id, topic and text. In pairs.csv, ``left`` and ``right`` are ids, ``difference`` is (votes
    for right - votes for left) / votes, and ``weight`` is the number of votes. ``gold`` is the verdict of the
    publishers (-1: left, 1: right, 0: neither, empty: none), and ``group`` is the topic.

    Parameters
    ----------
    data : ComparisonDataset
        What ``load("ukpconvarg1")`` returns.
    folder : Path
        Where to write.
    overwrite : bool
        Replace files that already exist.
    escape : bool
        Escape texts that a spreadsheet program would run as formulas.

    Returns
    -------
    dict
        The paths of ``"items"`` and ``"pairs"``.
    """
    if isinstance(data, Dataset):
        raise ValueError(f"nobody compared the items of {data.name}: `confdiff pairs make {data.name}` draws pairs.")
    if isinstance(data, Interactions):
        raise ValueError("interactions hold no comparisons; `confdiff recommend train` learns from them.")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; a folder of that name cannot be created.")
    files = exported_files(folder)
    check_new_files(files, overwrite=overwrite)
    with atomic_files(files) as temporaries:
        write_table(temporaries["items"], _items(data), escape=escape)
        write_table(temporaries["pairs"], _pairs(data), escape=escape)
    return files


def _items(data: ComparisonDataset) -> dict[str, Any]:
    topics = np.empty(len(data.ids), dtype=object)
    for side in (data.pairs.left, data.pairs.right):
        topics[side.numpy()] = _groups(data)
    return {"id": data.ids, "topic": topics, "text": data.texts}


def _pairs(data: ComparisonDataset) -> dict[str, Any]:
    ids = np.array(data.ids)
    votes = data.votes.sum(axis=1)
    return {
        "left": ids[data.pairs.left.numpy()],
        "right": ids[data.pairs.right.numpy()],
        "difference": (data.votes[:, 1] - data.votes[:, 0]) / votes,
        "gold": np.array([_VERDICTS[verdict] for verdict in data.gold.tolist()], dtype=object),
        "group": _groups(data),
        "weight": votes,
    }


def _groups(data: ComparisonDataset) -> NDArray[Any]:
    """Return the topic of each pair."""
    assert data.pairs.group is not None
    names: NDArray[Any] = np.array(data.group_names)[np.asarray(data.pairs.group)]
    return names
