"""Recognise the address of a study, without the packages that studies need."""

import re
from os import PathLike
from pathlib import Path

Address = str | PathLike[str]
"""The path of a file of SQLite, or an address of PostgreSQL."""

_MAGIC = b"SQLite format 3\x00"


def is_postgresql(address: Address) -> bool:
    """Return whether an address is one of PostgreSQL.

    >>> is_postgresql("postgresql://me@host/data?study=jokes"), is_postgresql("jokes.db")
    (True, False)
    """
    return isinstance(address, str) and re.match(r"postgres(ql)?(\+\w+)?://", address) is not None


def is_study_address(address: Address) -> bool:
    """Return whether an address is that of a study: one of PostgreSQL, or a file of SQLite.

    >>> is_study_address("postgresql://me@host/data?study=jokes"), is_study_address("items.csv")
    (True, False)
    """
    if is_postgresql(address):
        return True
    try:
        with Path(address).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
