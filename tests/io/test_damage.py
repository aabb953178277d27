"""Errors of decoding become one error that names the file; others pass."""

import json

import pytest
from safetensors import SafetensorError

from confdiff.io.damage import DamagedFile, damaged, reporting_damage


def nested():
    return nested()


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (lambda: {}["key"], "the field 'key' is missing"),
        (lambda: [][0], "index out of range"),
        (lambda: None.field, "no attribute 'field'"),
        (lambda: 1 + "a", "unsupported operand"),
        (lambda: json.loads("{"), "Expecting property name"),
        (lambda: b"\xff".decode("utf-8"), "codec can't decode"),
        (lambda: float(10**400), "too large"),
        (nested, "nested too deeply"),
        (lambda: bytearray(2**62), "more data than fits into memory"),
        (lambda: (_ for _ in ()).throw(SafetensorError("header")), "header"),
    ],
)
def test_errors_of_decoding_name_the_file_and_the_remedy(act, reason):
    with pytest.raises(DamagedFile) as caught, reporting_damage("some/file", "Delete it."):
        act()
    text = str(caught.value)
    assert text.startswith("some/file is damaged: ")
    assert reason in text
    assert text.endswith(". Delete it.")


def test_errors_of_the_file_system_and_of_inner_files_pass():
    with pytest.raises(PermissionError, match="no"), reporting_damage("outer", "Delete it."):
        raise PermissionError("no")
    with pytest.raises(DamagedFile, match="inner is damaged"), reporting_damage("outer", "Delete it."):
        raise damaged("inner", "empty", "Restore it.")


def test_a_long_reason_is_cut():
    assert len(str(damaged("file", "x\n" * 10_000, "Delete it."))) < 400
