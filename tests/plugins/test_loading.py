"""Plug-ins are loaded once, have a version, and fail with one line."""

import sys

import pytest

import confdiff
from confdiff.methods import METHODS
from confdiff.models import MODELS
from confdiff.plugins import (
    Plugin,
    load_installed_plugins,
    load_plugins,
    load_sent_plugins,
    loaded_plugins,
    plugin_of,
    versions_of,
)
from confdiff.plugins.registering import _owners
from plugged import NETWORK, method_file, plugged, unload_all, write


@pytest.fixture(autouse=True)
def _unloaded():
    yield
    unload_all()


def test_a_file_adds_to_the_tables_and_is_executed_once(tmp_path):
    path = method_file(tmp_path)
    (plugin,) = load_plugins(path)
    assert (plugin.name, plugin.version, plugin.source) == ("mine", "1.0", str(path))
    row = METHODS["my-squares"]
    assert load_plugins(path) == (plugin,)
    assert METHODS["my-squares"] is row
    assert versions_of([("method", "my-squares"), ("method", "confdiff-abs")]) == {"mine": "1.0"}
    assert plugin_of("method", "confdiff-abs") is None
    assert loaded_plugins() == (plugin,)


def test_a_file_without_a_version_has_that_of_its_text(tmp_path):
    text = NETWORK.replace('__version__ = "3"', "")
    (first,) = load_plugins(write(tmp_path, "net.py", text))
    (second,) = load_plugins(write(tmp_path, "net.py", text + "# changed\n"))
    assert len(first.version) == len(second.version) == 12
    assert first.version != second.version


def test_a_file_that_has_changed_replaces_its_former_version(tmp_path):
    load_plugins(method_file(tmp_path))
    (plugin,) = load_plugins(method_file(tmp_path, name="my-cubes", version="2.0"))
    assert loaded_plugins() == (plugin,)
    assert "my-squares" not in METHODS
    assert versions_of([("method", "my-cubes")]) == {"mine": "2.0"}


RAISING = "import confdiff\nconfdiff.register_model('tiny', lambda d, k: None)\n{}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 / 0", r"broken.py, line 3, raised ZeroDivisionError: division by zero$"),
        ("def (", r"broken.py, line 3, raised SyntaxError: "),
        ("import not_installed", r"broken.py, line 3, raised ModuleNotFoundError: No module named 'not_installed'"),
        ("raise SystemExit(3)", r"broken.py, line 3, raised SystemExit: 3"),
        ("__version__ = 1", r"must have a version such as __version__ = '1.0'; got 1"),
        (
            "confdiff.register_model('mlp', lambda d, k: None)",
            r"line 3: the model 'mlp' exists already: it is built in",
        ),
        (
            "confdiff.register_model('my net', lambda d, k: None)",
            r"line 3: the name of a model must be lower-case letters.*such as 'my-model'; got 'my net'",
        ),
    ],
)
def test_a_plugin_that_fails_is_named_and_leaves_nothing(tmp_path, text, message):
    with pytest.raises(ValueError, match=message) as raised:
        load_plugins(write(tmp_path, "broken.py", RAISING.format(text)))
    assert "\n" not in str(raised.value)
    assert "tiny" not in MODELS
    assert loaded_plugins() == ()
    assert not _owners


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("missing.py", r"the plug-in .*missing.py does not exist"),
        ("notes.txt", "a plug-in must be a Python file"),
        ("a b.py", "a plug-in must be a Python file, named with letters"),
        ("folder", "is a folder: pass a Python file, or install the folder as a package"),
        ("binary.py", "binary.py is not a Python program"),
        ("empty.py", "empty.py registers nothing: it must call confdiff.register_method"),
    ],
)
def test_sources_that_are_no_plugin(tmp_path, source, message):
    for name in ("notes.txt", "a b.py", "empty.py"):
        (tmp_path / name).write_text("")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "folder").mkdir()
    with pytest.raises((ValueError, OSError), match=message):
        load_plugins(tmp_path / source)


def test_a_package_that_is_missing_is_named():
    with pytest.raises(FileNotFoundError, match="neither a Python file nor an installed package"):
        load_plugins("no_such_package")


def test_names_clash_between_plugins(tmp_path):
    load_plugins(method_file(tmp_path))
    with pytest.raises(
        ValueError, match=r"other.py, line \d+: the method 'my-squares' exists already: the plug-in .*mine"
    ):
        load_plugins(method_file(tmp_path, file="other.py", label="Others"))
    (tmp_path / "sub").mkdir()
    with pytest.raises(ValueError, match=r"two plug-ins are named 'mine': .*mine.py and .*sub/mine.py"):
        load_plugins(method_file(tmp_path / "sub", name="my-cubes", label="Cubes"))


def test_what_is_registered_outside_of_a_plugin_has_no_version():
    confdiff.register_model("tiny", lambda d, k: None)
    try:
        with pytest.raises(ValueError, match=r"the model 'tiny' was registered outside of a plug-in.*load_plugins"):
            plugin_of("model", "tiny")
    finally:
        del MODELS["tiny"]
        _owners.clear()


def package(folder, monkeypatch, *, text=NETWORK, name="tiny_package", entry=None, version="1.2"):
    """Install a package with a plug-in into a folder of the path."""
    write(folder, f"{name}/__init__.py", text)
    info = f"{name}-{version}.dist-info"
    write(folder, f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    write(folder, f"{info}/top_level.txt", name)
    if entry:
        write(folder, f"{info}/entry_points.txt", f"[confdiff.plugins]\n{entry} = {name}\n")
    monkeypatch.syspath_prepend(str(folder))


def test_a_package_has_the_version_that_it_states_or_was_installed_with(tmp_path, monkeypatch):
    package(tmp_path, monkeypatch)
    (plugin,) = load_plugins("tiny_package")
    assert (plugin.name, plugin.version, plugin.program) == ("tiny_package", "3", None)
    package(
        tmp_path, monkeypatch, name="other_package", text=NETWORK.replace('__version__ = "3"', "").replace("tiny", "t2")
    )
    (other,) = load_plugins("other_package")
    assert other.version == "1.2"


def test_a_package_without_a_version_is_refused(tmp_path, monkeypatch):
    write(tmp_path, "bare_package.py", NETWORK.replace('__version__ = "3"', ""))
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match="the plug-in bare_package has no version: define __version__"):
        load_plugins("bare_package")
    assert "tiny" not in MODELS


def test_a_package_that_was_imported_before_is_refused():
    with pytest.raises(ValueError, match="json was imported before it was loaded as a plug-in"):
        load_plugins("json")


def test_installed_packages_announce_themselves(tmp_path, monkeypatch):
    package(tmp_path / "good", monkeypatch, name="good_package", entry="good")
    package(tmp_path / "bad", monkeypatch, name="bad_package", entry="bad", text="1 / 0")
    (problem,) = load_installed_plugins()
    assert problem == (
        "the plug-in of the installed package bad_package was not loaded: "
        "the plug-in bad_package raised ZeroDivisionError: division by zero"
    )
    assert [str(plugin) for plugin in loaded_plugins()] == ["good_package 3"]
    assert load_plugins("good_package") == loaded_plugins()


def test_a_worker_executes_the_text_that_was_sent(tmp_path):
    path = method_file(tmp_path)
    with plugged(path) as (sent,):
        pass
    path.unlink()  # workers of other machines have no such file
    load_sent_plugins([sent])
    assert loaded_plugins() == (sent,)
    row = METHODS["my-squares"]
    load_sent_plugins([sent])
    assert METHODS["my-squares"] is row
    newer = Plugin(sent.name, "2.0", sent.module, sent.source, sent.program)
    load_sent_plugins([newer])
    assert loaded_plugins() == (newer,)
    assert METHODS["my-squares"] is not row


def test_a_worker_with_another_version_of_a_package_declines(tmp_path, monkeypatch):
    package(tmp_path, monkeypatch, name="sent_package")
    sent = Plugin("sent_package", "4", "sent_package", "sent_package")
    with pytest.raises(ValueError, match=r"all workers must have sent_package 4.*a worker has 3"):
        load_sent_plugins([sent])


def test_files_of_similar_names_have_modules_of_their_own(tmp_path):
    first, second = load_plugins(
        write(tmp_path, "my-net.py", NETWORK), write(tmp_path, "my_net.py", NETWORK.replace("tiny", "small"))
    )
    assert sys.modules[first.module].Tiny is not sys.modules[second.module].Tiny


def test_modules_of_files_do_not_hide_packages(tmp_path):
    (plugin,) = load_plugins(method_file(tmp_path, file="json.py"))
    import json

    assert json.loads("1") == 1
    assert plugin.module in sys.modules
