"""Triangles, compared with known answers and with enumeration."""

import itertools

import numpy as np
import pytest

from confdiff.tabular.checks.graph import edges_of
from confdiff.tabular.checks.triangles import closed_triangles, triangles_of
from judging import judged


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
