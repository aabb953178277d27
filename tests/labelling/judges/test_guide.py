"""The commands of docs/llm-judges.md run in their order, with a simulated judge behind their endpoints."""

import re
import shlex

from command import confdiff
from labelling.judges.server import KEY, JudgeServer, serving
from labelling.proxies import DEPLOY
from labelling.test_guide import write_tables

GUIDE = (DEPLOY.parent / "docs" / "llm-judges.md").read_text()


def commands():
    """Return the commands of the guide in their order, as words."""
    return [shlex.split(line)[1:] for line in re.findall(r"^    (confdiff .+)$", GUIDE, re.MULTILINE)]


def at(address, words):
    """Return a command with the address of another endpoint."""
    if "judge" not in words:
        return words
    if "--base-url" in words:
        place = words.index("--base-url")
        words = [*words[:place], *words[place + 2 :]]
    return [*words, "--base-url", address]


def test_the_commands_of_the_guide_run(tmp_path):
    write_tables(tmp_path)
    study = ["--items", "answers.csv", "--judges", "2", "--question", "Which answer is better?"]
    assert confdiff("label", "new", "sky.db", *study, cwd=tmp_path).returncode == 0
    server = JudgeServer()
    server.number = lambda first, second: 2 + 3 * (len(second) > len(first))
    ran = []
    with serving(server) as address:
        for words in commands():
            is_of_example = "sky.db" in words or words[0] == "judge"
            if not is_of_example or words[0] == "fit":  # which needs more answers than this study has
                continue
            result = confdiff(*at(address, words), cwd=tmp_path, MY_KEY=KEY)
            assert result.returncode == 0, (words, result.stderr)
            ran.append(tuple(words[:2]))
    assert {("label", "judge"), ("judge", "answers.csv"), ("check", "sky.db"), ("rank", "sky.db")} <= set(ran)
    assert (tmp_path / "pairs.csv").is_file()
    assert (tmp_path / "judge.txt").is_file()


def test_the_numbers_of_the_first_example_are_right(tmp_path):
    write_tables(tmp_path)
    study = ["--items", "answers.csv", "--judges", "2", "--question", "Which answer is better?"]
    assert confdiff("label", "new", "sky.db", *study, cwd=tmp_path).returncode == 0
    result = confdiff("label", "judge", "sky.db", "--llm", "gpt-4o-mini", "--dry-run", cwd=tmp_path)
    for line in re.findall(r"^    (gpt-4o-mini: .+)$", GUIDE, re.MULTILINE):
        assert line in result.stdout
