"""Read data sets that are published as tables: Optdigits, Pendigits and Letter of the UCI repository, and USPS.

The paper splits all of them at random, over all published files together.
"""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.dataset import Dataset
from confdiff.datasets.digits import DIGITS, EVEN, eight_by_eight
from confdiff.datasets.sources import (
    Form,
    LocatedFiles,
    SourceFile,
    damaged_source,
    md5_of_bytes,
    md5_of_table,
    plain_table,
)

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_ALWAYS_ZERO = (0, 39)  # corner pixels of Optdigits that no digit touches: the paper has 62 features, not 64


def _uci(name: str, folders: tuple[str, ...], md5: str) -> SourceFile:
    return SourceFile(name, folders, md5, f"{_UCI}/{folders[0]}/{name}", checksum=md5_of_table)


def _tables(files: LocatedFiles, **options: Any) -> NDArray[np.uint8]:
    """Return the rows of all files; every entry is a whole number."""
    texts = (plain_table(source.read(path)).decode("ascii") for source, path in files)
    return np.concatenate([np.loadtxt(io.StringIO(text), np.uint8, delimiter=",", **options) for text in texts])


def _read_optdigits(files: LocatedFiles) -> Dataset:
    table = _tables(files)
    items = np.ascontiguousarray(np.delete(table[:, :-1], _ALWAYS_ZERO, axis=1))
    return _digits("optdigits", items, table[:, -1].copy(), _optdigits_picture)


def _digits(
    name: str, items: NDArray[Any], classes: NDArray[np.uint8], picture: Callable[[NDArray[Any]], NDArray[Any]]
) -> Dataset:
    """Return a data set of handwritten digits, of which the even ones are positive."""
    return Dataset(name=name, items=items, classes=classes, class_names=DIGITS, positive=EVEN, picture=picture)


def _optdigits_picture(row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    first, second = _ALWAYS_ZERO
    return eight_by_eight(np.insert(row, [first, second - 1], 0))


def _read_pendigits(files: LocatedFiles) -> Dataset:
    table = _tables(files)
    items = np.ascontiguousarray(table[:, :-1])
    return _digits("pendigits", items, table[:, -1].copy(), _strokes)


def _strokes(row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Draw the path of the pen through its eight points with 28 x 28 pixels."""
    x, y = row.reshape(8, 2).T / 100 * 23 + 2
    positions = np.linspace(0, 7, 400)
    columns = np.interp(positions, range(8), x)
    rows = 27 - np.interp(positions, range(8), y)
    down, across = np.mgrid[:28, :28]
    distance = np.hypot(down[..., None] - rows, across[..., None] - columns).min(-1)
    ink: NDArray[np.uint8] = (255 * np.clip(1.8 - distance, 0, 1)).astype(np.uint8)
    return ink


def _read_letter(files: LocatedFiles) -> Dataset:
    table = _tables(files, converters={0: lambda letter: ord(letter) - ord("A")})
    return Dataset(
        name="letter",
        items=np.ascontiguousarray(table[:, 1:]),
        classes=table[:, 0].copy(),
        class_names=LETTERS,
        positive=tuple(range(13)),
    )


def _read_usps_npz(files: LocatedFiles) -> Dataset:
    ((source, path),) = files
    arrays = np.load(io.BytesIO(source.read(path)), allow_pickle=False)
    items = np.concatenate([arrays["x_train"], arrays["x_test"]])
    classes = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return _usps(items, classes, path)


def _read_usps_libsvm(files: LocatedFiles) -> Dataset:
    from sklearn.datasets import load_svmlight_files

    texts = [io.BytesIO(source.read(path)) for source, path in files]
    train, train_digits, test, test_digits = load_svmlight_files(texts, n_features=256)
    items = np.concatenate([train.toarray(), test.toarray()])
    return _usps((items + 1) / 2, np.concatenate([train_digits, test_digits]) - 1, files[0][1])


def _usps(items: NDArray[Any], classes: NDArray[Any], path: Path) -> Dataset:
    """Return grey levels from 0 to 1 in steps of 1/2000, in an order that is the same for every copy of the data."""
    table = np.column_stack([np.rint(items * 2000), classes]).astype(np.uint16)
    table = table[np.lexsort(table.T[::-1])]
    if md5_of_bytes(table.tobytes()) != _USPS_MD5:
        raise damaged_source(path, "its grey levels or digits are not those of USPS")
    levels = table[:, :-1].astype(np.float32) / 2000
    return _digits("usps", levels, table[:, -1].astype(np.uint8), _usps_picture)


def _usps_picture(row: NDArray[np.float32]) -> NDArray[np.uint8]:
    return (row.reshape(16, 16) * 255).astype(np.uint8)


_USPS_MD5 = "85846b389b31a051c707f51fb74860e8"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass"
_OPT = ("optdigits", "optical+recognition+of+handwritten+digits", "")
_PEN = ("pendigits", "pen+based+recognition+of+handwritten+digits", "")
OPTDIGITS = Form(
    (
        _uci("optdigits.tra", _OPT, "1ec5950d7601cb9a5d9e485153807186"),
        _uci("optdigits.tes", _OPT, "dc48444a0fe6fa7d7dcada21832e90ef"),
    ),
    _read_optdigits,
)
PENDIGITS = Form(
    (
        _uci("pendigits.tra", _PEN, "81174cfdd2b8bf47d95e832c07446eaa"),
        _uci("pendigits.tes", _PEN, "a06f84b554841c01dad0af82ec7b2f8f"),
    ),
    _read_pendigits,
)
LETTER = Form(
    (
        SourceFile(
            "letter-recognition.data",
            ("letter", "letter+recognition", ""),
            "cea95daa4e4f610751b95da241b75306",
            f"{_UCI}/letter-recognition/letter-recognition.data",
            checksum=md5_of_table,
        ),
    ),
    _read_letter,
)
USPS = (
    Form((SourceFile("usps.npz", ("usps", ""), None, ""),), _read_usps_npz),
    Form(
        tuple(SourceFile(name, ("usps", ""), None, f"{_LIBSVM}/{name}.bz2") for name in ("usps", "usps.t")),
        _read_usps_libsvm,
    ),
)
