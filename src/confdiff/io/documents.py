"""Read files that confdiff wrote: whole regular files, and strict JSON."""

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NoReturn

MAX_JSON_BYTES = 2**29
"""Size of the largest JSON document; the vocabulary of a model of texts takes a few megabytes."""
MAX_DEPTH = 64
"""Levels of the deepest JSON document; states of optimisers have about 12."""


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a regular file to read it.

    A named pipe would block until another process writes to it, and a device may never end: both are refused.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If the file does not exist, or is a folder.
    OSError
        If it is not a regular file, or cannot be read.
    """
    name = os.fspath(path)
    try:
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"the file {name} does not exist.") from error
    except ValueError as error:  # a null character in the name
        raise FileNotFoundError(f"the file {name!r} does not exist.") from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{name} is not a file that confdiff saved: it is a folder.")
    raise OSError(f"{name} is not a file that confdiff saved: it is a pipe or a device.")


def read_document(path: str | os.PathLike[str]) -> Any:
    """Return the value of a JSON file; see :func:`parse_document` for what is refused.

    The caller converts the ``ValueError`` of malformed contents, see :func:`confdiff.io.damage.reporting_damage`.
    """
    with open_regular(path) as file:
        contents = file.read(MAX_JSON_BYTES + 1)
    if len(contents) > MAX_JSON_BYTES:
        raise ValueError(f"it has more than {MAX_JSON_BYTES:,} bytes")
    return parse_document(contents)


def parse_document(text: str | bytes, *, allow_nan: bool = False) -> Any:
    """Return the value of a JSON text as a program wrote it.

    Parameters
    ----------
    text : str or bytes
        The text, in UTF-8.
    allow_nan : bool
        Accept NaN and infinities, which Python writes but standard JSON does not have.

    Raises
    ------
    ValueError
        If the text is not JSON, an object has a key twice, or the values are nested more than :data:`MAX_DEPTH` deep.

    Examples
    --------
    >>> parse_document('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: an object has the key 'a' twice
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8")
    options: dict[str, Any] = {} if allow_nan else {"parse_constant": _refuse_constant}
    try:
        value = json.loads(text, object_pairs_hook=_object_without_repeats, **options)
    except RecursionError as error:
        raise _too_deep() from error
    _check_depth(value)
    return value


def _object_without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"an object has the key {repeated!r:.60} twice")
    return values


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _check_depth(value: Any) -> None:
    """Check the depth level by level, without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return
    raise _too_deep()


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _too_deep() -> ValueError:
    return ValueError(f"its values are nested more than {MAX_DEPTH} deep")


def check_plain_name(what: str, name: object) -> str:
    """Return the name of a file inside a folder: not a path, not hidden, without control characters.

    >>> check_plain_name("a file of the model", "../secret")
    Traceback (most recent call last):
    ...
    ValueError: a file of the model must be a plain file name; got '../secret'
    """
    is_plain = (
        isinstance(name, str)
        and name != ""
        and name == PurePath(name).name
        and not name.startswith(".")
        and name.isprintable()
        and not set(name) & set('/\\:*?"<>|')
    )
    if not is_plain:
        raise ValueError(f"{what} must be a plain file name; got {name!r:.100}")
    return str(name)


def inside(folder: Path, name: str) -> Path:
    """Return the path of a file in a folder, which must not be a link that leaves the folder.

    Raises
    ------
    ValueError
        If the name is not a plain file name, or the file is a link to a place outside of the folder.
    """
    path = folder / check_plain_name(f"a file in {folder}", name)
    if path.is_symlink() and not _resolved(path).is_relative_to(_resolved(folder)):
        raise ValueError(f"{path} is a link that leaves the folder")
    return path


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # a loop of links, in Python before 3.13
        raise OSError(f"{path} is a link to itself.") from error
