"""A judged pair in the form that all formats share: read from a file of another tool, or to be written to one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

TEXT = "text"
"""The column of items that holds an answer."""

PROMPT = "prompt"
"""The column that holds the prompt of an answer or of a pair."""


_MIRRORED = {"left_model": "right_model", "left_score": "right_score"}
_OTHER_SIDE = _MIRRORED | {right: left for left, right in _MIRRORED.items()}


@dataclass(frozen=True)
class Item:
    """One side of a judged pair.

    Attributes
    ----------
    values
        Column -> cell; empty if only the id is known.
    id
        The id, or None if the values determine it.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    id: Any = None


@dataclass(frozen=True)
class Judgement:
    """One judgement of two items.

    Attributes
    ----------
    left, right
        The items.
    value
        The judgement. In files of other tools it is as written; the format makes it a difference from -1 to 1, which
        is positive if the right item is better.
    prompt
        The prompt of both items, or empty.
    columns
        Further columns of the pair -> cell, such as ``annotator`` and ``seconds``; None where one is missing.
    """

    left: Item
    right: Item
    value: Any
    prompt: str = ""
    columns: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """A part of a file that has no judgement.

    Attributes
    ----------
    what
        What was skipped, and why, as a plural: ``"cancelled annotations"``.
    """

    what: str


def as_shown(judgement: Judgement) -> Judgement:
    """Return a judgement, a difference, whose left item is the one that was shown first, if that is known.

    >>> pair = Judgement(Item(id="a"), Item(id="b"), 0.5, columns={"shown_first": "right", "left_model": "m"})
    >>> pair = as_shown(pair)
    >>> pair.left.id, pair.right.id, pair.value, pair.columns
    ('b', 'a', -0.5, {'shown_first': 'left', 'right_model': 'm'})
    """
    if judgement.columns.get("shown_first") != "right":
        return judgement
    columns = {_OTHER_SIDE.get(name, name): cell for name, cell in judgement.columns.items()}
    return replace(
        judgement,
        left=judgement.right,
        right=judgement.left,
        value=-judgement.value + 0.0,
        columns=columns | {"shown_first": "left"},
    )


def answer(text: str) -> Item:
    """Return an item that is a text."""
    return Item(values={TEXT: text})
