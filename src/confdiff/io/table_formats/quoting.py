"""Check the quotes of a delimited text file, which pyarrow does not: an open one would swallow all rows after it."""

import csv
import io
import sys
from pathlib import Path
from typing import IO

_BLOCK = 1 << 20


def check_quotes(path: Path, file: IO[bytes], *, encoding: str, delimiter: str) -> None:
    """Check that each quoted cell ends with a quote, followed by a delimiter or the end of the row.

    Parameters
    ----------
    path : Path
        The file, for messages.
    file : binary file
        The file, at its beginning.
    encoding, delimiter : str
        How to read it.

    Raises
    ------
    ValueError
        If a quote is not closed, or closed too early; the message names the line.
    """
    if not _contains_quote(file):
        return
    file.seek(0)
    text = io.TextIOWrapper(file, encoding=encoding, errors="replace", newline="")
    rows = csv.reader(text, delimiter=delimiter, strict=True)
    begin = 1
    limit = csv.field_size_limit(sys.maxsize)
    try:
        for _ in rows:
            begin = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"{path}, row that begins in line {begin}: a quoted cell does not end correctly ({error}). "
            'Close the quote; a quote inside a quoted cell is written twice ("").'
        ) from error
    finally:
        csv.field_size_limit(limit)
        text.detach()


def _contains_quote(file: IO[bytes]) -> bool:
    while block := file.read(_BLOCK):
        if b'"' in block:
            return True
    return False
