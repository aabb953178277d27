"""confdiff label design: a table of questions, without a server."""

import pandas as pd
import pytest

from command import confdiff

GOLD = "left,right,difference\ni0,i9,1\n"


@pytest.fixture
def folder(tmp_path):
    items = pd.DataFrame({"id": [f"i{k}" for k in range(40)], "topic": ["a", "b"] * 20, "size": range(40)})
    items.to_csv(tmp_path / "items.csv", index=False)
    (tmp_path / "gold.csv").write_text(GOLD)
    return tmp_path


def design(folder, *options):
    return confdiff("label", "design", "items.csv", *options, cwd=folder)


def test_the_table_can_be_filled_in_and_checked(folder):
    result = design(folder, "-o", "pairs.csv", "--judges", "2", "--same-class", "5%", "--gold", "gold.csv")
    assert result.returncode == 0, result.stderr
    assert "40 items, 202 questions for 2 annotators: 130 design, 2 gold, 24 random" in result.stdout
    pairs = pd.read_csv(folder / "pairs.csv")
    assert list(pairs) == ["left", "right", "kind", "question", "annotator", "shown_first"]
    assert set(pairs["annotator"]) == {1, 2}
    assert ((pairs["shown_first"] == pairs["left"]) | (pairs["shown_first"] == pairs["right"])).all()
    assert set(pairs[pairs["kind"] == "same-class"]["question"]) == {"same"}
    assert (pairs["kind"] == "gold").sum() == 2
    graded = pairs[pairs["question"] == "difference"]
    rank = graded[["left", "right"]].map(lambda name: int(name[1:]))
    graded.assign(difference=(rank["right"] - rank["left"]) / 40).to_csv(folder / "judged.csv", index=False)
    checked = confdiff("check", "items.csv", "judged.csv", "--scale=-1,1", cwd=folder)
    assert checked.returncode == 0, checked.stderr
    assert "learning curve: with 50 more answers" in checked.stdout


def test_most_pairs_are_within_the_groups(folder):
    assert design(folder, "-o", "pairs.parquet", "--groups", "topic").returncode == 0
    pairs = pd.read_parquet(folder / "pairs.parquet")
    topic = pd.read_csv(folder / "items.csv").set_index("id")["topic"]
    designed = pairs[pairs["kind"] == "design"]
    assert (topic[designed["left"]].to_numpy() == topic[designed["right"]].to_numpy()).mean() > 0.7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--design", "uncertain"], "use it with `confdiff label new`"),
        (["--design", "best"], "unknown design 'best'"),
        (["--groups", "kind"], "no column of items.csv is named 'kind' (--groups kind)"),
        (["--repeats", "lots"], "--repeats must be a fraction"),
        (["--pairs-per-item", "0"], "--pairs-per-item must be a positive number"),
        (["--gold", "other.csv"], "--gold"),
        (["-o", "pairs.doc"], "pairs.doc"),
        (["-o", "items.csv"], "items.csv"),
    ],
)
def test_bad_options_write_nothing(folder, options, message):
    before = sorted(path.name for path in folder.iterdir())
    result = design(folder, *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


def test_gold_pairs_must_be_items(folder):
    (folder / "gold.csv").write_text(GOLD.replace("i9", "x"))
    result = design(folder, "--gold", "gold.csv")
    assert result.returncode == 2
    assert "--gold must have ids of items; got 'x', which is not in items.csv" in result.stderr


def test_an_existing_table_is_not_replaced(folder):
    assert design(folder).returncode == 0
    assert "--overwrite" in design(folder).stderr
    assert design(folder, "--overwrite").returncode == 0
