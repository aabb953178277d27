"""Read international football matches as graded comparisons of teams (Juerisoo 2017, continued since).

The left item is the home team, and c = (goals of the away team - goals of the home team) / 5, limited to [-1, 1]. The
home team has the advantage of the side: ``side`` is 1, and 0 on neutral ground. Matches without a result (those to
come) are dropped. The group is None: all teams can meet. The file grows with every match. This is the version
of one commit, with 49,520 matches; read a newer one as a table of your own.
"""

import csv
import io

import numpy as np

from confdiff.datasets.comparisons import ComparisonDataset, of_ids
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile, damaged_source

_MOST_GOALS = 5
_NEUTRAL = {"TRUE": 0, "FALSE": 1}


def _read(files: LocatedFiles) -> ComparisonDataset:
    ((source, path),) = files
    text = source.read(path).decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    played = [row for row in rows if row["home_score"] not in ("", "NA")]
    if not played:
        raise damaged_source(path, "it holds no match with a result")
    goals = np.array([[int(row["home_score"]), int(row["away_score"])] for row in played])
    return of_ids(
        "football",
        [row["home_team"] for row in played],
        [row["away_team"] for row in played],
        np.clip(goals[:, 1] - goals[:, 0], -_MOST_GOALS, _MOST_GOALS) / _MOST_GOALS,
        side=np.array([_NEUTRAL[row["neutral"].upper()] for row in played], dtype=np.int64),
        date=np.array([row["date"] for row in played], dtype="datetime64[D]"),
    )


_URL = "https://raw.githubusercontent.com/martj42/international_results/65d212a/results.csv"
FOOTBALL = (
    Form(
        (SourceFile("results.csv", ("football", "international_results"), "de9eae46a953172a7aa8724a5f4859b5", _URL),),
        _read,
    ),
)
