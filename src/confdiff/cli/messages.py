"""Translate messages of the library, which name Python arguments, to the flags of the running command."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any


class UserError(Exception):
    """A user error; its message names flags and is printed without a traceback."""


@dataclass(frozen=True)
class Flag:
    """The command-line form of a parameter.

    Attributes
    ----------
    on : str
        The flag, such as ``--overwrite``.
    off : str or None
        The flag that switches a switch off, such as ``--no-clip``.
    is_switch : bool
        Whether the flag takes no value.
    metavar : str
        What help calls the value, such as ``COLUMN``.
    """

    on: str
    off: str | None = None
    is_switch: bool = False
    metavar: str = "..."


def flags_of(parameters: Iterable[Any]) -> dict[str, Flag]:
    """Return the flag of each option among a command's parameters, by the name of its Python argument."""
    return {
        parameter.name: Flag(
            on=max(parameter.opts, key=len),
            off=max(parameter.secondary_opts, key=len, default=None),
            is_switch=bool(parameter.is_flag),
            metavar=parameter.metavar or "...",
        )
        for parameter in parameters
        if parameter.param_type_name == "option"
    }


_running_flags: ContextVar[Mapping[str, Flag]] = ContextVar("running_flags", default={})  # noqa: B039 (never mutated)


@contextmanager
def running_with(flags: Mapping[str, Flag]) -> Iterator[None]:
    """Set the command whose flags :func:`translated` uses."""
    token = _running_flags.set(flags)
    try:
        yield
    finally:
        _running_flags.reset(token)


def translated(message: str) -> str:
    """Return a message of the library with the flags of the running command."""
    return with_flags(message, _running_flags.get())


_ARGUMENT = re.compile(
    r"""
    (?<![\w.'"-]) (?<!\w\()            # neither a part of a word or a quotation nor the first argument of a call
    (?P<name>[a-z]\w*)=
    (?P<value>
        \([^()]*\) | \[[^\[\]]*\]      # a tuple or a list
      | '[^']*' | "[^"]*"
      | \.\.\.
      | [-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?
      | [A-Za-z][\w-]*
    )
    """,
    re.VERBOSE,
)

_SUBJECT = re.compile(r"^(?P<name>[a-z]\w*)(?= must )")

_LOADING = re.compile(r"""load_plugins\((?P<source>'[^']*'|"[^"]*")\)""")

_KINDS = re.compile(r"""kinds=\{(?P<column>'[^']*'|"[^"]*"): '(?P<kind>\w+)'\}""")


def with_flags(message: str, flags: Mapping[str, Flag]) -> str:
    """Return a message with the flags of a command instead of Python arguments.

    Parameters
    ----------
    message : str
        A message of the library, with arguments in the form ``name=value``, or ``name must`` at the beginning.
    flags : mapping of str to Flag
        The flags of the command by the names of their arguments. Other arguments are left as they are.

    Examples
    --------
    >>> flags = {"overwrite": Flag("--overwrite", is_switch=True), "scale": Flag("--scale")}
    >>> with_flags("model already exists: pass overwrite=True.", flags)
    'model already exists: pass --overwrite.'
    >>> with_flags("no known scale: pass scale=(1, 7).", flags)
    'no known scale: pass --scale 1,7.'
    >>> with_flags("scale must be two numbers.", flags)
    '--scale must be two numbers.'
    >>> with_flags("name it with left='...'.", {"left": Flag("--left", metavar="COLUMN")})
    'name it with --left COLUMN.'
    >>> with_flags("load it first: load_plugins('mine.py').", {"plugin": Flag("--plugin")})
    'load it first: --plugin mine.py.'
    """
    if "plugin" in flags:
        message = _LOADING.sub(lambda match: _with_value(flags["plugin"], match["source"]), message)
    message = _KINDS.sub(lambda match: _kind_flag(match, flags), message)
    message = _SUBJECT.sub(lambda match: flags[match["name"]].on if match["name"] in flags else match[0], message)
    return _ARGUMENT.sub(lambda match: _flag(match, flags), message)


def _kind_flag(match: re.Match[str], flags: Mapping[str, Flag]) -> str:
    """Return the flag for the kind of a column: kinds={'ward': 'category'} is --category ward."""
    flag = flags.get(match["kind"])
    return match[0] if flag is None else _with_value(flag, match["column"])


def _flag(match: re.Match[str], flags: Mapping[str, Flag]) -> str:
    flag = flags.get(match["name"])
    value = match["value"]
    if flag is None or value == "None":
        return match[0]
    if flag.is_switch:
        switch = flag.on if value == "True" else flag.off
        return switch or match[0]
    return _with_value(flag, value)


def _with_value(flag: Flag, value: str) -> str:
    """Return a flag and its value; a value of three dots becomes the name that help gives it."""
    typed = _value(value)
    return f"{flag.on} {flag.metavar if typed == '...' else typed}"


def _value(text: str) -> str:
    """Return a Python value as it is typed in a shell."""
    if text[0] in "([":
        values = [value.strip() for value in text[1:-1].split(",")]
        return ",".join(_value(value) for value in values if value)
    if text[0] in "'\"":
        text = text[1:-1]
        return text if re.fullmatch(r"\.\.\.|[A-Z]+", text) else shlex.quote(text)
    return text
