"""Files that confdiff wrote are read strictly: regular files only, JSON without repeats, constants or deep nesting."""

import os

import pytest

from confdiff.io.documents import MAX_DEPTH, check_plain_name, inside, open_regular, parse_document, read_document


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000 + "]" * 100_000, "nested more than"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested more than"),
        ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested more than"),
        ('{"a": 1, "b": {"c": 1, "c": 1}}', "key 'c' twice"),
        ("[NaN]", "NaN is not a number"),
        ("[-Infinity]", "-Infinity is not a number"),
        ("9" * 5000, "4300"),
        ("{", "Expecting"),
        ("", "Expecting"),
        (b"\xff\xfe", "utf-8"),
    ],
)
def test_malformed_documents_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_document(text)


def test_documents_at_the_limits_are_read():
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse_document(deepest) is not None
    assert parse_document("[NaN, Infinity]", allow_nan=True)[1] == float("inf")
    assert parse_document(b'{"a": [1, "\\u00e9"]}') == {"a": [1, "é"]}


def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, error in (
        ("pipe", "pipe is not a file that confdiff saved"),
        ("loop", "loop"),
        ("absent", "absent does not exist"),
        ("null\0character", "does not exist"),
        ("", "is a folder"),
    ):
        with pytest.raises(OSError, match=error):
            open_regular(f"{tmp_path}/{name}")
    (tmp_path / "file").write_bytes(b"[1]")
    assert read_document(tmp_path / "file") == [1]


def test_a_document_of_any_size_is_not_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("confdiff.io.documents.MAX_JSON_BYTES", 10)
    (tmp_path / "long.json").write_text("[1, 2, 3, 4, 5]")
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_document(tmp_path / "long.json")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "/etc/shadow", "a/b", "a\\b", ".hidden", "a\nb", "a\0", 3, None]
)
def test_names_that_are_paths_are_refused(name):
    with pytest.raises(ValueError, match="plain file name"):
        check_plain_name("a file", name)


def test_links_may_not_leave_the_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "own").write_text("x")
    (folder / "alias").symlink_to("own")
    (folder / "shadow").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to("../other")
    assert inside(folder, "own") == folder / "own"
    assert inside(folder, "alias") == folder / "alias"
    for name in ("shadow", "up"):
        with pytest.raises(ValueError, match="leaves the folder"):
            inside(folder, name)
