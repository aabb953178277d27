"""A study of handwritten digits with simulated judges, to try the labelling studio without data of one's own."""

import re
import shutil
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.simulating import SimulatedJudge

if TYPE_CHECKING:
    from confdiff.labelling.study import Study

DEMO_JUDGES = (
    SimulatedJudge("Ada", noise=0.12, seconds=3.5),
    SimulatedJudge("Ben", scale=0.5, noise=0.12, seconds=5.0),
    SimulatedJudge("Cleo", scale=1.3, noise=0.15, seconds=3.0),
    SimulatedJudge("Dev", side_bias=0.25, noise=0.15, seconds=2.5),
    SimulatedJudge("Eli", noise=0.45, cannot_say=0.04, seconds=2.0),
)
"""A careful judge, one who uses half of the scale, one of strong words, one who favours the right, and a hasty one."""

QUESTION = "Which digit is larger?"
"""What the annotators of the demo are asked."""

_INSTRUCTIONS = """\
Each picture shows a handwritten digit from 0 to 9. Which of the two **numbers** is larger, and by how much?

- 0 and 9 differ *by far*, 3 and 8 *clearly*, 4 and 6 *slightly*.
- If you cannot read a digit, press **0** for "cannot say".
"""
_SAME_QUESTION = "Are both digits below 5, or both 5 and above?"
_SIDE = 168  # pixels of a picture
_MARGIN = 12


@dataclass(frozen=True)
class DigitStudy:
    """The files of the demo.

    Attributes
    ----------
    folder : Path
        Folder of all files.
    study : Path
        The study.
    new_items : Path
        Table of digits that are not in the study, with their true values.
    values : tuple of float
        True value of each item of the study, from 0 for the digit 0 to 1 for the digit 9.
    """

    folder: Path
    study: Path
    new_items: Path
    values: tuple[float, ...]

    def value_of(self, item: Mapping[str, Any]) -> float:
        """Return the true value of an item as the page receives it, by the address of its picture."""
        match = re.match(r"media/(\d+)/", item["cells"][0]["src"])
        assert match is not None
        return self.values[int(match[1])]


def create_digit_study(folder: str | Path, *, n_items: int = 200, n_new: int = 500, seed: int = 0) -> DigitStudy:
    """Write a study of scikit-learn's digits to a new folder, with their pictures.

    Annotators see the pictures. The items also have the 64 pixels as columns, from which ``confdiff fit`` learns.

    Parameters
    ----------
    folder : path
        The folder, which must not exist.
    n_items, n_new : int
        Number of digits in the study, and of further ones in the table of new items.
    seed : int
        Seed of the choice of digits and pairs.

    Raises
    ------
    FileExistsError
        If the folder already exists.
    """
    from confdiff.datasets.digits import load_digits
    from confdiff.io.tables import write_table

    target = Path(folder)
    if target.exists():
        raise FileExistsError(f"{target} already exists: choose another folder, or serve the study in it.")
    digits = load_digits()
    rows = np.random.default_rng(seed).permutation(len(digits.items))[: n_items + n_new]
    pixels = digits.items[rows].astype(np.int64)
    classes = digits.classes[rows].astype(np.int64)
    files = _files_of(target, classes[:n_items])
    target.mkdir(parents=True)
    try:
        write_table(files.new_items, _table(rows[n_items:], pixels[n_items:], digit=classes[n_items:]))
        _write_pictures(target / "pictures", rows[:n_items], pixels[:n_items])
        _write_study(files, _table(rows[:n_items], pixels[:n_items]), seed)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return files


def _files_of(folder: Path, classes: NDArray[np.int64]) -> DigitStudy:
    return DigitStudy(
        folder=folder,
        study=folder / "digits.study",
        new_items=folder / "new.csv",
        values=tuple((classes / 9).tolist()),
    )


def _table(rows: NDArray[np.int64], pixels: NDArray[np.int64], **columns: NDArray[Any]) -> dict[str, NDArray[Any]]:
    names = np.array([_name(row) for row in rows.tolist()], dtype=object)
    return {"id": names, **columns, **{f"pixel{k}": pixels[:, k] for k in range(pixels.shape[1])}}


def _name(row: int) -> str:
    return f"digit-{row:04d}"


def _write_study(files: DigitStudy, table: dict[str, NDArray[Any]], seed: int) -> None:
    from confdiff.labelling.settings import StudySettings
    from confdiff.labelling.study import create_study

    settings = StudySettings(
        question=QUESTION,
        title="Digits by size",
        instructions=_INSTRUCTIONS,
        show=("picture",),
        kinds={"picture": "image"},
        media=str((files.folder / "pictures").absolute()),
        same_class=0.05,
        same_question=_SAME_QUESTION,
        judges=len(DEMO_JUDGES) + 1,
        seed=seed,
    )
    pictures = np.array([f"{name}.png" for name in table["id"]], dtype=object)
    study = create_study(files.study, {**table, "picture": pictures}, settings)
    study.close_connections()


def invite_judges(study: "Study") -> dict[str, SimulatedJudge]:
    """Invite the judges of the demo, and return them by the tokens of their links."""
    return {study.invite(judge.name, kind="simulated").token: judge for judge in DEMO_JUDGES}


def _write_pictures(folder: Path, rows: NDArray[np.int64], pixels: NDArray[np.int64]) -> None:
    folder.mkdir()
    for row, values in zip(rows.tolist(), pixels, strict=True):
        (folder / f"{_name(row)}.png").write_bytes(png_bytes(enlarged(values)))


def enlarged(pixels: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return 64 pixels from 0 to 16 as a smooth picture, dark on light.

    >>> enlarged(np.zeros(64, dtype=np.int64)).shape
    (168, 168)
    """
    from scipy.ndimage import zoom

    inner = (_SIDE - 2 * _MARGIN) // 8
    ink = zoom(pixels.reshape(8, 8) / 16, inner, order=3, grid_mode=True, mode="nearest").clip(0, 1)
    picture = np.full((_SIDE, _SIDE), 255.0)
    picture[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN] -= 225 * ink
    return picture.astype(np.uint8)


def png_bytes(picture: NDArray[np.uint8]) -> bytes:
    """Return a picture of grey values, shape (height, width), as a file in the format PNG."""
    height, width = picture.shape
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
