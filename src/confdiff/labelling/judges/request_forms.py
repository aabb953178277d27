"""The bodies of requests, and how they change where an endpoint refuses a parameter."""

import json
from dataclasses import dataclass, replace
from typing import Any

from confdiff.labelling.judges.judge_settings import JudgeSettings
from confdiff.labelling.judges.reply_scale import ReplyScale
from confdiff.labelling.judges.templates import Message

_FORMATS = ("json_schema", "json_object", "")
_LIMITS = ("max_tokens", "max_completion_tokens")
_TOKENS_AROUND = 100  # of roles and separators that a server adds to the messages, at most


@dataclass(frozen=True)
class RequestForm:
    """The parameters of requests that endpoints differ in.

    Attributes
    ----------
    format : {"json_schema", "json_object", ""}
        How a JSON reply is asked for; "" by the prompt alone.
    limit : {"max_tokens", "max_completion_tokens"}
        The parameter of the longest reply.
    has_temperature : bool
        Whether the temperature is sent.
    """

    format: str = _FORMATS[0]
    limit: str = _LIMITS[0]
    has_temperature: bool = True

    def body(self, settings: JudgeSettings, messages: list[Message], scale: ReplyScale) -> dict[str, Any]:
        """Return the body of a request."""
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": messages,
            self.limit: settings.reply_tokens,
        }
        if self.has_temperature:
            body["temperature"] = settings.temperature
        if self.format == "json_schema":
            schema = {"name": "judgement", "strict": True, "schema": scale.schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.format:
            body["response_format"] = {"type": self.format}
        return body

    def after_refusal(self, reply: str) -> "RequestForm | None":
        """Return the next form to try after a request was refused with a message; None if there is none.

        >>> RequestForm().after_refusal("Use 'max_completion_tokens' instead.").limit
        'max_completion_tokens'
        >>> RequestForm().after_refusal("response_format is not supported").format
        'json_object'
        """
        if _LIMITS[1] in reply and self.limit == _LIMITS[0]:
            return replace(self, limit=_LIMITS[1])
        if "temperature" in reply and self.has_temperature:
            return replace(self, has_temperature=False)
        following = _FORMATS.index(self.format) + 1
        return replace(self, format=_FORMATS[following]) if following < len(_FORMATS) else None

    def changes(self, other: "RequestForm") -> list[str]:
        """Return what differs in another form, for people."""
        lines = []
        if other.format != self.format:
            instead = f"response_format {other.format}" if other.format else "the prompt alone"
            lines.append(f"the endpoint refuses response_format {self.format}; asking for JSON by {instead}")
        if other.limit != self.limit:
            lines.append(f"the endpoint refuses {self.limit}; sending {other.limit}")
        if other.has_temperature != self.has_temperature:
            lines.append("the endpoint refuses the temperature; its own is used")
        return lines


def most_tokens(body: dict[str, Any], settings: JudgeSettings) -> int:
    """Return an upper bound on the tokens of a request: a token has at least one byte of what is sent."""
    sent = len(json.dumps(body["messages"], ensure_ascii=False).encode("utf-8", "replace"))
    schema = len(json.dumps(body.get("response_format", "")))
    return sent + schema + settings.reply_tokens + _TOKENS_AROUND


def likely_tokens(messages: list[Message]) -> int:
    """Return roughly the tokens of a prompt and a reply: a token of English has four characters."""
    characters = sum(len(message["content"]) for message in messages)
    return characters // 4 + 25
