"""The labelling configuration of Label Studio for graded comparisons, as XML."""

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

from confdiff.tabular.formats.comparison_format import FormatOptions, JsonRecord
from confdiff.tabular.formats.judgement import PROMPT

WORDS = (
    "left by far",
    "left clearly",
    "left slightly",
    "the same",
    "right slightly",
    "right clearly",
    "right by far",
)
"""The choices, from the one that favours the left item most."""

CHOICES = "difference"
"""The name of the question."""

_QUESTION = "Which one is better, and by how much?"
_ENDINGS = {
    "image": (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"),
    "audio": (".wav", ".mp3", ".ogg", ".flac", ".m4a"),
}


def labelling_config(records: Iterable[JsonRecord], options: FormatOptions) -> tuple[str, str]:
    """Return the ending and the text of the configuration for tasks: two items, and one choice of seven words."""
    data = [record["data"] for record in records]
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value=options.question or _QUESTION)
    if any(task[PROMPT] for task in data):
        ElementTree.SubElement(view, "Text", name=PROMPT, value=f"${PROMPT}")
    sides = ElementTree.SubElement(view, "View", style="display: flex; gap: 2em")
    for side in ("left", "right"):
        column = ElementTree.SubElement(sides, "View", style="flex: 1")
        ElementTree.SubElement(column, _tag([task[side] for task in data]), name=side, value=f"${side}")
    choices = ElementTree.SubElement(
        view, "Choices", name=CHOICES, toName="left", choice="single-radio", showInline="true", required="true"
    )
    for key, word in enumerate(WORDS, 1):
        ElementTree.SubElement(choices, "Choice", value=word, hotkey=str(key))
    ElementTree.indent(view)
    return ".xml", ElementTree.tostring(view, encoding="unicode") + "\n"


def _tag(values: list[Any]) -> str:
    """Return the tag that shows values: a table for rows, a picture or a player for addresses, or text."""
    return kind_of_text(values).capitalize() if all(isinstance(value, str) for value in values) else "Table"


def kind_of_text(values: Iterable[Any]) -> str:
    """Return what texts are: addresses of media (``"image"``, ``"audio"``), or ``"text"``.

    >>> kind_of_text(["https://example.org/a.png?size=2"])
    'image'
    """
    addresses = [str(value).lower().split("?")[0] for value in values]
    for kind, endings in _ENDINGS.items():
        if all(address.endswith(endings) and not any(map(str.isspace, address)) for address in addresses):
            return kind
    return "text"
