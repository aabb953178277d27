import json
import re
import subprocess

import pandas as pd
import pytest

from command import COMMAND, confdiff
from confdiff.labelling import open_study
from labelling.judges.server import KEY, JudgeServer, serving

VALUES = [0.1, 0.9, 0.4, 0.6, 0.3, 0.75]


@pytest.fixture
def folder(tmp_path):
    rows = [f"item-{k},value {value:.6f},{value}" for k, value in enumerate(VALUES)]
    (tmp_path / "items.csv").write_text("\n".join(["id,text,x", *rows]) + "\n")
    return tmp_path


@pytest.fixture
def study(folder):
    run(folder, "label", "new", "s.db", "--items", "items.csv", "--question", "Which is larger?", "--show", "text")
    return folder / "s.db"


def run(folder, *arguments, status=0, **variables):
    result = confdiff(*arguments, cwd=folder, **variables)
    assert result.returncode == status, result.stderr
    return result.stdout if status == 0 else result.stderr


def test_a_judge_and_people_in_one_study(folder, study):
    server = JudgeServer(side_bias=0.3)
    server.replies = [(429, {}, {"Retry-After": "0"}), (200, "{", {}), (429, {}, {"Retry-After": "0"})]
    with serving(server) as address:
        text = run(folder, "label", "judge", "s.db", "--llm", "small", "--base-url", address)
        again = run(folder, "label", "judge", "s.db", "--llm", "small", "--base-url", address)
    asked, pairs, questions = re.match(r"small: ((\d+) pairs in both orders, (\d+) questions)", text).groups()
    assert int(questions) == 2 * int(pairs)
    assert re.search(rf"small: to ask: {questions} requests, about [\d,]+ tokens", text)
    assert f"small: {questions} answers, to {int(questions) + 3} requests" in text
    assert "small: too many requests (429): 2\nsmall: malformed replies: 1\n" in text
    assert f"small: {asked}, {questions} answered before" in again
    assert "small: to ask: 0 requests" in again
    status = json.loads(run(folder, "label", "status", "s.db", "--json"))
    (judge,) = status["judges"]
    assert (judge["name"], judge["model"], judge["outcomes"]["answer"]) == ("small", "small", int(questions))
    assert status["annotators"][0]["minutes_left"] is None
    table = run(folder, "label", "status", "s.db")
    assert f"s.db is open: {questions} answers, {questions} of them by LLMs, to " in table
    assert re.search(rf"small\W+small\W+{judge['requests']}\W+{judge['tokens']:,}\W+{judge['faults']}", table)
    run(folder, "label", "export", "s.db", "-o", "out", "--all")
    replies = pd.read_csv(folder / "out" / "replies.csv")
    assert replies["outcome"].value_counts().to_dict() == judge["outcomes"]
    assert replies["reply"][1] == "{"
    ranked = run(folder, "rank", "s.db")
    assert re.search(r"side bias towards the item shown second: \+0\.[23]", ranked)


def test_a_dry_run_sends_and_stores_nothing(folder, study):
    text = run(folder, "label", "judge", "s.db", "--llm", "small", "--dry-run", "--pairs", "2", "--max-tokens", "9999")
    assert "small: 2 pairs in both orders, 4 questions" in text
    assert "small: budget: 0 of 9,999 tokens used" in text
    assert "--- system ---\nYou compare two items" in text
    assert re.search(r"First item \(left\):\n<first \w+>\nvalue 0", text)
    assert json.loads(run(folder, "label", "status", "s.db", "--json"))["annotators"] == []


def test_the_template_can_be_edited(folder, study):
    assert "template: my.txt" in run(folder, "label", "judge", "s.db", "--write-template", "my.txt")
    template = (folder / "my.txt").read_text()
    error = run(folder, "label", "judge", "s.db", "--write-template", "my.txt", status=2)
    assert "my.txt already exists" in error
    (folder / "my.txt").write_text(template.replace("Scale:", "Points, from 1 to 7:"))
    text = run(folder, "label", "judge", "s.db", "--llm", "small", "--dry-run", "--template", "my.txt")
    assert "Points, from 1 to 7:" in text
    (folder / "my.txt").write_text(template.replace("{{scale}}", ""))
    error = run(folder, "label", "judge", "s.db", "--llm", "small", "--template", "my.txt", status=2)
    assert "the template my.txt lacks {{scale}} (the points of the scale, one per line)" in error


def test_judges_of_a_file_are_asked_and_flags_win(folder, study):
    with serving(JudgeServer()) as address:
        judge = f'[[judges]]\nmodel = "small"\nbase_url = "{address}"\npairs = 3\n'
        (folder / "confdiff.toml").write_text(f'{judge}\n{judge}name = "other"\nmax_requests = 2\n')
        text = run(folder, "label", "judge", "s.db")
        assert "small: 6 answers, to 6 requests" in text
        assert "other: 2 answers, to 2 requests" in text
        assert "other: stopped, because the budget of 2 requests is used up (--max-requests 2)" in text
        assert "other: 4 questions without an answer; the same command asks them again" in text
        text = run(folder, "label", "judge", "s.db", "--llm", "other", "--max-requests", "9")
        assert "other: 4 answers, to 4 requests" in text
        assert "small" not in text
        error = run(folder, "label", "judge", "s.db", "--name", "x", status=2)
        assert "--name names one judge, and confdiff.toml lists 2" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a model with --llm NAME, or list judges in confdiff.toml"),
        (["--llm", "small"], "the environment variable OPENAI_API_KEY with the API key is not set"),
        (["--llm", "small", "--key", "NO_KEY"], "NO_KEY with the API key is not set. Set it, or name another one with"),
        (["--llm", "small", "--base-url", "host"], "--base-url must be an address such as http://127.0.0.1:8000/v1"),
        (["--llm", "small", "--template", "missing.txt"], "missing.txt"),
        (["--llm", "small", "--timeout", "0"], "--timeout must be a finite number above 0"),
    ],
)
def test_mistakes_get_one_line(folder, study, arguments, message):
    error = run(folder, "label", "judge", "s.db", *arguments, status=2, OPENAI_API_KEY="")
    assert message in error
    assert error.strip().count("\n") == 0


def test_an_endpoint_that_refuses_the_key_gets_one_line(folder, study):
    server = JudgeServer()
    server.replies = [(401, {"error": {"message": f"Incorrect API key provided: {KEY}\x1b[31m."}}, {})]
    with serving(server) as address:
        error = run(
            folder, "label", "judge", "s.db", "--llm", "s", "--base-url", address, "--key", "K", status=2, K=KEY
        )
    assert "refuses the API key; pass --key VARIABLE to name its environment variable (status 401)" in error
    assert "It replied: Incorrect API key provided: [key]\\x1b[31m. 30 questions of s remain." in error


def test_the_key_is_printed_and_stored_nowhere(folder, study):
    """The real command, with -v, against an endpoint that repeats the key in errors."""
    server = JudgeServer()
    server.replies = [(500, {"error": {"message": f"{KEY} failed"}}, {})] * 4
    with serving(server) as address:
        command = [COMMAND, "label", "judge", "s.db", "--llm", "s", "--base-url", address, "--key", "MY_KEY", "-v"]
        environment = {"MY_KEY": KEY, "PATH": "/usr/bin", "OMP_NUM_THREADS": "1"}
        result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 2, result.stderr
    assert "[key] failed" in result.stderr
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in result.stdout + result.stderr
    assert all(KEY.encode() not in path.read_bytes() for path in folder.iterdir())


def test_items_are_judged_without_a_study(folder):
    command = ["judge", "items.csv", "--question", "Which is larger?", "--llm", "small", "--show", "text"]
    with serving(JudgeServer(side_bias=0.2)) as address:
        command += ["--base-url", address, "--pairs-per-item", "4"]
        limited = run(folder, *command, "--max-requests", "5")
        assert "small: stopped, because the budget of 5 requests is used up" in limited
        assert len(pd.read_csv(folder / "pairs.csv")) == 5
        error = run(folder, *command, status=2)
        assert "pairs.csv already exists. Choose another name, or pass --overwrite" in error
        text = run(folder, *command, "--overwrite")
    assert "24 questions, 5 answered before" in text
    assert "pairs: pairs.csv\nstudy: pairs.study" in text
    pairs = pd.read_csv(folder / "pairs.csv")
    assert len(pairs) == 24
    assert set(pairs.groupby(["left", "right"]).size()) == {2}
    assert "24 pairs (24 usable) of 6 items" in run(folder, "check", "items.csv", "pairs.csv")
    command[3] = "Which is nicer?"
    error = run(folder, *command, "--overwrite", status=2)
    assert "pairs.study is about other items, or asks another question or has another plan" in error
    assert len(open_study(folder / "pairs.study").answers()["left"]) == 24


def test_a_dry_run_without_a_study_leaves_nothing(folder):
    text = run(folder, "judge", "items.csv", "--question", "Which is larger?", "--llm", "small", "--dry-run")
    assert "small: 15 pairs in both orders, 30 questions" in text
    assert [path.name for path in folder.iterdir()] == ["items.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--key", "NO_KEY"], "the environment variable NO_KEY with the API key is not set"),
        (["--key", "sk-5eCrEt"], "--key must be the name of an environment variable, such as MY_KEY, not the API key"),
        (["--key", "gsk_5eCrEt"], "--key VARIABLE must name the environment variable that has the API key"),
        (["--instructions", "latin.txt"], "--instructions must be a text file in UTF-8; latin.txt is not"),
    ],
)
def test_mistakes_leave_no_study(folder, arguments, message):
    (folder / "latin.txt").write_bytes(b"\xe4")
    before = sorted(folder.iterdir())
    error = run(folder, "judge", "items.csv", "--question", "Which is larger?", "--llm", "small", *arguments, status=2)
    assert message in error
    assert "5eCrEt" not in error
    assert sorted(folder.iterdir()) == before


def test_a_question_is_needed(folder):
    error = run(folder, "judge", "items.csv", "--llm", "small", status=2)
    assert "--question must be what the annotators are asked" in error
