"""Triangles, repeats, scores and connected components, compared with known answers and with enumeration."""

import itertools

import numpy as np
import pandas as pd
import pytest

from confdiff.tabular.checks.graph import edges_of
from confdiff.tabular.checks.one_score import explained_by, fitted_scores
from confdiff.tabular.checks.repeats import repeats_of
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.checks.triangles import closed_triangles, triangles_of
from judging import clean, judged, kinds, the


def test_scores_are_recovered():
    r = np.random.default_rng(1).uniform(0, 1, 30)
    pairs = [(a, b, r[b] - r[a]) for a, b in itertools.combinations(range(30), 2)]
    assert fitted_scores(judged(*pairs)) == pytest.approx(r - r.mean(), abs=1e-7)


def test_a_weight_counts_in_the_scores():
    judgements = judged((0, 1, 0.8), (1, 0, 0.0), weight=[3, 1])
    scores = fitted_scores(judgements)
    assert scores[1] - scores[0] == pytest.approx(0.6)
    fit = explained_by(judgements, scores)
    assert fit.r2 == pytest.approx(1 - (3 * 0.2**2 + 0.6**2) / (3 * 0.8**2))
    assert fit.degrees_of_freedom == 1
    assert fit.adjusted_r2 == pytest.approx(1 - 0.25 * 2 / 1)


def test_a_tree_of_pairs_cannot_be_checked():
    items, _ = clean()
    pairs = {"left": ["i0", "i0", "i1"], "right": ["i1", "i2", "i3"], "difference": [0.4, -0.3, 0.1]}
    report = check_comparisons(items, pairs)
    assert the(report, "no-cycles").count == 3
    assert report.measures["one_score"].r2 == pytest.approx(1)
    assert report.measures["one_score"].adjusted_r2 is None
    assert report.measures["triangles"] is None


def test_random_differences_are_not_explained_by_one_score():
    items, pairs = clean()
    pairs["difference"] = np.random.default_rng(2).uniform(-1, 1, len(pairs))
    report = check_comparisons(items, pairs)
    assert abs(report.measures["one_score"].adjusted_r2) < 0.15
    assert the(report, "one-score").count == len(pairs)
    triangles = report.measures["triangles"]
    assert triangles.mean == pytest.approx(triangles.random_mean, rel=0.1)
    assert triangles.cyclic == pytest.approx(0.25, abs=0.06)
    assert the(report, "triangles").severity == "warning"


def test_a_triangle_whose_residual_is_known():
    triangles = triangles_of(edges_of(judged((0, 1, 0.3), (2, 1, -0.4), (0, 2, 0.2))))
    assert (triangles.count, triangles.searched) == (1, 1.0)
    assert triangles.mean == pytest.approx(0.5)  # .3 + .4 - .2
    assert triangles.fraction_large == 1
    assert triangles.random_mean == pytest.approx((0.9 + 0.5 + 0.3 + 0.1) / 4)
    assert triangles.random_fraction_large == 0.75
    assert triangles.cyclic == 0
    assert triangles.histogram[2] == 1
    assert sum(triangles.random_histogram) == pytest.approx(1)


def test_a_cycle_is_found():
    assert triangles_of(edges_of(judged((0, 1, 0.5), (1, 2, 0.5), (2, 0, 0.5)))).cyclic == 1
    assert triangles_of(edges_of(judged((0, 1, 0.5), (1, 2, 0.5), (2, 0, 0.01)))).cyclic is None


def test_a_residual_at_the_limit_is_not_above_it():
    assert (
        triangles_of(edges_of(judged((0, 1, 0.1), (1, 2, 0.2), (0, 2, 0.05)))).fraction_large == 0
    )  # .1 + .2 - .05 rounds up


def brute_force(judgements):
    """Residuals of all triples of items, from a dictionary of means."""
    lists = {}
    for a, b, c in zip(judgements.left.tolist(), judgements.right.tolist(), judgements.c.tolist(), strict=True):
        lists.setdefault((min(a, b), max(a, b)), []).append(c if a < b else -c)
    mean = {edge: sum(values) / len(values) for edge, values in lists.items()}
    triples = itertools.combinations(range(judgements.n_items), 3)
    closed = [(u, v, w) for u, v, w in triples if {(u, v), (v, w), (u, w)} <= mean.keys()]
    return closed, [abs(mean[u, v] + mean[v, w] - mean[u, w]) for u, v, w in closed]


def random_graph(seed):
    rng = np.random.default_rng(seed)
    n_items = int(rng.integers(3, 16))
    n = int(rng.integers(1, 70))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    return judged(*zip(left, right, rng.uniform(-1, 1, n), strict=True), n_items=n_items)


@pytest.mark.parametrize("seed", range(40))
def test_triangles_are_those_of_an_enumeration(seed):
    graph = random_graph(seed)
    edges = edges_of(graph)
    triples, residuals = brute_force(graph)
    (uv, vw, uw), searched = closed_triangles(edges)
    first = edges.first[uv].tolist()
    third = edges.second[vw].tolist()
    assert sorted(zip(first, edges.second[uv].tolist(), third, strict=True)) == triples
    assert edges.first[uw].tolist() == first
    assert edges.second[uw].tolist() == third
    assert searched == (1.0 if (np.bincount(edges.second, minlength=99)[edges.first] > 0).any() else 0.0)
    summary = triangles_of(edges)
    if not residuals:
        assert summary is None
        return
    assert summary.count == len(residuals)
    assert summary.mean == pytest.approx(np.mean(residuals))
    assert summary.quantile_95 == pytest.approx(np.quantile(residuals, 0.95))
    assert summary.fraction_large == pytest.approx(np.mean(np.array(residuals) > 0.25))


def test_a_sample_of_triangles_is_a_part_of_them_and_the_seed_decides_which():
    everybody = judged(*((a, b, (b - a) / 30) for a, b in itertools.combinations(range(30), 2)))
    edges = edges_of(everybody)
    sides, share = closed_triangles(edges, most=500, seed=3)
    whole = {tuple(side) for side in closed_triangles(edges)[0].T.tolist()}
    sample = {tuple(side) for side in sides.T.tolist()}
    assert len(whole) == 30 * 29 * 28 // 6
    assert sample < whole
    assert len(sample) == len(sides.T)
    assert share == pytest.approx(len(sample) / len(whole))  # here every wedge is closed
    assert 500 <= len(sample) < 530
    assert np.array_equal(sides, closed_triangles(edges, most=500, seed=3)[0])
    assert not np.array_equal(sides, closed_triangles(edges, most=500, seed=4)[0])
    assert triangles_of(edges, most=500).searched < 1


def test_antisymmetry_and_spread_are_known():
    repeats = repeats_of(edges_of(judged((0, 1, 0.5), (1, 0, -0.1), (1, 2, 0.2), (1, 2, 0.4), (0, 2, 0.9))))
    assert (repeats.pairs, repeats.judgements, repeats.contradictions, repeats.both_orders) == (2, 4, 0, 1)
    assert repeats.asymmetry == pytest.approx(0.4)
    assert repeats.largest_asymmetry == pytest.approx(0.4)
    assert repeats.position_bias == pytest.approx(0.2)
    assert repeats.standard_deviation == pytest.approx(np.sqrt((2 * 0.2**2 + 2 * 0.1**2) / 2))


def test_a_pair_judged_both_orders_by_many_is_averaged_first():
    repeats = repeats_of(edges_of(judged((0, 1, 0.5), (0, 1, 0.7), (1, 0, -0.6), (3, 2, 0.4), (2, 3, 0.0))))
    assert repeats.asymmetry == pytest.approx(0.2)  # 0 and .4
    assert repeats.largest_asymmetry == pytest.approx(0.4)


@pytest.mark.parametrize(("second", "contradicts"), [(0.5, True), (0.05, True), (0.04, False), (-0.5, False)])
def test_contradictions_are_opposite_signs_without_near_ties(second, contradicts):
    assert repeats_of(edges_of(judged((0, 1, 0.3), (1, 0, second)))).contradictions == contradicts


def test_repeats_contradictions_and_asymmetry_are_findings_with_rows():
    items, pairs = clean()
    c = pairs["difference"]
    row = int(np.flatnonzero(c > 0.5)[0])
    again = pairs.iloc[[row, row + 1]].assign(left=pairs["right"], right=pairs["left"])
    again["difference"] = [c[row], -c[row + 1]]  # the first contradicts, the second is the same judgement swapped
    report = check_comparisons(items, pd.concat([pairs, again]))
    n = len(pairs)
    assert the(report, "repeats").count == 2
    assert the(report, "repeats").rows == (row, row + 1, n, n + 1)
    assert the(report, "contradictions").count == 1
    assert the(report, "contradictions").rows == (row, n)
    assert the(report, "asymmetry").rows == (row, row + 1, n, n + 1)
    assert report.measures["repeats"].largest_asymmetry == pytest.approx(2 * c[row])


def test_two_components_are_named_by_their_groups():
    r = np.linspace(0, 1, 24)
    items = pd.DataFrame({"r": r}, index=[f"i{k}" for k in range(24)])
    blocks = [range(10), range(10, 22)]
    rows = [(a, b, str(k)) for k, block in enumerate(blocks) for a, b in itertools.combinations(block, 2)]
    pairs = pd.DataFrame(
        {
            "left": [f"i{a}" for a, _, _ in rows],
            "right": [f"i{b}" for _, b, _ in rows],
            "difference": [r[b] - r[a] for a, b, _ in rows],
            "group": [f"topic {g}" for _, _, g in rows],
        }
    )
    report = check_comparisons(items, pairs)
    components = report.measures["components"]
    assert (components.count, components.largest, components.items_in_no_pair) == (2, 12, 2)
    assert [(component.items, component.pairs, component.groups) for component in components.shown] == [
        (12, 66, ("topic 1",)),
        (10, 45, ("topic 0",)),
    ]
    assert "Each group is one component" in the(report, "components").text
    mixed = pairs.assign(group=["topic 1" if row < 5 else name for row, name in enumerate(pairs["group"])])
    assert "By group: topic 1 | topic 0 and topic 1." in the(check_comparisons(items, mixed), "components").text
    assert (the(report, "item-in-no-pair").count, the(report, "item-in-no-pair").rows) == (2, (22, 23))
    pairs.loc[0, "group"] = "topic 2"
    assert "By group: topic 1 | topic 0 and topic 2." in the(check_comparisons(items, pairs), "components").text
    bridge = pd.DataFrame({"left": ["i0"], "right": ["i21"], "difference": [r[21] - r[0]], "group": ["across"]})
    assert "components" not in kinds(check_comparisons(items, pd.concat([pairs, bridge])))
