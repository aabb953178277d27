"""Cells that a spreadsheet program would run as formulas: escape them in files of text, and undo that.

A program that opens a CSV file takes a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for
a formula, which may call other programs. An apostrophe before it makes it text. Numbers such as -7 or +1.5 are not
escaped. Reading removes the apostrophe, so that a table is read as it was before it was written.
"""

import re
from collections.abc import Callable
from typing import Any

_FORMULA = r"(?s)^'*([=+@-].|[\t\r])"  # a sign alone is not a formula
_ESCAPED = r"(?s)^'+([=+@-].|[\t\r])"
_NUMBER = r"'?[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"


def escape_text(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet program would run it as a formula.

    >>> escape_text("=1+2"), escape_text("-7.5"), escape_text("a=b")
    ("'=1+2", '-7.5', 'a=b')
    """
    is_formula = re.search(_FORMULA, text) and not re.fullmatch(_NUMBER, text)
    return f"'{text}" if is_formula else text


def unescape_text(text: str) -> str:
    """Return the text that :func:`escape_text` escaped.

    >>> unescape_text("'=1+2"), unescape_text("'a'")
    ('=1+2', "'a'")
    """
    is_escaped = re.search(_ESCAPED, text) and not re.fullmatch(_NUMBER, text)
    return text[1:] if is_escaped else text


def escape_table(table: Any) -> Any:
    """Return a pyarrow table or batch with its texts escaped, those in the header too."""
    from pyarrow import compute

    def escape(column: Any) -> Any:
        return compute.utf8_replace_slice(column, 0, 0, "'")

    return _with_texts(table, _FORMULA, escape).rename_columns([escape_text(name) for name in table.schema.names])


def unescape_table(table: Any) -> Any:
    """Return a table or batch as it was before :func:`escape_table`."""
    from pyarrow import compute

    def unescape(column: Any) -> Any:
        return compute.utf8_slice_codeunits(column, 1)

    return _with_texts(table, _ESCAPED, unescape).rename_columns([unescape_text(name) for name in table.schema.names])


def _with_texts(table: Any, pattern: str, change: Callable[[Any], Any]) -> Any:
    """Return a table whose texts that match a pattern and are not numbers are changed."""
    from pyarrow import compute, types

    for index, field in enumerate(table.schema):
        if types.is_string(field.type) or types.is_large_string(field.type):
            column = table.column(index)
            matches = compute.match_substring_regex(column, pattern)
            if compute.any(matches).as_py():
                matches = compute.and_(matches, compute.invert(compute.match_substring_regex(column, f"^{_NUMBER}$")))
                table = table.set_column(index, field, compute.if_else(matches, change(column), column))
    return table
