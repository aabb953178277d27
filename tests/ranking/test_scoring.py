from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from confdiff.ranking import blocks
from confdiff.ranking.evidence import RidgeEvidence
from confdiff.ranking.proposing import informative_pairs
from confdiff.ranking.scoring import fit_scores, split_design
from ranking.lists import dense_matrices, simulate


def one_component(design):
    return np.zeros(design.n_items, dtype=np.int64)


@pytest.mark.parametrize("side_bias", [None, 0.1])
def test_scores_are_those_of_generalised_least_squares(side_bias):
    design, _ = simulate(12, 60, side_bias=side_bias)
    fitted = fit_scores(design, one_component(design), ridge=0.7)
    incidence, weights = dense_matrices(design)
    columns = incidence if design.side is None else np.column_stack([incidence, design.side])
    penalty = np.diag([0.7] * 12 + [0.0] * (columns.shape[1] - 12))
    precision = columns.T @ weights @ columns + penalty
    solution = np.linalg.solve(precision, columns.T @ weights @ design.c)
    np.testing.assert_allclose(fitted.score, solution[:12], atol=1e-9)
    centring = np.eye(12) - 1 / 12
    covariance = centring @ np.linalg.inv(precision)[:12, :12] @ centring
    np.testing.assert_allclose(fitted.sd**2, np.diag(covariance) * fitted.estimates.noise, rtol=1e-9)
    if design.side is not None:
        assert fitted.estimates.side_bias == pytest.approx(solution[12])


def test_answers_of_weight_zero_change_nothing():
    design, _ = simulate(12, 60, side_bias=0.1)
    is_used = np.arange(60) < 40
    fitted = fit_scores(replace(design, weight=design.weight * is_used), one_component(design))
    part = replace(
        design,
        left=design.left[is_used],
        right=design.right[is_used],
        c=design.c[is_used],
        weight=design.weight[is_used],
        side=design.side[is_used],
    )
    expected = fit_scores(part, one_component(part))
    assert fitted.estimates.noise == pytest.approx(expected.estimates.noise)
    np.testing.assert_allclose(fitted.sd, expected.sd)
    assert fitted.half_width == pytest.approx(expected.half_width)


def test_the_evidence_is_the_density_of_the_differences():
    design, _ = simulate(6, 25)
    blocks_of_design = split_design(design, one_component(design))
    evidence = RidgeEvidence(design, blocks_of_design, np.random.default_rng(0))
    incidence, weights = dense_matrices(design)
    differences = []
    for ridge in (0.3, 3.0):
        estimates = evidence.estimates(ridge)
        covariance = estimates.noise * (np.linalg.inv(weights) + incidence @ incidence.T / ridge)
        density = multivariate_normal(np.zeros(len(design)), covariance).logpdf(design.c)
        quadratic = 26 * np.log(26)  # of degrees * log(square) instead of degrees * log(noise)
        prior = (np.log(ridge / 0.1) / 1.5) ** 2
        differences.append(evidence.loss(np.log(ridge)) - (-2 * density + prior) - quadratic)
    noise = [evidence.estimates(ridge).noise for ridge in (0.3, 3.0)]
    pseudo = [np.log(v) + (0.1 * evidence._square / 25) / v for v in noise]  # one pseudo-observation of the noise
    assert differences[0] - pseudo[0] == pytest.approx(differences[1] - pseudo[1], abs=1e-6)


def test_large_components_agree_with_the_exact_solution(monkeypatch):
    design, _ = simulate(300, 1_500, side_bias=0.1)
    exact = fit_scores(design, one_component(design))
    monkeypatch.setattr(blocks, "MOST_DENSE", 10)
    sampled = fit_scores(design, one_component(design))
    assert isinstance(sampled.blocks[0], blocks.SparseBlock)
    assert sampled.estimates.ridge == pytest.approx(exact.estimates.ridge, rel=0.1)
    assert sampled.estimates.side_bias == pytest.approx(exact.estimates.side_bias, abs=1e-3)
    np.testing.assert_allclose(sampled.score, exact.score, atol=0.02)
    np.testing.assert_allclose(sampled.sd, exact.sd, rtol=0.1)


def test_intervals_cover_the_truth():
    covered = []
    ranks = []
    for seed in range(20):
        design, truth = simulate(100, 400, side_bias=0.1, seed=seed)
        fitted = fit_scores(design, one_component(design), seed=seed)
        covered.append(np.abs(fitted.score - truth) <= fitted.half_width * fitted.sd)
        rank = 1 + np.argsort(np.argsort(-truth))
        ranks.append((fitted.rank_low <= rank) & (rank <= fitted.rank_high))
    assert 0.92 < np.mean(covered) < 0.98
    assert 0.92 < np.mean(ranks) < 0.99


def test_spread_and_noise_are_learned():
    design, _ = simulate(200, 3_000, spread=0.4, noise=0.1, side_bias=-0.2)
    estimates = fit_scores(design, one_component(design)).estimates
    assert np.sqrt(estimates.spread) == pytest.approx(0.4, rel=0.15)
    assert np.sqrt(estimates.noise) == pytest.approx(0.1, rel=0.15)
    assert estimates.side_bias == pytest.approx(-0.2, abs=0.01)


def test_the_best_proposal_reduces_the_variance_most():
    design, _ = simulate(8, 14)
    fitted = fit_scores(design, one_component(design), ridge=0.5)
    left, right, reduction = informative_pairs(fitted, 1)[0]
    incidence, weights = dense_matrices(design)
    precision = incidence.T @ weights @ incidence + 0.5 * np.eye(8)
    centring = np.eye(8) - 1 / 8

    def total(matrix):
        return np.trace(centring @ np.linalg.inv(matrix) @ centring)

    totals = {}
    for i in range(8):
        for j in range(i + 1, 8):
            e = np.eye(8)[j] - np.eye(8)[i]
            totals[i, j] = total(precision + np.outer(e, e))
    assert min(totals, key=totals.get) == (min(left, right), max(left, right))
    assert reduction == pytest.approx(1 - min(totals.values()) / total(precision))
