"""Read the replies of an endpoint: an answer on the scale, or a kind of fault."""

import json
import re
from dataclasses import dataclass
from typing import Any

from confdiff.labelling.judges.reply_faults import ANSWERED
from confdiff.labelling.judges.reply_scale import ReplyScale

REFUSED = "refused"
"""The reason of an answer that a model refused to give."""

_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_NUMBER = re.compile(r"[+-]?\d{1,6}(\.0+)?")
_LARGEST = 2**31 - 1


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
    outcome, number = _read_content(_content(message), scale)
    if number is None and choice.get("finish_reason") == "length":
        outcome = "truncated"
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


def _read_content(content: str, scale: ReplyScale) -> tuple[str, int | None]:
    """Return the outcome and the number of a text, which may have words or a fence of code around its JSON."""
    text = content.strip()
    match = _OBJECT.search(text)
    value = _parsed(match[0]) if match else None
    answer = value.get("answer") if isinstance(value, dict) else None
    if answer is None:
        if not _NUMBER.fullmatch(text):
            return ("truncated" if text.startswith("{") and not match else "malformed"), None
        answer = text
    number = _whole(answer)
    if number is None or (number not in scale.values and number != scale.cannot_say):
        return "wrong-grade", None
    return ANSWERED, number


def _whole(answer: Any) -> int | None:
    """Return a whole number that JSON may hold as a number or as text."""
    if isinstance(answer, str) and _NUMBER.fullmatch(answer.strip()):
        answer = float(answer)
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not abs(answer) <= _LARGEST:
        return None
    return int(answer) if int(answer) == answer else None
