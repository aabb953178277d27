"""A judge is asked about every pair in both orders, once, whatever faults the endpoint has."""

import asyncio
import re
import threading
import time
import uuid
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sqlalchemy import select

from confdiff.labelling import JudgeSettings, StudySettings, ask_judge, create_study, open_study
from confdiff.labelling.annotator_rows import annotator_rows
from confdiff.labelling.judged_tables import AnswerTable
from confdiff.labelling.judges import pauses as pauses_module
from confdiff.labelling.judges.endpoint import Endpoint
from confdiff.labelling.judges.records import judge_uses
from confdiff.labelling.schema import assignments, judge_requests
from labelling.judges.server import KEY, KINDS, JudgeServer, completion, serving, texts_of
from labelling.studies import answer_all

SETTINGS = StudySettings(question="Which is larger?", judges=2, pairs_per_item=5)
VALUES = np.linspace(0, 1, 10)


@pytest.fixture
def quick(monkeypatch):
    """Make pauses short."""
    monkeypatch.setattr(pauses_module, "_FIRST_PAUSE", 0.01)


@pytest.fixture
def study(study_address):
    return create_study(study_address, texts_of(VALUES), SETTINGS)


def judge_of(address, **settings):
    return JudgeSettings(model="small", base_url=address, **settings)


def pairs_of(study):
    """Return the pairs of the plan, as sets of ids."""
    return {frozenset((question.left, question.right)) for question in study.plan()}


def questions_of(study):
    """Return (first text, second text) of both orders of all pairs of the plan."""
    texts = study.items()["text"].tolist()
    return {(texts[a], texts[b]) for pair in pairs_of(study) for a, b in (sorted(pair), sorted(pair, reverse=True))}


def use_of(study):
    with study.database.reading() as connection:
        (use,) = judge_uses(connection)
    return use


def raw_replies(study):
    with study.database.reading() as connection:
        schema = f'"{study.database.schema}".' if study.database.schema else ""
        return connection.exec_driver_sql(f"SELECT outcome, status, tokens, reply FROM {schema}judge_request").all()


def test_every_pair_is_asked_in_both_orders_once(study):
    server = JudgeServer()
    with serving(server) as address:
        run = ask_judge(study, judge_of(address))
    assert (run.questions, run.answers, run.unanswered, run.stopped) == (2 * len(pairs_of(study)), run.questions, 0, "")
    assert server.received == Counter(questions_of(study))
    (annotator,) = study.annotators()
    assert (annotator.name, annotator.kind, annotator.answered) == ("small", "llm", run.questions)
    assert annotator.quota == run.questions


def test_answers_are_stored_like_those_of_people(study):
    server = JudgeServer(side_bias=0.3)
    with serving(server) as address:
        ask_judge(study, judge_of(address))
    answers = study.answers()
    rows = {name: row for row, name in enumerate(study.item_ids())}
    texts = study.items()["text"].tolist()
    for left, right, first, difference in zip(
        *(answers[name] for name in ("left", "right", "shown_first", "difference")), strict=True
    ):
        second = right if first == left else left
        on_screen = (server.number(texts[rows[first]], texts[rows[second]]) - 4) / 3
        assert difference == pytest.approx(on_screen if first == left else -on_screen)
    sides = Counter((answers["shown_first"] == answers["left"]).tolist())
    assert sides[True] == sides[False]
    kinds = {(frozenset((q.left, q.right)), q.kind) for q in study.plan() if q.kind != "repeat"}
    judged = zip(answers["left"], answers["right"], answers["kind"], strict=True)
    assert {(frozenset((rows[left], rows[right])), kind) for left, right, kind in judged} <= kinds


def test_questions_of_people_remain_theirs(study):
    before = study.plan()
    study.invite("Ann")
    with serving(JudgeServer()) as address:
        ask_judge(study, judge_of(address))
        ask_judge(study, judge_of(address, name="other"))
    assert study.plan() == before
    study.invite("Bob")
    given = len(answer_all(study, "Ann")) + len(answer_all(study, "Bob"))
    assert given == len(before)
    judged = Counter(study.answers()["annotator"].tolist())
    assert judged["small"] == judged["other"] == 2 * len(pairs_of(study))


def test_same_class_questions_and_gold_pairs_are_asked(study_address):
    settings = StudySettings(
        question="Which is larger?",
        same_class=0.3,
        same_question="Are both above a half?",
        gold=(("item-0000", "item-0009", 1.0),),
        judges=2,
    )
    study = create_study(study_address, texts_of(VALUES), settings)
    server = JudgeServer()
    server.number = lambda first, second: 2
    with serving(server) as address:
        ask_judge(study, judge_of(address))
    kinds = Counter(study.answers()["kind"].tolist())
    assert kinds["gold"] == 2
    asked = [body["messages"][-1]["content"] for body in server.bodies]
    same = [text for text in asked if "Are both above a half?" in text]
    assert len(same) == kinds["same-class"] > 0
    assert all("1: same class\n2: different classes\n0: cannot say" in text for text in same)
    assert Counter(study.answers()["same"].tolist())[0.0] == len(same)


CODES = {
    None: "answer",
    "slow": "answer",
    "429": "rate-limit",
    "500": "server-error",
    "time-out": "time-out",
    "malformed": "malformed",
    "truncated": "truncated",
    "cut": "connection",
    "refusal": "refusal",
    "wrong-grade": "wrong-grade",
}


def outcomes_of(study):
    """Return (first text, second text) -> the outcomes of its requests in turn."""
    texts = study.items()["text"].tolist()
    columns = (assignments.c.left, assignments.c.right, assignments.c.shown_left, judge_requests.c.outcome)
    query = select(*columns).join(assignments, assignments.c.id == judge_requests.c.assignment)
    outcomes = defaultdict(list)
    with study.database.reading() as connection:
        for left, right, first, outcome in connection.execute(query.order_by(judge_requests.c.id)):
            outcomes[texts[first], texts[left + right - first]].append(outcome)
    return outcomes


@pytest.fixture
def most_in_flight(monkeypatch):
    """Return a list whose last number is the most requests at the same time."""
    in_flight = [0]
    most = [0]
    send = Endpoint.send

    async def counted(self, body):
        in_flight[0] += 1
        most.append(max(most[-1], in_flight[0]))
        try:
            return await send(self, body)
        finally:
            in_flight[0] -= 1

    monkeypatch.setattr(Endpoint, "send", counted)
    return most


@pytest.mark.usefixtures("quick")
def test_faults_end_in_one_answer_per_question(study, most_in_flight):
    """On a busy machine any reply can be late: then it counts as a time-out, and the question is asked again."""
    server = JudgeServer(dict.fromkeys(KINDS, 0.05), seed=3)
    with serving(server) as address:
        run = ask_judge(study, judge_of(address, timeout=5.0, concurrency=4))
        assert run.unanswered == 0
        assert 1 < most_in_flight[-1] <= 4
        again = ask_judge(study, judge_of(address))
    assert (again.questions, again.requests) == (0, 0)
    assert server.received.total() == run.requests == use_of(study).requests
    outcomes = outcomes_of(study)
    assert set(outcomes) == questions_of(study)
    exact = Counter()
    for question, codes in outcomes.items():
        requests = list(zip(server.faults_of[question], codes, strict=True))
        late = [code for kind, code in requests if code != CODES[kind]]
        assert set(late) <= {"time-out"}
        exact += Counter(kind for kind, code in requests if code == CODES[kind])
        assert codes[-1] in ("answer", "refusal")
        assert not {"answer", "refusal"} & set(codes[:-1])
        assert 1 <= server.sent[question] <= 1 + len(late)
    assert len(exact) >= 8
    counts = Counter(code for codes in outcomes.values() for code in codes)
    assert run.faults == counts - Counter(answer=counts["answer"])
    assert use_of(study).outcomes == counts
    assert run.cannot_say == counts["refusal"] == study.answers()["reason"].tolist().count("refused")


def test_raw_replies_are_kept(study):
    server = JudgeServer()
    server.replies = [(500, "out of \0 order", {})]
    with serving(server) as address:
        run = ask_judge(study, judge_of(address))
    rows = raw_replies(study)
    assert len(rows) == run.requests
    assert sorted(rows)[-1][:2] == ("server-error", 500)
    assert sorted(rows)[-1][3] == "out of � order"
    assert all('"answer' in row.reply for row in rows if row.outcome == "answer")
    tokens = sum(row.tokens for row in rows if row.outcome == "answer")
    assert tokens == server.tokens


def test_long_thoughts_before_an_answer(study):
    """The whole reply is read; its beginning and its end are stored."""
    server = JudgeServer()
    thoughts = "<think>" + "Which one? {" * 20_000 + "</think>"
    server.replies = [(200, completion(thoughts + '{"answer": 5}'), {})]
    with serving(server) as address:
        run = ask_judge(study, judge_of(address, pairs=1))
    assert (run.answers, run.requests) == (2, 2)
    (long,) = [row.reply for row in raw_replies(study) if "<think>" in row.reply]
    assert '\\"answer\\": 5' in long
    assert len(long) < 21_000


def test_nothing_is_sent_to_this_machine_through_a_proxy(study, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
        monkeypatch.setenv(name.lower(), "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(JudgeServer()) as address:
        assert ask_judge(study, judge_of(address, pairs=1)).answers == 2


def test_a_proxy_that_cannot_be_used_is_named(study, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "gopher://127.0.0.1:9")
    with pytest.raises(ValueError, match="the proxy or the certificates that the environment names cannot be used: "):
        ask_judge(study, JudgeSettings(model="small", base_url="https://127.0.0.1:9/v1", pairs=1))


def test_the_key_is_sent_and_stored_nowhere(study, monkeypatch, caplog, capfd):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    server = JudgeServer()
    server.replies = [(500, f'{{"error": {{"message": "no server for {KEY}"}}}}', {"X-Echo": KEY})]
    with caplog.at_level(0), serving(server) as address:
        ask_judge(study, judge_of(address, key="JUDGE_KEY", pairs=5))
    assert {headers["Authorization"] for headers in server.headers} == {f"Bearer {KEY}"}
    assert all(KEY not in str(row) for row in raw_replies(study))
    assert "[key]" in str(raw_replies(study))
    assert KEY not in caplog.text
    assert KEY not in "".join(capfd.readouterr())
    if study.database.path is not None:
        study.close_connections()
        assert all(KEY.encode() not in file.read_bytes() for file in study.database.path.parent.iterdir())


def test_no_key_is_sent_to_another_endpoint_unless_it_is_named(study, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = JudgeServer()
    with serving(server) as address:
        ask_judge(study, judge_of(address, pairs=1))
    assert all("Authorization" not in headers for headers in server.headers)


@pytest.mark.parametrize("limit", [{"max_requests": 17}, {"max_tokens": 12_000}])
def test_the_budget_is_kept_over_all_runs(study, limit):
    server = JudgeServer({"429": 0.1, "500": 0.1}, seed=1)
    with serving(server) as address:
        for _ in range(3):
            run = ask_judge(study, judge_of(address, **limit))
            assert "budget" in run.stopped
        use = use_of(study)
        assert 0 < use.requests == server.received.total() <= limit.get("max_requests", 1000)
        assert server.tokens <= use.tokens <= limit.get("max_tokens", 10**9)
        more = ask_judge(study, judge_of(address))
    assert (more.unanswered, more.stopped) == (0, "")
    assert server.sent == Counter(questions_of(study))


def test_a_budget_of_tokens_is_used_up_to_the_last_request_that_fits(study):
    server = JudgeServer()
    with serving(server) as address:
        run = ask_judge(study, judge_of(address, max_tokens=8_000))
    reserved = 1500  # the most for one request here
    assert 8_000 - reserved <= use_of(study).tokens <= 8_000
    assert run.answers > 8_000 // reserved + 5  # what replies release is used again


def test_a_number_of_pairs(study):
    server = JudgeServer()
    with serving(server) as address:
        first = ask_judge(study, judge_of(address, pairs=3))
        more = ask_judge(study, judge_of(address, pairs=5))
    assert (first.answers, more.questions, more.answers) == (6, 4, 4)
    asked = Counter(frozenset(key) for key in server.received)
    assert sorted(asked.values()) == [2] * 5


def test_an_endpoint_without_schemas_is_asked_otherwise(study):
    server = JudgeServer()

    def refuses(body):
        kind = body.get("response_format", {}).get("type")
        return f"response_format.type {kind} is not supported" if kind == "json_schema" else None

    server.refuses = refuses
    with serving(server) as address:
        run = ask_judge(study, judge_of(address))
    assert run.unanswered == 0
    assert run.notes == [
        "the endpoint refuses response_format json_schema; asking for JSON by response_format json_object"
    ]
    assert {body["response_format"]["type"] for body in server.bodies} == {"json_object"}
    assert run.faults == {"bad-request": 1}


def test_parameters_of_newer_models(study):
    server = JudgeServer()

    def refuses(body):
        if "max_tokens" in body:
            return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return "Unsupported value: 'temperature'" if "temperature" in body else None

    server.refuses = refuses
    with serving(server) as address:
        run = ask_judge(study, judge_of(address, pairs=2))
    assert run.unanswered == 0
    assert {body["max_completion_tokens"] for body in server.bodies} == {300}
    assert {body["response_format"]["type"] for body in server.bodies} == {"json_schema"}


def test_one_question_that_is_refused_keeps_no_others_from_being_asked(study):
    server = JudgeServer()
    server.refuses = lambda body: "too long" if "value 0.000000" in body["messages"][-1]["content"] else None
    with serving(server) as address:
        run = ask_judge(study, judge_of(address))
    assert 0 < run.unanswered < run.questions
    assert run.stopped == ""
    assert run.unanswered == sum("value 0.000000" in texts for texts in questions_of(study))


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ((401, {"error": {"message": "Incorrect API key"}}, {}), "refuses the API key.*Incorrect API key"),
        ((404, {"error": {"message": "no model small"}}, {}), "no such address .* or no such model.*no model small"),
        ((307, "", {"Location": "http://127.0.0.1:1/"}), "redirects"),
        ((429, {"error": {"code": "insufficient_quota"}}, {}), "quota of the account"),
        ((429, {}, {"Retry-After": "86400"}), "asks to wait 86,400 seconds"),
    ],
)
def test_an_endpoint_that_cannot_be_used_ends_the_run_at_once(study, reply, message):
    server = JudgeServer()
    server.replies = [reply] * 50
    with serving(server) as address:
        run = ask_judge(study, judge_of(address))
    assert run.has_failed
    assert run.requests == 1
    assert re.search(message, run.stopped)


@pytest.mark.usefixtures("quick")
def test_an_endpoint_that_does_not_run_is_given_up_soon(study):
    run = ask_judge(study, judge_of("http://127.0.0.1:9/v1"))
    assert run.has_failed
    assert "gave no answer to 4 requests in a row (lost connections)" in run.stopped
    assert use_of(study).tokens == 0


def test_all_requests_wait_as_long_as_the_endpoint_asks(study):
    server = JudgeServer()
    server.replies = [(200, completion('{"answer": 4}'), {}), (429, {}, {"Retry-After": "1"})]
    start = time.monotonic()
    with serving(server) as address:
        run = ask_judge(study, judge_of(address, concurrency=1))
    assert time.monotonic() - start >= 1
    assert (run.unanswered, run.faults["rate-limit"]) == (0, 1)


@pytest.mark.parametrize("change", ["pause", "close", "revoke", "delete"])
def test_the_owner_can_end_a_run(study, change):
    server = JudgeServer()
    actions = {
        "pause": study.pause,
        "close": study.close,
        "revoke": lambda: study.revoke("small"),
        "delete": lambda: study.delete_annotator("small"),
    }

    pending = [actions[change]]

    def show(answers, faults):
        if answers == 5 and pending:
            pending.pop()()

    with serving(server) as address:
        run = ask_judge(study, judge_of(address, concurrency=2), on_progress=show)
    assert 5 <= run.answers <= 7
    assert {"pause": "paused", "close": "closed", "revoke": "revoked", "delete": "deleted"}[change] in run.stopped
    assert not run.has_failed


def test_a_name_belongs_to_one_judge(study, tmp_path):
    study.invite("Ann")
    template = tmp_path / "judge.txt"
    template.write_text("[user]\n{{question}} {{first}} or {{second}}? {{scale}} {{reply}}\n")
    with serving(JudgeServer()) as address:
        ask_judge(study, judge_of(address, pairs=1))
        with pytest.raises(ValueError, match="'Ann' is not an LLM"):
            ask_judge(study, judge_of(address, name="Ann"))
        with pytest.raises(ValueError, match="asked with another template before"):
            ask_judge(study, judge_of(address, template=template))
        with pytest.raises(ValueError, match=r"asked with another model before \('small'\)"):
            ask_judge(study, JudgeSettings(model="large", name="small", base_url=address))
        study.revoke("small")
        with pytest.raises(ValueError, match="was revoked"):
            ask_judge(study, judge_of(address))


def test_two_processes_do_not_ask_as_one_judge(study, monkeypatch):
    monkeypatch.setattr("confdiff.labelling.judges.exclusive._PATIENCE", 0.1)
    problems = []

    def ask_at_the_same_time(answers, faults):
        if answers == 3:
            try:
                ask_judge(open_study(study.private_address()), judge_of("http://127.0.0.1:9/v1"))
            except ValueError as error:
                problems.append(str(error))

    with serving(JudgeServer()) as address:

        def show(answers, faults):
            if answers == 3:
                thread = threading.Thread(target=ask_at_the_same_time, args=(answers, faults))
                thread.start()
                thread.join()

        run = ask_judge(study, judge_of(address), on_progress=show)
    assert run.unanswered == 0
    assert len(problems) == 1
    assert "another process asks the judge 'small'" in problems[0]


def test_a_judge_is_asked_inside_of_an_event_loop(study):
    """As in a notebook."""

    async def cell(address):
        return ask_judge(study, judge_of(address, pairs=2))

    with serving(JudgeServer()) as address, ThreadPoolExecutor(1) as thread:  # a browser has the loop of this one
        assert thread.submit(lambda: asyncio.run(cell(address))).result().answers == 4


@pytest.mark.usefixtures("quick")
def test_an_address_that_is_not_an_endpoint_is_given_up_soon(study):
    server = JudgeServer()
    server.replies = [(200, "<html>Welcome</html>", {})] * 50
    with serving(server) as address:
        run = ask_judge(study, judge_of(address))
    assert run.requests == 4
    assert "gave no answer to 4 requests in a row (malformed replies). It replied: <html>Welcome</html>" in run.stopped


def test_the_time_left_of_a_judge_is_not_shown(study):
    with serving(JudgeServer()) as address:
        ask_judge(study, judge_of(address, max_requests=5))
    (row,) = annotator_rows(study, AnswerTable.of(study))
    assert (row.kind, row.answered, row.seconds_left) == ("llm", 5, None)
    assert row.seconds_per_answer > 0


def test_deletion_removes_replies(study):
    marker = f"marker-{uuid.uuid4().hex}"
    server = JudgeServer()
    server.replies = [(200, completion('{"answer": 4}') | {"id": marker}, {})]
    with serving(server) as address:
        run = ask_judge(study, judge_of(address, pairs=2))
    assert marker in str(raw_replies(study))
    assert study.delete_annotator("small") == run.answers
    assert raw_replies(study) == []
    with study.database.reading() as connection:
        assert judge_uses(connection) == []


def test_images_are_refused(tmp_path, closing_engines):
    (tmp_path / "a.png").write_bytes(b"")
    items = {"id": ["a", "b"], "photo": ["a.png", "a.png"]}
    settings = StudySettings(question="Which is nicer?", judges=1, media=str(tmp_path))
    study = create_study(tmp_path / "photos.db", items, settings)
    with pytest.raises(ValueError, match="the study shows the column 'photo', which holds files of kind image"):
        ask_judge(study, judge_of("http://127.0.0.1:9/v1"))
    assert study.annotators() == []
