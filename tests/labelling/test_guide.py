"""The commands of docs/labelling.md run in their order, with simulated annotators."""

import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path

from command import confdiff
from confdiff.labelling import open_study
from confdiff.labelling.simulating import SimulatedJudge, simulate_answers
from labelling.proxies import DEPLOY, free_port, running

DOCS = DEPLOY.parent / "docs"
GUIDE = (DOCS / "labelling.md").read_text()
SERVER = Path(sys.executable).with_name("confdiff")


def blocks():
    """Return the indented blocks of the guide, each as its lines without the indentation."""
    found = re.findall(r"(?:^    .*\n)+", GUIDE, re.MULTILINE)
    return [[line[4:].split("  #")[0].rstrip() for line in block.splitlines()] for block in found]


def block_that_begins_with(start, number=0):
    return [lines for lines in blocks() if lines[0].startswith(start)][number]


def commands():
    """Return the commands of the guide in their order, as words."""
    lines = [line for block in blocks() for line in block]
    return [shlex.split(line)[1:] for line in lines if line.startswith("confdiff ")]


def is_for_the_demo(words):
    return "demo" in words or any("digits" in word for word in words)


def is_for_another_server(words):
    return any(word.startswith("postgresql:") for word in words)


@contextmanager
def served(study, folder):
    port = free_port()
    with running([SERVER, "label", "serve", study, "--port", port], [port], folder):
        yield f"http://127.0.0.1:{port}/"


def answer(study, folder):
    """Let simulated annotators answer all questions of a study through a real server."""
    opened = open_study(folder / study)
    tokens = [opened.invite(annotator.name).token for annotator in opened.annotators()]
    judges = {token: SimulatedJudge(f"judge {number}", noise=0.1) for number, token in enumerate(tokens)}
    with served(folder / study, folder) as address:
        count = simulate_answers(address, judges, lambda item: len(item["cells"][0]["text"]) / 100)
    opened.close_connections()
    return count


def write_tables(folder):
    (folder / "answers.csv").write_text("\n".join(block_that_begins_with("id,answer")) + "\n")
    expected = "\n".join(block_that_begins_with("left,right,difference")) + "\n"
    (folder / "examples.csv").write_text(expected)
    (folder / "gold.csv").write_text(expected)


def test_the_commands_of_the_guide_run(tmp_path):
    write_tables(tmp_path)
    ran = []
    for words in commands():
        if is_for_the_demo(words) or is_for_another_server(words):
            continue
        ran.append(words[:2])
        if words[:2] == ["label", "serve"]:
            assert answer(words[2], tmp_path) > 10
            continue
        result = confdiff(*words, cwd=tmp_path)
        asks_first = words[:2] == ["label", "delete"] and "--yes" not in words
        assert result.returncode == (2 if asks_first else 0), (words, result.stderr)
        assert not asks_first or "Pass --yes" in result.stderr
    assert {("label", "new"), ("label", "serve"), ("check", "sky.db"), ("label", "delete")} <= set(map(tuple, ran))
    assert (tmp_path / "judgements" / "pairs.csv").is_file()


def test_the_demo_of_the_guide_leads_to_a_model(tmp_path):
    (number,) = re.findall(r"# (\d+) answers in a folder", GUIDE)
    for words in filter(is_for_the_demo, commands()):
        if "--open" in words:
            continue
        result = confdiff(*words, cwd=tmp_path)
        assert result.returncode == 0, (words, result.stderr)
        if words[0] == "check":
            text = re.sub(r"[\s│]+", " ", result.stdout)
            assert "Annotator Ben" in text
            assert "uses less of the scale than others" in text
            assert "Annotator Dev" in text
            assert "favours the item shown second" in text
    study = open_study(tmp_path / "digits" / "digits.study")
    assert len(study.answers(superseded=True)["left"]) == int(number)
    study.close_connections()
    assert (tmp_path / "sizes.csv").read_text().count("\n") == 501


def test_the_command_for_postgresql_runs(postgresql_server, tmp_path):
    write_tables(tmp_path)
    (words,) = filter(is_for_another_server, commands())
    address = next(word for word in words if word.startswith("postgresql:"))
    own = f"{postgresql_server}&study=sky"
    assert address.endswith("?study=sky")
    result = confdiff(*[own if word == address else word for word in words], cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "6 items" in result.stdout
