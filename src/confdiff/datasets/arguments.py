"""Read UKPConvArg1 (Habernal and Gurevych 2016): 4 or 5 people judged which of two arguments is more convincing.

c = (n2 - n1) / n is a strength of preference between -1 and 1, where n1 and n2 people preferred each argument.
It is not yet a difference of posteriors: the scale is unknown, and no scale was applied.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from confdiff.datasets.comparisons import ComparisonDataset
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile, damaged_source
from confdiff.validation import warn_user

_TOPICS = (
    "ban-plastic-water-bottles_no-bad-for-the-economy",
    "ban-plastic-water-bottles_yes-emergencies-only",
    "christianity-or-atheism-_atheism",
    "christianity-or-atheism-_christianity",
    "evolution-vs-creation_creation",
    "evolution-vs-creation_evolution",
    "firefox-vs-internet-explorer_it-has-a-cute-logo-oh-and-extensions-err-add-ons",
    "firefox-vs-internet-explorer_there-s-more-browsers-than-the-ie-firefox-is-an-animal",
    "gay-marriage-right-or-wrong_allowing-gay-marriage-is-right",
    "gay-marriage-right-or-wrong_allowing-gay-marriage-is-wrong",
    "human-growth-and-development-should-parents-use-spanking-as-an-option-to-discipline-_no",
    "human-growth-and-development-should-parents-use-spanking-as-an-option-to-discipline-_yes",
    "if-your-spouse-committed-murder-and-he-or-she-confided-in-you-would-you-turn-them-in-_no",
    "if-your-spouse-committed-murder-and-he-or-she-confided-in-you-would-you-turn-them-in-_yes",
    "india-has-the-potential-to-lead-the-world-_no-against",
    "india-has-the-potential-to-lead-the-world-_yes-for",
    "is-it-better-to-have-a-lousy-father-or-to-be-fatherless-_fatherless",
    "is-it-better-to-have-a-lousy-father-or-to-be-fatherless-_lousy-father",
    "is-porn-wrong-_no-is-is-not",
    "is-porn-wrong-_yes-porn-is-wrong",
    "is-the-school-uniform-a-good-or-bad-idea-_bad",
    "is-the-school-uniform-a-good-or-bad-idea-_good",
    "personal-pursuit-or-advancing-the-common-good-_advancing-the-comnong-good",
    "personal-pursuit-or-advancing-the-common-good-_personal-pursuit",
    "pro-choice-vs-pro-life_pro-choice",
    "pro-choice-vs-pro-life_pro-life",
    "should-physical-education-be-mandatory-in-schools-_no-",
    "should-physical-education-be-mandatory-in-schools-_yes-",
    "tv-is-better-than-books_books",
    "tv-is-better-than-books_tv",
    "william-farquhar-ought-to-be-honoured-as-the-rightful-founder-of-singapore_no-it-is-raffles-",
    "william-farquhar-ought-to-be-honoured-as-the-rightful-founder-of-singapore_yes-of-course-",
)
_VERDICTS = {"a1": -1.0, "equal": 0.0, "a2": 1.0, "": np.nan}
_VOTES_MD5 = "155ec2d2b39203f2d946cfd9626e0b6b"
_TEXTS_MD5 = "007c9b72355b1bddf6a06049eb29bd0a"


class _Judgement(NamedTuple):
    """Two arguments for one side of one debate, and the number of votes for each."""

    topic: str
    first: str
    second: str
    gold: str
    for_first: int
    for_second: int
    for_neither: int


def _read_csv(files: LocatedFiles) -> ComparisonDataset:
    votes, arguments = (_rows(*file) for file in files)
    texts = {row["arg_id"]: row["text"] for row in arguments}
    return _comparisons([_judgement(row) for row in votes], texts, files[0][1])


def _judgement(row: dict[str, str]) -> _Judgement:
    return _Judgement(
        topic=row["topic"],
        first=row["arg1"],
        second=row["arg2"],
        gold=row["gold"],
        for_first=int(row["n_a1"]),
        for_second=int(row["n_a2"]),
        for_neither=int(row["n_equal"]),
    )


def _rows(source: SourceFile, path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(source.read(path).decode("utf-8"), newline="")))


def _read_xml(files: LocatedFiles) -> ComparisonDataset:
    texts: dict[str, str] = {}
    judged = [pair for source, path in files for pair in _pairs_of_topic(source, path, texts)]
    return _comparisons(judged, texts, files[0][1].parent)


def _pairs_of_topic(source: SourceFile, path: Path, texts: dict[str, str]) -> Iterator[_Judgement]:
    """Yield the pairs of one file, which is one side of one debate; put their texts into ``texts``."""
    root = ElementTree.fromstring(source.read(path))
    for pair in root.iter("annotatedArgumentPair"):
        first = pair.findtext("arg1/id", "")
        second = pair.findtext("arg2/id", "")
        texts.setdefault(first, pair.findtext("arg1/text", ""))
        texts.setdefault(second, pair.findtext("arg2/text", ""))
        votes = [vote.findtext("value") for vote in pair.iter("mTurkAssignment")]
        yield _Judgement(
            topic=path.stem,
            first=first,
            second=second,
            gold=pair.findtext("goldLabel", ""),
            for_first=votes.count("a1"),
            for_second=votes.count("a2"),
            for_neither=votes.count("equal"),
        )


def _comparisons(unordered: Sequence[_Judgement], texts: dict[str, str], path: Path) -> ComparisonDataset:
    """Return checked judgements, sorted, as pairs over TF-IDF features of the arguments, grouped by topic."""
    judged = sorted(unordered)
    if _md5(",".join(map(str, row)) for row in judged) != _VOTES_MD5:
        raise damaged_source(path, f"its {len(judged):,} judgements differ from the 16,927 published ones")
    ids = sorted({row.first for row in judged} | {row.second for row in judged})
    missing = [name for name in ids if not (texts.get(name) or "").strip()]
    if missing:
        raise damaged_source(path.parent, f"the text of {len(missing)} arguments is missing, such as {missing[0]}")
    ordered_texts = tuple(texts[name] for name in ids)
    if _md5(" ".join(text.split()) for text in ordered_texts) != _TEXTS_MD5:
        warn_user(f"the arguments in {path.parent} differ from the published ones")
    features, vocabulary = _tf_idf(ordered_texts)
    topics, group = np.unique([row.topic for row in judged], return_inverse=True)
    votes = np.array([row[4:] for row in judged], dtype=np.int64)
    row_of = {name: row for row, name in enumerate(ids)}
    return ComparisonDataset(
        name="ukpconvarg1",
        ids=tuple(ids),
        left=np.array([row_of[judgement.first] for judgement in judged], dtype=np.int64),
        right=np.array([row_of[judgement.second] for judgement in judged], dtype=np.int64),
        difference=(votes[:, 1] - votes[:, 0]) / votes.sum(axis=1),
        texts=ordered_texts,
        features=features,
        feature_names=vocabulary,
        group=group.astype(np.int64),
        group_names=tuple(topics.tolist()),
        votes=votes,
        verdict=np.array([_VERDICTS[judgement.gold] for judgement in judged]),
    )


def _md5(lines: Iterable[str]) -> str:
    return hashlib.md5("\n".join(sorted(lines)).encode(), usedforsecurity=False).hexdigest()


def _tf_idf(texts: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the TF-IDF weights, (N, d), of the words that occur in at least two arguments, and the words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32)
    features = vectorizer.fit_transform(texts).toarray()
    return features, tuple(vectorizer.get_feature_names_out().tolist())


_HOME = "https://github.com/UKPLab/acl2016-convincing-arguments/archive/refs/heads/master.zip"
_XML = "UKPConvArg1-full-XML"
_XML_FOLDERS = (f"ukpconvarg1/{_XML}", f"acl2016-convincing-arguments/data/{_XML}", f"data/{_XML}", _XML, "")
_CSV_FILES = tuple(SourceFile(name, ("ukpconvarg1", ""), None, "") for name in ("pairs_votes.csv", "arguments.csv"))
_XML_FILES = tuple(
    SourceFile(f"{topic}.xml", _XML_FOLDERS, None, _HOME, member=f"/{_XML}/{topic}.xml") for topic in _TOPICS
)
UKPCONVARG1 = (Form(_CSV_FILES, _read_csv), Form(_XML_FILES, _read_xml))
