"""Conversations, lists of messages with a role and a content, as texts, and back.

A prompt of one message of the user and an answer of one message of the assistant are their contents. Other
conversations have a line ``<|role|>`` before each message. Lines of a content that look like that get a backslash, so
that :func:`as_messages` is the inverse of :func:`as_text`.
"""

import re
from typing import Any

from confdiff.tabular.formats.rows import FileRow

Messages = list[dict[str, str]]

USER = "user"
ASSISTANT = "assistant"
_HEADER = re.compile(r"^<\|([\w-]+)\|>$", re.MULTILINE)
_MARKED = re.compile(r"^(\\*<\|)", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*<\|)", re.MULTILINE)


def read_conversation(row: FileRow, name: str, speaker: str) -> str:
    """Return a value of a row as text, whether it is a text or a list of messages; empty if it is missing."""
    value = row.values.get(name)
    return as_text(read_messages(row, name), speaker) if isinstance(value, list) else row.optional_text(name)


def read_messages(row: FileRow, name: str) -> Messages:
    """Return the messages of a row, each with a role and a content that are texts."""
    return [_message(row, f"message {number} of {name!r}", value) for number, value in enumerate(row.need(name), 1)]


def _message(row: FileRow, name: str, value: Any) -> dict[str, str]:
    if not (isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("role", "content"))):
        raise row.error(f"{name} must have a role and a content, both texts; got {value!r:.60}")
    if not re.fullmatch(r"[\w-]+", value["role"]):
        raise row.error(f"{name}: the role must be one word; got {value['role']!r:.60}")
    return {key: row.encodable(name, value[key]) for key in ("role", "content")}


def as_text(messages: Messages, speaker: str) -> str:
    """Return a conversation as text.

    Parameters
    ----------
    messages
        The messages.
    speaker
        The role of a conversation of one message that needs no line before it.

    Examples
    --------
    >>> as_text([{"role": "user", "content": "Why?"}], USER)
    'Why?'
    >>> print(as_text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}], USER))
    <|system|>
    Be brief.
    <|user|>
    Why?
    """
    is_plain = len(messages) == 1 and messages[0]["role"] == speaker
    if is_plain and not _HEADER.match(messages[0]["content"]):
        return messages[0]["content"]
    return "\n".join(f"<|{message['role']}|>\n{_MARKED.sub(_escape, message['content'])}" for message in messages)


def _escape(match: re.Match[str]) -> str:
    return "\\" + match[1]


def as_messages(text: str, speaker: str) -> Messages:
    """Return the conversation that :func:`as_text` made a text of.

    >>> as_messages("Why?", USER)
    [{'role': 'user', 'content': 'Why?'}]
    """
    if not _HEADER.match(text):
        return [{"role": speaker, "content": text}]
    parts = _HEADER.split(text)[1:]
    contents = parts[1::2]
    last = len(contents) - 1
    return [
        {"role": role, "content": _ESCAPED.sub(r"\1", content[1:] if number == last else content[1:-1])}
        for number, (role, content) in enumerate(zip(parts[::2], contents, strict=True))
    ]


def split_conversations(left: Messages, right: Messages) -> tuple[Messages, Messages, Messages]:
    """Return the messages that two conversations begin with, and the rest of both; the rest has a message at least."""
    shared = 0
    for one, other in zip(left[:-1], right[:-1], strict=False):
        if one != other:
            break
        shared += 1
    return left[:shared], left[shared:], right[shared:]
