import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confdiff.labelling import StudySettings
from confdiff.labelling.judges.replies import read_reply
from confdiff.labelling.judges.reply_scale import reply_scales
from labelling.judges.server import completion

SCALES = reply_scales(StudySettings(question="Which is larger?", points=5))
SCALE = SCALES["difference"]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.sampled_from(["answer", "choices", "message", "x"]), values),
)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"answer": 5}', ("answer", 5)),
        ('{"answer": 5.0}', ("answer", 5)),
        ('{"answer": "5"}', ("answer", 5)),
        ('```json\n{"answer": 1}\n```', ("answer", 1)),
        ('The first is better.\n{"answer": 1}', ("answer", 1)),
        ('<think>Is it {"answer": 1}? {x}</think>\n{"answer": 2}', ("answer", 2)),
        ('Is it {"answer": 1}? No.\n</think>\n```json\n{"answer": 2}\n```', ("answer", 2)),
        ("<THINK>\nhm\n</THINK> 4", ("answer", 4)),
        ('<think>{"answer": 1}</think>', ("malformed", None)),
        ('<think>It may be {"answer": 1}', ("malformed", None)),
        ('Not {"answer": 1} but {"answer": 2}', ("answer", 2)),
        ('{"answer": 1} is better than {"answer": 2}', ("answer", 1)),
        ('The set {a, b} decides.\n{"answer": 5}\nThe set {c} does not.', ("answer", 5)),
        ('{"reason": "{\\"answer\\": 1} is wrong", "answer": 5}', ("answer", 5)),
        ('{"draft": {"answer": 1}, "answer": 5}', ("answer", 5)),
        ('```json\n{"answer": ', ("truncated", None)),
        ("{" * 200_000, ("truncated", None)),
        ('{"a": ' * 50_000, ("truncated", None)),
        ("3", ("answer", 3)),
        ('{"answer": 0}', ("answer", 0)),
        ('{"answer": 6}', ("wrong-grade", None)),
        ('{"answer": 2.5}', ("wrong-grade", None)),
        ('{"answer": true}', ("wrong-grade", None)),
        ('{"answer": "first"}', ("wrong-grade", None)),
        ('{"answer": [3]}', ("wrong-grade", None)),
        ('{"answer": NaN}', ("wrong-grade", None)),
        ('{"answer": 1e999}', ("wrong-grade", None)),
        ("7", ("wrong-grade", None)),
        ('{"answer": null}', ("malformed", None)),
        ('{"grade": 3}', ("malformed", None)),
        ('{"answer": 3', ("truncated", None)),
        ("", ("malformed", None)),
        ("The first one is better by far.", ("malformed", None)),
    ],
)
def test_contents(content, expected):
    reply = read_reply(json.dumps(completion(content, tokens=77)), SCALE)
    assert (reply.outcome, reply.number, reply.tokens) == (*expected, 77)


def test_refusals_and_cut_replies():
    def outcome(**choice):
        return read_reply(json.dumps({"choices": [{"message": {"content": ""}, **choice}]}), SCALE).outcome

    assert outcome(finish_reason="length") == "truncated"
    assert outcome(finish_reason="content_filter") == "refusal"
    assert outcome(message={"refusal": "no"}) == "refusal"
    parts = [{"type": "text", "text": '{"answer"'}, {"type": "text", "text": ": 2}"}]
    assert outcome(message={"content": parts}) == "answer"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('I think of {"answer": 1}, but the other', "truncated"),
        ('<think>I think of {"answer": 1}', "truncated"),
        ('I think of the first.\n{"answer": 1}', "answer"),
        ('```\n{"answer": 1}\n``` because it is', "answer"),
        ('```json\n{"answer": 1}\n```', "answer"),
        ("1", "truncated"),
    ],
)
def test_an_answer_before_the_cut_may_be_a_thought(content, expected):
    reply = read_reply(json.dumps(completion(content, finish_reason="length")), SCALE)
    assert (reply.outcome, reply.number) == (expected, 1 if expected == "answer" else None)


@given(body=JSON, usage=JSON)
def test_any_json_is_read(body, usage):
    for text in (body, {"choices": body}, {"choices": [body], "usage": usage}, {"choices": [{"message": body}]}):
        reply = read_reply(json.dumps(text), SCALE)
        assert (reply.outcome == "answer") == (reply.number is not None)
        assert reply.number is None or reply.number in SCALE.words


@given(text=st.text())
def test_any_text_is_read(text):
    assert read_reply(text, SCALE).outcome == "malformed"


def test_every_number_of_a_fine_scale_is_a_grade():
    scale = reply_scales(StudySettings(question="Which is larger?", points=0))["difference"]
    assert [scale.values[number] for number in (-100, -25, 0, 100)] == [-1, -0.25, 0, 1]
    assert scale.cannot_say not in scale.values
    assert "-100: first by far\n0: the same\n100: second by far\n101: cannot say" in scale.text()
    assert scale.schema()["properties"]["answer"] == {"type": "integer", "minimum": -100, "maximum": 101}


def test_words_of_the_study_are_shown():
    settings = StudySettings(question="Which is larger?", points=3, words=("left", "neither", "right"))
    assert reply_scales(settings)["difference"].text() == "1: left\n2: neither\n3: right\n0: cannot say"
    assert SCALES["same"].text() == "1: same class\n2: different classes\n0: cannot say"
    assert SCALES["same"].values == {1: 1.0, 2: 0.0}
