"""The settings of an LLM judge: the model, its endpoint, the template, the budget."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from confdiff.labelling.annotators import check_name
from confdiff.labelling.judges.templates import read_template
from confdiff.validation import check_choice, check_count, check_number

OPENAI = "https://api.openai.com/v1"
"""The endpoint of OpenAI; other servers speak the same protocol."""

_COUNTS = ("pairs", "max_requests", "max_tokens")
_LONGEST_MODEL = 200
_MOST_AT_A_TIME = 1000  # requests; each needs a connection
_MOST_REPLY_TOKENS = 1_000_000
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(frozen=True)
class JudgeSettings:
    """The settings of an LLM judge.

    Parameters
    ----------
    model : str
        The model, as the endpoint names it.
    name : str
        The name of the annotator; by default the model.
    base_url : str
        The address of the endpoint, with or without ``/chat/completions``.
    key : str or None
        The environment variable with the API key. By default ``OPENAI_API_KEY`` for OpenAI, and no key for other
        endpoints.
    template : path or None
        File of the prompt; None is the default template.
    pairs : int or None
        Number of pairs to ask, in both orders; by default all pairs of the plan.
    max_requests, max_tokens : int or None
        Budget of the judge in this study, over all runs.
    concurrency : int
        Number of requests at the same time, at most 1,000.
    timeout : float
        Seconds until a request without a reply is given up.
    reply_tokens : int
        The longest reply, in tokens, at most 1,000,000.
    temperature : float
        Temperature of sampling.

    Raises
    ------
    ValueError
        If a value is not valid.

    Examples
    --------
    >>> JudgeSettings(model="small-model", base_url="http://127.0.0.1:8000/v1/").name
    'small-model'
    """

    model: str
    name: str = ""
    base_url: str = OPENAI
    key: str | None = None
    template: str | Path | None = None
    pairs: int | None = None
    max_requests: int | None = None
    max_tokens: int | None = None
    concurrency: int = 8
    timeout: float = 60.0
    reply_tokens: int = 300
    temperature: float = 0.0

    def __post_init__(self) -> None:
        """Check the values."""
        if not isinstance(self.model, str) or not self.model.strip() or len(self.model) > _LONGEST_MODEL:
            raise ValueError(f"model must be the name of a model, such as 'gpt-4o-mini'; got {self.model!r:.80}.")
        object.__setattr__(self, "name", check_name(self.name or self.model))
        object.__setattr__(self, "base_url", _checked_url(self.base_url))
        if self.key is not None and not (isinstance(self.key, str) and _VARIABLE.fullmatch(self.key)):
            raise ValueError("key must be the name of an environment variable, such as MY_KEY, not the API key itself.")
        for name in _COUNTS:
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        if check_count("concurrency", self.concurrency) > _MOST_AT_A_TIME:
            raise ValueError(f"concurrency must be at most {_MOST_AT_A_TIME:,}; got {self.concurrency:,}.")
        if check_count("reply_tokens", self.reply_tokens) > _MOST_REPLY_TOKENS:
            raise ValueError(f"reply_tokens must be at most {_MOST_REPLY_TOKENS:,}; got {self.reply_tokens:,}.")
        check_number("timeout", self.timeout, above=0)
        check_number("temperature", self.temperature, least=0)

    @property
    def is_local(self) -> bool:
        """Whether the endpoint is on this machine."""
        return urlsplit(self.base_url).hostname in ("127.0.0.1", "::1", "localhost")


def _checked_url(address: object) -> str:
    """Return the address of an endpoint without its last path; a secret in it would be stored and printed."""
    expected = "base_url must be an address such as http://127.0.0.1:8000/v1"
    if not isinstance(address, str):
        raise ValueError(f"{expected}; got {address!r:.80}.")
    try:
        parts = urlsplit(address)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError(f"{expected}; got {address.rpartition('@')[2]!r:.80}.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError(f"{expected}, without a user, a password or parameters: the key comes from the environment.")
    return address.rstrip("/").removesuffix("/chat/completions").rstrip("/")


def listed_judges(tables: tuple[Mapping[str, Any], ...], folder: Path) -> dict[str, dict[str, Any]]:
    """Return the judges of a ``confdiff.toml`` by their names, as arguments of :class:`JudgeSettings`.

    Parameters
    ----------
    tables : tuple of mappings
        The tables ``[[judges]]`` of the file.
    folder : Path
        The folder of the file, to which templates are relative.

    Raises
    ------
    ValueError
        If a table has an unknown setting or none of a model, or a name occurs twice.
    """
    judges: dict[str, dict[str, Any]] = {}
    for table in tables:
        for setting in table:
            check_choice("setting of a judge", setting, [entry.name for entry in fields(JudgeSettings)])
        if "model" not in table:
            settings = ", ".join(table) or "nothing"  # without the values: one may be a key
            raise ValueError(f"each judge needs a model, such as model = 'gpt-4o-mini'; got {settings} only.")
        values = dict(table)
        if "template" in values:
            values["template"] = folder / str(values["template"])
        name = str(values.get("name", values["model"]))
        if name in judges:
            raise ValueError(f"two judges are named {name!r}: give each a name of its own.")
        judges[name] = values
    return judges


def template_of(settings: JudgeSettings) -> str:
    """Return the text of a judge's template, after checking its placeholders."""
    return read_template(settings.template)
