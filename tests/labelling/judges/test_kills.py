"""SIGKILLs of the command that asks a judge: every answer is stored once, and the budget is kept.

A request that was sent when the command was killed may have been answered without anybody reading the reply. Such a
question is asked again. There are at most as many as requests at the same time, at each kill. All other questions are
answered exactly once.

``CONFDIFF_KILLS`` is the number of kills, ``CONFDIFF_JUDGE_PAIRS`` the number of pairs.
"""

import math
import os
import signal
from collections import Counter

import numpy as np

from command import confdiff, start
from confdiff.labelling import StudySettings, create_study, open_study
from confdiff.labelling.judges.records import judge_uses
from labelling.judges.server import KINDS, JudgeServer, serving, texts_of
from labelling.judges.test_asking import pairs_of, questions_of

KILLS = int(os.environ.get("CONFDIFF_KILLS", "3"))
PAIRS = int(os.environ.get("CONFDIFF_JUDGE_PAIRS", "40"))
CONCURRENCY = 8
FAULTS = {kind: 0.02 if kind != "slow" else 0.1 for kind in KINDS} | {"time-out": 0.01}


def study_with_pairs(address, count):
    """Return a study whose plan has at least this number of pairs."""
    n_items = max(30, math.ceil(count / 5))
    settings = StudySettings(question="Which is larger?", judges=1, pairs_per_item=10.5, repeats=0)
    return create_study(address, texts_of(np.linspace(0, 1, n_items)), settings)


def answered_questions(study):
    """Return (id shown first, id shown second) of every stored answer."""
    columns = (study.answers()[name].tolist() for name in ("left", "right", "shown_first"))
    return [(first, right if first == left else left) for left, right, first in zip(*columns, strict=True)]


def kill_after(command, server, answers):
    """Run a command, and kill it when the server has sent a number of correct replies."""
    child = start(*command)
    server.wait_for(answers)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_every_question_is_answered_once_after_kills(tmp_path, closing_engines, capsys):
    study = study_with_pairs(tmp_path / "values.db", PAIRS)
    texts = dict(zip(study.item_ids(), study.items()["text"].tolist(), strict=True))
    server = JudgeServer(FAULTS, side_bias=0.2, noise=0.1)
    budget = 4 * PAIRS
    with serving(server) as address:
        command = ["label", "judge", study.address, "--llm", "small", "--base-url", address, "--timeout", "5"]
        command += ["--pairs", PAIRS, "--concurrency", CONCURRENCY, "--max-requests", budget]
        kills = 0
        settled = {}
        for number in range(1, KILLS + 1):
            kills += kill_after(command, server, number * 2 * PAIRS // (KILLS + 1))
            done = [(texts[first], texts[second]) for first, second in answered_questions(study)]
            settled |= {key: server.received[key] for key in done if key not in settled}
        result = confdiff(*command)
    assert result.returncode == 0, result.stderr
    assert kills == KILLS
    answered = Counter(answered_questions(study))
    assert len(answered) == 2 * PAIRS
    assert set(answered.values()) == {1}
    assert len({frozenset(pair) for pair in answered}) == PAIRS
    assert len(settled) > PAIRS / 2
    assert {key: server.received[key] for key in settled} == settled, "a question with an answer was asked again"
    twice = {key: count for key, count in server.sent.items() if count > 1}
    assert sum(count - 1 for count in twice.values()) <= KILLS * CONCURRENCY
    assert set(server.sent) <= questions_of(study)
    with study.database.reading() as connection:
        (use,) = judge_uses(connection)
    assert server.received.total() <= use.requests <= budget
    assert use.requests - server.received.total() <= KILLS * CONCURRENCY
    assert use.outcomes.get("lost", 0) <= KILLS * CONCURRENCY
    assert use.outcomes["answer"] + use.outcomes.get("refusal", 0) == 2 * PAIRS
    again = confdiff(*command)
    assert "0 requests" in again.stdout
    with capsys.disabled():
        report(server, use, twice, result.stdout)


def report(server, use, twice, text):
    """Print the counts of a long run."""
    if PAIRS < 1000:
        return
    print(f"\n{PAIRS} pairs in both orders, {KILLS} kills: {use.requests} requests stored,")
    print(f"{server.received.total()} received, {len(twice)} questions replied to twice, outcomes {use.outcomes}")
    print(text)


def test_a_budget_is_kept_over_kills(study_address):
    study = study_with_pairs(study_address, 30)
    server = JudgeServer({"429": 0.05, "500": 0.05})
    with serving(server) as address:
        command = ["label", "judge", study_address, "--llm", "small", "--base-url", address, "--pairs", "30"]
        command += ["--max-requests", "50", "--max-tokens", "20000"]
        for answers in (8, 16):
            kill_after(command, server, answers)
        result = confdiff(*command)
        assert result.returncode == 0, result.stderr
        assert "stopped, because the budget of" in result.stdout
    with study.database.reading() as connection:
        (use,) = judge_uses(connection)
    assert server.received.total() <= use.requests <= 50
    assert server.tokens <= use.tokens <= 20_000
    assert len(pairs_of(open_study(study_address))) >= 30
