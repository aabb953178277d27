"""The texts of the pages, one file per language."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_FOLDER = files("confdiff.labelling") / "pages" / "texts"


def languages() -> list[str]:
    """Return the languages with a file of texts.

    >>> "en" in languages()
    True
    """
    return sorted(file.name.removesuffix(".json") for file in _FOLDER.iterdir() if file.name.endswith(".json"))


@cache
def page_texts(language: str) -> Mapping[str, Any]:
    """Return the texts of a language; those that its file lacks are English.

    Parameters
    ----------
    language : str
        Name of the language, such as ``"en"``.

    Examples
    --------
    >>> page_texts("en")["words"]["3"]
    ['left', 'the same', 'right']
    """
    available = languages()
    if language not in available:
        raise ValueError(f"no texts for language={language!r}: choose one of {', '.join(available)}.")
    texts: Mapping[str, Any] = _completed(_read(language), _read("en"))
    return texts


def _read(language: str) -> Any:
    return json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8"))


def _completed(texts: Any, english: Any) -> Any:
    """Return texts with the English ones where they have none, at any depth."""
    if not (isinstance(texts, dict) and isinstance(english, dict)):
        return texts
    missing = {key: value for key, value in english.items() if key not in texts}
    return {key: _completed(value, english.get(key)) for key, value in texts.items()} | missing
