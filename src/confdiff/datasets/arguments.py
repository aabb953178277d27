"""UKPConvArg1 (Habernal and Gurevych 2016): which of two arguments is the more convincing? 4 or 5 people judged each.

c = (n2 - n1) / n is a strength of preference between -1 and 1: how many more people preferred the second argument.
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

from confdiff.datasets.dataset import Comparisons
from confdiff.datasets.sources import Form, Source, damaged
from confdiff.pairs import Pairs
from confdiff.validation import as_tensor, warn_user

TOPICS = (
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
_VOTES_MD5 = "155ec2d2b39203f2d946cfd9626e0b6b"
_TEXTS_MD5 = "007c9b72355b1bddf6a06049eb29bd0a"


class Judgement(NamedTuple):
    """Two arguments for one side of one debate, and how many people preferred which."""

    topic: str
    first: str
    second: str
    gold: str
    for_first: int
    for_second: int
    for_neither: int


def _read_csv(files: Sequence[tuple[Source, Path]]) -> Comparisons:
    (votes, arguments), path = (_rows(*file) for file in files), files[0][1]
    texts = {row["arg_id"]: row["text"] for row in arguments}
    return _comparisons([_judgement(row) for row in votes], texts, path)


def _judgement(row: dict[str, str]) -> Judgement:
    first, second, neither = (int(row[column]) for column in ("n_a1", "n_a2", "n_equal"))
    return Judgement(row["topic"], row["arg1"], row["arg2"], row["gold"], first, second, neither)


def _rows(source: Source, path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(source.read(path).decode("utf-8"), newline="")))


def _read_xml(files: Sequence[tuple[Source, Path]]) -> Comparisons:
    texts: dict[str, str] = {}
    judged = [pair for source, path in files for pair in _pairs_of_topic(source, path, texts)]
    return _comparisons(judged, texts, files[0][1].parent)


def _pairs_of_topic(source: Source, path: Path, texts: dict[str, str]) -> Iterator[Judgement]:
    """The pairs of one file, which is one side of one debate; their texts are put into ``texts``."""
    root = ElementTree.fromstring(source.read(path))
    for pair in root.iter("annotatedArgumentPair"):
        first, second = (pair.findtext(f"{which}/id", "") for which in ("arg1", "arg2"))
        texts.setdefault(first, pair.findtext("arg1/text", ""))
        texts.setdefault(second, pair.findtext("arg2/text", ""))
        said = [vote.findtext("value") for vote in pair.iter("mTurkAssignment")]
        gold = pair.findtext("goldLabel", "")
        yield Judgement(path.stem, first, second, gold, said.count("a1"), said.count("a2"), said.count("equal"))


def _comparisons(unordered: Sequence[Judgement], texts: dict[str, str], path: Path) -> Comparisons:
    """Checked judgements as pairs over TF-IDF features of the arguments, grouped by topic, in an order of their own."""
    judged = sorted(unordered)
    if _md5(",".join(map(str, row)) for row in judged) != _VOTES_MD5:
        raise damaged(path, f"the judgements in it ({len(judged):,}) are not the 16,927 that were published")
    ids = sorted({row.first for row in judged} | {row.second for row in judged})
    missing = [name for name in ids if not (texts.get(name) or "").strip()]
    if missing:
        raise damaged(path.parent, f"the text of {len(missing)} arguments is missing, such as {missing[0]}")
    words = tuple(texts[name] for name in ids)
    if _md5(" ".join(text.split()) for text in words) != _TEXTS_MD5:
        warn_user(f"the arguments in {path.parent} read otherwise than those known here")
    features, vocabulary = _tf_idf(words)
    topics, group = np.unique([row.topic for row in judged], return_inverse=True)
    votes = np.array([row[4:] for row in judged], dtype=np.int64)
    rows = {name: row for row, name in enumerate(ids)}
    pairs = Pairs(
        as_tensor(features),
        [rows[row.first] for row in judged],
        [rows[row.second] for row in judged],
        (votes[:, 1] - votes[:, 0]) / votes.sum(axis=1),
        group=group,
        feature_names=vocabulary,
    )
    gold = np.array([row.gold for row in judged])
    return Comparisons("ukpconvarg1", pairs, votes, words, tuple(ids), tuple(topics.tolist()), gold)


def _md5(lines: Iterable[str]) -> str:
    return hashlib.md5("\n".join(sorted(lines)).encode(), usedforsecurity=False).hexdigest()


def _tf_idf(texts: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Weights of the words that stand in at least two arguments, (N, d)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float32)
    features = vectorizer.fit_transform(texts).toarray()
    return features, tuple(vectorizer.get_feature_names_out().tolist())


_HOME = "https://github.com/UKPLab/acl2016-convincing-arguments/archive/refs/heads/master.zip"
_XML = "UKPConvArg1-full-XML"
_XML_FOLDERS = (f"ukpconvarg1/{_XML}", f"acl2016-convincing-arguments/data/{_XML}", f"data/{_XML}", _XML, "")
UKPCONVARG1 = (
    Form(
        tuple(Source(name, ("ukpconvarg1", ""), None, "") for name in ("pairs_votes.csv", "arguments.csv")), _read_csv
    ),
    Form(
        tuple(Source(f"{topic}.xml", _XML_FOLDERS, None, _HOME, f"/{_XML}/{topic}.xml") for topic in TOPICS), _read_xml
    ),
)
