"""The rule for outputs, on paths alone; tests/cli/test_outputs.py applies it to all commands."""

import os
import re
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from confdiff.display.figures import new_figure, save_figure
from confdiff.display.html import render
from confdiff.io.outputs import (
    check_new_file,
    check_new_folder,
    check_new_report,
    check_outside_models,
    is_marked,
    is_model_folder,
)

CHECKS = [check_new_file, check_new_folder]


def refused(message):
    return pytest.raises(OSError, match=message)


def a_model(folder):
    folder.mkdir(parents=True)
    (folder / "model.json").write_text('{\n "format": 2,\n "confdiff": "0.1.0",\n "files": {}}')
    for name in ("weights.safetensors", "card.html"):
        (folder / name).write_text("x")
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("check", CHECKS)
def test_a_new_name_is_accepted_and_nothing_is_left(tmp_path, check):
    check(tmp_path / "new" / "deep" / "output")
    assert names(tmp_path) == []


def test_an_existing_file_needs_overwrite(tmp_path):
    path = tmp_path / "output.csv"
    path.write_text("contents")
    with refused(r"output.csv already exists. Choose another name, or pass overwrite=True"):
        check_new_file(path)
    check_new_file(path, overwrite=True)
    assert path.read_text() == "contents"


def spellings(path):
    """Other names of a file: relative, through a folder and back, symbolic and hard links."""
    folder = path.parent
    (folder / "sub").mkdir()
    (folder / "sub" / "symbolic").symlink_to(path)
    (folder / "hard").hardlink_to(path)
    (folder / "linked").symlink_to(folder)
    yield path
    yield Path(os.path.relpath(path))
    yield folder / "sub" / ".." / path.name
    yield folder / "sub" / "symbolic"
    yield folder / "hard"
    yield folder / "linked" / path.name


def test_an_input_is_never_an_output(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("id\n1\n")
    for name in spellings(path):
        with refused("is an input of this run"):
            check_new_file(name, inputs=[tmp_path / "absent", path], overwrite=True)
        with refused("is an input of this run"):
            check_new_file(path, inputs=[name], overwrite=True)


@pytest.mark.parametrize("check", [check_new_file, check_new_folder])
def test_a_detour_through_a_missing_folder_reaches_the_same_place(tmp_path, check):
    target = tmp_path / "items.csv"
    target.write_text("mine")
    detour = tmp_path / "missing" / ".." / "items.csv"
    with pytest.raises(OSError, match=r"items\.csv (is an input|is a file)"):
        check(detour, inputs=[target], overwrite=True)
    with pytest.raises(OSError, match=r"items\.csv (already exists|is a file)"):
        check(detour)


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_is_written_into_a_folder_that_is_read(tmp_path, check):
    (tmp_path / "pairs").mkdir()
    (tmp_path / "link").symlink_to("pairs")
    for folder in ("pairs", "link", "pairs/deeper", "../" + tmp_path.name + "/pairs"):
        with refused("an input of this run"):
            check(tmp_path / folder / "output", inputs=[tmp_path / "pairs"])


@pytest.mark.parametrize("check", [*CHECKS, check_outside_models])
def test_nothing_is_written_into_a_model_folder(tmp_path, check):
    model = a_model(tmp_path / "m")
    (tmp_path / "link").symlink_to("m")
    for folder in (model, model / "deeper" / "still", tmp_path / "link"):
        with refused("lies in the model folder"):
            check(folder / "output")


@pytest.mark.parametrize("file", ["digits.jsonl", "trials/0123.json"])
def test_nothing_is_written_among_trials(tmp_path, file):
    (tmp_path / "trials").mkdir()
    (tmp_path / file).write_text('{"key":"0123","dataset":"digits"}\n')
    for folder in (tmp_path, tmp_path / "trials"):
        with refused("lies in a folder of finished trials"):
            check_new_file(folder / "pairs.jsonl")
    check_new_file(tmp_path / "report" / "results.md")


def test_a_model_is_replaced_with_overwrite_only(tmp_path):
    model = a_model(tmp_path / "m")
    assert is_model_folder(model)
    with refused("m already exists. Choose another name, or pass overwrite=True"):
        check_new_folder(model)
    check_new_folder(model, overwrite=True)
    (model / ".DS_Store").touch()
    check_new_folder(model, overwrite=True)


@pytest.mark.parametrize("foreign", ["items.csv", ".git", "notes/thesis.tex"])
def test_a_model_folder_with_something_else_is_never_replaced(tmp_path, foreign):
    model = a_model(tmp_path / "m")
    (model / foreign).parent.mkdir(exist_ok=True)
    (model / foreign).touch()
    name = re.escape(foreign.split("/")[0])
    with refused(f"already exists and holds '{name}', which does not belong to a model"):
        check_new_folder(model, overwrite=True)


@pytest.mark.parametrize("contents", [{"thesis.tex": ""}, {"model.json": '{"name": "of another tool"}'}])
def test_a_folder_that_is_no_model_is_never_replaced(tmp_path, contents):
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    with refused("is not a model folder of confdiff"):
        check_new_folder(tmp_path, overwrite=True)


def test_the_current_folder_is_never_replaced(tmp_path, monkeypatch):
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "empty" / "inner")
    for path in (".", "..", "../inner", "/", Path.home()):
        with refused("is the current folder or holds it|is not a model folder"):
            check_new_folder(Path(path), overwrite=True)


def test_devices_and_folders_are_not_files(tmp_path):
    for device in ("/dev/null", "/dev/full", "/dev/stdout"):
        with refused("is a device or a pipe, not a file|is an input|already exists"):
            check_new_file(Path(device))
    (tmp_path / "link.csv").symlink_to("/dev/null")
    with refused("is a device or a pipe"):
        check_new_file(tmp_path / "link.csv", overwrite=True)
    with refused("is a folder; a file of that name"):
        check_new_file(tmp_path, overwrite=True)


def test_pages_and_figures_of_confdiff_are_recognised(tmp_path):
    (tmp_path / "page.html").write_text(render("confdiff.display", "base.html"))
    figure, _ = new_figure(2, 2)
    for ending in ("png", "svg", "pdf"):
        save_figure(figure, tmp_path / f"figure.{ending}")
        figure.savefig(tmp_path / f"foreign.{ending}")
    (tmp_path / "foreign.html").write_text("<html>mine</html>")
    marked = [path.name for path in sorted(tmp_path.iterdir()) if is_marked(path)]
    assert marked == ["figure.pdf", "figure.png", "figure.svg", "page.html"]
    assert not is_marked(tmp_path)
    assert not is_marked(tmp_path / "absent")


def test_a_report_is_replaced_and_a_foreign_page_is_not(tmp_path):
    files = {"page": tmp_path / "check.html", "numbers": tmp_path / "check.json"}
    check_new_report(files)
    files["numbers"].write_text("{}")
    with refused("check.json already exists"):
        check_new_report(files)
    files["page"].write_text("<html>mine</html>")
    with refused("check.html already exists"):
        check_new_report(files)
    check_new_report(files, overwrite=True)
    files["page"].write_text(render("confdiff.display", "base.html"))
    check_new_report(files)


def long_name(folder):
    return folder / ("x" * 300 + ".csv")


def in_a_file(folder):
    (folder / "file").touch()
    return folder / "file" / "deeper" / "output.csv"


def in_proc(folder):
    return Path("/proc/confdiff/output.csv")


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("place", "message"),
    [
        (long_name, "cannot be written: File name too long"),
        (in_a_file, "cannot be written: .*file is a file"),
        (in_proc, "cannot be written: No such file or directory"),
    ],
)
def test_a_place_where_nothing_can_be_written_is_refused(tmp_path, check, place, message):
    with refused(message):
        check(place(tmp_path))


@contextmanager
def mounted(folder, options):
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("check", CHECKS)
def test_a_full_or_read_only_disk_is_refused(tmp_path, check):
    with mounted(tmp_path / "small", "size=64k") as folder:
        (folder / "filler").write_bytes(bytes(60_000))
        with refused("output.csv cannot be written: No space left on device"):
            check(folder / "new" / "output.csv")
        assert names(folder) == ["filler"]
    with mounted(tmp_path / "fixed", "ro") as folder, refused("cannot be written: Read-only file system"):
        check(folder / "output.csv")


@pytest.fixture
def closed():
    """A folder in which only root may write, below folders that all may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    yield folder
    folder.rmdir()


@pytest.mark.parametrize("check", CHECKS)
def test_a_folder_without_permission_is_refused(closed, check):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            with refused("output.csv cannot be written: Permission denied"):
                check(closed / "output.csv")
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
