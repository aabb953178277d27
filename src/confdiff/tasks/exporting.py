"""Export comparisons by people as two ordinary tables: items and judged pairs."""

from pathlib import Path
from typing import Any

import numpy as np

from confdiff.datasets import ComparisonDataset, Dataset, Interactions
from confdiff.io.atomic import atomic_files
from confdiff.io.outputs import check_new_files
from confdiff.io.tables import write_table


def exported_files(folder: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`export_comparisons` writes."""
    return {"items": folder / "items.csv", "pairs": folder / "pairs.csv"}


def export_comparisons(
    data: ComparisonDataset | Dataset | Interactions, folder: Path, *, overwrite: bool = False, escape: bool = True
) -> dict[str, Path]:
    """Write items.csv and pairs.csv into a folder, which is created if it is missing.

    items.csv has the column id and, where they exist, the topic (the group) and the text or else the features. It
    has no ``reference``, which a learner must not see. In pairs.csv, ``left`` and ``right`` are ids,
    ``difference`` is how much more the right item has. Other columns exist where they are known: ``gold`` is the
    verdict of the publishers (-1: left, 1: right, 0: neither, empty: none), ``weight`` the number of votes, ``group``,
    ``annotator``, ``shown_first`` (left, right, or empty), ``block`` (pairs to hold out together), ``part`` (the
    published split) and ``date``.

    Parameters
    ----------
    data : ComparisonDataset
        What ``load`` returns for a name of the kind ``"comparisons"``.
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
    columns: dict[str, Any] = {"id": data.ids}
    if data.group is not None:
        topics = np.empty(len(data.ids), dtype=object)
        for rows in (data.left, data.right):
            topics[rows] = np.array(data.group_names)[data.group]
        columns["topic"] = topics
    if data.texts is not None:
        columns["text"] = data.texts
    elif data.features is not None:
        names = data.feature_names or tuple(f"x{column}" for column in range(data.features.shape[1]))
        columns |= dict(zip(names, data.features.T, strict=True))
    return columns


def _pairs(data: ComparisonDataset) -> dict[str, Any]:
    ids = np.array(data.ids)
    columns: dict[str, Any] = {"left": ids[data.left], "right": ids[data.right], "difference": data.difference}
    if data.verdict is not None:
        columns["gold"] = np.array([None if verdict != verdict else int(verdict) for verdict in data.verdict.tolist()])
    if data.group is not None:
        columns["group"] = np.array(data.group_names)[data.group]
    if data.annotator is not None:
        columns["annotator"] = np.array(data.annotator_names)[data.annotator]
    if data.side is not None:
        columns["shown_first"] = np.select([data.side > 0, data.side < 0], ["left", "right"], "").astype(object)
    if data.votes is not None:
        columns["weight"] = data.votes.sum(axis=1)
    for name, values in (("block", data.block), ("part", data.part), ("date", data.date)):
        if values is not None:
            columns[name] = values.astype(str) if name == "date" else values
    return columns
