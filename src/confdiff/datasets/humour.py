"""Read comparisons of funny texts: edited headlines (humicroedit) and one-liners.

Humicroedit (Hossain et al. 2020, SemEval-2020 task 7, subtask 2): two edits of one headline, each graded 0 to 3 by five
people or more. c = (mean grade of the second - of the first) / 3; the reference is the mean grade. ``part`` is the
published split: train, dev, test, and funlines (additional pairs from a game). The verdict is the label of the task.
Grades have no names, so ``annotator`` is None. The reference of a headline that occurs in several rows is its last mean
grade; the same headline has different ones in train and in funlines.

One-liners (Simpson et al. 2019): 113,638 votes on 28,118 pairs of 4,030 texts. c is (votes for the second - votes for
the first) / votes. Votes have no names. They are stored as winner and loser: the order of presentation is lost, and the
left item is the one with the smaller number. The reference is the publishers' score, estimated from the same votes.
"""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from confdiff.datasets.comparisons import ComparisonDataset, of_ids
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile

_VERDICTS = {"0": 0.0, "1": -1.0, "2": 1.0}
_WORD = re.compile("<(.*?)/>")


def _read_headlines(files: LocatedFiles) -> ComparisonDataset:
    parts = ("train", "dev", "test", "funlines")
    judged = [(part, row) for part, file in zip(parts, files, strict=True) for row in _rows(*file)]
    first = [_edited(row["original1"], row["edit1"]) for _, row in judged]
    second = [_edited(row["original2"], row["edit2"]) for _, row in judged]
    means = np.array([[float(row["meanGrade1"]), float(row["meanGrade2"])] for _, row in judged])
    data = of_ids(
        "humicroedit",
        first,
        second,
        (means[:, 1] - means[:, 0]) / 3,
        group=[_WORD.sub(r"\1", row["original1"]) for _, row in judged],
        texts={text: text for text in (*first, *second)},
        reference=dict(zip([*first, *second], means.T.ravel().tolist(), strict=True)),
        verdict=np.array([_VERDICTS[row["label"]] for _, row in judged]),
        part=np.array([part for part, _ in judged]),
    )
    return replace(data, ids=tuple(f"{row:05d}" for row in range(len(data.ids))))


def _edited(headline: str, word: str) -> str:
    """Return a headline with the edit instead of the marked word."""
    return _WORD.sub(lambda _: word, headline)


def _read_puns(files: LocatedFiles) -> ComparisonDataset:
    votes_file, scores_file = files
    rows = [line.split("\t") for line in _text(*scores_file).splitlines()]
    votes = np.array([line.split(",") for line in _text(*votes_file).split()], dtype=np.int64)
    pairs, pair = np.unique(np.sort(votes, axis=1), axis=0, return_inverse=True)
    total = np.bincount(pair.ravel())
    for_second = np.bincount(pair.ravel(), weights=votes[:, 0] > votes[:, 1]).astype(np.int64)
    return of_ids(
        "humour-puns",
        [f"{item:04d}" for item in pairs[:, 0].tolist()],
        [f"{item:04d}" for item in pairs[:, 1].tolist()],
        2 * for_second / total - 1,
        votes=np.stack([total - for_second, for_second, np.zeros_like(total)], axis=1),
        texts={f"{int(item):04d}": text for item, _, text in rows},
        reference={f"{int(item):04d}": float(score) for item, score, _ in rows},
    )


def _rows(source: SourceFile, path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_text(source, path), newline="")))


def _text(source: SourceFile, path: Path) -> str:
    return source.read(path).decode("utf-8")


def _local(folder: str, name: str, md5: str) -> SourceFile:
    """Return a file that is only read from a folder: its address was not verified."""
    return SourceFile(name, (folder, ""), md5, "")


HUMICROEDIT = (
    Form(
        (
            _local("humicroedit", "task-2-train.csv", "79e19189872df3d8cbb27a694d168fcf"),
            _local("humicroedit", "task-2-dev.csv", "53c1f39e30b186ff804520012c0dbd2c"),
            _local("humicroedit", "task-2-test_with_label.csv", "9749e99f3bbaa7e9183cffcc5a61788b"),
            _local("humicroedit", "task-2-train_funlines.csv", "30980ffb7ec2ad42a85893ec39c3ac8e"),
        ),
        _read_headlines,
    ),
)
PUNS = (
    Form(
        (
            _local("humour-puns", "pairs.csv", "b0265739f3bdf1d24e54c7f8d2e26920"),
            _local("humour-puns", "item_scores.txt", "cf20cc775ae409cff5f8b1aa2a0f2c36"),
        ),
        _read_puns,
    ),
)
