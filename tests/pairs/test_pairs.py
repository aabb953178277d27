import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs

ITEMS = np.arange(12.0).reshape(4, 3)
ROWS = np.array([[0, 1], [2, 3], [3, 0]])
C = np.array([0.5, -0.25, 1.0])


def gathered(pairs):
    return torch.stack([pairs.items[pairs.left], pairs.items[pairs.right]], dim=1).numpy()


def test_the_three_forms_hold_the_same():
    by_rows = Pairs.from_rows(ROWS, ITEMS, C)
    by_array = Pairs.from_array(ITEMS[ROWS], C)
    by_two = Pairs.from_two(ITEMS[ROWS[:, 0]], ITEMS[ROWS[:, 1]], C)
    for pairs in (by_rows, by_array, by_two):
        assert (gathered(pairs) == ITEMS[ROWS]).all()
        assert pairs.difference.tolist() == C.tolist()
        assert len(pairs) == 3
    assert len(by_rows.items) == 4  # stored once, however often they are compared


def test_features_are_not_copied():
    items = ITEMS.astype(np.float32)
    pairs = Pairs.from_rows(ROWS, items, C)
    assert Pairs.from_rows(ROWS, ITEMS, C).items.data_ptr() == ITEMS.ctypes.data
    assert pairs.items.data_ptr() == items.ctypes.data
    assert pairs[:2].items is pairs.items
    cube = items[ROWS]
    assert Pairs.from_array(cube).items.data_ptr() == cube.ctypes.data


def test_ids_are_looked_up_in_a_data_frame():
    frame = pd.DataFrame(ITEMS, index=["ann", "bob", "cid", "dee"], columns=["age", "height", "weight"])
    table = pd.DataFrame({"first": ["ann", "cid"], "second": ["bob", "dee"]})
    pairs = Pairs.from_rows(table, frame, [0.1, 0.2])
    assert (gathered(pairs) == ITEMS[[[0, 1], [2, 3]]]).all()
    assert pairs.feature_names == ("age", "height", "weight")
    with pytest.raises(ValueError, match="second column, row 1: the id 'eve' is not among the labels of the index"):
        Pairs.from_rows([["ann", "bob"], ["cid", "eve"]], frame)
    with pytest.raises(ValueError, match="'ann' occurs more than once"):
        Pairs.from_rows(table, pd.concat([frame, frame.loc[["ann"]]]))


def test_two_frames_must_have_the_same_columns():
    frame = pd.DataFrame(ITEMS, columns=["a", "b", "c"])
    assert Pairs.from_two(frame, frame, np.zeros(4)).feature_names == ("a", "b", "c")
    with pytest.raises(ValueError, match="same columns"):
        Pairs.from_two(frame, frame[["a", "c", "b"]])


BAD = {
    "c above 1": ({"difference": [0.5, 1.2, 0]}, r"must lie in \[-1, 1\]; got 1.2 at row 1"),
    "c in percent": ({"difference": [20, -30, 5]}, r"got 20 at row 0 \(3 such rows\).*Divide percentages by 100"),
    "c nan": ({"difference": [0.5, np.nan, 0]}, "must be finite, without NaN or infinity; got nan at row 1"),
    "c infinite": ({"difference": [0.5, 0, -np.inf]}, "must be finite, without NaN or infinity; got -inf at row 2"),
    "c short": ({"difference": [0.5, 0]}, "expected 3, got 2"),
    "c column": ({"difference": C[:, None]}, r"shape \(n,\); got shape \(3, 1\)"),
    "c text": ({"difference": ["a", "b", "c"]}, "must be numeric"),
    "rows outside": ({"left": [0, 4, 1]}, "left must be row numbers of the items, 0 to 3; got 4 at row 1"),
    "rows negative": ({"right": [0, -1, 1]}, "right must be row numbers of the items, 0 to 3; got -1 at row 1"),
    "rows broken": ({"left": [0, 1.5, 1]}, "whole row numbers into the items; got 1.5 at row 1"),
    "rows boolean": ({"left": [True, False, True]}, "got true/false values"),
    "no pairs": ({"left": [], "right": [], "difference": []}, "at least one pair"),
    "items nan": (
        {"items": np.where(ITEMS == 5, np.nan, ITEMS)},
        "items must be finite, without NaN or infinity; got nan at row 1, column 2",
    ),
    "items vector": ({"items": [1.0, 2.0, 3.0, 4.0]}, "must be a matrix with one item per row"),
    "items empty": ({"items": np.empty((0, 3))}, "at least one item"),
    "items ragged": ({"items": [[1.0, 2.0], [3.0]]}, "rows of different lengths"),
    "items text": ({"items": np.array([["a", "b"]] * 4, dtype=object)}, "must be numeric; got 'a' at row 0, column 0"),
    "weight negative": ({"weight": [1, -1, 2]}, "weight must lie in .*got -1 at row 1"),
    "weight zero": ({"weight": [0, 0, 0]}, "above 0 for at least one pair"),
    "group short": ({"group": ["a", "b"]}, r"expected shape \(3,\), got \(2,\)"),
    "posteriors": ({"posteriors": [0.1, 0.2, 1.3, 0.4]}, r"must lie in \[0, 1\]; got 1.3 at row 2"),
    "labels": ({"labels": [1, 2, 3, 1]}, "labels must be 0/1 or -1/\\+1; got the values 1, 2, 3"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named(what):
    change, message = BAD[what]
    good = {"items": ITEMS, "left": ROWS[:, 0], "right": ROWS[:, 1], "difference": C}
    with pytest.raises(ValueError, match=message):
        Pairs(**(good | change))


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match=r"shape \(n, 2, d\).*got \(4, 3\)"):
        Pairs.from_array(ITEMS)
    with pytest.raises(ValueError, match=r"shape \(n, 2\).*got \(3, 3\)"):
        Pairs.from_rows(np.zeros((3, 3), int), ITEMS)
    with pytest.raises(ValueError, match="same shape"):
        Pairs.from_two(ITEMS, ITEMS[:2])


def test_subsets_by_slice_rows_and_mask():
    pairs = Pairs.from_rows(ROWS, ITEMS, C, weight=[1, 2, 3], group=["u", "v", "u"])
    assert pairs[1:].difference.tolist() == [-0.25, 1.0]
    assert pairs[np.array([2, 0])].weight.tolist() == [1.5, 0.5]  # scaled to a mean of 1
    assert pairs[np.array([True, False, True])].group.tolist() == [0, 0]
    assert pairs[np.array([2, 0]), ...].left.tolist() == [3, 0]
    assert len(pairs[1]) == 1


def test_missing_supervision_is_named():
    pairs = Pairs.from_rows(ROWS, ITEMS)
    for kind in ("differences", "labels", "posteriors"):
        with pytest.raises(ValueError, match="these pairs have no"):
            pairs.targets(kind)


def test_targets_follow_the_rows():
    pairs = Pairs.from_rows(ROWS, ITEMS, C, labels=[-1, 1, 1, -1], posteriors=[0.1, 0.9, 0.8, 0.2])
    assert pairs.targets("labels").tolist() == [[0, 1, 0], [1, 0, 0]]
    assert pairs.targets("posteriors")[0].tolist() == pytest.approx([0.1, 0.8, 0.2])
    assert pairs.targets("differences").tolist() == [C.tolist()]


@given(c=hnp.arrays(np.float32, st.integers(1, 30), elements=st.floats(-1, 1, width=32)), seed=st.integers(0, 9))
def test_shuffled_orientation_keeps_the_pairs_and_forgets_their_order(c, seed):
    rows = np.arange(2 * len(c)).reshape(-1, 2)
    items = np.arange(2.0 * len(c))[:, None]
    pairs = Pairs.from_rows(rows, items, c)
    shuffled = pairs.shuffled_orientation(seed)
    swapped = (shuffled.left != pairs.left).numpy()
    assert (torch.stack([shuffled.left, shuffled.right]).sort(0).values.T.numpy() == rows).all()
    assert (shuffled.difference.numpy() == np.where(swapped, -c, c)).all()
    turn = c < 0  # the same pairs, sorted so that the better item stands second
    ordered = Pairs.from_rows(np.where(turn[:, None], rows[:, ::-1], rows), items, np.abs(c)).shuffled_orientation(seed)
    assert torch.equal(ordered.left, shuffled.left)
    assert torch.equal(ordered.difference.abs(), shuffled.difference.abs())


def test_shuffled_orientation_is_fair():
    pairs = Pairs(np.zeros((2, 1)), np.zeros(10_000), np.ones(10_000), np.full(10_000, 0.5))
    share = (pairs.shuffled_orientation(0).difference > 0).double().mean()
    assert abs(share - 0.5) < 0.02


def test_components():
    chain = Pairs(ITEMS, [0, 1], [1, 2], [0, 0])
    assert chain.n_components() == 1  # item 3 stands in no pair
    assert Pairs(ITEMS, [0, 2], [1, 3]).n_components() == 2


def test_ids_of_mixed_types_and_missing_groups():
    frame = pd.DataFrame(ITEMS, index=[1, "a", 2.5, "b"])
    assert Pairs.from_rows([(1, "a"), (2.5, "b")], frame).right.tolist() == [1, 3]
    assert Pairs(ITEMS, [0, 1], [1, 2], group=np.array(["u", 7], dtype=object)).group.tolist() == [0, 1]
    with pytest.raises(ValueError, match="group must name a group for each pair; got None at row 1"):
        Pairs(ITEMS, [0, 1], [1, 2], group=["u", None])


def judged_by_people():
    return Pairs(ITEMS, [0, 1, 2], [1, 2, 3], [0.1, -0.2, 0.3], annotator=["eve", "ann", "eve"], side=[1, -1, 0])


def test_annotators_and_sides_travel():
    pairs = judged_by_people()
    assert pairs.annotator_names == ("ann", "eve")
    swapped = pairs.oriented(torch.tensor([True, True, False]))
    assert swapped.side.tolist() == [-1, 1, 0]
    assert swapped.annotators.tolist() == ["eve", "ann", "eve"]
    chosen = pairs[[2, 1]].compact()
    assert chosen.annotators.tolist() == ["eve", "ann"]
    assert chosen.side.tolist() == [0, -1]
    graded = as_pairs(pairs, [0.0, 0.0, 0.1])
    assert graded.annotators.tolist() == pairs.annotators.tolist()
    assert graded.side.tolist() == pairs.side.tolist()


@given(st.integers(0, 1000))
def test_what_a_side_says_does_not_depend_on_the_orientation(seed):
    pairs = judged_by_people()
    shuffled = pairs.shuffled_orientation(seed)
    first_shown = [torch.where(p.side > 0, p.left, torch.where(p.side < 0, p.right, -1)) for p in (pairs, shuffled)]
    assert torch.equal(*first_shown)


def test_bad_annotators_and_sides_are_named():
    with pytest.raises(ValueError, match="annotator must name an annotator for each pair; got None at row 1"):
        Pairs(ITEMS, [0, 1], [1, 2], annotator=["u", None])
    with pytest.raises(ValueError, match=r"side must be 1 where the first item .* got 2 at row 1"):
        Pairs(ITEMS, [0, 1], [1, 2], side=[1, 2])
    with pytest.raises(ValueError, match="side must have one entry for each pair"):
        Pairs(ITEMS, [0, 1], [1, 2], side=[1])


def test_text_is_named_with_its_column():
    frame = pd.DataFrame(ITEMS, columns=["a", "b", "c"]).assign(sex=["m", "f", "m", "f"])
    with pytest.raises(ValueError, match="items must be numeric; got 'm' at row 0, column 'sex'"):
        Pairs(frame, [0], [1])


def test_pairs_are_chosen_by_one_index_and_never_none():
    pairs = Pairs.from_rows(ROWS, ITEMS, C)
    assert pairs[::-1].difference.tolist() == C[::-1].tolist()
    for nothing in (slice(0, 0), np.zeros(3, dtype=bool), np.array([], dtype=int)):
        with pytest.raises(ValueError, match="at least one pair"):
            pairs[nothing]
    with pytest.raises(ValueError, match="pairs take one index"):
        pairs[:, 0]
    with pytest.raises(IndexError):
        pairs[7]


def test_rounding_is_forgiven_and_no_more():
    assert Pairs(ITEMS, [0], [1], [1 + 1e-9]).difference.tolist() == [1.0]
    with pytest.raises(ValueError, match=r"got 1\.00001 at row 0"):
        Pairs(ITEMS, [0], [1], [1.00001])


def test_same_class_answers_travel_with_pairs():
    nan = np.nan
    pairs = Pairs(np.eye(3), [0, 1, 2], [1, 2, 0], [0.2, nan, -0.3], same=[nan, 1, 0.25])
    assert "difference, same" in repr(pairs)
    swapped = pairs.oriented(torch.tensor([True, True, False]))
    assert np.array_equal(swapped.same.numpy(), pairs.same.numpy(), equal_nan=True)
    assert np.allclose(swapped.difference.numpy(), [-0.2, nan, -0.3], equal_nan=True)
    assert pairs[1:].same.tolist() == [1, 0.25]
    assert pairs.carries("differences").tolist() == [True, False, True]
    assert pairs.carrying("same").same.tolist() == [1, 0.25]
    assert pairs.carrying("differences").difference.isfinite().all()
    assert pairs.targets("differences and same").shape == (2, 3)
    assert pairs.targets("same").shape == pairs.targets("order and same").shape == (1, 3)
    assert as_pairs(pairs, weight=[1, 2, 3]).same is not None
    assert pairs.with_same(None).same is None
    assert pairs.with_same([True, False, True]).same.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("difference", "same", "message"),
    [
        ([0.1, np.nan], [1, np.nan], "row 1 has neither"),
        ([0.1, 0.2], [1, 1.5], r"same must lie in \[0, 1\]"),
        ([0.1, 0.2], ["yes", "no"], "same must be numeric"),
        ([0.1, 0.2], [1], "same must have one"),
        ([[0.1, -0.1], [0.2, -0.2]], [1, 0], "are for two classes"),
        ([0.1, 2.0], [1, 1], r"\[-1, 1\]"),
    ],
)
def test_wrong_answers_are_refused(difference, same, message):
    with pytest.raises(ValueError, match=message):
        Pairs(np.eye(2), [0, 1], [1, 0], difference, same=same)


def test_missing_answers_are_refused_by_the_methods_that_need_them():
    pairs = Pairs(np.eye(2), [0, 1], [1, 0], [0.1, 0.2])
    with pytest.raises(ValueError, match="no same-class answers"):
        pairs.targets("differences and same")
    only = Pairs(np.eye(2), [0, 1], [1, 0], [np.nan, np.nan], same=[1, 0])
    with pytest.raises(ValueError, match="no differences"):
        only.carrying("differences")
