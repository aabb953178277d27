"""Make a data set of items and labels, as a function returns them or a folder holds them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets import Dataset
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile
from confdiff.io.damage import damaged
from confdiff.io.typed_table import read_table
from confdiff.validation import as_float32, check_items

_ITEMS = "items.parquet"
_LABELS = ("labels.parquet", "labels.csv")
_MOST_CLASSES = 256
_REMEDY = "Write the file again."


def as_dataset(
    name: str, items: Any, labels: Any, *, positive: Sequence[Any] | None = None, n_train: int | None = None
) -> Dataset:
    """Return a data set of items and labels, checked.

    Parameters
    ----------
    name : str
        Its name.
    items : array of shape (N, d)
        The features; bytes (pixels) stay bytes.
    labels : array of shape (N,)
        Numbers or texts, at most 256 different ones.
    positive : sequence, optional
        The labels that count as positive; by default the larger of two numbers.
    n_train : int, optional
        The number of items in the training set, which come first.

    Examples
    --------
    >>> as_dataset("mine", [[0.0], [1.0], [2.0]], ["cat", "dog", "cat"], positive=["dog"])
    Dataset(mine: 3 items of 1 features, dog against the rest)
    """
    try:
        features = _features(items)
        values, classes = np.unique(_labels(labels, len(features)), return_inverse=True)
        if not 2 <= len(values) <= _MOST_CLASSES:
            raise ValueError(f"labels must have from 2 to {_MOST_CLASSES} different values; got {len(values)}.")
        if n_train is not None and n_train >= len(features):
            raise ValueError(f"n_train must leave items for the test set; got {n_train} of {len(features)} items.")
        names = [str(value) for value in values.tolist()]
        chosen = _positive_names(values, positive)
        unknown = [value for value in chosen if value not in names]
        if unknown or not 0 < len(chosen) < len(names):
            raise ValueError(f"positive must be some of the labels {', '.join(names[:10])}; got {', '.join(chosen)}.")
    except ValueError as error:
        raise ValueError(f"the data set {name!r}: {error}") from error
    return Dataset(
        name=name,
        items=features,
        classes=classes.astype(np.uint8),
        class_names=tuple(names),
        positive=tuple(sorted(names.index(value) for value in set(chosen))),
        n_train=n_train,
    )


def _features(items: Any) -> NDArray[Any]:
    array = np.asarray(items)
    if array.dtype == np.uint8 and array.ndim == 2:
        return array
    return as_float32("items", check_items("items", items))


def _labels(labels: Any, length: int) -> NDArray[Any]:
    array = np.asarray(labels)
    if array.dtype == object:
        array = array.astype(str)
    if array.shape != (length,):
        raise ValueError(f"labels must be one for each of {length} items; got an array of shape {array.shape}.")
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == array.round()).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "biuU":
        raise ValueError(f"labels must be whole numbers or texts; got {array.dtype} such as {array[:3].tolist()}.")
    return array.astype(np.int64) if array.dtype.kind == "b" else array


def _positive_names(values: NDArray[Any], positive: Sequence[Any] | None) -> list[str]:
    if positive is not None:
        return [str(value) for value in positive]
    if values.tolist() not in ([0, 1], [-1, 1]):
        raise ValueError("labels other than 0/1 and -1/+1 need positive=..., the labels that count as positive.")
    return [str(values[1])]


def folder_files(folder: Path) -> tuple[Path, Path]:
    """Return the files of a data set in a folder: its items and its labels."""
    labels = next((name for name in _LABELS if (folder / name).is_file()), _LABELS[0])
    return folder / _ITEMS, folder / labels


def folder_forms(
    name: str, folder: Path, *, positive: Sequence[Any] | None = None, n_train: int | None = None
) -> tuple[Form, ...]:
    """Return the forms of a data set in a folder; a worker has the files in its own folder of data sets.

    Parameters
    ----------
    name, positive, n_train
        As in :func:`as_dataset`.
    folder : Path
        An absolute path.
    """
    read = partial(_read, name=name, positive=positive, n_train=n_train)
    places = (f"plugins/{name}", str(folder))
    return tuple(Form(tuple(_file(file, places) for file in (_ITEMS, labels)), read) for labels in _LABELS)


def _file(name: str, folders: tuple[str, ...]) -> SourceFile:
    return SourceFile(name, folders, md5=None, url="", endings=("",))


def _read(files: LocatedFiles, *, name: str, positive: Sequence[Any] | None, n_train: int | None) -> Dataset:
    (_, items_path), (_, labels_path) = files
    items = read_table(items_path)
    labels = read_table(labels_path)
    item_ids = items.pop("id", None)
    label_ids = labels.pop("id", None)
    if item_ids is not None and label_ids is not None and item_ids.tolist() != label_ids.tolist():
        raise damaged(labels_path, f"its ids are not those of {items_path}, in the same order", _REMEDY)
    texts = [column for column, values in items.items() if values.dtype.kind not in "biuf"]
    if texts or not items:
        reason = f"column {texts[0]!r} does not hold numbers" if texts else "it has no features"
        raise damaged(items_path, reason, _REMEDY)
    if len(labels) != 1 and "label" not in labels:
        raise damaged(labels_path, f"it needs a column 'label'; it has {', '.join(labels) or 'none'}", _REMEDY)
    column = labels["label"] if "label" in labels else next(iter(labels.values()))
    try:
        return as_dataset(name, np.column_stack(list(items.values())), column, positive=positive, n_train=n_train)
    except ValueError as error:
        raise damaged(items_path, str(error), _REMEDY) from error
