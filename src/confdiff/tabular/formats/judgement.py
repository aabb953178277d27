"""A judged pair in the form that all formats share: read from a file of another tool, or to be written to one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TEXT = "text"
"""The column of items that holds an answer."""

PROMPT = "prompt"
"""The column that holds the prompt of an answer or of a pair."""


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


def answer(text: str) -> Item:
    """Return an item that is a text."""
    return Item(values={TEXT: text})
