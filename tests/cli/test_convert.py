import json
import shutil

import pandas as pd
import pytest

from command import confdiff
from confdiff.labelling import StudySettings, create_study
from confdiff.tabular.formats.importing import import_judgements
from confdiff.tabular.formats.registry import COMPARISON_FORMATS
from labelling.studies import ITEMS, answer_all
from tabular.formats.test_formats import FILES, FORMAT_OF_FILE, records
from tabular.formats.test_trl import answers, preference, written


def test_the_formats_are_listed():
    listing = confdiff("convert", "--list")
    assert listing.returncode == 0
    assert all(
        known.name in listing.stdout and known.summary in listing.stdout for known in COMPARISON_FORMATS.values()
    )


def test_check_takes_what_is_written(tmp_path):
    written(tmp_path, *answers()[0])
    result = confdiff("convert", "judged.jsonl", "-o", "tables", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "480 records of trl: 480 judged pairs of 40 items" in result.stdout
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == ["items.csv", "pairs.csv"]
    items, pairs = (pd.read_csv(tmp_path / "tables" / f"{name}.csv") for name in ("items", "pairs"))
    expected = import_judgements(tmp_path / "judged.jsonl")
    assert items["text"].tolist() == expected.items["text"].tolist()
    assert pairs["difference"].tolist() == expected.pairs["difference"].tolist()
    checked = confdiff("check", "tables/items.csv", "tables/pairs.csv", "--json", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    roles = {column["role"] for column in json.loads(checked.stdout)["pairs"]["columns"]}
    assert roles == {"left", "right", "difference", "group", "annotator"}


@pytest.mark.parametrize("name", FORMAT_OF_FILE)
def test_rank_reads_every_converted_file_without_flags(tmp_path, name):
    converted = confdiff("convert", FILES / name, "-o", tmp_path)
    assert converted.returncode == 0, converted.stderr
    ranked = confdiff("rank", tmp_path / "pairs.csv", "-o", tmp_path / "ranking.csv", "--n-proposals", "0")
    assert ranked.returncode == 0, ranked.stderr


def test_what_was_skipped_is_printed(tmp_path):
    result = confdiff("convert", FILES / "label-studio.json", "-o", "tables", cwd=tmp_path)
    assert "3 records of label-studio: 3 judged pairs of 3 items" in result.stdout
    assert "skipped: cancelled annotations: 1" in result.stdout
    assert "skipped: tasks without annotations: 1" in result.stdout
    assert "the choices are 7 words from 'left by far' to 'right by far'" in result.stdout
    nested = confdiff("convert", FILES / "alpaca-eval.json", "-o", "others", cwd=tmp_path)
    assert "left out, because tables cannot hold lists and objects: raw_completion" in nested.stdout


def test_the_summary_can_be_read_by_programs(tmp_path):
    result = confdiff("convert", FILES / "trl.jsonl", "-o", "tables", "--json", cwd=tmp_path)
    assert json.loads(result.stdout) == {
        "format": "trl",
        "records": 3,
        "pairs": 3,
        "items": 5,
        "skipped": {},
        "left_out": [],
        "note": "a margin of 1 means certainty",
        "files": {"items": "tables/items.csv", "pairs": "tables/pairs.csv"},
    }
    tables = ("tables/items.csv", "tables/pairs.csv")
    back = confdiff("convert", *tables, "--to", "trl", "-o", "back.jsonl", "--json", cwd=tmp_path)
    summary = json.loads(back.stdout)
    assert (summary["pairs"], summary["records"], summary["rounded"]) == (3, 3, 0)
    assert summary["files"] == {"trl": "back.jsonl"}


def test_differences_of_0_and_1_alone_keep_their_meaning(tmp_path):
    """They could mean several things, so that the scale is written next to the tables and read from there."""
    result = confdiff("convert", FILES / "arena.jsonl", "-o", "tables", cwd=tmp_path)
    assert "configuration: tables/confdiff.toml" in result.stdout
    checked = confdiff("check", "tables/items.csv", "tables/pairs.csv", cwd=tmp_path)
    assert "scale: a scale from -1 to 1" in checked.stdout, checked.stdout
    again = confdiff("convert", "tables/items.csv", "tables/pairs.csv", "--to", "arena", "-o", "a.jsonl", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert [row["winner"] for row in records(tmp_path / "a.jsonl")] == ["model_b", "tie (bothbad)", "tie"]


def test_ids_need_no_items_and_existing_files_are_kept(tmp_path):
    written(tmp_path, preference("a7", "a8"), preference("a9", "a8"), preference("a8", "a7"))
    (tmp_path / "items.csv").write_text("mine")
    assert confdiff("convert", "judged.jsonl", "-o", ".", "--items", "ids", cwd=tmp_path).returncode == 0
    assert (tmp_path / "items.csv").read_text() == "mine"
    again = confdiff("convert", "judged.jsonl", "-o", ".", "--items", "ids", cwd=tmp_path)
    assert again.returncode == 2
    assert "pairs.csv already exists. Choose another name, or pass --overwrite" in again.stderr
    forced = confdiff("convert", "judged.jsonl", "-o", ".", "--items", "ids", "--overwrite", cwd=tmp_path)
    assert forced.returncode == 0


def test_tables_become_files_of_other_tools(tmp_path):
    shutil.copy(FILES / "trl.jsonl", tmp_path)
    confdiff("convert", "trl.jsonl", "-o", ".", cwd=tmp_path)
    tables = ("items.csv", "pairs.csv")
    result = confdiff("convert", *tables, "--to", "helpsteer3", "-o", "steer.jsonl", cwd=tmp_path)
    assert "3 pairs: 3 records of helpsteer3" in result.stdout
    assert "rounded to the points of the format: 1 judgement" in result.stdout
    assert {abs(row["overall_preference"]) for row in records(tmp_path / "steer.jsonl")} == {0, 2, 3}
    again = confdiff("convert", *tables, "--to", "helpsteer3", "-o", "steer.jsonl", cwd=tmp_path)
    assert "steer.jsonl already exists" in again.stderr
    chat = confdiff("convert", *tables, "--to", "trl", "--chat", "-o", "chat.jsonl", cwd=tmp_path)
    assert chat.returncode == 0, chat.stderr
    assert records(tmp_path / "chat.jsonl")[0]["prompt"] == [{"role": "user", "content": "Why is the sky blue?"}]


def test_models_need_no_items(tmp_path):
    confdiff("convert", FILES / "arena-labels.jsonl", "-o", ".", cwd=tmp_path)
    result = confdiff("convert", "pairs.csv", "--to", "arena", "-o", "battles.json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert [row["verdict"] for row in records(tmp_path / "battles.json")] == ["[[B>>A]]", "A>B", "A=B"]


def test_a_study_becomes_a_file(tmp_path):
    study = create_study(tmp_path / "study.db", ITEMS, StudySettings(question="Which is larger?", pairs_per_item=5))
    command = ("convert", "study.db", "--to", "trl", "-o", "train.jsonl")
    empty = confdiff(*command, cwd=tmp_path)
    assert (empty.returncode, empty.stdout) == (2, "")
    assert "study.db has no answers with a judgement yet" in empty.stderr
    study.invite("Ann")
    answered = answer_all(study, "Ann", grade=1.0)  # the item on the right is better, by far
    pairs = study.pairs()
    study.close_connections()
    result = confdiff(*command, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    text = dict(zip(ITEMS["id"], ITEMS["text"], strict=True))
    shown_last = [
        text[right if first == left else left]
        for left, right, first in zip(pairs["left"], pairs["right"], pairs["shown_first"], strict=True)
    ]
    rows = records(tmp_path / "train.jsonl")
    assert len(rows) == len(answered) == len(shown_last)
    assert [row["chosen"] for row in rows] == shown_last
    assert {(row["margin"], row["judge"], row["shown_first"]) for row in rows} == {(1.0, "Ann", "rejected")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a FILE must be given, or --list"),
        (("trl.jsonl", "pairs.csv"), "PAIRS is for writing files of other tools: pass --to FORMAT"),
        (("trl.jsonl", "--id", "x"), "--id is for writing files"),
        (("trl.jsonl", "--from", "trl", "--to", "arena"), "--from reads and --to writes files of other tools"),
        (("trl.jsonl", "--from", "arena"), "line 1: this is not a record of arena"),
        (("trl.jsonl", "--individual"), "--individual would not be used to read files of trl"),
        (("trl.jsonl", "--prompt", "groups"), "unknown prompt 'groups'. Did you mean 'group'"),
        (("pairs.csv", "--to", "trl"), "pass -o FILE with --to"),
        (("pairs.csv", "--to", "trl", "-o", "a.jsonl", "--prompt", "both"), "--prompt both would not be used"),
        (("pairs.csv", "--to", "trl", "-o", "a.jsonl", "--items", "ids"), "--items ids would not be used to write"),
        (("pairs.csv", "--to", "trl", "-o", "a.jsonl", "--no-escape"), "--no-escape is for tables"),
        (("pairs.csv", "--to", "tsl", "-o", "a.jsonl"), "unknown format 'tsl'. Did you mean 'trl'"),
        (("pairs.csv", "--to", "trl", "-o", "a.csv"), "must end in .jsonl or .json; got 'a.csv'"),
        (("rows.jsonl",), "the format is not certain: its keys are 'a'"),
        (("rows.jsonl",), "Name it with --from FORMAT"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path, arguments, message):
    shutil.copy(FILES / "trl.jsonl", tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "pairs.csv").write_text("left,right,difference\na,b,-1\n")
    before = sorted(tmp_path.iterdir())
    result = confdiff("convert", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert sorted(tmp_path.iterdir()) == before
