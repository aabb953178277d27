"""Load data sets by name, and find their files."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, overload

from confdiff.datasets.comparisons import ComparisonDataset
from confdiff.datasets.dataset import Dataset
from confdiff.datasets.files import data_roots, find_files, no_files, obtain
from confdiff.datasets.interactions import Interactions
from confdiff.datasets.registry import DATASETS, names_of_kind
from confdiff.datasets.sources import Form, LocatedFiles, damaged_source
from confdiff.io.damage import DamagedFile
from confdiff.plugins import look_up
from confdiff.validation import check_choice, check_count

_Folder = str | os.PathLike[str]
Judged = Literal[
    "ukpconvarg1",
    "voice-likability-lab",
    "voice-likability-crowd",
    "wmt23-sxs-mqm",
    "thu-image-preference",
    "humicroedit",
    "crowdpareto",
    "football",
    "humour-puns",
]
"""The names of the data sets of kind ``"comparisons"``."""


@overload  # mypy reports overlapping overloads, because a literal is also a str; calls resolve to the first match
def load(name: Judged, *, folder: _Folder | None = None) -> ComparisonDataset: ...  # type: ignore[overload-overlap]
@overload
def load(name: Literal["kuairec", "jester"], *, folder: _Folder | None = None) -> Interactions: ...  # type: ignore[overload-overlap]
@overload
def load(name: str, *, folder: _Folder | None = None, incomplete: bool = False) -> Dataset: ...
def load(
    name: str, *, folder: _Folder | None = None, incomplete: bool = False
) -> Dataset | ComparisonDataset | Interactions:
    """Load a data set.

    Its files are searched for in ``folder``, in the folder named by the environment variable ``CONFDIFF_DATA``, and in
    the cache. Missing files are downloaded into the cache. Every file is checked before it is used.

    Parameters
    ----------
    name : str
        A name from :data:`~confdiff.datasets.DATASETS`.
    folder : path, optional
        Folder to search first.
    incomplete : bool
        Use the training batches of CIFAR-10 that exist instead of downloading the others.

    Returns
    -------
    Dataset, ComparisonDataset or Interactions
        The class depends on the ``kind`` of the entry.

    Examples
    --------
    >>> load("digits").items.shape
    (1797, 64)
    """
    entry = look_up("data set", DATASETS, name)
    if entry.builtin is not None:
        included: Dataset = entry.builtin()
        return included
    if entry.kind == "interactions":
        return load_interactions(name, folder=folder)
    return _read(name, *obtain(name, entry.forms, folder, incomplete=incomplete))


def _read(name: str, form: Form, files: LocatedFiles) -> Dataset | ComparisonDataset | Interactions:
    try:
        contents: Dataset | ComparisonDataset | Interactions = form.read(files)
    except (DamagedFile, OSError):
        raise
    except Exception as error:  # parsers raise various exceptions for a malformed file
        place = files[0][1] if len(files) == 1 else f"one of the files of {name} in {files[0][1].parent}"
        raise damaged_source(place, f"it cannot be read ({type(error).__name__}: {error})") from error
    if isinstance(contents, ComparisonDataset):
        entry = DATASETS[name]
        return replace(contents, licence=entry.licence, citation=entry.citation)
    return contents


def load_interactions(
    name: str, *, folder: _Folder | None = None, n_users: int | None = None, seed: int = 0
) -> Interactions:
    """Load KuaiRec's small matrix (the published one if it exists, otherwise the subset) or Jester.

    Parameters
    ----------
    name : {"kuairec", "jester"}
        The data set.
    folder : path, optional
        Folder to search first.
    n_users : int, optional
        Keep this number of users, those with the most interactions.
    seed : int
        Breaks ties between users.
    """
    data = _read(name, *_interactions_files(name, folder))
    assert isinstance(data, Interactions)
    return data if n_users is None else data.of_most_active(check_count("n_users", n_users), seed)


def find_interactions(name: str, folder: _Folder | None = None) -> Path:
    """Return the file that :func:`load_interactions` would read."""
    _, files = _interactions_files(name, folder)
    return files[0][1]


def _interactions_files(name: str, folder: _Folder | None) -> tuple[Form, LocatedFiles]:
    forms = DATASETS[check_choice("data set of interactions", name, names_of_kind("interactions"))].forms
    roots = data_roots(folder)
    best = _best_form(forms, roots)
    if best is None:
        raise no_files(name, forms, roots)
    return best


def _best_form(forms: Sequence[Form], roots: Sequence[Path]) -> tuple[Form, LocatedFiles] | None:
    """Return the first form that exists in any folder; earlier folders decide only between equal forms."""
    for form in forms:
        files = find_files([form], roots)
        if files is not None:
            return form, files
    return None


def fetch(name: str, *, folder: _Folder | None = None) -> list[Path]:
    """Download the files of a data set that are missing, check all of them, and return their paths."""
    load(name, folder=folder)
    return whereabouts(name, folder=folder)


def whereabouts(name: str, *, folder: _Folder | None = None, incomplete: bool = False) -> list[Path]:
    """Return the paths of the files of a data set without loading them, or an empty list if one is missing.

    Parameters
    ----------
    name, folder :
        As in :func:`load`.
    incomplete : bool
        Whether training batches of CIFAR-10 may be missing.

    Examples
    --------
    >>> whereabouts("digits")
    []
    """
    return [path for _, path in _located(name, folder, incomplete)]


def portable_files(name: str, *, folder: _Folder | None = None) -> dict[str, Path]:
    """Return the files of a data set that exist, by their paths in any other folder of data sets.

    Copied to these paths, :func:`load` finds them there. The data set may be incomplete, as in :func:`whereabouts`.

    Examples
    --------
    >>> portable_files("digits")
    {}
    """
    return {f"{source.folders[0]}/{path.name}": path for source, path in _located(name, folder, incomplete=True)}


def _located(name: str, folder: _Folder | None, incomplete: bool) -> LocatedFiles:
    entry = look_up("data set", DATASETS, name)
    roots = data_roots(folder)
    if entry.kind == "interactions":
        _, files = _best_form(entry.forms, roots) or (None, [])
        return files
    return find_files(entry.forms, roots, incomplete=incomplete) or []
