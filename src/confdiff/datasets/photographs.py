"""Read comparisons of pictures: results of web image search, and photographs of three qualities.

THU image preference (Xie et al. 2020): three professional assessors graded each of 41,538 pairs of images, from -2
(left is definitely better) to 2; c is half of the grade. Every grade is one row. The reference is the relevance of each
image, 0 to 100, which was judged separately.

- Grades are written both as ``1`` and as ``1.0``.
- Assessors have no names, and the three columns are not three people: ``annotator`` is None.
- Pairs of two search engines always show the same engine left, and the other pairs the higher-ranked image. The side is
  confounded with quality, so there is none. The engine is the beginning of the id of an image.

CrowdPareto (Asudeh et al. 2015): four or five votes (1, 0, -1) on each pair of 100 photographs, for three criteria:
14,849 pairs. One more row has votes without a separator ("0-1") and is dropped. The publishers do not document
the sign of a vote: 1 is read as a vote for the first. c is minus the mean vote. A photograph has a score per criterion,
so that an item is a criterion and a photograph, and pairs are made inside criteria. The criteria are colour, sharpness
and landscape, but the file has numbers only: they keep their numbers.
"""

import csv
import io
import re
from pathlib import Path

import numpy as np

from confdiff.datasets.comparisons import ComparisonDataset, of_ids
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile

_VOTES = re.compile(r"-?[01](,-?[01])*")


def _read_thu(files: LocatedFiles) -> ComparisonDataset:
    judged, relevance = (_cells(*file, "\t")[1:] for file in files)
    images = [pair.split(",") for _, pair, *_ in judged]
    grades = np.array([[float(grade) for grade in row[2:5]] for row in judged])
    n_grades = grades.shape[1]
    return of_ids(
        "thu-image-preference",
        np.repeat([left.strip() for left, _ in images], n_grades).tolist(),
        np.repeat([right.strip() for _, right in images], n_grades).tolist(),
        grades.ravel() / 2,
        group=np.repeat([row[0] for row in judged], n_grades).tolist(),
        block=np.repeat([f"{row:05d}" for row in range(len(judged))], n_grades).tolist(),
        reference={row[1]: float(row[2]) for row in relevance},
    )


def _read_crowdpareto(files: LocatedFiles) -> ComparisonDataset:
    judged = [row for row in _cells(*files[0], ";") if _VOTES.fullmatch(row[3].strip())]
    criteria = [f"criterion {int(row[0])}" for row in judged]
    votes = [row[3].strip().split(",") for row in judged]
    counts = np.array([[row.count(vote) for vote in ("1", "-1", "0")] for row in votes])
    return of_ids(
        "crowdpareto",
        [f"{criterion}/{int(row[1]):03d}" for criterion, row in zip(criteria, judged, strict=True)],
        [f"{criterion}/{int(row[2]):03d}" for criterion, row in zip(criteria, judged, strict=True)],
        (counts[:, 1] - counts[:, 0]) / counts.sum(axis=1),
        group=criteria,
        votes=counts,
    )


def _cells(source: SourceFile, path: Path, delimiter: str) -> list[list[str]]:
    text = source.read(path).decode("utf-8")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return [row for row in rows if row]


_RAW = "https://raw.githubusercontent.com"
_THU = f"{_RAW}/THUxiexiaohui/An-image-dataset-with-preference-judgments"
_THU_FILES = (
    SourceFile(
        "image_pairs_annotation",
        ("thu-image-preference", ""),
        "b7affc6b42a479c19cbb7a787ab44b47",
        f"{_THU}/3c2539fc054c67a5022cbe3cf7efd52a03e96334/image_pairs_annotation",
    ),
    SourceFile(
        "relevance_data",
        ("thu-image-preference", ""),
        "664b5666065e0ecd965ddd3dcc9aee2e",
        f"{_THU}/c6afce93707cdf90d4f072806073755f9df35899/relevance_data",
    ),
)
_VOTES_FILE = SourceFile(
    "Raw_AMT_results.txt",
    ("crowdpareto", "crowdpareto/Datasets/AMT", ""),
    "bdb4ae54137f0cb25c87b99b1ef730af",
    f"{_RAW}/idirlab/crowdpareto/f30a8971518cf77e799a13734e12be12a3ed9486/Datasets/AMT/Raw_AMT_results.txt",
)
THU = (Form(_THU_FILES, _read_thu),)
CROWDPARETO = (Form((_VOTES_FILE,), _read_crowdpareto),)
