"""Templates of prompts: files with the sections [system] and [user], and placeholders such as {{question}}."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from confdiff.validation import check_choice

PLACEHOLDERS = {
    "question": "the question of the study",
    "first": "the item shown first",
    "second": "the item shown second",
    "scale": "the points of the scale, one per line",
    "reply": "how to reply",
    "shared": "cells that both items share, such as a prompt; empty if there are none",
    "instructions": "the instructions of the study; may be empty",
}
"""The placeholders of a template, and what replaces them."""

REQUIRED = ("question", "first", "second", "scale", "reply")
"""The placeholders that a template must have."""

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}]*?)\s*\}\}")
_SECTION = re.compile(r"^\[(system|user)\][ \t]*\n", re.MULTILINE)
_LONGEST = 100_000

Message = dict[str, str]
"""A message of a chat: its role and its content."""


@cache
def default_template() -> str:
    """Return the template that is used unless another one is named."""
    return (files("confdiff.labelling.judges") / "default_template.txt").read_text(encoding="utf-8")


def read_template(path: str | Path | None) -> str:
    """Return the text of a template, or the default one for None, after checking it."""
    if path is None:
        return default_template()
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"template must be a text file in UTF-8; {path} is not.") from error
    check_template(text, str(path))
    return text


def check_template(text: str, title: str) -> None:
    r"""Check the sections and placeholders of a template.

    Raises
    ------
    ValueError
        If a placeholder is missing or unknown, or the section [user] is missing.

    Examples
    --------
    >>> check_template("[user]\n{{question}} {{first}} or {{second}}? {{scale}}", "short.txt")
    Traceback (most recent call last):
    ...
    ValueError: the template short.txt lacks {{reply}} (how to reply).
    """
    if len(text) > _LONGEST:
        raise ValueError(f"the template {title} must have at most {_LONGEST:,} characters; it has {len(text):,}.")
    before, *headers = _SECTION.split(text.replace("\r\n", "\n"))[::2]
    sections = _sections(text)
    if before.strip() or len(headers) > len(sections):
        raise ValueError(
            f"the template {title} must begin with a line [system] or [user], and have each of them once, with text "
            "under it."
        )
    if "user" not in sections:
        raise ValueError(f"the template {title} must have a line [user], under which the prompt follows.")
    names = {name for section in sections.values() for name in _PLACEHOLDER.findall(section)}
    for name in sorted(names):
        try:
            check_choice("placeholder", name, PLACEHOLDERS)
        except ValueError as error:
            raise ValueError(f"the template {title}: {error}") from error
    for name in REQUIRED:
        if name not in names:
            raise ValueError(f"the template {title} lacks {{{{{name}}}}} ({PLACEHOLDERS[name]}).")


def uses(template: str, name: str) -> bool:
    """Return whether a template has a placeholder."""
    return name in _PLACEHOLDER.findall(template)


def filled(template: str, values: Mapping[str, str]) -> list[Message]:
    r"""Return the messages of a prompt; what replaces a placeholder is never searched for placeholders.

    A line with nothing but an empty placeholder is left out.

    >>> filled("[user]\n{{shared}}\n\nFirst: {{first}}\n", {"shared": "", "first": "{{second}}"})
    [{'role': 'user', 'content': 'First: {{second}}'}]
    """
    messages = []
    for role, section in _sections(template).items():
        for name, value in values.items():
            if not value:
                section = re.sub(rf"^\{{\{{\s*{name}\s*\}}\}}[ \t]*\n+", "", section, flags=re.MULTILINE)
        content = _PLACEHOLDER.sub(lambda match: values[match[1]], section.strip())
        messages.append({"role": role, "content": content})
    return messages


def _sections(text: str) -> dict[str, str]:
    """Return role -> text of its section, in the order of the file."""
    parts = _SECTION.split(text.replace("\r\n", "\n"))
    return {role: part for role, part in zip(parts[1::2], parts[2::2], strict=True) if part.strip()}
