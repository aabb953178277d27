"""Add to the tables of methods, data sets and networks, and remember which plug-in did."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from confdiff.plugins.plugin import Plugin

TableKind = Literal["method", "data set", "model"]
"""The tables that plug-ins may add to, as messages name their rows."""

_Row = TypeVar("_Row")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")


class RegistrationError(ValueError):
    """A plug-in registers something that cannot be used."""


@dataclass(eq=False)
class Registrations:
    """What one plug-in adds.

    Attributes
    ----------
    source : str
        The plug-in as the user named it, for messages.
    tables : dict
        (kind, name) -> the table that has the row.
    files : list of Path
        Files of data sets, which a version that is a digest includes.
    plugin : Plugin or None
        The plug-in, once its version is known.
    """

    source: str
    tables: dict[tuple[TableKind, str], MutableMapping[str, Any]] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)
    plugin: Plugin | None = None


_active: ContextVar[Registrations | None] = ContextVar("active_plugin", default=None)
_owners: dict[tuple[TableKind, str], Registrations | None] = {}
"""(TableKind, name) -> the plug-in that registered it; None if it was registered outside of one."""


@contextmanager
def registering(source: str) -> Iterator[Registrations]:
    """Collect what a plug-in adds in a block; nothing remains if the block fails."""
    added = Registrations(source)
    token = _active.set(added)
    try:
        yield added
    except BaseException:
        withdraw(added)
        raise
    finally:
        _active.reset(token)


def withdraw(added: Registrations) -> None:
    """Remove what a plug-in has added."""
    for (kind, name), table in added.tables.items():
        del table[name]
        del _owners[kind, name]
    added.tables.clear()


def check_new_name(kind: TableKind, table: Container[str], name: object) -> str:
    """Return the name of a new row, which may be typed in a list and name a file, and which the table does not have.

    >>> check_new_name("method", {}, "my method")
    Traceback (most recent call last):
    ...
    confdiff.plugins.registering.RegistrationError: the name of a method must be lower-case letters, digits, '-', '_' \
or '.', such as 'my-method'; got 'my method'.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        example = f"my-{kind.split()[0]}"
        raise RegistrationError(
            f"the name of a {kind} must be lower-case letters, digits, '-', '_' or '.', such as {example!r}; "
            f"got {name!r:.60}."
        )
    if name in table:
        raise RegistrationError(f"the {kind} {name!r} exists already: {_origin(kind, name)}. Choose another name.")
    return name


def add_to_table(kind: TableKind, table: MutableMapping[str, _Row], name: str, row: _Row) -> None:
    """Add a row to a table, on behalf of the plug-in that is being loaded.

    Parameters
    ----------
    kind : {"method", "data set", "model"}
        The table, for messages and keys.
    table : mutable mapping
        The table.
    name : str
        A name that the table does not have.
    row : object
        The row.

    Raises
    ------
    RegistrationError
        The name cannot be used, or is taken.
    """
    table[check_new_name(kind, table, name)] = row
    added = _active.get()
    _owners[kind, name] = added
    if added is not None:
        added.tables[kind, name] = table


def _origin(kind: TableKind, name: str) -> str:
    if (kind, name) not in _owners:
        return "it is built in"
    owner = _owners[kind, name]
    return "it was registered outside of a plug-in" if owner is None else f"the plug-in {owner.source} registers it"


def count_file(path: Path) -> None:
    """Note a file of a data set: if the plug-in states no version, its version changes with the file."""
    added = _active.get()
    if added is not None:
        added.files.append(path)


def plugin_of(kind: TableKind, name: str) -> Plugin | None:
    """Return the plug-in that registered a name; None for a built-in one.

    Raises
    ------
    ValueError
        It was registered outside of a plug-in, so that workers cannot load it and no version identifies it.
    """
    if (kind, name) not in _owners:
        return None
    owner = _owners[kind, name]
    if owner is None or owner.plugin is None:
        raise ValueError(
            f"the {kind} {name!r} was registered outside of a plug-in, so that no worker and no result can identify "
            "it: put the call into a file, and pass that to load_plugins('FILE.py')."
        )
    return owner.plugin


def versions_of(names: Iterable[tuple[TableKind, str]]) -> dict[str, str]:
    """Return the name and the version of every plug-in that some names come from, sorted by name.

    >>> versions_of([("method", "confdiff-abs")])
    {}
    """
    plugins = (plugin_of(kind, name) for kind, name in names)
    return dict(sorted((plugin.name, plugin.version) for plugin in plugins if plugin is not None))


def look_up(kind: TableKind, table: Mapping[str, _Row], name: object) -> _Row:
    """Return the row of a name.

    Raises
    ------
    ValueError
        The table has no such name. The message suggests the nearest one, or a plug-in.
    """
    from confdiff.validation import check_choice  # imports PyTorch, for which plug-ins of data need not wait

    try:
        return table[check_choice(kind, name, table)]
    except ValueError as error:
        if "Did you mean" in str(error):
            raise
        raise ValueError(
            f"{error} If a plug-in defines it, load that plug-in first: load_plugins('FILE.py')."
        ) from None
