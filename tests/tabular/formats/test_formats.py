"""Every format of the table: recognised, read by check and fit without flags, and written again without loss."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from pyarrow import parquet

from confdiff.io.tables import write_table
from confdiff.ranking.ranking_items import rank_items
from confdiff.tabular.formats.exporting import export_judgements
from confdiff.tabular.formats.importing import import_judgements
from confdiff.tabular.formats.registry import COMPARISON_FORMATS
from confdiff.tabular.tables import read_comparisons, read_judged

FILES = Path(__file__).parent / "files"
FORMAT_OF_FILE = {
    "trl.jsonl": "trl",
    "trl-chat.jsonl": "trl",
    "trl-implicit.jsonl": "trl",
    "helpsteer3.jsonl": "helpsteer3",
    "alpaca-eval.json": "alpaca-eval",
    "arena.jsonl": "arena",
    "arena-labels.jsonl": "arena",
    "arena-hard.jsonl": "arena",
    "arena-one-hot.csv": "arena",
    "label-studio.json": "label-studio",
    "label-studio-pairwise.json": "label-studio",
}
SCALE = (-1, 1)  # which is recognised if a difference is negative
NASTY = ["=1+1", "NA", " with blanks ", 'quotes " and, commas', "two\nlines", "tab\tinside", "é 数 😀", "7", "'quoted"]


def records(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]


def saved(folder, imported):
    """Write the tables as the command does, and return their paths; items are None without features."""
    paths = {name: folder / f"{name}.csv" for name in imported.tables}
    for name, path in paths.items():
        write_table(path, imported.tables[name])
    return paths.get("items"), paths["pairs"]


def as_judgements(imported):
    """Return (left, right, difference) with contents instead of ids and the better item last."""
    contents = dict(zip(imported.items["id"], imported.items.get("text", imported.items["id"]), strict=True))
    rows = zip(*(imported.pairs[name].tolist() for name in ("left", "right", "difference")), strict=True)
    judged = [(str(contents[left]), str(contents[right]), c) for left, right, c in rows]
    return [min((left, right, c), (right, left, -c)) for left, right, c in judged]


def test_every_format_has_a_fixture_and_no_file_is_forgotten():
    assert set(FORMAT_OF_FILE.values()) == set(COMPARISON_FORMATS)
    assert {path.name for path in FILES.iterdir()} == set(FORMAT_OF_FILE)


@pytest.mark.parametrize(("name", "expected"), FORMAT_OF_FILE.items())
def test_a_format_is_recognised_by_its_keys(name, expected):
    assert import_judgements(FILES / name).format == expected


@pytest.mark.parametrize("name", FORMAT_OF_FILE)
def test_the_tables_are_read_without_flags(tmp_path, name):
    imported = import_judgements(FILES / name)
    items, pairs = saved(tmp_path, imported)
    if items is None:
        judged = read_judged(pairs)
    else:
        table, judged = read_comparisons(items, pairs)
        assert list(table.columns) == ["text"]
    assert judged.left.tolist() == imported.pairs["left"].tolist()
    assert judged.difference.tolist() == imported.pairs["difference"].tolist()
    assert {"left", "right", "difference"} <= set(judged.names)
    for role in ("annotator", "group", "shown_first", "time"):
        assert (judged.names.get(role) == role) is (role in imported.pairs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few pairs
        ranking = rank_items(pairs, annotator_model="pooled", scale=SCALE)
    assert set(ranking.id) <= set(map(str, imported.items["id"]))


@pytest.mark.parametrize("name", [name for name, known in FORMAT_OF_FILE.items() if known != "label-studio"])
@pytest.mark.parametrize("ending", [".jsonl", ".json"])
def test_what_is_written_is_what_was_read(tmp_path, name, ending):
    first = import_judgements(FILES / name)
    items, pairs = saved(tmp_path, first)
    options = {"chat": True} if name in ("trl-chat.jsonl", "trl-implicit.jsonl") else {}
    written = export_judgements(tmp_path / f"again{ending}", items, pairs, format=first.format, scale=SCALE, **options)
    assert (written.records, written.without_difference, written.rounded) == (len(first.pairs["left"]), 0, 0)
    again = import_judgements(tmp_path / f"again{ending}")
    assert as_judgements(again) == as_judgements(first)
    assert set(again.items["id"]) == set(first.items["id"])
    assert set(again.pairs) == set(first.pairs)
    sides = {"left", "right", "difference", "left_score", "right_score", "left_model", "right_model"}
    for column in set(first.pairs) - (sides if first.format == "trl" else {"difference"}):
        expected = [str(cell) for cell in first.pairs[column].tolist()]
        assert [str(cell) for cell in again.pairs[column].tolist()] == expected, column


@pytest.mark.parametrize(
    ("name", "options", "changes"),
    [
        ("trl.jsonl", {}, {}),
        ("trl-chat.jsonl", {"chat": True}, {"margin": [1.0, 1.0]}),
        ("helpsteer3.jsonl", {}, {"individual_preference": None}),
        ("alpaca-eval.json", {}, {"raw_completion": None, "preference": [1.75, 1.0, 1.5]}),
        ("arena-labels.jsonl", {}, {"winner": ["model_b", "model_a", "tie"]}),
    ],
)
def test_records_come_back_whole(tmp_path, name, options, changes):
    """Each key of each record is as it was, but for those that tables cannot hold."""
    imported = import_judgements(FILES / name)
    export_judgements(
        tmp_path / "again.json", *saved(tmp_path, imported), format=imported.format, scale=SCALE, **options
    )
    again = records(tmp_path / "again.json")
    for row, (was, now) in enumerate(zip(records(FILES / name), again, strict=False)):
        expected = was | {key: None if values is None else values[row] for key, values in changes.items()}
        assert now == {key: value for key, value in expected.items() if value is not None}
    assert len(again) == len(imported.pairs["left"])


@pytest.mark.parametrize("known", [known for known in COMPARISON_FORMATS if known != "label-studio"])
def test_any_text_and_any_id_survive(tmp_path, known):
    items = pd.DataFrame({"id": [f"i{row}" for row in range(len(NASTY))], "text": NASTY})
    pairs = pd.DataFrame({"left": items["id"][:-1].tolist(), "right": items["id"][1:].tolist()})
    pairs["difference"] = np.resize([-1.0, 0.0, 1.0], len(pairs))
    export_judgements(tmp_path / "file.jsonl", items, pairs, format=known)
    imported = import_judgements(tmp_path / "file.jsonl", format=known)
    expected = dict(zip(items["id"], items["text"], strict=True))
    rows = zip(pairs["left"], pairs["right"], pairs["difference"], strict=True)
    wanted = [(expected[left], expected[right], c) for left, right, c in rows]
    assert as_judgements(imported) == [min((left, right, c), (right, left, -c)) for left, right, c in wanted]
    table, _ = read_comparisons(*saved(tmp_path, imported))
    assert sorted(table.columns["text"]) == sorted(NASTY)


@pytest.mark.parametrize("use", ["group", "feature", "both"])
def test_a_prompt_is_a_group_or_a_feature_or_both(tmp_path, use):
    imported = import_judgements(FILES / "alpaca-eval.json", prompt=use)
    assert ("prompt" in imported.items) is (use != "group")
    assert ("group" in imported.pairs) is ("prompt" in imported.pairs) is (use != "feature")
    table, judged = read_comparisons(*saved(tmp_path, imported))
    assert list(table.columns) == (["text"] if use == "group" else ["text", "prompt"])
    assert ("group" in judged.names) is (use != "feature")
    export_judgements(tmp_path / "again.json", *saved(tmp_path, imported), format="alpaca-eval")
    assert [row["instruction"] for row in records(tmp_path / "again.json")] == [
        "Explain rain.",
        "Add 1 and 2.",
        "Say hello.",
    ]


def test_with_the_prompt_as_a_feature_the_same_text_is_two_items(tmp_path):
    rows = [
        {"prompt": prompt, "chosen": "Yes, it is.", "rejected": "No, it is not."} for prompt in ("Is 7 prime?", "Is 8?")
    ]
    (tmp_path / "judged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(import_judgements(tmp_path / "judged.jsonl").items["id"]) == 2
    assert len(import_judgements(tmp_path / "judged.jsonl", prompt="feature").items["id"]) == 4


def test_parquet_with_lists_is_read_in_batches(tmp_path):
    rows = records(FILES / "helpsteer3.jsonl")
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "train.parquet")
    imported = import_judgements(tmp_path / "train.parquet", individual=True)
    expected = import_judgements(FILES / "helpsteer3.jsonl", individual=True)
    assert as_judgements(imported) == as_judgements(expected)
    assert imported.skipped == expected.skipped


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": 1}, "line 1: the format is not certain: its keys are 'a', and the formats are trl, helpsteer3,"),
        (
            {"chosen": "a", "rejected": "b", "model_a": "x", "model_b": "y", "winner": "tie"},
            r"line 1: the format is not certain: it may be trl or arena\. Name it with format=",
        ),
    ],
)
def test_a_format_that_is_not_certain_is_an_error(tmp_path, row, message):
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(ValueError, match=message):
        import_judgements(tmp_path / "rows.jsonl")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("trl.jsonl", {"individual": True}, "individual=True would not be used to read files of trl"),
        ("helpsteer3.jsonl", {"max_margin": 3}, "max_margin=3 would not be used to read files of helpsteer3"),
        ("arena.jsonl", {"scale": "1,7"}, "scale='1,7' would not be used"),
        ("trl.jsonl", {"chat": True}, "chat=True would not be used to read files"),
        ("trl.jsonl", {"format": "tsl"}, "unknown format 'tsl'. Did you mean 'trl'"),
        ("trl.jsonl", {"prompt": "groups"}, "unknown prompt 'groups'. Did you mean 'group'"),
        ("trl.jsonl", {"item_kind": "texts"}, "unknown item_kind 'texts'"),
        ("trl.jsonl", {"format": "arena"}, "line 1: this is not a record of arena.*its keys are 'prompt', 'chosen'"),
    ],
)
def test_options_without_effect_are_errors(name, options, message):
    with pytest.raises(ValueError, match=message):
        import_judgements(FILES / name, **options)


def test_pairs_of_a_study_without_differences_are_left_out(tmp_path):
    items = {"id": ["a", "b", "c"], "text": ["one", "two", "three"]}
    pairs = {"left": ["a", "b"], "right": ["b", "c"], "difference": [0.4, np.nan], "same": [np.nan, 1.0]}
    written = export_judgements(tmp_path / "file.jsonl", items, pairs, format="helpsteer3")
    assert (written.pairs, written.records, written.without_difference, written.rounded) == (2, 1, 1, 1)


def test_items_with_several_columns_need_a_text(tmp_path):
    items = {"id": ["a", "b"], "size": [1, 2], "colour": ["red", "blue"]}
    pairs = {"left": ["a"], "right": ["b"], "difference": [1.0]}
    with pytest.raises(ValueError, match="one text per item, but the items have the columns size, colour"):
        export_judgements(tmp_path / "file.jsonl", items, pairs, format="trl")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"must end in \.jsonl or \.json; got 'file\.csv'"):
        export_judgements(tmp_path / "file.csv", items, pairs, format="trl")
    with pytest.raises(ValueError, match="column 'right', row 0: the id 'z' is not among the items"):
        export_judgements(tmp_path / "file.jsonl", items, pairs | {"right": ["z"]}, format="trl")
