"""What is special about single formats."""

import json
from xml.etree import ElementTree

import pyarrow
import pytest
from pyarrow import parquet

from confdiff.tabular.formats.exporting import export_judgements
from confdiff.tabular.formats.importing import import_judgements
from confdiff.tabular.formats.registry import COMPARISON_FORMATS
from tabular.formats.test_formats import FILES, records


def imported(tmp_path, *rows, **options):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_judgements(path, **options)


def test_helpsteer3_prefers_the_second_response_where_it_is_positive():
    overall = import_judgements(FILES / "helpsteer3.jsonl")
    assert overall.pairs["difference"].tolist() == pytest.approx([1, -2 / 3, 0])
    assert overall.left_out == ("individual_preference",)
    each = import_judgements(FILES / "helpsteer3.jsonl", individual=True)
    assert each.pairs["difference"].tolist() == pytest.approx([1, 2 / 3, -2 / 3, 0])
    assert each.pairs["reasoning"].tolist() == ["Response 2 explains.", "More detail.", "Correct.", "Equal."]
    assert each.skipped == {"preferences without a number": 1}


def test_the_items_can_be_models():
    answers = import_judgements(FILES / "alpaca-eval.json")
    assert answers.pairs["left_model"].tolist() == ["base", "base", "base"]
    models = import_judgements(FILES / "alpaca-eval.json", item_kind="models")
    assert (models.has_features, models.tables.keys()) == (False, {"pairs"})
    assert models.pairs["left"].tolist() == ["base", "base", "base"]
    assert models.pairs["right"].tolist() == ["new", "new", "old"]
    assert models.pairs["difference"].tolist() == [0.5, -1, 0]
    assert "left_model" not in models.pairs


def test_both_orders_of_an_llm_judge_are_kept():
    hard = import_judgements(FILES / "arena-hard.jsonl")
    assert hard.pairs["left"].tolist() == ["baseline", "new", "baseline"]
    assert hard.pairs["shown_first"].tolist() == hard.pairs["left"].tolist()
    assert hard.pairs["difference"].tolist() == [1, -0.5, -0.5]
    assert hard.skipped == {"games without a verdict": 1}


@pytest.mark.parametrize(
    ("verdict", "difference"),
    [
        ("A>>B", -1),
        ("[[A>B]]", -0.5),
        ("A=B", 0),
        ("b > a", 0.5),
        ("A<<B", 1),
        ("model_a", -1),
        ("Tie", 0),
        ("tie (bothbad)", 0),
        ("both_bad", 0),
        ("model_b", 1),
    ],
)
def test_verdicts(tmp_path, verdict, difference):
    battles = imported(tmp_path, {"model_a": "x", "model_b": "y", "winner": verdict})
    assert battles.pairs["difference"].tolist() == [difference]
    assert battles.pairs["verdict"].tolist() == [verdict]


ALPACA = {"instruction": "i", "output_1": "a", "output_2": "b", "generator_1": "x", "generator_2": "y"}
BATTLE = {"model_a": "x", "model_b": "y"}
STEER = {"context": "i", "response1": "a", "response2": "b"}
TASK = {"data": {"left": "a", "right": "b"}}


def annotated(*results, **more):
    return TASK | {"annotations": [{"completed_by": 1, "result": list(results)} | more]}


def chosen(*choices, name="q"):
    return {"type": "choices", "from_name": name, "value": {"choices": list(choices)}}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ALPACA | {"preference": 2.5}, "line 1: 'preference' must be from 1 to 2; got 2.5"),
        (ALPACA | {"preference": "much"}, "line 1: 'preference' must be a number up to 1e\\+100; got 'much'"),
        ({"model": " ", "games": []}, "line 1: 'model' is empty"),
        (BATTLE | {"winner": "model_c"}, "line 1: the verdict must be one of A>>B.*got 'model_c'"),
        (BATTLE | {"model_b": "", "winner": "tie"}, "line 1: the name of a model is empty"),
        (STEER | {"overall_preference": 4}, "line 1: 'overall_preference' must be from -3 to 3; got 4"),
        (STEER | {"overall_preference": 1, "response1": 3}, "line 1: 'response1' must be a text; got 3"),
        (STEER | {"overall_preference": 1, "context": [{"role": "user"}]}, "message 1 of 'context' must have a role"),
        (TASK | {"annotations": [7]}, "line 1: 'annotations' must be a list of objects"),
        (
            {"data": {"x": "a"}, "annotations": [{"result": [chosen("a")]}]},
            "the two items are not recognised; the keys",
        ),
        (annotated(chosen("a", "b")), "annotation 1, result 1, 'value': 'choices' must be one choice"),
        (annotated(chosen("a"), chosen("b", name="p")), "annotation 1: there must be one question; got p and q"),
        (
            annotated({"type": "pairwise", "value": {"selected": "up"}}),
            "'selected' must be 'left' or 'right'; got 'up'",
        ),
        (annotated(chosen("good"), lead_time="long"), "annotation 1: 'lead_time' must be a number"),
        (annotated(chosen("better")), "the choices 'better' have no known order. Pass them in their order"),
        (annotated(chosen("4")), r"the scale of the choices is not certain. Pass scale=\(1, 5\) if 3 means"),
    ],
)
def test_unusable_records_are_named(tmp_path, row, message):
    with pytest.raises(ValueError, match=message):
        imported(tmp_path, row)


@pytest.mark.parametrize(
    "row",
    [
        {"chosen": "a b", "rejected": " "},
        {"chosen": [{"role": "assistant", "content": "a"}], "rejected": [{"role": "assistant", "content": ""}]},
        ALPACA | {"preference": 1, "output_2": ""},
        BATTLE | {"winner": "tie", "response_a": "a", "response_b": None},
        STEER | {"overall_preference": 1, "response1": "\n"},
        TASK | {"data": {"left": "", "right": "b"}, "annotations": [{"result": [chosen("the same")]}]},
    ],
)
def test_empty_answers_are_counted(tmp_path, row):
    """Models do return nothing at times, and one such record must not stop a conversion."""
    with pytest.raises(ValueError, match="no judgement that can be used; skipped: pairs with an empty answer: 1"):
        imported(tmp_path, row)


def test_annotations_of_label_studio():
    studio = import_judgements(FILES / "label-studio.json")
    assert studio.items["id"].tolist() == ["a", "b", "c"]
    assert studio.pairs["difference"].tolist() == pytest.approx([2 / 3, 0, -1])
    assert studio.pairs["annotator"].tolist() == ["7", "ann@example.org", "7"]
    assert studio.pairs["seconds"].tolist() == [4.5, 9, 2]
    assert studio.pairs["shown_first"].tolist() == ["a", "a", "c"]
    assert studio.skipped == {
        "cancelled annotations": 1,
        "annotations without a choice": 1,
        "tasks without annotations": 1,
    }


@pytest.mark.parametrize(
    ("choices", "scale", "expected"),
    [
        (["-3", "1", "3"], None, [-1, 1 / 3, 1]),
        (["worse", "Better", "same"], "worse,same,better", [-1, 1, 0]),
        (["1", "7", "4"], "1,7", [-1, 1, 0]),
    ],
)
def test_choices_on_any_scale(tmp_path, choices, scale, expected):
    studio = imported(tmp_path, *(annotated(chosen(choice)) for choice in choices), scale=scale)
    assert studio.pairs["difference"].tolist() == pytest.approx(expected)


def test_choices_outside_the_scale_are_named(tmp_path):
    with pytest.raises(ValueError, match="line 2: the choice must be one of 'worse' and 'better'; got 'good'"):
        imported(tmp_path, annotated(chosen("worse")), annotated(chosen("good")), scale="worse,better")
    with pytest.raises(ValueError, match="line 2: the choice '9' is outside a scale from 1 to 7"):
        imported(tmp_path, annotated(chosen("1")), annotated(chosen("9")), scale="1,7")


def test_keys_and_questions_can_be_named(tmp_path):
    task = {
        "data": {"u": "one", "v": "two"},
        "annotations": [{"result": [chosen("1", name="p"), chosen("-1", name="q")]}],
    }
    studio = imported(tmp_path, task, left="v", right="u", difference="p", scale="-1,1")
    assert (studio.items["text"].tolist(), studio.pairs["difference"].tolist()) == (["two", "one"], [1])
    with pytest.raises(ValueError, match=r"left='\.\.\.' and right='\.\.\.' belong together"):
        imported(tmp_path, task, left="v")


def test_tasks_show_the_first_item_on_the_left_and_keep_columns(tmp_path):
    items = {"id": ["a", "b", "c"], "text": ["one", "two", "three"]}
    pairs = {"left": ["a", "a"], "right": ["b", "c"], "shown_first": ["b", "a"], "kind": ["design", "gold"]}
    export_judgements(tmp_path / "tasks.json", items, pairs, format="label-studio")
    first, second = (task["data"] for task in records(tmp_path / "tasks.json"))
    assert (first["left"], first["right"], first["left_id"], first["right_id"]) == ("two", "one", "b", "a")
    assert (second["left"], second["right"], second["kind"]) == ("one", "three", "gold")
    answered = [{"data": first, "annotations": [{"result": [chosen("right by far")]}]}]
    studio = imported(tmp_path, *answered)
    assert studio.pairs["shown_first"].tolist() == ["b"]
    assert studio.pairs["kind"].tolist() == ["design"]
    assert "prompt" not in studio.pairs


def test_answers_to_other_questions_are_columns(tmp_path):
    results = [
        chosen("right by far"),
        {"type": "textarea", "from_name": "comment", "value": {"text": ["Clear.", "Short."]}},
        {"type": "rating", "from_name": "sure", "value": {"rating": 4}},
        {"type": "labels", "from_name": "span", "value": {"labels": ["x"], "start": 1}},
    ]
    studio = imported(tmp_path, annotated(*results))
    assert (studio.pairs["comment"].tolist(), studio.pairs["sure"].tolist()) == (["Clear.\nShort."], [4])
    two = imported(tmp_path, annotated(chosen("1"), chosen("-1", name="other")), difference="q", scale="-1,1")
    assert two.pairs["other"].tolist() == ["-1"]


@pytest.mark.parametrize("id", [["a"], {"id": 1}, 1.5, True, " "])
def test_ids_of_tasks_are_texts_or_whole_numbers(tmp_path, id):
    task = annotated(chosen("the same")) | {"data": {"left": "a", "right": "b", "left_id": id, "right_id": "b"}}
    with pytest.raises(ValueError, match=r"line 1, 'data'.*'left_id' (must be a text|is empty)"):
        imported(tmp_path, task)


@pytest.mark.parametrize(
    ("items", "tag"),
    [
        ({"text": ["long answer", "short one"]}, "Text"),
        ({"image": ["https://example.org/a.png", "https://example.org/b.png"]}, "Image"),
        ({"age": [30, 50], "ward": ["A", "B"]}, "Table"),
        ({"age": [30, 50]}, "Table"),
    ],
)
def test_tasks_of_label_studio_are_answered_and_come_back(tmp_path, items, tag):
    """Tasks are written, a person answers as Label Studio exports it, and the answers are of the same items."""
    table = {"id": ["a", "b"]} | items
    pairs = {"left": ["a", "a"], "right": ["b", "b"], "group": ["g", "g"], "prompt": ["Who?", "Who?"]}
    written = export_judgements(tmp_path / "tasks.json", table, pairs, format="label-studio", question="Older & wiser?")
    assert (written.pairs, written.records) == (2, 1)
    view = ElementTree.parse(written.files["configuration"]).getroot()
    assert view.find("Header").get("value") == "Older & wiser?"
    assert {column.get("name") for column in view.iter(tag)} >= {"left", "right"}
    question = view.find("Choices")
    assert question.get("toName") == "left"
    words = [choice.get("value") for choice in question]
    tasks = records(tmp_path / "tasks.json")
    keys = {element.get("value") for element in view.iter() if (element.get("value") or "").startswith("$")}
    assert keys <= {f"${key}" for key in tasks[0]["data"]}
    for grade, word in enumerate(words, -3):
        result = chosen(word, name=question.get("name"))
        answered = [task | {"annotations": [{"completed_by": 5, "result": [result]}]} for task in tasks]
        (tmp_path / "export.json").write_text(json.dumps(answered))
        studio = import_judgements(tmp_path / "export.json")
        assert {name: column.tolist() for name, column in studio.items.items()} == table
        assert studio.pairs["difference"].tolist() == pytest.approx([grade / 3])
        assert studio.pairs["prompt"].tolist() == ["Who?"]


def test_an_id_with_two_contents_is_an_error(tmp_path):
    tasks = [annotated(chosen("the same")) for _ in range(2)]
    tasks[0]["data"] = {"left": "one", "right": "two", "left_id": 1, "right_id": 2}
    tasks[1]["data"] = {"left": "another", "right": "two", "left_id": 1, "right_id": 2}
    with pytest.raises(ValueError, match="line 2: the item 1 has other contents than in a record before"):
        imported(tmp_path, *tasks)


def test_which_item_was_shown_first_survives(tmp_path):
    items = {"id": ["a", "b"], "text": ["one", "two"]}
    pairs = {"left": ["a", "a", "a"], "right": ["b", "b", "b"], "difference": [1.0, -1.0, 1.0]}
    pairs["shown_first"] = ["a", "b", None]
    for name in ("trl", "helpsteer3", "alpaca-eval", "arena"):
        export_judgements(tmp_path / "file.json", items, pairs, format=name, overwrite=True)
        again = import_judgements(tmp_path / "file.json", item_kind=None if name == "helpsteer3" else "answers")
        text = dict(zip(again.items["id"], again.items["text"], strict=True))
        assert [text.get(first) for first in again.pairs["shown_first"]] == ["one", "two", None]
        rows = zip(*(again.pairs[column].tolist() for column in ("left", "right", "difference")), strict=True)
        better = [text[right] if c > 0 else text[left] for left, right, c in rows]
        assert better == ["two", "one", "two"]


def test_model_a_is_the_one_shown_first(tmp_path):
    pairs = {"left": ["x"], "right": ["y"], "difference": [-0.5], "shown_first": ["y"]}
    export_judgements(tmp_path / "file.json", None, pairs, format="arena", scale=(-1, 1))
    (battle,) = records(tmp_path / "file.json")
    assert battle == {"model_a": "y", "model_b": "x", "winner": "model_b", "verdict": "B>A"}


@pytest.mark.parametrize("name", ["trl", "helpsteer3", "alpaca-eval", "arena"])
def test_models_and_groups_survive(tmp_path, name):
    """The models belong to the answers, on whichever side these are."""
    items = {"id": ["i1", "i2"], "text": ["one", "two"]}
    pairs = {
        "left": ["i1", "i2"] * 3,
        "right": ["i2", "i1"] * 3,
        "difference": [1.0, -0.5] * 3,
        "shown_first": ["i1", "i1"] * 3,
        "left_model": ["m", "n"] * 3,
        "right_model": ["n", "m"] * 3,
        "topic": ["g", "h"] * 3,
        "other_rating": [3, 4] * 3,
    }
    export_judgements(tmp_path / "file.json", items, pairs, format=name)
    assert [row["rating"] for row in records(tmp_path / "file.json")] == pairs["other_rating"]
    again = import_judgements(tmp_path / "file.json", item_kind=None if name == "helpsteer3" else "answers")
    text = dict(zip(again.items["id"], again.items["text"], strict=True))
    for side in ("left", "right"):
        models = {"one": "m", "two": "n"}
        expected = [models[text[item]] for item in again.pairs[side]]
        assert again.pairs[f"{side}_model"].tolist() == expected
    assert again.pairs["group"].tolist() == pairs["topic"]
    assert again.pairs["other_rating"].tolist() == pairs["other_rating"]


@pytest.mark.parametrize("name", COMPARISON_FORMATS)
def test_columns_do_not_replace_the_keys_of_a_format(tmp_path, name):
    keys = {"chosen", "response1", "output_1", "generator_1", "model_a", "response_a", "margin", "verdict", "text"}
    items = {"id": ["a", "b"], "text": ["one", "two"]}
    pairs = {"left": ["a", "b"], "right": ["b", "a"], "difference": [1.0, -1.0]}
    export_judgements(tmp_path / "file.json", items, pairs | {key: ["x", "y"] for key in keys}, format=name)
    export_judgements(tmp_path / "plain.json", items, pairs, format=name)
    for row, plain in zip(records(tmp_path / "file.json"), records(tmp_path / "plain.json"), strict=True):
        row, plain = (entry.get("data", entry) for entry in (row, plain))
        assert {key: row[key] for key in plain} == plain
        assert list(row.values()).count("x") + list(row.values()).count("y") == len(keys)


def test_games_keep_their_columns():
    hard = import_judgements(FILES / "arena-hard.jsonl")
    assert hard.pairs["other_judgment"].tolist() == ["B is better.", "A is better.", "A is better."]
    assert hard.pairs["question_id"].tolist() == ["q1", "q1", "q2"]


def test_the_prompt_of_games_and_of_conversations(tmp_path):
    games = {"model": "new", "prompt": "Why?", "games": [{"score": "A>B"}]}
    assert imported(tmp_path, games).pairs["prompt"].tolist() == ["Why?"]
    talks = {f"conversation_{side}": [{"role": "assistant", "content": f"Answer {side}."}] for side in "ab"}
    battle = BATTLE | {"winner": "tie", "prompt": "Why?"} | talks
    assert imported(tmp_path, battle).pairs["prompt"].tolist() == ["Why?"]


@pytest.mark.parametrize(
    ("verdicts", "difference", "columns"),
    [
        ({"verdict": "A>B", "winner": "model_a"}, -0.5, {}),
        ({"verdict": "A>B", "winner": "model_b"}, -0.5, {"other_winner": "model_b"}),
        ({"score": 0.75, "winner": "model_b"}, 1.0, {"score": 0.75}),
        ({"verdict": "", "winner": "tie"}, 0.0, {}),
        ({"score": "A=B", "verdict": "unclear"}, 0.0, {"other_verdict": "unclear"}),
    ],
)
def test_several_verdicts(tmp_path, verdicts, difference, columns):
    battles = imported(tmp_path, BATTLE | verdicts)
    assert battles.pairs["difference"].tolist() == [difference]
    own = set(battles.pairs) - {"left", "right", "difference", "shown_first", "verdict"}
    assert {name: battles.pairs[name][0] for name in own} == columns


@pytest.mark.parametrize("first", [["left"], {"side": "left"}, 1, "neither", None])
def test_a_side_that_is_not_a_side_is_not_known(tmp_path, first):
    battles = imported(tmp_path, BATTLE | {"winner": "tie", "shown_first": first})
    assert battles.pairs.get("shown_first", [None])[0] is None


@pytest.mark.parametrize(
    ("row", "kind", "message"),
    [
        ({"chosen": "a b", "rejected": "c d"}, "models", "the items of files of trl are answers or ids; got"),
        (ALPACA | {"preference": 1}, "ids", "the items of files of alpaca-eval are answers or models; got"),
        (BATTLE | {"winner": "tie"}, "ids", "the items of files of arena are answers or models; got"),
    ],
)
def test_kinds_of_items_that_a_format_does_not_have(tmp_path, row, kind, message):
    with pytest.raises(ValueError, match=message):
        imported(tmp_path, row, item_kind=kind)


def test_keys_without_a_name_get_one(tmp_path):
    battles = imported(tmp_path, BATTLE | {"winner": "tie", " ": 5})
    assert battles.pairs["unnamed"].tolist() == [5]
    table = pyarrow.table([["x"], ["y"], ["tie"], ["model_a"]], ["model_a", "model_b", "winner", "winner"])
    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="must have distinct names; got 'winner' more than once"):
        import_judgements(tmp_path / "rows.parquet")


@pytest.mark.parametrize("more", [{"note": "half \ud83d"}, {"half \ud83d": 1}])
def test_texts_that_cannot_be_written_are_named(tmp_path, more):
    with pytest.raises(ValueError, match=r"line 1: .*contains a lone surrogate"):
        imported(tmp_path, BATTLE | {"winner": "tie"} | more)
