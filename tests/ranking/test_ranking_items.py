import numpy as np
import pandas as pd
import pytest

from confdiff import Pairs, rank_items

CHAIN = {"left": ["a", "b", "c"], "right": ["b", "c", "d"], "difference": [0.3, 0.2, 0.4]}


def judged(n_items=20, n_pairs=600, seed=0):
    """Return a table of pairs with annotators, sides and groups, and the true scores."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 0.2, n_items)
    left = rng.integers(0, n_items, n_pairs)
    right = (left + rng.integers(1, n_items, n_pairs)) % n_items
    annotator = rng.integers(0, 5, n_pairs)
    side = rng.choice([-1, 1], n_pairs)
    scale = np.array([0.4, 0.7, 1.0, 1.3, 1.6])[annotator]
    c = scale * (score[right] - score[left]) + 0.1 * side + rng.normal(0, 0.05, n_pairs)
    frame = pd.DataFrame({"left": left, "right": right, "difference": c.clip(-1, 1)})
    frame["annotator"] = [f"judge {number}" for number in annotator]
    frame["shown_first"] = np.where(side > 0, left, right)
    return frame, score


def test_one_chain():
    ranking = rank_items(CHAIN)
    assert ranking.id.tolist() == ["d", "c", "b", "a"]
    assert ranking.rank.tolist() == [1, 2, 3, 4]
    assert ranking.comparisons.tolist() == [1, 2, 2, 1]
    assert ranking.score.sum() == pytest.approx(0)
    assert (ranking.low < ranking.score).all()
    assert "4 items from 3 comparisons" in repr(ranking)


def test_annotators_and_sides_are_estimated():
    frame, score = judged()
    ranking = rank_items(frame)
    assert ranking.annotators.model == "full"
    np.testing.assert_allclose(ranking.annotators.scale, [0.4, 0.7, 1.0, 1.3, 1.6], atol=0.15)
    np.testing.assert_allclose(ranking.annotators.bias, 0.1, atol=0.03)
    pooled = rank_items(frame, annotator_model="pooled")
    assert pooled.side_bias.low < 0.1 < pooled.side_bias.high
    errors = [np.corrcoef(score[r.id], r.score)[0, 1] for r in (ranking, pooled)]
    assert errors[0] > errors[1] > 0.97


def test_sides_are_ids_or_words():
    frame, _ = judged()
    words = frame.assign(shown_first=np.where(frame.shown_first == frame.left, "left", "right"))
    np.testing.assert_array_equal(rank_items(frame).score, rank_items(words).score)
    frame.loc[3, "shown_first"] = 999
    with pytest.raises(ValueError, match="row 3: 999 is neither an item of the pair nor 'left' or 'right'"):
        rank_items(frame)


def test_swapping_pairs_changes_nothing():
    frame, _ = judged()
    swapped = frame.rename(columns={"left": "right", "right": "left"}).assign(difference=-frame.difference)
    first = rank_items(frame, annotator_model="pooled")
    second = rank_items(swapped, annotator_model="pooled")
    np.testing.assert_allclose(first.score, second.score, atol=1e-9)
    assert first.side_bias.value == pytest.approx(second.side_bias.value)


def test_components_have_their_own_ranks():
    table = {"left": ["a", "b", "x"], "right": ["b", "c", "y"], "difference": [0.3, 0.2, -0.4]}
    with pytest.warns(UserWarning, match="2 connected components. Items of different components cannot be compared"):
        ranking = rank_items(table)
    assert ranking.id.tolist() == ["c", "b", "a", "x", "y"]
    assert ranking.rank.tolist() == [1, 2, 3, 1, 2]
    assert ranking.component.tolist() == [1, 1, 1, 2, 2]
    assert ranking.proposals[0].reason == "joins components"
    assert np.isnan(ranking.differences(["a", "a"], ["x", "unknown"])).all()
    assert ranking.differences(["a"], ["c"])[0] == pytest.approx(ranking.score[0] - ranking.score[2])


def test_groups_are_ranked_separately_on_request():
    table = {"left": ["a", "a"], "right": ["b", "b"], "difference": [0.3, -0.3], "group": ["u", "v"]}
    ranking = rank_items(table, by_group=True)
    assert sorted(zip(ranking.group, ranking.id, ranking.rank.tolist(), strict=True)) == [
        ("u", "a", 2),
        ("u", "b", 1),
        ("v", "a", 1),
        ("v", "b", 2),
    ]
    np.testing.assert_allclose(rank_items(table).score, 0, atol=1e-9)
    with pytest.raises(ValueError, match="has its own ranking"):
        ranking.differences(["a"], ["b"])
    with pytest.raises(ValueError, match="no column of groups"):
        rank_items(CHAIN, by_group=True)


def test_weights_and_scales():
    table = {"left": ["a", "a"], "right": ["b", "b"], "difference": [3, -3], "weight": [1.0, 0.0]}
    ranking = rank_items(table, scale=(-3, 3), ridge=1e-4)
    assert ranking.score.tolist() == pytest.approx([1.5, -1.5], abs=1e-3)
    assert ranking.ridge_given
    assert ranking.n_pairs == 1


def test_pairs_in_memory_have_rows_as_ids():
    pairs = Pairs(np.zeros((3, 1)), left=[0, 1], right=[1, 2], difference=[0.2, 0.3])
    assert rank_items(pairs).id.tolist() == [2, 1, 0]
    with pytest.raises(ValueError, match="one difference each"):
        rank_items(Pairs(np.zeros((3, 1)), left=[0, 1], right=[1, 2]))
    with pytest.raises(ValueError, match="pair 1 compares item 2 with itself"):
        rank_items(Pairs(np.zeros((3, 1)), left=[0, 2], right=[1, 2], difference=[0.2, 0.3]))


def test_all_ties_are_a_result():
    with pytest.warns(UserWarning, match="all pairs are ties"):
        ranking = rank_items({"left": ["a", "b"], "right": ["b", "c"], "difference": [0.0, 0.0]})
    assert ranking.rank.tolist() == [1, 1, 1]
    assert np.isfinite(ranking.high).all()


def test_items_with_the_same_evidence_share_a_rank():
    table = {"left": ["a", "b", "a", "c"], "right": ["b", "c", "c", "d"], "difference": [0.5, 1.0, 0.0, -0.5]}
    ranking = rank_items(table)
    assert ranking.id.tolist() == ["c", "a", "b", "d"]
    assert ranking.rank.tolist() == [1, 2, 2, 2]


def test_intervals_of_ranks_are_as_wide_as_those_of_scores():
    ranking = rank_items({"left": ["a"], "right": ["b"], "difference": [0.2]})
    assert ranking.low[0] < 0 < ranking.high[0]
    assert ranking.rank_low.tolist() == [1, 1]
    assert ranking.rank_high.tolist() == [2, 2]


def test_reliability_is_zero_without_information():
    table = {"left": ["a", "x"], "right": ["b", "y"], "difference": [0.2, -0.3]}
    with pytest.warns(UserWarning, match="connected components"):
        ranking = rank_items(table, ridge=1e9)
    assert ranking.reliability == pytest.approx(0, abs=1e-6)


def test_a_sorted_chain_is_reported():
    numbers = np.arange(10)
    table = {"left": numbers, "right": numbers + 1, "difference": np.linspace(0.05, 0.5, 10)}
    with pytest.warns(UserWarning, match="0 of 10 comparisons repeat another one or close a cycle.*ridge=0.01"):
        rank_items(table)
    assert rank_items(table, ridge=0.01).id.tolist() == list(range(10, -1, -1))


def test_an_order_that_follows_the_result_is_reported():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 5, 40)
    right = (left + rng.integers(1, 5, 40)) % 5
    table = {"left": left, "right": right, "difference": np.full(40, 0.5), "shown_first": ["left"] * 40}
    with pytest.warns(UserWarning, match="the item shown second is the better one in every pair"):
        rank_items(table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"left": ["a", "b", "d"]}, "'d' is compared with itself"),
        ({"difference": [0.1, np.nan, 0.2]}, "the difference is missing"),
        ({"difference": [0.1, 370.5, 0.2]}, "differences must lie in"),
        ({"left": ["a", None, "c"]}, "the id is missing"),
        ({"left": [], "right": [], "difference": []}, "at least one row of data"),
        ({"weight": [0.0, 0.0, 0.0]}, "weight must be above 0 for at least one pair"),
        ({"difference": [np.nan] * 3, "same": [1.0, 0.0, 1.0]}, "Same-class answers alone do not rank items"),
    ],
)
def test_bad_tables_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        rank_items({**CHAIN, **change})


@pytest.mark.parametrize(
    "options", [{"ridge": 0}, {"level": 1.5}, {"level": 1}, {"annotator_model": "all"}, {"wins": "x"}]
)
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=r"must|unknown"):
        rank_items(CHAIN, **options)


@pytest.mark.parametrize(
    "table",
    [
        {"winner": ["a", "a", "b"], "loser": ["b", "c", "c"], "tie": [0, 0, 1]},
        {"winner": ["a", "a", "b"], "loser": ["b", "c", "c"], "difference": [1, 3, 2]},
        {"winner": ["a", "a", "b"], "loser": ["b", "c", "c"], "difference": ["10%", "30%", "0%"]},
        {"left": ["a", "c", "b"], "right": ["b", "a", "c"], "winner": ["left", "right", "tie"]},
    ],
)
def test_winners_are_read_as_check_reads_them(table):
    ranking = rank_items(table)
    assert ranking.id[0] == "a"
    assert ranking.score[0] > ranking.score[1]


def test_words_have_the_declared_order():
    table = {"left": ["a", "b"], "right": ["b", "c"], "difference": ["worse", "much worse"]}
    ranking = rank_items(table, scale="much worse,worse,same,better,much better")
    assert ranking.id.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="pass them in their order"):
        rank_items(table)


def test_pairs_with_a_same_class_answer_only_do_not_count():
    table = {
        "left": ["a", "b", "c", "a"],
        "right": ["b", "c", "a", "c"],
        "difference": [0.3, np.nan, -0.4, 0.5],
        "same": [np.nan, 1.0, np.nan, np.nan],
        "annotator": ["u", "v", "u", "u"],
        "shown_first": ["left", "left", "right", "right"],
        "group": ["g", "h", "g", "g"],
    }
    ranking = rank_items(table, annotator_model="pooled")
    assert ranking.n_pairs == 3
    assert ranking.components[0].groups == ("g",)
    columns = {"left": [0, 1], "right": [1, 2], "difference": [0.2, np.nan], "same": [np.nan, 1.0]}
    assert rank_items(Pairs(np.zeros((3, 1)), **columns)).id.tolist() == [1, 0]


def test_columns_are_for_tables():
    pairs = Pairs(np.zeros((3, 1)), left=[0, 1], right=[1, 2], difference=[0.2, 0.3])
    with pytest.raises(ValueError, match="left='home' would not be used"):
        rank_items(pairs, left="home")
