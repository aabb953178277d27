"""Register a data set: a function that returns items and labels, or a folder with their files."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from confdiff.datasets import DATASETS, Dataset
from confdiff.datasets.entry import Entry, PairSetting
from confdiff.plugins import RegistrationError, add_to_table, check_new_name, count_file
from confdiff.registration.labelled import as_dataset, folder_files, folder_forms
from confdiff.validation import check_count, check_number, check_prior

_Labelled = tuple[Any, Any]
"""Items (N, d) and their labels (N,)."""


def register_dataset(
    name: str,
    source: Callable[[], _Labelled] | str | os.PathLike[str],
    *,
    n_pairs: int,
    positive: Sequence[Any] | None = None,
    n_train: int | None = None,
    priors: Sequence[float] = (0.5,),
    epochs: int = 200,
    batch_size: int = 128,
    learning_rate: float = 1e-3,
    weight_decay: float = 1e-5,
    layout: tuple[int, int, int] | None = None,
    label: str | None = None,
    title: str = "",
    licence: str = "none stated",
    home: str = "a plug-in",
) -> None:
    """Add a data set of labelled items, under a name that all commands and workers know.

    Parameters
    ----------
    name : str
        The name that users type, in lower-case letters, digits, ``-``, ``_`` and ``.``.
    source : callable or path
        A function without arguments that returns items (N, d) and labels (N,); it is called once in every worker. Or a
        folder with ``items.parquet`` and ``labels.parquet`` or ``labels.csv``, whose files are sent to workers.
    n_pairs : int
        The number of pairs to draw; items of the training set are drawn without replacement.
    positive : sequence, optional
        The labels that count as positive; by default 1 of labels 0/1 or -1/+1.
    n_train : int, optional
        The first items are the training set, and the others the test set. By default 80 % of each class are drawn.
    priors, epochs : sequence of float, int
        What ``confdiff run`` uses if it is given no other values.
    batch_size, learning_rate, weight_decay : int, float, float
        Pairs per step, and settings of the optimiser.
    layout : tuple of int, optional
        (channels, height, width) of colour pictures, which the protocols give to a convolutional network.
    label : str, optional
        Short name in reports; by default the name.
    title, licence, home : str
        A short description, the licence, and the address of the publishers.

    Raises
    ------
    ValueError
        The name is taken, or a setting cannot be used. What a function returns is checked when it is first needed.

    Examples
    --------
    Inside a file ``mine.py``, which ``load_plugins("mine.py")`` loads::

        register_dataset("my-blobs", make_blobs, n_pairs=500, priors=(0.2, 0.5), epochs=100)
    """
    check_new_name("data set", DATASETS, name)
    try:
        setting = PairSetting(
            n_pairs=check_count("n_pairs", n_pairs),
            batch_size=check_count("batch_size", batch_size, least=2),
            learning_rate=check_number("learning_rate", learning_rate, above=0),
            weight_decay=check_number("weight_decay", weight_decay, least=0),
            epochs=check_count("epochs", epochs),
            priors=tuple(check_prior(prior) for prior in priors),
        )
        if n_train is not None:
            check_count("n_train", n_train)
        for size in layout or ():
            check_count("layout", size)
    except (ValueError, TypeError) as error:
        raise RegistrationError(f"the data set {name!r}: {error}") from None
    origin: dict[str, Any]
    if callable(source):
        origin = {"builtin": _loader(name, source, positive, n_train)}
    else:
        folder = Path(source).expanduser().absolute()
        for path in folder_files(folder):
            count_file(path)
        origin = {"forms": folder_forms(name, folder, positive=positive, n_train=n_train)}
    entry = Entry(
        label=name if label is None else label,
        title=title or "a data set of a plug-in",
        licence=licence,
        home=home,
        n_train=None,
        network="table" if layout is None else "picture",
        layout=layout,
        setting=setting,
        **origin,
    )
    add_to_table("data set", DATASETS, name, entry)


def _loader(name: str, source: Any, positive: Sequence[Any] | None, n_train: int | None) -> Callable[[], Dataset]:
    """Return a function that loads the data set once per process."""

    @cache
    def load() -> Dataset:
        try:
            items, labels = source()
        except Exception as error:
            raise ValueError(
                f"the function of the data set {name!r} raised {type(error).__name__} instead of returning items and "
                f"labels: {error}"
            ) from error
        return as_dataset(name, items, labels, positive=positive, n_train=n_train)

    return load
