from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from confdiff.labelling import create_study
from confdiff.labelling.answering import CANNOT_SAY, Answer
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.comparisons import compare
from confdiff.tabular.tables import read_comparisons
from labelling.studies import ITEMS, SETTINGS, answer_all, new_answer

FORMATS = ["csv", "parquet", "jsonl"]
NAMES = ["=Ann", "+Ben"]


@pytest.fixture
def answered(study_address):
    """A study with answers of two annotators, one of them undone, one that cannot say, and same-class answers."""
    study = create_study(study_address, ITEMS, replace(SETTINGS, same_class=0.2))
    rng = np.random.default_rng(0)
    for name in NAMES:
        study.invite(name)
        k = 0
        while assignment := study.next_assignment(name):
            grade = int(rng.integers(-3, 4)) / 3
            study.answer(name, new_answer(assignment, grade, seconds=1.25 + k, note="-1+2" if k == 1 else None))
            if k == 2:
                study.undo(name)
                assignment = study.next_assignment(name)
                study.answer(name, new_answer(assignment, grade, seconds=0.5))
            k += 1
    undone = study.undo("+Ben")
    study.answer("+Ben", Answer(undone.id, "cannot-say-uuid", grade=None, reason=CANNOT_SAY))
    return study


def judged_rows(columns):
    return ~(np.isnan(columns["difference"]) & np.isnan(columns["same"]))


@pytest.mark.parametrize("format", FORMATS)
def test_a_round_trip_loses_nothing(answered, tmp_path, format):
    files = answered.export(tmp_path / "out", format=format)
    assert [file.name for file in files] == [f"items.{format}", f"pairs.{format}"]
    items, pairs = read_comparisons(*files)
    assert items.ids.tolist() == ITEMS["id"]
    assert items.columns["text"].tolist() == ITEMS["text"]
    np.testing.assert_array_equal(items.columns["size"], ITEMS["size"])
    columns = answered.answers()
    rows = judged_rows(columns)
    assert rows.sum() == len(rows) - 1
    np.testing.assert_array_equal(pairs.difference, columns["difference"][rows])
    np.testing.assert_array_equal(pairs.same, columns["same"][rows])
    for role in ("left", "right", "annotator", "shown_first"):
        assert getattr(pairs, role).tolist() == columns[role][rows].tolist(), role
    np.testing.assert_array_equal(pairs.time.astype("datetime64[us]"), columns["time"][rows])
    assert set(pairs.names) == {"left", "right", "difference", "same", "annotator", "time", "shown_first"}
    compared = compare(items, pairs)
    assert set(compared.side.tolist()) == {-1, 1}


@pytest.mark.parametrize("format", FORMATS)
def test_the_other_columns_survive(answered, tmp_path, format):
    _, path = answered.export(tmp_path, format=format, escape=False)
    table = {
        "csv": lambda: pd.read_csv(path),
        "parquet": lambda: pd.read_parquet(path),
        "jsonl": lambda: pd.read_json(path, lines=True),
    }[format]()
    columns = answered.answers()
    rows = judged_rows(columns)
    assert table["kind"].tolist() == columns["kind"][rows].tolist()
    assert "repeat" in set(table["kind"])
    np.testing.assert_array_equal(table["seconds"], columns["seconds"][rows])
    assert table["client_id"].tolist() == columns["client_id"][rows].tolist()
    notes = [None if isinstance(note, float) else note for note in table["note"].tolist()]
    assert notes == columns["note"][rows].tolist()


@pytest.mark.parametrize("format", FORMATS)
def test_withdrawn_answers_on_request(answered, tmp_path, format):
    files = answered.export(tmp_path, format=format, superseded=True)
    assert files[2].name == f"withdrawn.{format}"
    withdrawn = {"csv": pd.read_csv, "parquet": pd.read_parquet, "jsonl": lambda path: pd.read_json(path, lines=True)}
    table = withdrawn[format](files[2])
    everything = answered.answers(superseded=True)
    assert len(read_comparisons(*files[:2])[1]) + len(table) == len(everything["left"])
    assert table["superseded"].tolist() == [True, True, True, False]
    assert table["reason"].tolist()[-1] == CANNOT_SAY


def test_repeats_can_be_recognised_after_the_round_trip(answered, tmp_path):
    files = answered.export(tmp_path)
    table = pd.read_csv(files[1])
    for _, repeat in table[table.kind == "repeat"].iterrows():
        ends = {repeat.left, repeat.right}
        same_pair = table[(table.annotator == repeat.annotator) & (table.index < repeat.name)]
        first = same_pair[[set(pair) == ends for pair in zip(same_pair.left, same_pair.right, strict=True)]]
        first = first[first.difference.notna()].iloc[-1]
        assert first.shown_first != repeat.shown_first
        assert first.shown_first in ends


def test_cells_that_spreadsheets_would_run_are_escaped(answered, tmp_path):
    items, pairs = (path.read_text() for path in answered.export(tmp_path / "escaped"))
    for text in ("'=cat", "'@ant", "'=1+2", "'+ more"):
        assert f'"{text}"' in items
    assert '"-7"' in items  # a number is not a formula
    assert ",-0.5\n" in items
    assert "-0.333" in pairs
    assert "'-0" not in pairs
    assert '"\'=Ann"' in pairs
    assert '"\'-1+2"' in pairs
    for field in ("left", "shown_first"):
        assert not any(cell.startswith(("=", "+", "@")) for cell in pd.read_csv(tmp_path / "escaped/pairs.csv")[field])


def test_escaping_can_be_turned_off(answered, tmp_path):
    files = answered.export(tmp_path, escape=False)
    text = files[0].read_text() + files[1].read_text()
    assert "'=" not in text
    assert '"=cat"' in text
    assert read_comparisons(*files)[0].ids.tolist() == ITEMS["id"]


@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_formats_with_types_are_not_escaped(answered, tmp_path, format):
    for path in answered.export(tmp_path, format=format):
        assert b"'=" not in path.read_bytes()


@pytest.mark.parametrize("format", FORMATS)
def test_ids_that_are_numbers_or_look_like_numbers(tmp_path, closing_engines, format):
    for k, ids in enumerate(([1, 20, 300], ["007", "7.0", "1e3"], ["'=a", "''=b", "'c"])):
        study = create_study(tmp_path / f"{k}.db", {"id": ids, "x": [0.1, 0.2, 0.3]}, SETTINGS)
        study.invite("Ann", quota=100)
        answer_all(study, "Ann")
        items, pairs = read_comparisons(*study.export(tmp_path / str(k), format=format))
        assert items.ids.tolist() == ids
        assert set(pairs.left.tolist()) | set(pairs.right.tolist()) == set(ids)
        left, right = pairs.rows(items)
        assert (left >= 0).all()
        assert (right >= 0).all()


@pytest.mark.parametrize("format", FORMATS)
def test_columns_of_every_type_survive(tmp_path, closing_engines, format):
    items = {
        "key": ["a", "b", "c"],
        "count": [1, 2**40, -3],
        "some": [1.0, float("nan"), 3.0],
        "zip": ["02139", "10001", ""],
        "flag": [True, False, True],
        "when": np.array(["2026-01-31T12:00:00", "NaT", "2026-02-01"], dtype="datetime64[us]"),
        "text": ["ü\n,\"';", "<b>", "\t x"],
    }
    study = create_study(tmp_path / "animals.db", items, SETTINGS)
    study.invite("Ann")
    study.answer("Ann", new_answer(study.next_assignment("Ann")))
    table, _ = read_comparisons(*study.export(tmp_path / "out", format=format))
    assert table.id_name == "key"
    stored = study.items()
    for name in items:
        if name != "key":
            assert table.columns[name].dtype == stored[name].dtype
            missing = "" if name == "zip" else None
            assert [v or missing if v is None else v for v in table.columns[name].tolist() if v == v] == [
                v or missing if v is None else v for v in stored[name].tolist() if v == v
            ]
    assert stored["count"].tolist() == [1, 2**40, -3]
    assert stored["when"].tolist() == items["when"].tolist()
    assert study.item(1) == {
        "key": "b",
        "count": 2**40,
        "some": None,
        "zip": "10001",
        "flag": False,
        "when": None,
        "text": "<b>",
    }


def test_the_tables_are_checked_without_errors(answered, tmp_path):
    report = check_comparisons(*answered.export(tmp_path))
    assert report.errors == ()
    assert report.id_name == "id"


def test_existing_files_are_kept(answered, tmp_path):
    (tmp_path / "items.csv").write_text("mine")
    with pytest.raises(FileExistsError, match="already exists"):
        answered.export(tmp_path)
    assert [path.name for path in tmp_path.glob("*.csv")] == ["items.csv"]
    answered.export(tmp_path, overwrite=True)
    assert (tmp_path / "items.csv").read_text() != "mine"
    with pytest.raises(ValueError, match="unknown format 'xml'"):
        answered.export(tmp_path, format="xml")


def test_items_are_numbered(study):
    assert study.item(0)["id"] == "cow"
    for number in (-1, len(ITEMS["id"]), 2**40):
        with pytest.raises(IndexError, match="item must be"):
            study.item(number)


def test_a_study_without_answers_is_exported(study, tmp_path):
    items, pairs = study.export(tmp_path)
    assert len(pd.read_csv(items)) == len(ITEMS["id"])
    assert list(pd.read_csv(pairs))[:3] == ["left", "right", "difference"]
