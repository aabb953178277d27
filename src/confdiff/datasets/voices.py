"""Read the likability of 15 voices, compared by listeners in a laboratory and by crowd workers.

Fernandez Gallardo (2016) asked which of two male voices is more likable, and by how much, for all 105 pairs. The
reference is the mean direct rating (0 to 100) of each voice in a later laboratory test. The 88 features are eGeMAPS.

- **Laboratory**: 13 listeners x 105 answers. One matrix per listener has the winners, and another one the size of the
  difference, 0 to 100. The matrices do not record which voice was played first: ``side`` is None, and the left voice is
  the one that comes first in the matrix.
- **Crowd**: 1,365 answers of 77 workers on a slider from 1 to 201; c = (slider - 101) / 100. The publishers rejected
  317 of 1,682 answers. The others include 105 with the status ``AUTOMATICALLY_ACCEPTED``, which are easily lost by a
  test for ``ACCEPTED``. A pair was always presented in the same order, in which each voice is first seven times.
  The table of answers does not name the pairs; a MATLAB file does, in the order of the accepted answers.
"""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.comparisons import ComparisonDataset, of_ids
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile, damaged_source

_ACCEPTED = ("ACCEPTED", "AUTOMATICALLY_ACCEPTED")
_MIDDLE = 101  # of the slider, which ends at 1 and 201


def _read_lab(files: LocatedFiles) -> ComparisonDataset:
    features_file, ratings_file, *matrices = files
    first: list[str] = []
    second: list[str] = []
    differences: list[NDArray[Any]] = []
    for (_, path), winners, sizes in zip(matrices[::2], matrices[::2], matrices[1::2], strict=True):
        voices, wins = _matrix(*winners)
        _, size = _matrix(*sizes)
        if not np.array_equal(wins + wins.T, 1 - np.eye(len(voices))) or not np.array_equal(size, size.T):
            raise damaged_source(path, "it must name one winner per pair, and both voices the same difference")
        rows, columns = np.triu_indices(len(voices), k=1)
        first += [voices[row] for row in rows]
        second += [voices[column] for column in columns]
        differences.append((wins[columns, rows] - wins[rows, columns]) * size[rows, columns] / 100)
    names = [source.name.removeprefix("preferencematrix_").removesuffix(".csv") for source, _ in matrices[::2]]
    return _with_voices(
        "voice-likability-lab",
        first,
        second,
        np.concatenate(differences),
        np.repeat(names, len(first) // len(names)).tolist(),
        files=(features_file, ratings_file),
    )


def _read_crowd(files: LocatedFiles) -> ComparisonDataset:
    features_file, ratings_file, answers_file, pairs_file, matrix_file = files
    answers = [row for row in _rows(*answers_file) if row["Status"] in _ACCEPTED]
    slider = np.array([int(row["Answer.3:sliders"]) for row in answers])
    contents = _matlab(*pairs_file)
    if not np.array_equal(contents["slider_val"].ravel(), slider):
        raise damaged_source(pairs_file[1], f"its answers differ from the accepted ones in {answers_file[1].name}")
    voices, _ = _matrix(*matrix_file)
    ends = [_word(cell).removesuffix(".wav").split("_")[-2:] for cell in contents["pairwavname"].flat]
    return _with_voices(
        "voice-likability-crowd",
        [voices[ord(letter) - ord("a")] for letter, _ in ends],
        [voices[ord(letter) - ord("a")] for _, letter in ends],
        (slider - _MIDDLE) / 100,
        [row["Worker"] for row in answers],
        files=(features_file, ratings_file),
        side=np.ones(len(answers), dtype=np.int64),
    )


def _with_voices(
    name: str,
    left: list[str],
    right: list[str],
    difference: NDArray[Any],
    annotator: list[str],
    *,
    files: LocatedFiles,
    side: NDArray[np.int64] | None = None,
) -> ComparisonDataset:
    """Add the features and the direct ratings of the voices."""
    features_file, ratings_file = files
    rows = {row.pop("sample_heard").split("_")[1]: row for row in _rows(*features_file)}
    ratings = _matlab(*ratings_file)
    names = [_word(cell) for cell in ratings["pseudonyms_m"].flat]
    voices = sorted({*left, *right})
    return of_ids(
        name,
        left,
        right,
        difference,
        annotator=annotator,
        side=side,
        reference=dict(zip(names, ratings["meanLab_males"].ravel().tolist(), strict=True)),
        features=np.array([[float(value) for value in rows[voice].values()] for voice in voices], dtype=np.float32),
        feature_names=tuple(rows[voices[0]]),
    )


def _rows(source: SourceFile, path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(source.read(path).decode("utf-8"), newline="")))


def _matrix(source: SourceFile, path: Path) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names in the header of a matrix, and its values."""
    header, *lines = source.read(path).decode("utf-8").splitlines()
    return [name.strip() for name in header.split(",")], np.loadtxt(lines, delimiter=",")


def _matlab(source: SourceFile, path: Path) -> dict[str, Any]:
    from scipy.io import loadmat

    contents: dict[str, Any] = loadmat(io.BytesIO(source.read(path)))
    return contents


def _word(cell: Any) -> str:
    """Return the text in a cell, which MATLAB nests in arrays."""
    return _word(cell.flat[0]) if isinstance(cell, np.ndarray) else str(cell)


VOICES_HOME = "https://github.com/laufergall/Subjective_Speaker_Characteristics"
_ARCHIVE = f"{VOICES_HOME}/archive/refs/heads/master.zip"


def _published(folder: str, name: str, md5: str | None = None) -> SourceFile:
    """Return a file of the archive; its folders there are those of the copy, and were not checked."""
    path = f"data/{folder}"
    return SourceFile(
        name, (f"voice-likability/{path}", path, path.rsplit("/", 1)[-1]), md5, _ARCHIVE, member=f"/{path}/{name}"
    )


_RATINGS = "subjective_ratings"
_VOICES = (
    _published("speech_features", "eGeMAPSv01a_88_malespk.csv", "fc46457d81f745ec2e5dd040a968d8ae"),
    _published(f"{_RATINGS}/data_listeningtest9", "Lab_results_males.mat", "e388891d032cc06f41bdd80896ba3cfc"),
)
_LISTENERS = {
    "brazzaville": ("6a5f26e5e45056d3a3167e08f40d7bd5", "eddada3a45e3345cf8968965f89f63a7"),
    "charlestown": ("afec9198e10ae20c13fb6da9edd8f7bb", "c123853080939e6854b0f81559ae05e8"),
    "dakar": ("f3f97b17fc36bc227a3c65ccc08c35d7", "37804844287461ce3b19db54b0f57e8f"),
    "durres": ("20a675b4e3295d9d527ee5abb2bbecad", "0b639d982a98d3b888ae22ea6e1f2adb"),
    "francistown": ("3e10d733b317d500fea67aafd2bee616", "4136e063d1716a4805ad4ae8b12ed245"),
    "freetown": ("697e1ca98e38456db4b02d7c82d31abc", "1609aa9e1ff8187447bd8de5b921d876"),
    "jerusalem": ("859a7969198eb2d0abcded5a28a0358f", "5e2389fba67647013345bdc7c85e8a47"),
    "lelydorp": ("85cd8174c53717da63bcb3ac199057a8", "9c417e883163ad1353594ecac4dc1443"),
    "lilongwe": ("bb57b63493f4c7d7b66b0dc7a6cd77b6", "b857b817594ee96e9406c34b3ddf01ed"),
    "medellin": ("8048ba9c9ef669fc38d4d6df758f881f", "15db633e98c0f1890c481b69e634d02f"),
    "moundou": ("9cd4e7d4ee1cfcfecd0d9b7b803c50ae", "8f3d71dcca3fbf4e438ccc176eb166aa"),
    "riffa": ("ceedf1cde0e80a99ccaee62a625decc5", "9d76627fb8f7138cc74967857673ff9c"),
    "speightstown": ("523b5bce84d6904e6246acf8134942e1", "c645b5ea08b6ea0cfc13f0482a7b7bcc"),
}
_LAB = tuple(
    _published(f"{_RATINGS}/data_listeningtest7", f"{kind}matrix_{listener}.csv", md5)
    for listener, checksums in _LISTENERS.items()
    for kind, md5 in zip(("preference", "dissimilarity"), checksums, strict=True)
)
_ANSWERS = "Answers_Job-157_2016-10-25T08-50-16Z_1-1682.csv"
_CROWD = (
    _published(f"{_RATINGS}/data_listeningtest8", _ANSWERS, "dd7668bcd55c0fefbc48575e84be728b"),
    _published(f"{_RATINGS}/data_listeningtest8", "pair_val__Day2510_Hour1105.mat", "446d49b816965bed4afa7f71206f6dd5"),
    _published(
        f"{_RATINGS}/data_listeningtest8", "preferencematrix_onlyaccepted.csv", "ebbd18a77e7adbe0a84a4ed35b423331"
    ),
)
VOICES_LAB = (Form((*_VOICES, *_LAB), _read_lab),)
VOICES_CROWD = (Form((*_VOICES, *_CROWD), _read_crowd),)
