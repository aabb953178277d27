"""Cells that a spreadsheet program would run."""

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confdiff.io.table_formats.formulas import escape_table, escape_text, unescape_table, unescape_text

TEXTS = st.text(st.sampled_from("=+-@\t\r\n'17.e, ax"), max_size=8)


@given(TEXTS)
def test_texts_come_back_and_none_is_a_formula(text):
    escaped = escape_text(text)
    assert unescape_text(escaped) == text
    begins_like_formula = escaped[:1] in ("=", "+", "-", "@", "\t", "\r") and (len(escaped) > 1 or escaped.isspace())
    if escaped and begins_like_formula:
        float(escaped)  # only numbers may begin so


@given(st.lists(st.one_of(st.none(), TEXTS), min_size=1, max_size=5))
def test_columns_are_escaped_like_texts(texts):
    for kind in (pyarrow.string(), pyarrow.large_string()):
        table = pyarrow.table({"=name": pyarrow.array(texts, kind), "n": range(len(texts))})
        escaped = escape_table(table)
        expected = [None if text is None else escape_text(text) for text in texts]
        assert escaped.to_pydict() == {"'=name": expected, "n": list(range(len(texts)))}
        assert unescape_table(escaped).equals(table)


@pytest.mark.parametrize("text", ["-7", "+1.5", "-1e-5", ".5", "-", "+", "a=1", "", "'quoted'", "5-3", "'-7"])
def test_numbers_signs_and_other_texts_stay(text):
    assert escape_text(text) == text


@pytest.mark.parametrize("text", ["=1+2", "-x", "+1-800", "@SUM(A1)", "\t=1", "\r", "-1,5", "=\n1", "'=1", "- point"])
def test_formulas_are_escaped(text):
    assert escape_text(text) == "'" + text
