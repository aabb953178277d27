"""What people compared, as the two files that everybody has who asked people: items and judged pairs."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets import Comparisons, Dataset
from confdiff.io.tables import write_table

VERDICTS = {"a1": -1, "equal": 0, "a2": 1, "": None}


def export_comparisons(data: Comparisons | Dataset, folder: Path) -> dict[str, Path]:
    """Write items.csv and pairs.csv into a folder, which is made if need be. Returns: what is where.

    items.csv: id, topic, text. pairs.csv: left, right, difference = (votes for right - votes for left) / votes,
    gold: the verdict of the publishers (-1: left, 1: right, 0: neither, empty: none), group: the topic, weight: votes.
    """
    if isinstance(data, Dataset):
        raise ValueError(f"nobody compared the items of {data.name}: `confdiff pairs make {data.name}` draws pairs.")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file; the folder of that name cannot be made.")
    folder.mkdir(parents=True, exist_ok=True)
    files = {"items": folder / "items.csv", "pairs": folder / "pairs.csv"}
    write_table(files["items"], _items(data))
    write_table(files["pairs"], _pairs(data))
    return files


def _items(data: Comparisons) -> dict[str, Any]:
    topics = np.empty(len(data.ids), dtype=object)
    for side in (data.pairs.left, data.pairs.right):
        topics[side.numpy()] = _groups(data)
    return {"id": data.ids, "topic": topics, "text": data.texts}


def _pairs(data: Comparisons) -> dict[str, Any]:
    ids, votes = np.array(data.ids), data.votes.sum(axis=1)
    return {
        "left": ids[data.pairs.left.numpy()],
        "right": ids[data.pairs.right.numpy()],
        "difference": (data.votes[:, 1] - data.votes[:, 0]) / votes,
        "gold": np.array([VERDICTS[verdict] for verdict in data.gold.tolist()], dtype=object),
        "group": _groups(data),
        "weight": votes,
    }


def _groups(data: Comparisons) -> NDArray[Any]:
    """The topic of each pair."""
    assert data.pairs.group is not None
    names: NDArray[Any] = np.array(data.group_names)[np.asarray(data.pairs.group)]
    return names
