"""Report damaged files: the one place where errors of decoding become "PATH is damaged: ..." with a remedy."""

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from safetensors import SafetensorError

_MAX_REASON = 300  # characters of a reason; a value from a damaged file may be of any length


class DamagedFile(ValueError):
    """A file is truncated, altered, or not the expected file; ``reason`` is what is wrong with its contents."""

    reason = ""


def damaged(path: str | os.PathLike[str], reason: str, remedy: str) -> DamagedFile:
    """Return the error for a damaged file.

    Parameters
    ----------
    path : path
        The file or folder.
    reason : str
        What is wrong with its contents.
    remedy : str
        What the user can do, as a sentence.

    Examples
    --------
    >>> str(damaged("model.json", "the field 'files' is missing", "Fit the model again."))
    "model.json is damaged: the field 'files' is missing. Fit the model again."
    """
    short_reason = _shortened(reason.strip().rstrip("."))
    error = DamagedFile(f"{os.fspath(path)} is damaged: {short_reason}. {remedy}")
    error.reason = short_reason
    return error


@contextmanager
def reporting_damage(path: str | os.PathLike[str], remedy: str) -> Iterator[None]:
    """Turn errors of decoding in the block into one error that names the file.

    Only the exceptions that decoding of unexpected contents raises are converted. Errors of the file system pass, and
    so does a :class:`DamagedFile` of a file inside the folder.

    Parameters
    ----------
    path : path
        The file or folder that is decoded in the block.
    remedy : str
        What the user can do, as a sentence.
    """
    try:
        yield
    except DamagedFile:
        raise
    except _DECODING_ERRORS as error:
        raise damaged(path, _reason(error), remedy) from error


_DECODING_ERRORS = (
    ValueError,  # also UnicodeDecodeError and JSONDecodeError
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RuntimeError,  # of torch; also RecursionError
    MemoryError,
    EOFError,
    SafetensorError,
    zipfile.BadZipFile,
    zlib.error,
)


def _reason(error: BaseException) -> str:
    """Return the reason of an error in words; the text of a KeyError is only the key."""
    if isinstance(error, KeyError):
        return f"the field {error.args[0]!r} is missing" if error.args else "a field is missing"
    if isinstance(error, RecursionError):
        return "its values are nested too deeply"
    if isinstance(error, MemoryError):
        return "it describes more data than fits into memory"
    return str(error) or type(error).__name__


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_REASON else f"{text[: _MAX_REASON - 4]} ..."
