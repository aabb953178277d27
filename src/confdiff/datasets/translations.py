"""Read side-by-side MQM ratings of the general translation task of WMT 2023, as graded pairs of translations.

Professional raters marked the errors of ten translations of each segment: English to German (10 raters, 104 segments)
and Chinese to English (8 raters, 377 segments), with three raters per segment. The penalty of a translation is the sum
over its errors: 25 for non-translation, 5 for other major errors, .1 for minor punctuation, 1 for other minor errors,
and 0 for issues of the source (Freitag et al. 2021). The difference of a pair is the penalty of the left translation
minus that of the right one, divided by 25 and limited to [-1, 1]: positive if the right translation is better.

- The rows ``HOTW-test`` are attention checks, which are dropped.
- Both languages have a ``rater1``, who are different people: names and segments are prefixed with the language.
- The 45 pairs of one rater and segment are differences of ten penalties, hence exactly transitive but for the 1 % that
  the limits change. ``block`` numbers these blocks: hold out whole blocks.
- The order in which translations were shown is not used: ``side`` is None.
"""

import csv
import io
import tarfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path

from confdiff.datasets.comparisons import ComparisonDataset, of_ids
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile, damaged_source

_WORST = 25.0
_Block = tuple[str, str]  # the rater and the segment


def _read(files: LocatedFiles) -> ComparisonDataset:
    penalties: dict[_Block, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    texts: dict[str, str] = {}
    for source, path in files:
        language = source.name.removeprefix("sxs_mqm_generalMT2023_")[:4]
        for row in _rows(source, path):
            segment = f"{language}/{int(row['globalSegId']):04d}"
            translation = f"{segment}/{row['system']}"
            penalties[f"{language}/{row['rater']}", segment][translation] += _penalty(row)
            texts.setdefault(translation, row["target"].replace("<v>", "").replace("</v>", ""))
    judged = [
        (left, right, (scores[left] - scores[right]) / _WORST, rater, segment)
        for (rater, segment), scores in sorted(penalties.items())
        for left, right in combinations(sorted(scores), 2)
    ]
    lefts, rights, differences, raters, segments = zip(*judged, strict=True)
    return of_ids(
        "wmt23-sxs-mqm",
        lefts,
        rights,
        [max(-1.0, min(1.0, difference)) for difference in differences],
        annotator=raters,
        group=segments,
        block=[f"{rater} {segment}" for rater, segment in zip(raters, segments, strict=True)],
        texts=texts,
    )


def _rows(source: SourceFile, path: Path) -> list[dict[str, str]]:
    """Return the rows of the only table in an archive, without attention checks and without the metadata."""
    with tarfile.open(fileobj=io.BytesIO(source.read(path))) as archive:
        members = [archive.extractfile(member) for member in archive if member.name.endswith(".tsv")]
        if len(members) != 1 or members[0] is None:
            raise damaged_source(path, "it must contain one .tsv file")
        lines = io.TextIOWrapper(members[0], encoding="utf-8", newline="\n")
        header, *rows = (line[:9] for line in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    named = (dict(zip(header, row, strict=True)) for row in rows)
    return [row for row in named if row["severity"] != "HOTW-test"]


def _penalty(row: dict[str, str]) -> float:
    category, severity = row["category"], row["severity"]
    if category.startswith(("No-error", "Source issue")):
        return 0.0
    if category.startswith("Non-translation"):
        return _WORST
    if severity == "Minor":
        return 0.1 if category == "Fluency/Punctuation" else 1.0
    return {"Major": 5.0, "No-error": 0.0}[severity]


TRANSLATIONS_HOME = "https://github.com/google/wmt-mqm-human-evaluation"
_FILES = (
    "https://raw.githubusercontent.com/google/wmt-mqm-human-evaluation/7fadea281aff8db61cc72fc3d469a4dca78b82a6"
    "/generalMT2023"
)


def _published(language: str, md5: str) -> SourceFile:
    name = f"sxs_mqm_generalMT2023_{language}.3ratingsPerSegment.tsv.tar"
    return SourceFile(name, ("wmt23-sxs-mqm", f"generalMT2023/{language}", ""), md5, f"{_FILES}/{language}/{name}.gz")


TRANSLATIONS = (
    Form(
        (
            _published("ende", "c638b41ec86ebde6a551a719996aa007"),
            _published("zhen", "89fee318b899bb13a7d2ef368b8b9075"),
        ),
        _read,
    ),
)
