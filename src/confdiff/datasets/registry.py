"""Data sets by name: those of the paper, and two with judgements of real people."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

from confdiff.datasets.arguments import UKPCONVARG1
from confdiff.datasets.cifar import ANIMALS, CIFAR10, CIFAR10H
from confdiff.datasets.cifar import CLASSES as THINGS
from confdiff.datasets.dataset import Comparisons, Dataset, list_names
from confdiff.datasets.digits import DIGITS, EVEN, load_digits
from confdiff.datasets.idx import FASHION, FASHION_MNIST, KMNIST, KUZUSHIJI, MNIST
from confdiff.datasets.sources import DamagedFile, Form, damaged, data_roots, find, obtain
from confdiff.datasets.tables import LETTER, LETTERS, OPTDIGITS, PENDIGITS, USPS
from confdiff.validation import check_choice


@dataclass(frozen=True)
class Entry:
    """What is known of a data set without having it.

    n_train, n_test: the published parts; n_test is None where the paper splits at random.
    """

    title: str
    n_train: int
    n_test: int | None
    n_features: int | None
    class_names: tuple[str, ...]
    positive: tuple[int, ...]
    licence: str
    home: str
    forms: tuple[Form, ...] = ()

    @property
    def positive_names(self) -> str:
        """The positive classes, in words."""
        return list_names(self.class_names, self.positive)

    @property
    def size(self) -> str:
        """How many items there are, in words."""
        return f"{self.n_train:,}" + (f" + {self.n_test:,}" if self.n_test else "")


_UCI = "https://archive.ics.uci.edu/dataset"
_NONE = "none stated"
DATASETS: dict[str, Entry] = {
    "digits": Entry("digits of scikit-learn", 1_797, None, 64, DIGITS, EVEN, "CC BY 4.0", "ships with scikit-learn"),
    "mnist": Entry(
        "handwritten digits",
        60_000,
        10_000,
        784,
        DIGITS,
        EVEN,
        "CC BY-SA 3.0",
        "http://yann.lecun.com/exdb/mnist",
        (MNIST,),
    ),
    "kmnist": Entry(
        "Kuzushiji, cursive Japanese",
        60_000,
        10_000,
        784,
        KUZUSHIJI,
        EVEN,
        "CC BY-SA 4.0",
        "https://github.com/rois-codh/kmnist",
        (KMNIST,),
    ),
    "fashion": Entry(
        "pictures of clothes",
        60_000,
        10_000,
        784,
        FASHION,
        EVEN,
        "MIT",
        "https://github.com/zalandoresearch/fashion-mnist",
        (FASHION_MNIST,),
    ),
    "cifar10": Entry(
        "colour pictures of things",
        50_000,
        10_000,
        3_072,
        THINGS,
        ANIMALS,
        _NONE,
        "https://www.cs.toronto.edu/~kriz/cifar.html",
        CIFAR10,
    ),
    "optdigits": Entry(
        "handwritten digits, scanned", 5_620, None, 62, DIGITS, EVEN, "CC BY 4.0", f"{_UCI}/80", (OPTDIGITS,)
    ),
    "usps": Entry(
        "handwritten postal codes",
        9_298,
        None,
        256,
        DIGITS,
        EVEN,
        _NONE,
        "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html",
        USPS,
    ),
    "pendigits": Entry(
        "handwritten digits, pen strokes", 10_992, None, 16, DIGITS, EVEN, "CC BY 4.0", f"{_UCI}/81", (PENDIGITS,)
    ),
    "letter": Entry(
        "capital letters, 16 measures",
        20_000,
        None,
        16,
        LETTERS,
        tuple(range(13)),
        "CC BY 4.0",
        f"{_UCI}/59",
        (LETTER,),
    ),
    "cifar10h": Entry(
        "what people saw in CIFAR-10",
        10_000,
        None,
        3_072,
        THINGS,
        ANIMALS,
        "CC BY-NC-SA 4.0",
        "https://github.com/jcpeterson/cifar-10h",
        CIFAR10H,
    ),
    "ukpconvarg1": Entry(
        "16,927 judged pairs of arguments",
        1_052,
        None,
        None,
        (),
        (),
        "CC BY 4.0",
        "https://github.com/UKPLab/acl2016-convincing-arguments",
        UKPCONVARG1,
    ),
}
"""Name -> what is known of the data set."""

Folder = str | os.PathLike[str]


@overload  # mypy takes the two for one another, as a literal is a str too; it resolves calls by the first that fits
def load(name: Literal["ukpconvarg1"], *, folder: Folder | None = None) -> Comparisons: ...  # type: ignore[overload-overlap]
@overload
def load(name: str, *, folder: Folder | None = None, incomplete: bool = False) -> Dataset: ...
def load(name: str, *, folder: Folder | None = None, incomplete: bool = False) -> Dataset | Comparisons:
    """The data set called ``name``: a :class:`Dataset`, or :class:`Comparisons` for ``ukpconvarg1``.

    Its files are looked for in ``folder``, in the folder that the environment variable ``CONFDIFF_DATA`` names, and in
    the cache; what is in none of them is downloaded into the cache. Every file is checked before it is used.

    incomplete: go with the training batches of CIFAR-10 that are there instead of fetching the rest.

    >>> load("digits").items.shape
    (1797, 64)
    """
    entry = DATASETS[check_choice("data set", name, DATASETS)]
    if not entry.forms:
        return load_digits()
    form, files = obtain(name, entry.forms, folder, incomplete=incomplete)
    try:
        loaded: Dataset | Comparisons = form.read(files)
    except (DamagedFile, OSError):
        raise
    except Exception as error:  # whatever a parser makes of a file that is not what it should be
        place = files[0][1] if len(files) == 1 else f"one of the files of {name} in {files[0][1].parent}"
        raise damaged(place, f"it cannot be read ({type(error).__name__}: {error})") from error
    return loaded


def fetch(name: str, *, folder: Folder | None = None) -> list[Path]:
    """Have the files of a data set here, downloading what is missing, and check them. Returns: where they are."""
    load(name, folder=folder)
    return whereabouts(name, folder=folder)


def whereabouts(name: str, *, folder: Folder | None = None, incomplete: bool = False) -> list[Path]:
    """The files of a data set that are here, without loading them; an empty list where one is missing.

    incomplete: whether training batches of CIFAR-10 may be missing.

    >>> whereabouts("digits")
    []
    """
    entry = DATASETS[check_choice("data set", name, DATASETS)]
    found: Sequence[tuple[object, Path]] = find(entry.forms, data_roots(folder), incomplete=incomplete) or []
    return [path for _, path in found]
