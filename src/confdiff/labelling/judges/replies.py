"""Read the replies of an endpoint: an answer on the scale, or a kind of fault."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from confdiff.labelling.judges.reply_faults import ANSWERED
from confdiff.labelling.judges.reply_scale import ReplyScale

REFUSED = "refused"
"""The reason of an answer that a model refused to give."""

_THOUGHT_ENDS = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_BEGINNING = re.compile(r"(?:```(?:json)?\s*)?\{", re.IGNORECASE)
_END = re.compile(r"\}\s*(?:```)?\s*\Z")
_LONGEST_ANSWER = 100_000  # characters after the thoughts, of which the last are read
_NUMBER = re.compile(r"[+-]?\d{1,6}(\.0+)?")
_LARGEST = 2**31 - 1
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class ReadReply:
    """A reply after reading.

    Attributes
    ----------
    outcome : str
        :data:`ANSWERED`, or the code of a fault.
    number : int or None
        The number on the scale, if there is one.
    tokens : int or None
        Tokens of the prompt and the reply, if the endpoint states them.
    """

    outcome: str
    number: int | None = None
    tokens: int | None = None


def read_reply(text: str, scale: ReplyScale) -> ReadReply:
    r"""Read the body of a reply with status 200.

    Examples
    --------
    >>> from confdiff.labelling.judges.reply_scale import reply_scales
    >>> from confdiff.labelling.settings import StudySettings
    >>> scale = reply_scales(StudySettings(question="Which is larger?"))["difference"]
    >>> body = '{"choices": [{"message": {"content": "{\\"answer\\": 7}"}}], "usage": {"total_tokens": 90}}'
    >>> read_reply(body, scale)
    ReadReply(outcome='answer', number=7, tokens=90)
    >>> read_reply(body[:40], scale).outcome, read_reply(body.replace("7", "8"), scale).outcome
    ('malformed', 'wrong-grade')
    """
    body = _parsed(text)
    choice = _first_choice(body)
    tokens = _tokens(body)
    if choice is None:
        return ReadReply(outcome="malformed", tokens=tokens)
    message = choice["message"]
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return ReadReply(outcome="refusal", tokens=tokens)
    content = _without_thoughts(_content(message))
    outcome, number = _read_content(content, scale)
    if choice.get("finish_reason") == "length" and (number is None or not _is_at_an_end(content)):
        outcome, number = "truncated", None
    return ReadReply(outcome=outcome, number=number, tokens=tokens)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first_choice(body: Any) -> dict[str, Any] | None:
    """Return the first choice of a completion; None if the body is not a completion."""
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) and isinstance(choice.get("message"), dict) else None


def _tokens(body: Any) -> int | None:
    usage = body.get("usage") if isinstance(body, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if type(total) is int and 0 <= total <= _LARGEST else None


def _content(message: dict[str, Any]) -> str:
    """Return the text of a message, which some endpoints split into parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _without_thoughts(content: str) -> str:
    """Return what follows the thoughts of a model; empty if they do not end. Some servers send no opening tag.

    >>> _without_thoughts('<think>{"answer": 1}, or not?</think> {"answer": 2}')
    '{"answer": 2}'
    """
    following = _THOUGHT_ENDS.split(content)[-1]
    return _THOUGHT_BEGINS.split(following)[0].strip()


def _read_content(text: str, scale: ReplyScale) -> tuple[str, int | None]:
    """Return the outcome and the number of a text, which may have words or a fence of code around its JSON.

    An answer at the beginning is followed by its explanation. Otherwise the last one is the conclusion.
    """
    answers = [value["answer"] for value in _objects(text) if value.get("answer") is not None]
    if not answers and not _NUMBER.fullmatch(text):
        return ("truncated" if text.rfind("{") > text.rfind("}") else "malformed"), None
    answers = answers or [text]
    number = _whole(answers[0 if _BEGINNING.match(text) else -1])
    if number is None or (number not in scale.values and number != scale.cannot_say):
        return "wrong-grade", None
    return ANSWERED, number


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text, without those inside of others."""
    text = text[-_LONGEST_ANSWER:]
    position = text.find("{")
    while position >= 0:
        try:
            value, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find("{", end)


def _is_at_an_end(text: str) -> bool:
    """Return whether a text begins or ends with JSON. If it was cut, other JSON may be a thought, not the answer."""
    return bool(_BEGINNING.match(text) or _END.search(text))


def _whole(answer: Any) -> int | None:
    """Return a whole number that JSON may hold as a number or as text."""
    if isinstance(answer, str) and _NUMBER.fullmatch(answer.strip()):
        answer = float(answer)
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not abs(answer) <= _LARGEST:
        return None
    return int(answer) if int(answer) == answer else None
