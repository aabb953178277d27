"""Read MNIST, Kuzushiji-MNIST and Fashion-MNIST: 60,000 + 10,000 pictures of 28 x 28 pixels in ten classes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.dataset import Dataset
from confdiff.datasets.digits import DIGITS, EVEN
from confdiff.datasets.sources import SHARED_FOLDERS, Form, LocatedFiles, SourceFile

_N_TRAIN = 60_000
_N_TEST = 10_000
_SIDE = 28
KUZUSHIJI = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")
FASHION = (
    "T-shirt",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
_FILES = ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte")

_MD5S = {
    "mnist": (
        "6bbc9ace898e44ae57da46a324031adb",
        "2646ac647ad5339dbf082846283269ea",
        "a25bea736e30d166cdddb491f175f624",
        "27ae3e4e09519cfbb04c329615203637",
    ),
    "kmnist": (
        "92be26ec9822e900ac425d0a0aa84ced",
        "bf305b8cd328700fbc17f5acbc2856d2",
        "949e75301f8813e0dc5800dcc320fc52",
        "9f55f451c0988b028eccdf7d5cc265ab",
    ),
    "fashion": (
        "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "8181f5470baa50b63fa0f6fddb340f0a",
        "9018921c3c673c538a1fc5bad174d6f9",
        "15d484375f8d13e6eb1aabb0c3f46965",
    ),
}


def _form(name: str, folders: tuple[str, ...], home: str, class_names: tuple[str, ...]) -> Form:
    namesakes = frozenset(md5 for other, md5s in _MD5S.items() if other != name for md5 in md5s)
    sources = (
        SourceFile(file, (*folders, *SHARED_FOLDERS), md5, f"{home}/{file}.gz", namesakes=namesakes)
        for file, md5 in zip(_FILES, _MD5S[name], strict=True)
    )
    return Form(tuple(sources), _reader(name, class_names))


def _reader(name: str, class_names: tuple[str, ...]) -> Callable[[LocatedFiles], Dataset]:
    def read(files: LocatedFiles) -> Dataset:
        """Read the four files into one matrix of pixels; even class numbers are positive."""
        n_pixels = _SIDE * _SIDE
        sizes = (_N_TRAIN * n_pixels, _N_TEST * n_pixels, _N_TRAIN, _N_TEST)
        parts = [_bytes_of_idx(*file, size) for file, size in zip(files, sizes, strict=True)]
        return Dataset(
            name=name,
            items=np.concatenate(parts[:2]).reshape(-1, n_pixels),
            classes=np.concatenate(parts[2:]),
            class_names=class_names,
            positive=EVEN,
            n_train=_N_TRAIN,
            picture=_picture,
        )

    return read


def _bytes_of_idx(source: SourceFile, path: Path, size: int) -> NDArray[np.uint8]:
    """Return the entries of an IDX file: after four bytes of type and rank, and four for the length of each axis."""
    contents = source.read(path)
    return np.frombuffer(contents, np.uint8, count=size, offset=4 + 4 * contents[3])


def _picture(row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return row.reshape(_SIDE, _SIDE)


MNIST = _form(
    "mnist",
    ("mnist", "MNIST/raw"),
    "https://ossci-datasets.s3.amazonaws.com/mnist",
    DIGITS,
)
KMNIST = _form(
    "kmnist",
    ("kmnist", "KMNIST/raw"),
    "https://codh.rois.ac.jp/kmnist/dataset/kmnist",
    KUZUSHIJI,
)
FASHION_MNIST = _form(
    "fashion",
    ("fashion_mnist", "FashionMNIST/raw"),
    "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
    FASHION,
)
