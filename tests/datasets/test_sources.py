"""Finding, checking and fetching files, against a web server on this machine."""

import bz2
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from confdiff.datasets import DATASETS
from confdiff.datasets.downloads import download
from confdiff.datasets.files import data_roots, find_files, obtain
from confdiff.datasets.sources import Form, SourceFile, md5_of_table, plain_table

CONTENTS = b"0,1,2\n3,4,5\n" * 1000
MD5 = hashlib.md5(CONTENTS).hexdigest()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def web(tmp_path):
    """A folder that is served, and its address."""
    folder = tmp_path / "web"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def source(url="", name="table", md5=MD5, **more):
    return SourceFile(name, ("ours", "theirs/raw", ""), md5, url, **more)


def form(*sources):
    return Form(sources, lambda files: [source.read(path) for source, path in files])


def put(path, contents=CONTENTS):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contents)
    return path


PACKED = {"": lambda data: data, ".gz": gzip.compress, ".bz2": bz2.compress}


@pytest.mark.parametrize("end", PACKED)
@pytest.mark.parametrize("place", ["ours", "theirs/raw", ""])
def test_a_file_is_found_and_unpacked_in_every_layout(tmp_path, place, end):
    path = put(tmp_path / place / f"table{end}", PACKED[end](CONTENTS))
    assert source().locate([tmp_path]) == path
    assert source().read(path) == CONTENTS


def test_the_folder_given_comes_before_the_variable_and_that_before_the_cache(tmp_path, monkeypatch):
    given, variable, cache = (tmp_path / name for name in ("given", "variable", "cache"))
    monkeypatch.setenv("CONFDIFF_CACHE", str(cache))
    monkeypatch.setenv("CONFDIFF_DATA", str(variable))
    given.mkdir()
    variable.mkdir()
    for root in (cache / "datasets", variable, given):
        path = put(root / "ours" / "table")
        assert find_files([form(source())], data_roots(given))[0][1] == path
    monkeypatch.delenv("CONFDIFF_DATA")
    assert data_roots() == [cache / "datasets"]


def test_a_form_that_is_whole_in_an_earlier_folder_wins(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    put(first / "ours" / "other")
    put(second / "ours" / "table")
    forms = [form(source()), form(source(name="other"))]
    assert find_files(forms, [first, second])[0][1] == first / "ours" / "other"


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("table", CONTENTS[:-7]),
        ("table", CONTENTS.replace(b"5", b"6", 1)),
        ("table.gz", gzip.compress(CONTENTS)[:-100]),
        ("table.gz", b"\x1f\x8b" + b"nonsense" * 20),
        ("table.gz", b"<html>no such page</html>"),
        ("table.bz2", bz2.compress(CONTENTS)[:-50]),
        ("table.bz2", b""),
    ],
)
def test_a_truncated_or_altered_file_is_named(tmp_path, name, contents):
    path = put(tmp_path / "ours" / name, contents)
    with pytest.raises(ValueError, match=f"{name} is damaged: .*truncated, altered or another file") as caught:
        source().read(path)
    assert str(path) in str(caught.value)


def test_tables_are_compared_by_their_entries(tmp_path):
    copy = b" 0, 1, 2\r\n 3, 4, 5\r\n" * 1000
    table = source(md5=md5_of_table(CONTENTS), checksum=md5_of_table)
    assert table.read(put(tmp_path / "table", copy)) == copy
    assert plain_table(copy) == plain_table(CONTENTS) == CONTENTS.strip()
    for other in (copy.replace(b"4", b"7", 1), copy.replace(b"\r\n", b",", 1), copy.replace(b"1,", b"1\n", 1)):
        with pytest.raises(ValueError, match="altered"):
            table.read(put(tmp_path / "table", other))


def test_a_namesake_in_a_folder_that_says_nothing_is_passed_over(tmp_path):
    """The files of MNIST and Fashion-MNIST have the same names, and `raw` tells neither."""
    other = b"another data set"
    mine = source(namesakes=frozenset({hashlib.md5(other).hexdigest()}))
    put(tmp_path / "first" / "table", other)
    path = put(tmp_path / "second" / "ours" / "table")
    assert mine.locate([tmp_path / "first", tmp_path / "second"]) == path
    broken = put(tmp_path / "first" / "table", CONTENTS[:-3])
    assert mine.locate([tmp_path / "first", tmp_path / "second"]) == broken  # not another's: it will be named


@pytest.mark.parametrize("end", PACKED)
def test_what_is_missing_is_downloaded_checked_and_kept_unpacked(web, tmp_path, monkeypatch, end, capfd):
    folder, address = web
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CONFDIFF_DATA", raising=False)
    put(folder / f"table{end}", PACKED[end](CONTENTS))
    chosen, files = obtain("example", [form(source(f"{address}/table{end}"))])
    assert chosen.read(files) == [CONTENTS]
    kept = tmp_path / "cache" / "datasets" / "ours" / "table"
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == [kept]
    assert f"table{end}" in capfd.readouterr().err  # the progress bar
    (folder / f"table{end}").unlink()
    assert obtain("example", [form(source(f"{address}/table{end}"))])[1][0][1] == kept  # not fetched again


def archive(kind):
    data = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(data, "w") as zipped:
            zipped.writestr("release/table", CONTENTS)
            zipped.writestr("release/other", b"other")
    else:
        with tarfile.open(fileobj=data, mode="w:gz") as tarred:
            for name, contents in (("release/table", CONTENTS), ("release/other", b"other")):
                entry = tarfile.TarInfo(name)
                entry.size = len(contents)
                tarred.addfile(entry, io.BytesIO(contents))
    return data.getvalue()


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_files_are_taken_out_of_archives(web, tmp_path, kind):
    folder, address = web
    url = f"{address}/release.{kind}"
    put(folder / f"release.{kind}", archive(kind))
    other = hashlib.md5(b"other").hexdigest()
    wanted = [source(url, member="/table"), source(url, "other", other, member="/other")]
    download(wanted, tmp_path / "cache")
    assert (tmp_path / "cache" / "ours" / "table").read_bytes() == CONTENTS
    assert (tmp_path / "cache" / "ours" / "other").read_bytes() == b"other"
    with pytest.raises(ValueError, match="delivered is truncated or not the expected one"):
        download([source(url, "third", member="/third")], tmp_path / "cache")
    with pytest.raises(ValueError, match="delivered is truncated or not the expected one"):
        download([source(url, md5="0" * 32, member="/table")], tmp_path / "cache")


def test_a_bad_download_leaves_nothing_behind(web, tmp_path):
    folder, address = web
    put(folder / "table", CONTENTS[:-9])
    with pytest.raises(ValueError, match=rf"the file that {address}/table delivered is truncated or not the expected"):
        download([source(f"{address}/table")], tmp_path / "cache")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []
    assert list((tmp_path / "cache").glob(".fetching*")) == []


def test_what_a_killed_process_left_behind_is_removed_a_day_later(web, tmp_path):
    folder, address = web
    put(folder / "table")
    old, new = put(tmp_path / ".fetching-old" / "part"), put(tmp_path / ".fetching-new" / "part")
    os.utime(old.parent, (0, 0))
    download([source(f"{address}/table")], tmp_path)
    assert not old.parent.exists()
    assert new.exists()


def test_absent_and_offline_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CONFDIFF_DATA", str(tmp_path))
    missing = source("http://127.0.0.1:9/home/table.gz")
    with pytest.raises(FileNotFoundError) as caught:
        obtain("example", [form(missing, source("http://127.0.0.1:9/home/more.gz", "more"))])
    message = str(caught.value)
    assert message.startswith("example is missing and could not be downloaded: http://127.0.0.1:9/home/table.gz")
    assert "missing:  table, more\n" in message
    assert "found at: http://127.0.0.1:9/home\n" in message
    assert f"into: {tmp_path / 'cache' / 'datasets' / 'ours'}\n" in message
    assert f"or into ours/ of the folder that CONFDIFF_DATA names (now {tmp_path})" in message
    assert "incomplete" not in message


def test_a_page_that_is_gone_says_so(web, tmp_path, monkeypatch):
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CONFDIFF_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="404"):
        obtain("example", [form(source(f"{web[1]}/table"))])


def test_parts_that_are_not_needed_may_be_left_out_if_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CONFDIFF_DATA", str(tmp_path))
    put(tmp_path / "ours" / "table")
    parts = [form(source("http://127.0.0.1:9/x"), source("http://127.0.0.1:9/y", "more", needed=False))]
    with pytest.raises(FileNotFoundError, match=r"is incomplete(.|\n)*pass incomplete=True"):
        obtain("example", parts)
    _, files = obtain("example", parts, incomplete=True)
    assert [path.name for _, path in files] == ["table"]
    put(tmp_path / "cache" / "datasets" / "ours" / "more")
    _, files = obtain("example", parts, incomplete=True)
    assert [path.name for _, path in files] == ["table", "more"]  # nothing is left out that is here


def test_a_folder_that_is_not_there_is_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"folder must be a folder .* /no/such/folder does not exist"):
        data_roots("/no/such/folder")
    monkeypatch.setenv("CONFDIFF_DATA", "/no/such/place")
    with pytest.raises(ValueError, match=r"CONFDIFF_DATA must be a folder .* /no/such/place does not exist"):
        data_roots()
    monkeypatch.setenv("CONFDIFF_DATA", "~/data")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "data").mkdir()
    assert data_roots()[0] == tmp_path / "data"


FETCH = """
import sys
from pathlib import Path
from confdiff.datasets import DATASETS
from confdiff.datasets.downloads import download
from confdiff.datasets.sources import SourceFile
url, md5, cache = sys.argv[1:]
download([SourceFile("table", ("ours",), md5, url)], Path(cache))
print(len((Path(cache) / "ours" / "table").read_bytes()))
"""


def test_processes_that_fetch_at_once_do_no_harm(web, tmp_path):
    folder, address = web
    contents = CONTENTS * 500
    put(folder / "table.gz", gzip.compress(contents))
    command = [
        sys.executable,
        "-c",
        FETCH,
        f"{address}/table.gz",
        hashlib.md5(contents).hexdigest(),
        tmp_path / "cache",
    ]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        said, error = process.communicate(timeout=120)
        assert process.returncode == 0, error.decode()
        assert int(said) == len(contents)
    assert [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()] == ["table"]


def test_files_are_downloaded_over_https_only(tmp_path):
    """Every address in the table is encrypted, its files have checks, and another address is refused."""
    sources = [source for entry in DATASETS.values() for form in entry.forms for source in form.sources if source.url]
    assert {source.url.split(":")[0] for source in sources} == {"https"}
    with pytest.raises(ValueError, match=r"over https only; got http://example\.org/table"):
        download([source("http://example.org/table")], tmp_path)
