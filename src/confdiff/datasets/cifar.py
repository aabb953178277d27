"""Read CIFAR-10, colour pictures of 32 x 32 pixels, and CIFAR-10H, votes of about 51 people on each test picture."""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.dataset import Dataset
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile

CIFAR_LAYOUT = (3, 32, 32)
CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ANIMALS = (2, 3, 4, 5, 6, 7)
_BATCH = 10_000  # pictures per file
_N_PIXELS = 3 * 32 * 32

_NEEDED = ("data_batch_1", "test_batch")
_HOME = "https://www.cs.toronto.edu/~kriz"
_BINARY = {
    "data_batch_1": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5": "53f37980c15c3d472c316c40844f3f0d",
    "test_batch": "803d5f7f4d78ea53de84dbe85f74fb6d",
}
_PYTHON = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}


def _binary(name: str) -> SourceFile:
    return SourceFile(
        name=f"{name}.bin",
        folders=("cifar10", "cifar-10-batches-bin", ""),
        md5=_BINARY[name],
        url=f"{_HOME}/cifar-10-binary.tar.gz",
        member=f"/{name}.bin",
        needed=name in _NEEDED,
    )


def _python(name: str) -> SourceFile:
    return SourceFile(
        name=name,
        folders=("cifar-10-batches-py", "cifar10/cifar-10-batches-py", ""),
        md5=_PYTHON[name],
        url=f"{_HOME}/cifar-10-python.tar.gz",
        member=f"/{name}",
        needed=name in _NEEDED,
    )


def _read_cifar10(files: LocatedFiles) -> Dataset:
    """Read all batches that exist into one matrix: the channels of a picture one after the other, each row by row."""
    items = np.empty((_BATCH * len(files), _N_PIXELS), dtype=np.uint8)
    classes = np.empty(_BATCH * len(files), dtype=np.uint8)
    for number, (source, path) in enumerate(files):
        rows = slice(number * _BATCH, (number + 1) * _BATCH)
        classes[rows], items[rows] = _read_batch(source, path)
    return Dataset(
        name="cifar10",
        items=items,
        classes=classes,
        class_names=CIFAR_CLASSES,
        positive=ANIMALS,
        n_train=len(items) - _BATCH,
        picture=_picture,
    )


def _read_cifar10h(files: LocatedFiles) -> Dataset:
    """Read the test pictures with the votes that each class received."""
    (counts, counts_path), (batch, batch_path) = files
    votes = np.load(io.BytesIO(counts.read(counts_path)), allow_pickle=False)
    classes, items = _read_batch(batch, batch_path)
    return Dataset(
        name="cifar10h",
        items=items.copy(),
        classes=classes,
        class_names=CIFAR_CLASSES,
        positive=ANIMALS,
        votes=votes,
        picture=_picture,
    )


def _read_batch(source: SourceFile, path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the classes and the pixels of a batch."""
    contents = source.read(path)
    if source.name.endswith(".bin"):
        table = np.frombuffer(contents, np.uint8).reshape(_BATCH, 1 + _N_PIXELS)
        return table[:, 0].copy(), table[:, 1:]
    batch = _ArraysOnly(io.BytesIO(contents), encoding="bytes").load()
    return np.array(batch[b"labels"], dtype=np.uint8), batch[b"data"]


class _ArraysOnly(pickle.Unpickler):
    """Read the pickles that CIFAR-10 is published as; build nothing but arrays and plain values."""

    _ALLOWED = frozenset({("multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")})

    def find_class(self, module: str, name: str) -> Any:
        """Return the functions that build NumPy arrays, under the names of any NumPy release; reject all others."""
        if (module.rsplit(".", 1)[-1], name) not in self._ALLOWED or module.split(".")[0] != "numpy":
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed in a file of pictures")
        if name == "_reconstruct":
            return np.empty(0).__reduce__()[0]
        return getattr(np, name)


def _picture(row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return row.reshape(CIFAR_LAYOUT).transpose(1, 2, 0)


_VOTES = SourceFile(
    "cifar10h-counts.npy",
    ("cifar10h", "cifar-10h/data", ""),
    "f1284b6fba48a67d3db69bbafb5685ad",
    "https://github.com/jcpeterson/cifar-10h/raw/master/data/cifar10h-counts.npy",
)
CIFAR10 = (
    Form(tuple(_binary(name) for name in _BINARY), _read_cifar10),
    Form(tuple(_python(name) for name in _PYTHON), _read_cifar10),
)
CIFAR10H = (
    Form((_VOTES, _binary("test_batch")), _read_cifar10h),
    Form((_VOTES, _python("test_batch")), _read_cifar10h),
)
