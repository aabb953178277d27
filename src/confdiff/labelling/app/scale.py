"""The scale under a question: one choice per point, with its word, its key and its grade."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confdiff.labelling.settings import StudySettings


@dataclass(frozen=True)
class ScaleChoice:
    """One button of the scale.

    Attributes
    ----------
    key : int
        The number on the keyboard.
    value : float
        The answer that it stores.
    word : str
        Its word where the items are side by side.
    stacked : str
        Its word where the items are one above the other.
    strength : int
        Distance from the middle of the scale, in points.
    """

    key: int
    value: float
    word: str
    stacked: str
    strength: int = 0


@dataclass(frozen=True)
class ScaleView:
    """The choices of both kinds of questions; a fine scale has words for its two ends only."""

    points: int
    differences: tuple[ScaleChoice, ...]
    same: tuple[ScaleChoice, ...]
    ends: tuple[ScaleChoice, ...]


def scale_of(settings: "StudySettings", texts: Mapping[str, Any]) -> ScaleView:
    """Return the scale of a study with the words of its settings, or else of its language.

    Parameters
    ----------
    settings : StudySettings
        Settings of the study.
    texts : mapping
        Texts of the language.

    Examples
    --------
    >>> from confdiff.labelling.app.texts import page_texts
    >>> from confdiff.labelling.settings import StudySettings
    >>> scale = scale_of(StudySettings(question="Which is larger?", points=3), page_texts("en"))
    >>> [(choice.key, choice.value, choice.word) for choice in scale.differences]
    [(1, -1.0, 'left'), (2, 0.0, 'the same'), (3, 1.0, 'right')]
    """
    points = settings.points
    words = settings.words or texts["words"][str(points)]
    stacked = settings.words or texts["words_stacked"][str(points)]
    choices = _choices(words, stacked)
    return ScaleView(
        points=points,
        differences=choices if points else (),
        same=_same_choices(texts),
        ends=() if points else choices,
    )


def _choices(words: "tuple[str, ...] | list[str]", stacked: "tuple[str, ...] | list[str]") -> tuple[ScaleChoice, ...]:
    half = (len(words) - 1) / 2
    return tuple(
        ScaleChoice(
            key=i + 1,
            value=(i - half) / half,
            word=word,
            stacked=below,
            strength=round(abs(i - half)),
        )
        for i, (word, below) in enumerate(zip(words, stacked, strict=True))
    )


def _same_choices(texts: Mapping[str, Any]) -> tuple[ScaleChoice, ...]:
    yes = ScaleChoice(key=1, value=1.0, word=texts["same"]["yes"], stacked=texts["same"]["yes"])
    no = ScaleChoice(key=2, value=0.0, word=texts["same"]["no"], stacked=texts["same"]["no"])
    return (yes, no)
