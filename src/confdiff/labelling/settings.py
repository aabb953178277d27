"""The settings of a study: the question, its scale, what is shown, and how pairs are chosen."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from numbers import Real
from typing import Any

from confdiff.validation import check_choice, check_count, check_number

POINTS = (3, 5, 7, 9)
"""Numbers of points that a scale of buttons may have; 0 is a fine scale."""

DESIGNS = ("balanced", "random", "uncertain")
"""Ways to choose pairs."""

CELL_KINDS = ("text", "markdown", "image", "audio", "number")
"""Ways to show the cells of a column."""

Expected = tuple[str, str, float]
"""The ids of a left and a right item, and the expected difference."""

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})?")


@dataclass(frozen=True)
class StudySettings:
    """The settings of a study.

    Parameters
    ----------
    question : str
        What the annotators are asked about two items.
    points : {7, 3, 5, 9, 0}
        Number of points of the scale; 0 is a fine scale, on which a mark is placed.
    words : tuple of str
        One word per point, from left by far to right by far. By default those of the language.
    show : tuple of str
        Columns of the items to show; by default all but the id.
    kinds : mapping of str to str
        Column -> one of :data:`CELL_KINDS`. Recognised where omitted.
    title : str
        Title on the pages.
    instructions : str
        Text of the first page, in Markdown.
    media : str or None
        Folder of images and sounds.
    highlight : bool
        Whether to mark cells that differ.
    same_class : float
        Fraction of questions whether two items are of the same class.
    same_question : str
        The wording of that question; by default that of the language.
    pairs_per_item : float
        Average number of questions in which an item occurs.
    judges : int
        Number of annotators over whom the questions are spread.
    design : {"balanced", "random", "uncertain"}
        How pairs are chosen.
    repeats, reserve, triangles : float
        Fractions of the questions: repeated with the sides swapped, drawn at random for reporting, and closing
        triangles.
    gold : tuple of (left id, right id, difference)
        Pairs with an expected answer from -1 (left by far) to 1 (right by far), asked among the others.
    examples : tuple of (left id, right id, difference)
        Pairs of the training round.
    quota : int or None
        Number of answers that an annotator may give; by default an equal part of the questions.
    lease_seconds : int
        Seconds for which a question that was shown is reserved.
    language : str
        Language of the pages.
    seed : int
        Seed of the random choice of pairs.

    Raises
    ------
    ValueError
        If a value is not valid.

    Examples
    --------
    >>> StudySettings(question="Which is funnier?", points=3).points
    3
    """

    question: str
    points: int = 7
    words: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    instructions: str = ""
    media: str | None = None
    highlight: bool = False
    same_class: float = 0.0
    same_question: str = ""
    pairs_per_item: float = 10.0
    judges: int = 5
    design: str = "balanced"
    repeats: float = 0.08
    reserve: float = 0.12
    triangles: float = 0.10
    gold: tuple[Expected, ...] = ()
    examples: tuple[Expected, ...] = ()
    quota: int | None = None
    lease_seconds: int = 900
    language: str = "en"
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the values, and make lists of JSON tuples."""
        for name in ("words", "show"):
            object.__setattr__(self, name, _as_texts(name, getattr(self, name)))
        for name in ("gold", "examples"):
            object.__setattr__(self, name, _as_expected(name, getattr(self, name)))
        object.__setattr__(self, "kinds", dict(self.kinds))
        _check_texts(self)
        _check_scale(self)
        _check_plan(self)

    def to_json(self) -> str:
        """Return the settings as JSON.

        >>> settings = StudySettings(question="Which is larger?", gold=(("a", "b", 0.5),))
        >>> StudySettings.from_json(settings.to_json()) == settings
        True
        """
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "StudySettings":
        """Return the settings that :meth:`to_json` wrote; names that this version does not know are left out."""
        names = {setting.name for setting in fields(cls)}
        return cls(**{name: value for name, value in json.loads(text).items() if name in names})


def _as_texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name} must be a sequence of texts; got {value!r}.")
    texts = tuple(value)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise ValueError(f"{name} must be texts that are not empty; got {texts!r}.")
    if len(set(texts)) < len(texts):
        raise ValueError(f"{name} must be distinct; got {texts!r}.")
    return texts


def _as_expected(name: str, value: Any) -> tuple[Expected, ...]:
    return tuple(_as_expected_pair(name, pair) for pair in value)


def _as_expected_pair(name: str, pair: Any) -> Expected:
    try:
        left, right, difference = pair
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be pairs (left id, right id, difference); got {pair!r}.") from error
    if isinstance(difference, bool) or not isinstance(difference, Real) or not -1 <= float(difference) <= 1:
        raise ValueError(f"{name} must have differences from -1 (left by far) to 1 (right by far); got {difference!r}.")
    if str(left) == str(right):
        raise ValueError(f"{name} must compare different items; got {left!r} twice.")
    return str(left), str(right), float(difference)


def _check_texts(settings: StudySettings) -> None:
    for name in ("question", "title", "instructions", "same_question", "language", "design"):
        if not isinstance(getattr(settings, name), str):
            raise ValueError(f"{name} must be a text; got {getattr(settings, name)!r}.")
    if not settings.question.strip():
        raise ValueError("question must be what the annotators are asked, such as 'Which is funnier?'; got no text.")
    for column, kind in settings.kinds.items():
        check_choice(f"kind of the column {column!r}", kind, CELL_KINDS)
    if not _LANGUAGE.fullmatch(settings.language):
        raise ValueError(f"language must be a code such as 'en'; got {settings.language!r}.")


def _check_scale(settings: StudySettings) -> None:
    points = settings.points
    if isinstance(points, bool) or points not in (0, *POINTS):
        raise ValueError(f"points must be 3, 5, 7 or 9, or 0 for a fine scale; got {points!r}.")
    expected = points or 2
    if settings.words and len(settings.words) != expected:
        named = f"{points} points" if points else "the two ends of a fine scale"
        raise ValueError(f"words must be {expected}, one for each of {named}; got {len(settings.words)}.")


def _check_plan(settings: StudySettings) -> None:
    check_choice("design", settings.design, DESIGNS)
    check_number("pairs_per_item", settings.pairs_per_item, above=0)
    check_count("judges", settings.judges)
    check_count("lease_seconds", settings.lease_seconds)
    check_count("seed", settings.seed, least=0)
    if settings.quota is not None:
        check_count("quota", settings.quota, least=0)
    for name in ("same_class", "repeats", "reserve", "triangles"):
        check_part(name, getattr(settings, name))
    total = settings.repeats + settings.reserve + settings.triangles + settings.same_class
    if total > 1:
        raise ValueError(f"repeats, reserve, triangles and same_class must add up to at most 1; got {total:g}.")


def check_part(name: str, value: Any) -> float:
    """Return a fraction from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ValueError(f"{name} must be a fraction from 0 to 1, such as 0.05; got {value!r}.")
    return float(value)
