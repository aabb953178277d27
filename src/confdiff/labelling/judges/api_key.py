"""The API key of an endpoint, which is never printed, stored or logged."""

import json
import os
from collections.abc import Iterable

from confdiff.labelling.judges.judge_settings import OPENAI, JudgeSettings
from confdiff.validation import warn_user

_HIDDEN = "[key]"
_SHORTEST = 4  # shorter texts are no keys, and removing them would spoil every reply


class ApiKey:
    """A key whose text is reachable for the header of a request only."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return f"ApiKey({_HIDDEN})"

    def header(self) -> dict[str, str]:
        """Return the header of a request."""
        return {"Authorization": f"Bearer {self._text}"}

    def removed_from(self, text: str) -> str:
        """Return a text without the key, as it is or as JSON writes it.

        >>> ApiKey("sk-secret").removed_from("Incorrect API key: sk-secret")
        'Incorrect API key: [key]'
        """
        for form in (self._text, json.dumps(self._text)[1:-1]):
            if len(form) >= _SHORTEST:
                text = text.replace(form, _HIDDEN)
        return text


def check_keys(judges: Iterable[JudgeSettings]) -> None:
    """Check that the environment has the keys of judges, such as before a study is made for them."""
    for settings in judges:
        _text_of_key(settings)


def key_of(settings: JudgeSettings) -> ApiKey | None:
    """Return the key of a judge from the environment.

    OpenAI's key is in ``OPENAI_API_KEY``. To other endpoints no key is sent unless a variable is named.

    Raises
    ------
    ValueError
        If the variable is not set, or its value cannot be sent.
    """
    text = _text_of_key(settings)
    if text is None:
        return None
    if settings.base_url.startswith("http:") and not settings.is_local:
        warn_user(f"{settings.base_url} has no TLS: others in the network can read the key and the items.")
    return ApiKey(text)


def _text_of_key(settings: JudgeSettings) -> str | None:
    name = settings.key or ("OPENAI_API_KEY" if settings.base_url == OPENAI else None)
    if name is None:
        return None
    text = os.environ.get(name, "").strip()
    if not text:
        if not name.isupper():  # it may be the key itself, which must not be printed
            raise ValueError("key='...' must name the environment variable that has the API key; none has that name.")
        raise ValueError(
            f"the environment variable {name} with the API key is not set. Set it, or name another one with key='...'."
        )
    if not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError(f"the environment variable {name} must hold an API key: ASCII characters without blanks.")
    return text
