import json
import re

import pandas as pd
import pytest

from command import confdiff
from confdiff.labelling import open_study
from labelling.studies import answer_all

ITEMS = """id,text,size
cow,A cow,-0.5
dog,Two dogs,1.5
=ant,=1+2,2
bee,A bee,3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "items.csv").write_text(ITEMS)
    result = new(tmp_path, "--judges", "2")
    assert result.returncode == 0, result.stderr
    return tmp_path


def new(folder, *options, name="animals.db"):
    return confdiff(
        "label", "new", name, "--items", "items.csv", "--question", "Which is larger?", *options, cwd=folder
    )


def label(folder, *arguments):
    result = confdiff("label", *arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    return result.stdout


def answers_of(folder, name):
    study = open_study(folder / "animals.db")
    given = answer_all(study, name)
    study.close_connections()
    return len(given)


def test_new_says_what_follows(tmp_path):
    (tmp_path / "items.csv").write_text(ITEMS)
    result = new(tmp_path, "--judges", "2", "--words", "less,same,more", "--points", "3", "--show", "text,size")
    assert result.returncode == 0, result.stderr
    assert "study: animals.db" in result.stdout
    assert re.search(r"4 items, \d+ questions for 2 annotators", result.stdout)
    assert "confdiff label invite animals.db NAME" in result.stdout
    settings = open_study(tmp_path / "animals.db").settings
    assert (settings.words, settings.show) == (("less", "same", "more"), ("text", "size"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--points", "4"], "--points must be 3, 5, 7 or 9, or 0 for a fine scale; got 4"),
        (["--words", "less,more"], "--words must be 7, one for each of 7 points; got 2"),
        (["--show", "text,price"], "--show must name columns of items.csv, which has id, text and size; got 'price'"),
        (["--image", "price"], "no column of items.csv is named 'price' (--image price)"),
        (["--same-class", "120%"], "--same-class must be a fraction from 0 to 1, such as 5% or 0.05; got '120%'"),
        (["--same-class", "some"], "--same-class must be a fraction"),
        (["--media", "missing"], "--media must be an existing folder; got 'missing'"),
        (["--gold", "gold.csv"], "--gold must name items of items.csv by their ids; 'horse' is not one"),
        (["--examples", "missing.csv"], "--examples missing.csv: the table missing.csv does not exist"),
        (["--instructions", "missing.md"], "missing.md"),
        (["--judges", "0"], "--judges must be"),
        (["--design", "best"], "unknown design 'best'"),
        (["--id", "code"], "no column of items.csv is named 'code'"),
    ],
)
def test_bad_options_write_nothing(tmp_path, options, message):
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "gold.csv").write_text("left,right,difference\ncow,horse,0.5\n")
    before = sorted(tmp_path.iterdir())
    result = new(tmp_path, *options, "--quiet")  # no lines of progress
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.strip().count("\n") == 0
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ("id,text\na,A\na,B\n", "items.csv: the ids must be unique; 'a' in row 3"),
        ("id,text\na,A\n", "items.csv must have at least two items to compare; got 1"),
        ("id\na\nb\n", "at least one column besides the ids"),
    ],
)
def test_bad_items_write_nothing(tmp_path, items, message):
    (tmp_path / "items.csv").write_text(items)
    result = new(tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["items.csv"]


def test_an_existing_study_is_refused(folder):
    result = new(folder)
    assert result.returncode == 2
    assert "animals.db already exists" in result.stderr


def test_gold_pairs_and_examples(tmp_path):
    (tmp_path / "items.csv").write_text("id,x\n1,a\n2,b\n30,c\n")
    (tmp_path / "gold.csv").write_text("left,right,difference\n1,30,0.5\n")
    result = new(tmp_path, "--gold", "gold.csv", "--examples", "gold.csv", "--judges", "2")
    assert result.returncode == 0, result.stderr
    study = open_study(tmp_path / "animals.db")
    assert study.settings.gold == study.settings.examples == (("1", "30", 0.5),)
    assert {(q.left, q.right) for q in study.plan() if q.kind == "gold"} <= {(0, 2), (2, 0)}
    assert sum(q.kind == "gold" for q in study.plan()) == 2


def test_invitations_print_links_that_work(folder):
    text = label(folder, "invite", "animals.db", "Ann", "Ben", "--url", "https://label.example.org/animals/")
    links = re.findall(r"https://label\.example\.org/animals/join/(\S+)", text)
    study = open_study(folder / "animals.db")
    assert [study.annotator_of(study.exchange(token)).name for token in links] == ["Ann", "Ben"]
    label(folder, "revoke", "animals.db", "Ann")
    assert study.exchange(links[0]) is None


def test_status_and_quota(folder):
    label(folder, "invite", "animals.db", "Ann", "--quota", "3")
    assert answers_of(folder, "Ann") == 3
    assert "Ann: 3 of 5 answers" in label(folder, "quota", "animals.db", "Ann", "5")
    status = json.loads(label(folder, "status", "animals.db", "--json"))
    assert (status["study"], status["state"], status["items"], status["answers"]) == ("animals.db", "open", 4, 3)
    (ann,) = status["annotators"]
    assert (ann["name"], ann["answered"], ann["quota"], ann["revoked"]) == ("Ann", 3, 5, False)
    text = label(folder, "status", "animals.db")
    assert re.search(r"Ann\W+3\W+5", text)
    assert "animals.db is open: 3 answers to" in text
    label(folder, "quota", "animals.db", "Ann", "default")
    assert json.loads(label(folder, "status", "animals.db", "--json"))["annotators"][0]["quota"] > 5


@pytest.mark.parametrize(("command", "state"), [("pause", "paused"), ("close", "closed")])
def test_states(folder, command, state):
    label(folder, command, "animals.db")
    assert json.loads(label(folder, "status", "animals.db", "--json"))["state"] == state
    label(folder, "resume", "animals.db")
    assert json.loads(label(folder, "status", "animals.db", "--json"))["state"] == "open"


def test_deletion_needs_a_confirmation(folder):
    label(folder, "invite", "animals.db", "Ann", "--quota", "3")
    answers_of(folder, "Ann")
    result = confdiff("label", "delete", "animals.db", "Ann", cwd=folder)
    assert result.returncode == 2
    assert "3 answers of Ann would be deleted, and cannot be restored. Pass --yes" in result.stderr
    assert "deleted Ann and 3 answers" in label(folder, "delete", "animals.db", "Ann", "--yes")
    assert json.loads(label(folder, "status", "animals.db", "--json"))["annotators"] == []


def test_export(folder):
    label(folder, "invite", "animals.db", "Ann")
    count = answers_of(folder, "Ann")
    text = label(folder, "export", "animals.db", "-o", "out")
    assert text.splitlines() == ["items: out/items.csv", "pairs: out/pairs.csv"]
    assert len(pd.read_csv(folder / "out/pairs.csv")) == count
    assert "'=ant" in (folder / "out/items.csv").read_text()
    label(folder, "export", "animals.db", "-o", "raw", "--no-escape", "--all")
    assert "'=ant" not in (folder / "raw/items.csv").read_text()
    assert (folder / "raw/withdrawn.csv").exists()
    result = confdiff("label", "export", "animals.db", "-o", "out", cwd=folder)
    assert result.returncode == 2
    assert "already exists. Choose another name, or pass --overwrite" in result.stderr
    label(folder, "export", "animals.db", "-o", "out", "--overwrite", "--format", "parquet")


def test_backup(folder):
    label(folder, "backup", "animals.db", "-o", "copy.db")
    assert open_study(folder / "copy.db").item_ids() == ["cow", "dog", "=ant", "bee"]
    result = confdiff("label", "backup", "animals.db", "-o", "copy.db", cwd=folder)
    assert result.returncode == 2
    assert "pass --overwrite" in result.stderr


@pytest.mark.parametrize("command", ["revoke", "quota", "delete"])
def test_unknown_annotators(folder, command):
    label(folder, "invite", "animals.db", "Ann")
    more = ["5"] if command == "quota" else []
    result = confdiff("label", command, "animals.db", "Bob", *more, cwd=folder)
    assert result.returncode == 2
    assert "no annotator is named 'Bob'; the study has 'Ann'" in result.stderr


@pytest.mark.parametrize("study", ["missing.db", "items.csv", "postgresql://me:secret@host/data", "."])
def test_what_is_not_a_study(folder, study):
    result = confdiff("label", "status", study, cwd=folder)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
    assert "secret" not in result.stderr


def test_a_new_link_of_the_owner_may_end_the_earlier_ones(folder):
    first = label(folder, "owner", "animals.db").strip()
    assert re.fullmatch(r"owner's page: http://127\.0\.0\.1:8000/owner/join/[\w-]{22,}", first)
    second = label(folder, "owner", "animals.db", "--url", "https://judge.example.org/").strip()
    assert "https://judge.example.org/owner/join/" in second
    third = label(folder, "owner", "animals.db", "--renew").strip()
    study = open_study(folder / "animals.db")
    is_valid = [study.is_owner(link.rpartition("/")[2]) for link in (first, second, third)]
    study.close_connections()
    assert is_valid == [False, False, True]
