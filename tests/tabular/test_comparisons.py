import hashlib

import numpy as np
import pandas as pd
import pytest

from confdiff.pairs.splitting import draw_item_parts
from confdiff.tabular.comparisons import compare, split_pairs
from confdiff.tabular.scales import parse_scale
from confdiff.tabular.tables import read_items, read_judged

ITEMS = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])


def judged(**columns):
    return read_judged(pd.DataFrame({"left": ["a", "b"], "right": ["b", "c"], "difference": [0.5, -0.25]} | columns))


def test_pairs_become_rows_of_the_items():
    compared = compare(read_items(ITEMS), judged(weight=[1, 3], topic=["t", "u"]))
    assert (compared.left.tolist(), compared.right.tolist()) == ([0, 1], [1, 2])
    assert compared.difference.tolist() == [0.5, -0.25]
    assert compared.weight.tolist() == [0.5, 1.5]
    assert compared.group.tolist() == ["t", "u"]


@pytest.mark.parametrize(
    ("ids", "names"),
    [
        ([10, 20, 30], [10, 20]),
        ([10, 20, 30], ["10", "20"]),
        ([10, 20, 30], [10.0, 20.0]),
        (["10", "20", "30"], [10, 20]),
        (["10", "20", "30"], ["10", "20"]),
        (["10", "20", "30"], [10.0, 20.0]),
        (np.array([10, 20, 30], dtype=object), [10, 20]),
        (pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"]), pd.to_datetime(["2026-01-01", "2026-01-02"])),
    ],
)
def test_numbers_may_be_written_as_text(ids, names):
    compared = compare(read_items(ITEMS.set_axis(ids)), judged(left=names, right=names[::-1]))
    assert compared.left.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"left": ["a", "z"]}, r"column 'left', row 1: the id 'z' is not among the items\. Add the item"),
        ({"left": ["a", None]}, "column 'left', row 1: the id is missing"),
        ({"right": ["a", "b"]}, r"row 0 \(2 such rows\): 'a' is compared with itself"),
        ({"difference": [0.5, np.nan]}, "column 'difference', row 1: the difference is missing"),
        ({"difference": [0.5, 1.7]}, r"must lie in \[-1, 1\].*1.7 in row 1\)\. Pass scale="),
        ({"weight": [1, -1]}, "column 'weight', row 1: the weight -1.0 is not valid"),
        ({"weight": [0, 0]}, "weight must be above 0 for at least one pair"),
    ],
)
def test_what_cannot_be_used_is_named(columns, message):
    with pytest.raises(ValueError, match=message):
        compare(read_items(ITEMS), judged(**columns))


def test_a_given_scale():
    items = read_items(ITEMS)
    assert compare(items, judged(difference=[0, 75]), parse_scale("0,100")).difference.tolist() == [-1, 0.5]
    with pytest.raises(ValueError, match=r"row 1: 120\.0 is outside a scale from 0 to 100"):
        compare(items, judged(difference=[0, 120]), parse_scale("0,100"))


def random_comparisons(n_items=200, n_pairs=1000, seed=0):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_items, n_pairs)
    right = (left + rng.integers(1, n_items, n_pairs)) % n_items
    frame = pd.DataFrame({"left": left, "right": right, "difference": 0.1, "group": left % 10})
    return compare(read_items(pd.DataFrame({"x": np.zeros(n_items)})), read_judged(frame))


def test_differences_without_a_negative_one_are_doubted():
    table = read_items(pd.DataFrame({"id": range(40), "x": range(40)}))
    columns = {"left": range(20), "right": range(20, 40), "difference": np.linspace(0, 1, 20)}
    with pytest.warns(UserWarning, match=r"no difference is negative.*pass scale=\(0, 1\)"):
        compare(table, read_judged(pd.DataFrame(columns)))
    assert compare(table, read_judged(pd.DataFrame(columns)), parse_scale((-1, 1))).difference.max() == 1


def test_no_item_leaks_from_one_part_of_a_split_to_training():
    compared = random_comparisons()
    split = split_pairs(compared, 0.3, seed=1)
    trained = set(compared.left[split.train]) | set(compared.right[split.train])
    for part in (split.validation, split.test):
        new = [
            not {left, right} <= trained for left, right in zip(compared.left[part], compared.right[part], strict=True)
        ]
        assert all(new)
    everything = np.concatenate([split.train, split.validation, split.test])
    assert sorted(everything.tolist()) == list(range(1000))
    assert 0.2 < 1 - len(split.train) / 1000 < 0.4
    stopped = set(compared.left[split.validation]) | set(compared.right[split.validation])
    judged_by = [
        not {a, b} <= stopped | trained
        for a, b in zip(compared.left[split.test], compared.right[split.test], strict=True)
    ]
    assert all(judged_by)


def test_whole_groups_can_be_held_out():
    compared = random_comparisons()
    split = split_pairs(compared, 0.4, seed=0, by="group")
    groups = [set(compared.group[part]) for part in (split.train, split.validation, split.test)]
    assert [len(group) for group in groups] == [6, 2, 2]
    assert not groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2]


def test_splits_depend_on_the_seed_alone():
    compared = random_comparisons()
    first, again, other = (split_pairs(compared, 0.2, seed) for seed in (0, 0, 1))
    assert first.test.tolist() == again.test.tolist() != other.test.tolist()


@pytest.mark.parametrize(
    ("by", "digest"), [("item", "46e689bf448e10cd"), ("group", "9b1a330f084327d7"), ("pair", "ac1064f8063e6ae4")]
)
def test_splits_are_the_same_in_every_version(by, digest):
    split = split_pairs(random_comparisons(), 0.3, seed=7, by=by)
    rows = np.concatenate([split.train, split.validation, split.test]).astype("<i8")
    assert hashlib.blake2b(rows.tobytes(), digest_size=8).hexdigest() == digest


def test_streams_hold_out_the_same_items_in_every_version():
    rows = draw_item_parts(500, 0.2, seed=3).astype("<i8")
    assert hashlib.blake2b(rows.tobytes(), digest_size=8).hexdigest() == "117ccd8380be3e75"


def test_splits_that_cannot_be_made():
    with pytest.raises(ValueError, match="30 pairs are too few to hold"):
        split_pairs(random_comparisons(n_pairs=30), 0.2, 0)
    compared = compare(read_items(ITEMS), judged())
    with pytest.raises(ValueError, match="name it with group="):
        split_pairs(compared, 0.2, 0, by="group")
