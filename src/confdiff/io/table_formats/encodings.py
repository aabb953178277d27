"""The encoding of a text file: given by the user, stated by the first bytes of the file, or UTF-8."""

import codecs
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import IO, Any, ParamSpec, TextIO, TypeVar

from confdiff.config import load_config

_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is the first half of this one
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BLOCK = 1 << 20

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_given: ContextVar[str | None] = ContextVar("given_encoding", default=None)


@contextmanager
def text_encoding(encoding: str | None) -> Iterator[None]:
    """Set the encoding of the text files that are read inside the block.

    Parameters
    ----------
    encoding : str or None
        A text encoding of Python, such as ``"cp1252"``. None keeps the encoding of the outer block, which is UTF-8 by
        default. A file that begins with a byte order mark (UTF-8, UTF-16, UTF-32) is always read as that states.

    Raises
    ------
    ValueError
        If Python has no such text encoding.
    """
    token = _given.set(_given.get() if encoding is None else check_encoding(encoding))
    try:
        yield
    finally:
        _given.reset(token)


def takes_encoding(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Decorate a function with an argument ``encoding``, which is then that of all text files read inside it.

    The argument must be passed by keyword; see :func:`text_encoding` for its values. If it is None and the function has
    an argument ``config``, the encoding in that file counts.
    """

    @wraps(function)
    def decorated(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        with text_encoding(_encoding_among(kwargs)):
            return function(*args, **kwargs)

    return decorated


def _encoding_among(arguments: Mapping[str, Any]) -> str | None:
    encoding = arguments.get("encoding")
    config = arguments.get("config")
    if encoding is None and config is not None and Path(config).is_file():
        return load_config(config).encoding
    return None if encoding is None else str(encoding)


def check_encoding(encoding: str) -> str:
    """Check that Python has a text encoding, and return its usual name.

    >>> check_encoding("Windows-1252")
    'cp1252'
    """
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError, UnicodeError) as error:
        raise ValueError(
            f"encoding must be a text encoding, such as 'utf-8', 'cp1252' or 'latin-1'; got {encoding!r}."
        ) from error


def encoding_of(path: Path, file: IO[bytes]) -> str:
    """Return the encoding of a file from its first bytes, else the one that is set, else UTF-8.

    Parameters
    ----------
    path : Path
        The file, for messages.
    file : binary file
        The file, at its beginning. It is read.

    Raises
    ------
    ValueError
        If another encoding is set, but the file is UTF-8: its letters beyond ASCII would become others.
    """
    start = file.read(4)
    stated = next((name for mark, name in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    encoding = stated or _given.get() or "utf-8"
    if stated is None and encoding != "utf-8" and _is_certainly_utf8(start, file):
        raise ValueError(
            f"{path} is UTF-8 text, but its encoding was given as {encoding!r}. Pass encoding='utf-8' to read it."
        )
    return encoding


def _is_certainly_utf8(start: bytes, file: IO[bytes]) -> bool:
    """Return whether a file has letters beyond ASCII, and all of them are UTF-8; text of other encodings never is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    has_letters = False
    block = start
    while block:
        has_letters = has_letters or not block.isascii()
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            return False
        block = file.read(_BLOCK)
    return has_letters and not decoder.getstate()[0]


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a text file in its encoding; bytes that are not text of it are an error that names the line."""
    with path.open("rb") as file:
        encoding = encoding_of(path, file)
    try:
        with path.open(encoding=encoding, newline="\n") as text:
            yield text
    except UnicodeDecodeError as error:
        with path.open("rb") as file:
            raise not_decodable(path, file, encoding) from error


def not_decodable(path: Path, file: IO[bytes], encoding: str) -> ValueError:
    """Return the error for a file that is not text of an encoding, which names the line.

    Parameters
    ----------
    path : Path
        The file, for the message.
    file : binary file
        The file, at its beginning.
    encoding : str
        The encoding.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 0
    text = "text"
    while block := file.read(_BLOCK):
        try:
            lines += decoder.decode(block).count("\n")
        except UnicodeDecodeError as error:
            lines += decoded_before(error).count("\n")
            text = f"text (byte 0x{error.object[error.start]:02x} in line {lines + 1})"
            break
    name = "UTF-8" if encoding in ("utf-8", "utf-8-sig") else encoding
    return ValueError(
        f"{path} is not {name} {text}. Pass its encoding, such as encoding='cp1252' (Windows, western Europe), "
        "or save it as UTF-8."
    )


def decoded_before(error: UnicodeDecodeError) -> str:
    """Return the text before the byte that could not be decoded."""
    return error.object[: error.start].decode(error.encoding, "replace")


def check_no_nul(path: Path, start: str) -> None:
    """Check that the beginning of a text has no NUL, which only binary files and undeclared UTF-16 have."""
    index = start.find("\0")
    if index >= 0:
        guess = "utf-16-le" if index % 2 else "utf-16-be"
        raise ValueError(
            f"{path} contains the character NUL: it is not a text file, or it is UTF-16 without a byte order mark. "
            f"In that case pass encoding='{guess}'."
        )
