"""The scale of a question as a judge receives it, and the replies that it allows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confdiff.labelling.app.scale import ScaleChoice, scale_of
from confdiff.labelling.app.texts import page_texts

if TYPE_CHECKING:
    from confdiff.labelling.settings import StudySettings

_FINE = 100  # the right end of a fine scale
_CANNOT_SAY = "cannot say"


@dataclass(frozen=True)
class ReplyScale:
    """Numbers that a judge may reply with.

    Attributes
    ----------
    asks : {"difference", "same"}
        What is asked.
    words : mapping of int to str
        Number -> its meaning, with the number for "cannot say".
    values : mapping of int to float
        Number -> the grade or the same-class answer that it stores.
    cannot_say : int
        The number for "cannot say".
    """

    asks: str
    words: Mapping[int, str]
    values: Mapping[int, float]
    cannot_say: int

    def text(self) -> str:
        """Return the scale for a prompt, one line per point."""
        return "\n".join(f"{number}: {words}" for number, words in self.words.items())

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a reply."""
        numbers = [*self.values, self.cannot_say]
        is_fine = len(self.values) > len(self.words)
        answer = {"minimum": min(numbers), "maximum": max(numbers)} if is_fine else {"enum": sorted(numbers)}
        return {
            "type": "object",
            "properties": {"answer": {"type": "integer", **answer}},
            "required": ["answer"],
            "additionalProperties": False,
        }


REPLY_FORM = 'Reply with JSON only: {"answer": N}, where N is one number of the scale.'
"""How to reply, for prompts."""


def reply_scales(settings: "StudySettings") -> dict[str, ReplyScale]:
    """Return the scale of each kind of question of a study.

    Examples
    --------
    >>> from confdiff.labelling.settings import StudySettings
    >>> scale = reply_scales(StudySettings(question="Which is larger?", points=3))["difference"]
    >>> print(scale.text())
    1: first
    2: the same
    3: second
    0: cannot say
    >>> scale.values[3], scale.schema()["properties"]["answer"]["enum"]
    (1.0, [0, 1, 2, 3])
    """
    scale = scale_of(settings, page_texts(settings.language))
    return {
        "difference": _by_points(scale.differences, "difference") if settings.points else _fine_scale(scale.ends),
        "same": _by_points(scale.same, "same"),
    }


def _by_points(choices: tuple[ScaleChoice, ...], asks: str) -> ReplyScale:
    return ReplyScale(
        asks=asks,
        words={choice.key: choice.stacked for choice in choices} | {0: _CANNOT_SAY},
        values={choice.key: choice.value for choice in choices},
        cannot_say=0,
    )


def _fine_scale(ends: tuple[ScaleChoice, ...]) -> ReplyScale:
    """Return a scale of 201 numbers, of which only the ends and the middle have words."""
    first, second = ends
    words = {-_FINE: first.stacked, 0: "the same", _FINE: second.stacked}
    return ReplyScale(
        asks="difference",
        words=words | {_FINE + 1: _CANNOT_SAY},
        values={number: number / _FINE for number in range(-_FINE, _FINE + 1)},
        cannot_say=_FINE + 1,
    )
