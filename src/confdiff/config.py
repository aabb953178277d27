"""``confdiff.toml``: the roles of columns and a few options, written once for all commands.

Commands read the file in the folder of the first table, or another that they are given. Python functions read a
file only if it is passed as ``config=``. Arguments and flags win over the file.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

CONFIG_NAME = "confdiff.toml"
"""The name of the file that commands read in the folder of the tables."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Config:
    """The contents of a ``confdiff.toml``; None, or empty, where it says nothing.

    Attributes
    ----------
    id, labels
        Columns of the items: their ids, and the labels of a few.
    left, right, difference, same, weight, annotator, time, group, shown_first, winner, tie
        Columns of the pairs.
    scale
        The scale of the differences, such as ``"1,7"``, or its words in their order.
    encoding
        The encoding of text files, such as ``"cp1252"``.
    prior
        The fraction of positives, or ``"estimate"``.
    link
        What was asked: ``"probability"``, ``"preference"`` or ``"score"``.
    differences, positives
        ``"labels"`` for differences of labels, and which of the two class priors that fit is the right one.
    ignore
        Columns of the items to leave out.
    kinds
        Column of the items -> its kind, such as ``"category"``.
    judges
        LLM judges, one table of settings each; ``confdiff label judge`` asks them.

    Examples
    --------
    >>> print(Config(id="sku", scale="1,7", kinds={"shop no.": "category"}).to_toml())
    id = "sku"
    scale = "1,7"
    <BLANKLINE>
    [kinds]
    "shop no." = "category"
    <BLANKLINE>
    """

    id: str | None = None
    left: str | None = None
    right: str | None = None
    difference: str | None = None
    same: str | None = None
    weight: str | None = None
    annotator: str | None = None
    time: str | None = None
    group: str | None = None
    shown_first: str | None = None
    winner: str | None = None
    tie: str | None = None
    scale: str | None = None
    labels: str | None = None
    encoding: str | None = None
    prior: float | str | None = None
    link: str | None = None
    differences: str | None = None
    positives: str | None = None
    ignore: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    judges: tuple[Mapping[str, str | float], ...] = ()

    def fill(self, **values: Any) -> dict[str, Any]:
        """Return values by the names of their fields; those that are None or empty are taken from the file."""
        return {name: getattr(self, name) if value is None or value == () else value for name, value in values.items()}

    def to_toml(self) -> str:
        """Return the contents of the file."""
        lines = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            if value is not None and value != () and entry.name not in ("kinds", "judges"):
                lines.append(f"{entry.name} = {_toml_value(value)}\n")
        if self.kinds:
            lines.append("\n[kinds]\n")
        lines += _toml_entries(self.kinds)
        for judge in self.judges:
            lines += ["\n[[judges]]\n", *_toml_entries(judge)]
        return "".join(lines)


def load_config(path: str | os.PathLike[str]) -> Config:
    """Read a ``confdiff.toml``.

    Parameters
    ----------
    path : path
        The file, of any name.

    Raises
    ------
    FileNotFoundError
        The file does not exist.
    ValueError
        The file is not TOML, or has a key or a value that is not known.
    """
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"the file {source} does not exist (config={str(source)!r}).")
    try:
        values = tomllib.loads(source.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested without end
        raise ValueError(f"{source} cannot be read as TOML: {error}") from error
    return Config(**{name: _checked(source, name, value) for name, value in values.items()})


def find_config(table: str | os.PathLike[str], path: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the file that a command reads: the one it was given, else ``confdiff.toml`` in the folder of a table.

    None if neither exists.
    """
    if path is not None:
        return Path(path)
    beside = Path(table).parent / CONFIG_NAME
    return beside if beside.is_file() else None


def optional_config(path: str | os.PathLike[str] | None) -> Config:
    """Read a file, or return an empty configuration if there is none."""
    return Config() if path is None else load_config(path)


def _checked(source: Path, name: str, value: Any) -> Any:
    """Return the value of a key, which must be known and have the right type."""
    from confdiff.validation import check_choice  # imports PyTorch, which commands without a file do not wait for

    try:
        check_choice("key", name, [entry.name for entry in fields(Config)])
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
    if name == "prior" and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if name == "scale" and isinstance(value, list) and all(type(part) in (int, float, str) for part in value):
        separator = ";" if any("," in str(part) for part in value) else ","
        return separator.join(map(str, value))
    if name == "ignore" and isinstance(value, list) and all(isinstance(column, str) for column in value):
        return tuple(value)
    if name == "kinds" and isinstance(value, dict) and all(isinstance(kind, str) for kind in value.values()):
        return value
    if name == "judges" and isinstance(value, list) and all(map(_is_judge, value)):
        return tuple(value)
    if name not in ("ignore", "kinds", "judges") and isinstance(value, str):
        return value
    got = "other values" if name == "judges" else f"{value!r:.80}"  # a judge may have a key
    raise ValueError(f"{source}: {name} must be {_EXPECTED.get(name, 'the name of a column')}; got {got}.")


def _is_judge(value: Any) -> bool:
    """Return whether a value is a table of texts and numbers; the names of the settings are checked where used."""
    return isinstance(value, dict) and all(type(setting) in (str, int, float) for setting in value.values())


_EXPECTED = {
    "scale": "a scale, such as '1,7', [1, 7] or ['worse', 'same', 'better']",
    "encoding": "an encoding, such as 'cp1252'",
    "prior": "a fraction, such as 0.3, or 'estimate'",
    "link": "what was asked: 'probability', 'preference' or 'score'",
    "differences": "the kind of differences: 'graded' or 'labels'",
    "positives": "'rarer' or 'commoner'",
    "ignore": "a list of columns, such as ['name', 'notes']",
    "kinds": "a table of columns and their kinds, such as [kinds] with the line ward = 'category'",
    "judges": "a list of tables, such as [[judges]] with the line model = 'gpt-4o-mini', with texts and numbers only",
}


def _toml_value(value: Any) -> str:
    if isinstance(value, str):
        return _toml_string(value)
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml_string, value)) + "]"
    return repr(value if isinstance(value, int) else float(value))


def _toml_entries(values: Mapping[str, Any]) -> list[str]:
    return [f"{_toml_key(name)} = {_toml_value(value)}\n" for name, value in values.items()]


def _toml_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _toml_string(key)


def _toml_string(text: str) -> str:
    """Return a basic string of TOML, in which control characters are escaped."""
    return '"' + "".join(_ESCAPES.get(character) or _escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x20 or 0x7F <= code < 0xA0 else character
