import os
import re
import signal
import time
from contextlib import contextmanager

import httpx
import pytest

from command import confdiff, start
from confdiff.labelling import open_study
from confdiff.labelling.app.serving import listen
from labelling.sites import text_study


@pytest.fixture
def study(tmp_path):
    text_study(tmp_path).close_connections()
    return tmp_path / "texts.db"


@contextmanager
def served(tmp_path, *arguments, lines, number=signal.SIGINT):
    """Yield the lines that the server prints at its start, and end it by a signal."""
    outputs = (tmp_path / "stdout", tmp_path / "stderr")
    child = start("label", "serve", *arguments, outputs=outputs)
    try:
        ends_at = time.monotonic() + 60
        while not outputs[0].exists() or len(outputs[0].read_text().splitlines()) < lines:
            assert time.monotonic() < ends_at, outputs[1].read_text()
            time.sleep(0.05)
        yield outputs[0].read_text().splitlines()
    finally:
        os.kill(child, number)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, outputs[1].read_text()
    assert "the server has ended" in outputs[1].read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_link_of_the_owner_is_printed_and_works(study, tmp_path, number):
    with served(tmp_path, study, "--port", "0", lines=2, number=number) as (name, owner):
        assert name == "study: texts"
        link = re.fullmatch(r"owner: (http://127\.0\.0\.1:\d+/owner/join/[\w-]{32})", owner)[1]
        assert httpx.get(link).status_code == 303


def test_new_links_replace_the_old_ones(study, tmp_path):
    opened = open_study(study)
    old = opened.invite("Ann").token
    opened.close_connections()
    with served(tmp_path, study, "--port", "0", "--new-links", lines=3) as lines:
        link = lines[2].removeprefix("Ann: ")
        assert httpx.get(link).status_code == 303
        assert httpx.get(link.rsplit("/", 1)[0] + f"/{old}").status_code == 403


def test_several_studies_have_a_folder_each(study, tmp_path):
    text_study(tmp_path, name="more", title="More texts").close_connections()
    arguments = (study, tmp_path / "more.db", "--port", "0", "--url", "https://example.org/label/")
    with served(tmp_path, *arguments, lines=4) as lines:
        assert [line.rsplit("/", 1)[0] for line in lines[1::2]] == [
            "owner: https://example.org/label/s/texts/owner/join",
            "owner: https://example.org/label/s/more/owner/join",
        ]
        assert lines[2] == "study: More texts"


def test_other_machines_are_served_with_links_only_and_a_warning(tmp_path):
    text_study(tmp_path, trained=False, name="nobody").close_connections()
    result = confdiff("label", "serve", tmp_path / "nobody.db", "--host", "0.0.0.0")
    assert result.returncode == 2
    assert result.stderr.startswith("error: --host 0.0.0.0 lets other machines reach the study nobody")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("behind_tls", [False, True])
def test_serving_others_without_tls_warns(study, tmp_path, behind_tls):
    flags = ["--behind-tls"] if behind_tls else []
    with served(tmp_path, study, "--host", "0.0.0.0", "--port", "0", *flags, lines=2) as lines:
        assert lines[1].startswith("owner: https://" if behind_tls else "owner: http://")
    assert ("warning: without TLS" in (tmp_path / "stderr").read_text()) != behind_tls


def test_a_used_port_is_one_line(study):
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        result = confdiff("label", "serve", study, "--port", port)
    assert result.returncode == 2
    assert f"--port {port}" in result.stderr
    assert "Choose another one" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("name", "message"), [("texts.db", "same name"), ("nothing.db", "does not exist")])
def test_studies_that_cannot_be_served_together(study, tmp_path, name, message):
    result = confdiff("label", "serve", study, tmp_path / name)
    assert (result.returncode, message in result.stderr, "Traceback" in result.stderr) == (2, True, False)
