"""The choice of the penalty on held-out pairs."""

import numpy as np
import pytest

from confdiff.estimators.linear.design import make_design
from confdiff.estimators.linear.penalty import PenaltySearch, search_penalty
from confdiff.estimators.linear.solving import make_ridge, solve
from confdiff.links import find_link
from confdiff.metrics import difference_r2, pairwise_accuracy


def _designs(unit=1.0, noise=0.5):
    rng = np.random.default_rng(0)
    items = rng.normal(size=(300, 30))
    left, right = rng.integers(0, 300, (2, 240))
    u = (items[right] - items[left]) @ rng.normal(size=30) * 0.3
    c = np.clip(np.tanh(u / 2) + noise * rng.normal(size=240), -1, 1)
    design = make_design(items * unit, left, right, c, None)
    fold = np.arange(240) % 3
    parts = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in range(3)]
    return design, [(design.of_pairs(training), design.of_pairs(held_out)) for training, held_out in parts]


@pytest.mark.parametrize("link", ["probability", "preference", "score"])
def test_each_candidate_has_the_results_of_a_fit_without_a_warm_start(link):
    design, splits = _designs()
    prior = 0.5 if link == "probability" else None
    search = search_penalty(design, splits, link, prior, scale=False)
    for candidate in search.candidates[::3]:
        r2, accuracy = [], []
        for training, held_out in splits:
            solution = solve(training, link, make_ridge(training, candidate.C, scale=False), prior)
            g = held_out.matrix @ solution.w + solution.b
            predicted = find_link(link).difference(g[held_out.left], g[held_out.right])
            r2.append(difference_r2(predicted, held_out.c))
            accuracy.append(pairwise_accuracy(predicted, held_out.c))
        assert candidate.r2 == pytest.approx(np.mean(r2), abs=1e-3)
        assert candidate.r2_error == pytest.approx(np.std(r2, ddof=1) / np.sqrt(3), abs=1e-3)
        assert candidate.pairwise_accuracy == pytest.approx(np.mean(accuracy), abs=0.01)


def test_the_search_ends_after_weaker_penalties_no_longer_help():
    design, splits = _designs()
    search = search_penalty(design, splits, "score", None, scale=False)
    values = [candidate.r2 for candidate in search.candidates]
    assert len(values) < 13 + 2
    assert search.best.r2 == max(values)
    assert all(value < max(values) - 0.002 for value in values[-3:])


def test_the_neighbours_of_the_best_penalty_are_tried():
    search = search_penalty(*_designs(), "score", None, scale=False)
    steps = np.diff(np.log10([candidate.C for candidate in search.candidates]))
    assert sorted(steps.round(3))[:4] == [0.25] * 4
    assert steps.max() == pytest.approx(0.5)


def test_small_losses_of_strong_penalties_do_not_end_the_search():
    """A feature of large scale without meaning is all that a strong penalty lets the model use."""
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(40_000, 21)) * np.array([30.0] + [0.1] * 20)
    left, right = np.arange(20_000), np.arange(20_000, 40_000)
    c = (matrix[right] - matrix[left])[:, 1:].sum(axis=1) / 5 + 0.1 * rng.normal(size=20_000)
    design = make_design(matrix, left, right, c, None)
    fold = np.arange(20_000) % 2
    splits = [(design.of_pairs(np.flatnonzero(fold != k)), design.of_pairs(np.flatnonzero(fold == k))) for k in (0, 1)]
    search = search_penalty(design, splits, "score", None, scale=False)
    assert search.candidates[0].r2 > search.candidates[3].r2
    assert search.best.r2 > 0.3


def test_noise_asks_for_a_stronger_penalty():
    chosen = [search_penalty(*_designs(noise=noise), "preference", None, scale=False).best.C for noise in (0.01, 2.0)]
    assert chosen[0] > 3 * chosen[1]


def test_candidates_follow_the_unit_of_the_features():
    plain = search_penalty(*_designs(), "preference", None, scale=False)
    large = search_penalty(*_designs(unit=1000.0), "preference", None, scale=False)
    assert [row.C * 1e-6 for row in plain.candidates] == pytest.approx([row.C for row in large.candidates])
    assert [row.r2 for row in plain.candidates] == pytest.approx([row.r2 for row in large.candidates], abs=1e-3)


def test_a_search_returns_from_json():
    search = search_penalty(*_designs(), "score", None, scale=True)
    assert PenaltySearch.from_json(search.to_json()) == search
