from pathlib import Path

import pytest

from confdiff.pairs.files import companion, read_pairs


def write_pairs(folder, pairs, items):
    path = folder / "pairs.csv"
    path.write_text(pairs)
    companion(path, "items").write_text(items)
    return path


ITEMS = "id,age,weight\n30,1,10\n10,2,20\n20,3,30\n"


def test_pairs_are_read_by_id(tmp_path):
    pairs = read_pairs(write_pairs(tmp_path, "left,right,difference\n10,20,0.5\n30,10,-0.25\n", ITEMS))
    assert pairs.items[pairs.left].tolist() == [[2, 20], [1, 10]]
    assert pairs.items[pairs.right].tolist() == [[3, 30], [2, 20]]
    assert pairs.difference.tolist() == [0.5, -0.25]
    assert pairs.feature_names == ("age", "weight")


def test_ids_may_be_text(tmp_path):
    items = ITEMS.replace("30,1", "ann,1").replace("10,2", "bob,2").replace("20,3", "cy,3")
    pairs = read_pairs(write_pairs(tmp_path, "left,right,difference\nbob,cy,0.5\n", items))
    assert pairs.items[pairs.left].tolist() == [[2, 20]]


@pytest.mark.parametrize(
    ("pairs", "items", "message"),
    [
        ("left,right,c\n10,20,0.5\n", ITEMS, "must have a column 'difference'; it has left, right, c"),
        ("left,right,difference\n10,20,0.5\n", ITEMS.replace("id", "key"), "must have a column 'id'"),
        ("left,right,difference\n10,20,0.5\n10,99,0.5\n", ITEMS, "column 'right', row 1: the id 99 is not among"),
        ("left,right,difference\n10,20,1.5\n", ITEMS, r"must lie in \[-1, 1\]"),
        ("left,right,difference\n10,20,0.5\n", ITEMS.replace("30,1", "10,1"), "the id 10 occurs more than once"),
        (
            "left,right,difference\n10,20,0.5\n",
            ITEMS.replace("1,10", "1,old"),
            "items.csv, column 'weight', must be numeric; got 'old' at row 0",
        ),
    ],
)
def test_mistakes_in_files_are_named(tmp_path, pairs, items, message):
    with pytest.raises(ValueError, match=message):
        read_pairs(write_pairs(tmp_path, pairs, items))


@pytest.mark.parametrize(
    ("pairs", "items", "message"),
    [
        ("left,right,difference\n10,20,0.5\n", "id,age,age\n10,1,2\n20,3,4\n", "got 'age' more than once"),
        ("left,right,difference\n10,20,0.5\n", ITEMS.replace("10,2", "ann,2"), "row 0: the id 10 is not among"),
        ("left,right,difference\nx,y,0.5\n", ITEMS, "row 0: the id 'x' is not among the items"),
        ("left,right,difference\n10,,0.5\n10,20,0.1\n", ITEMS, "column 'right': an id is missing in row 0"),
        ("left,right,difference\n10,20,\n10,20,0.1\n", ITEMS, "column 'difference', must be finite.*row 0"),
        ("left,right,difference\n", ITEMS, "must have at least one row"),
        ("left,right,difference\n10,20,0.5\n", "id,age\n", "must have at least one row"),
        ("left,right,difference\n10,20,0.5\n", "id\n10\n20\n", "at least one feature besides the column 'id'"),
        ("left,right,difference\n10,20,0.5\n", ITEMS.replace("2,20", "2,"), "column 'weight', must be finite.*row 1"),
    ],
)
def test_holes_and_mixtures_are_named(tmp_path, pairs, items, message):
    with pytest.raises(ValueError, match=message):
        read_pairs(write_pairs(tmp_path, pairs, items))


def test_differences_beyond_the_range_can_be_asked_for(tmp_path):
    path = write_pairs(tmp_path, "left,right,difference\n10,20,1.5\n", ITEMS)
    assert read_pairs(path, bounded=False).difference.tolist() == [1.5]


def test_missing_items(tmp_path):
    path = write_pairs(tmp_path, "left,right,difference\n10,20,0.5\n", ITEMS)
    companion(path, "items").rename(tmp_path / "elsewhere.csv")
    with pytest.raises(FileNotFoundError, match=r"pairs-items\.csv"):
        read_pairs(path)
    assert len(read_pairs(path, tmp_path / "elsewhere.csv")) == 1
    assert companion(Path("a.b.csv"), "items") == Path("a.b-items.csv")


def test_same_class_answers_are_read(tmp_path):
    table = "left,right,difference,same\n10,20,0.5,\n30,10,,1\n"
    pairs = read_pairs(write_pairs(tmp_path, table, ITEMS))
    assert pairs.carries("differences").tolist() == [True, False]
    assert pairs.carrying("same").same.tolist() == [1]
    with pytest.raises(ValueError, match="row 1 has neither"):
        read_pairs(write_pairs(tmp_path, table.replace(",,1", ",,"), ITEMS))
