"""Manifests of model folders."""

import json

import pytest

from confdiff.tabular.model.manifest import FORMAT, MANIFEST, read_manifest, write_manifest


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "weights").write_bytes(b"123")
    write_manifest(tmp_path, {"about": {"prior": 0.3}})
    return tmp_path


def test_contents_come_back(folder):
    manifest = read_manifest(folder)
    assert manifest["about"] == {"prior": 0.3}
    assert manifest["format"] == FORMAT
    assert list(manifest["files"]) == ["weights"]


def test_hidden_files_do_not_matter(folder):
    (folder / ".DS_Store").touch()
    assert read_manifest(folder)["about"] == {"prior": 0.3}


def test_a_changed_number_breaks_the_seal(folder):
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["about"]["prior"] = 0.4
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match="was altered after it was written"):
        read_manifest(folder)


def test_an_older_format_asks_for_another_fit(folder):
    (folder / MANIFEST).write_text(json.dumps({"format": 1, "seal": ""}))
    with pytest.raises(ValueError, match=r"has format 1; confdiff .* reads format 4\. Fit the model again\."):
        read_manifest(folder)
