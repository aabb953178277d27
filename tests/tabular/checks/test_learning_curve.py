"""Learning curves of simulated judgements, and their projections."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confdiff.tabular.checks.learning_curve import curve_of, learning_curve, learning_curve_findings
from confdiff.tabular.checks.page import check_html, check_json
from confdiff.tabular.checks.power_law import fit_power_laws
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.checks.subset_fits import penalised_scores
from judging import judged


def simulated(n_items, n_answers, noise, seed):
    rng = np.random.default_rng(seed)
    score = rng.normal(0, 0.5, n_items)
    left = rng.integers(0, n_items, n_answers)
    right = (left + rng.integers(1, n_items, n_answers)) % n_items
    c = np.round((score[right] - score[left] + rng.normal(0, noise, n_answers)).clip(-1, 1) * 3) / 3
    return left, right, c


def test_noisy_judgements_leave_room_for_more_answers():
    curve = learning_curve(*simulated(100, 600, 0.5, 0), more=600)
    now, later = curve.projection[0], curve.projection[-1]
    assert (now.answers, later.answers) == (600, 1200)
    assert 0.7 < now.accuracy < later.accuracy < 0.9
    assert later.low < later.accuracy < later.high
    assert curve.text.startswith("With 600 more answers, the pairwise accuracy would rise from .")
    (finding,) = learning_curve_findings(None, curve)
    assert (finding.kind, finding.severity, finding.count) == ("more-answers", "note", 600)


def test_random_judgements_do_not_rise():
    rng = np.random.default_rng(1)
    left, right, _ = simulated(100, 1500, 0.5, 1)
    curve = learning_curve(left, right, rng.choice([-1.0, 1.0], 1500))
    later = curve.projection[-1]
    assert later.low < 0.52
    assert 0.45 < later.accuracy < 0.56


def test_measured_accuracies_rise_with_the_answers():
    points = learning_curve(*simulated(200, 2000, 0.3, 2)).points
    assert points[-1].accuracy > points[0].accuracy + 0.01
    assert [point.answers for point in points] == sorted(point.answers for point in points)
    assert points[-1].answers <= 0.8 * 2000 + 1


@pytest.mark.parametrize(
    ("answers", "reason"),
    [(simulated(10, 20, 0.2, 0), "60 are needed"), (simulated(200, 150, 0.2, 0), "pairs on average")],
)
def test_too_few_answers_are_not_projected(answers, reason):
    curve = learning_curve(*answers)
    assert curve.text.startswith("Too few answers to project")
    assert reason in curve.text
    assert (curve.points, curve.projection) == ((), ())
    assert learning_curve_findings(None, curve) == []


def test_ties_and_no_answers_are_too_few():
    left, right, _ = simulated(20, 200, 0.2, 0)
    assert "0 distinct pairs" in learning_curve(left, right, np.zeros(200)).text
    assert learning_curve([], [], []).projection == ()


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="columns of one length"):
        learning_curve([0, 1], [1, 2], [0.5])


def test_the_same_seed_gives_the_same_curve():
    answers = simulated(50, 300, 0.5, 3)
    assert learning_curve(*answers) == learning_curve(*answers)
    assert learning_curve(*answers) != learning_curve(*answers, seed=1)


def actual_accuracy(n_items, score, left, right, c, noise, rng):
    from confdiff.tabular.checks.graph import edges_of

    edges = edges_of(judged(*zip(left.tolist(), right.tolist(), c.tolist(), strict=True), n_items=n_items))
    fitted = penalised_scores(edges, np.arange(len(edges.mean)), 1.0)
    ends = rng.integers(0, n_items, (20_000, 2))
    answer = score[ends[:, 1]] - score[ends[:, 0]] + rng.normal(0, noise, 20_000)
    clear = (np.abs(answer) > 1 / 6) & (ends[:, 0] != ends[:, 1])  # others are ties on seven points
    return np.mean(np.sign(fitted[ends[:, 1]] - fitted[ends[:, 0]])[clear] == np.sign(answer[clear]))


def test_most_projection_intervals_cover_what_comes():
    covered = []
    for seed in range(12):
        n_items, n_answers, noise = 80, 400, 0.6
        left, right, c = simulated(n_items, 2 * n_answers, noise, seed)
        score = np.random.default_rng(seed).normal(0, 0.5, n_items)
        curve = learning_curve(left[:n_answers], right[:n_answers], c[:n_answers], more=n_answers)
        rng = np.random.default_rng(100 + seed)
        later = curve.projection[-1]
        covered.append(later.low <= actual_accuracy(n_items, score, left, right, c, noise, rng) <= later.high)
    assert sum(covered) >= 9


def test_ridge_scores_solve_the_normal_equations():
    from confdiff.tabular.checks.graph import edges_of

    left, right, c = simulated(12, 40, 0.3, 4)
    edges = edges_of(judged(*zip(left.tolist(), right.tolist(), c.tolist(), strict=True), n_items=12))
    incidence = np.zeros((len(edges.mean), 12))
    incidence[np.arange(len(edges.mean)), edges.first] = -1
    incidence[np.arange(len(edges.mean)), edges.second] = 1
    weighted = incidence.T * edges.count
    expected = np.linalg.solve(weighted @ incidence + 0.7 * np.eye(12), weighted @ edges.mean)
    assert penalised_scores(edges, np.arange(len(edges.mean)), 0.7) == pytest.approx(expected, abs=5e-3)


@given(limit=st.floats(0.6, 0.95), factor=st.floats(0, 3), exponent=st.floats(0.3, 1.5), seed=st.integers(0, 2**20))
@settings(max_examples=30, deadline=None)
def test_an_exact_power_law_is_continued(limit, factor, exponent, seed):
    answers = np.geomspace(300, 1000, 6)
    values = (limit - factor * answers**-exponent)[None]
    laws = fit_power_laws(answers, values, np.random.default_rng(seed))
    assert laws.at(1500.0)[0] == pytest.approx(limit - factor * 1500**-exponent, abs=0.01)
    assert laws.limit[0] <= 1
    assert laws.factor[0] >= 0


def test_limits_above_one_are_not_fitted():
    answers = np.geomspace(300, 1000, 6)
    laws = fit_power_laws(answers, np.linspace(0.7, 0.95, 6)[None], np.random.default_rng(0))
    assert laws.limit.max() <= 1
    assert laws.at(10_000.0).max() <= 1


def test_two_thousand_pairs_take_well_under_a_second():
    answers = simulated(400, 2000, 0.5, 5)
    start = time.process_time()
    learning_curve(*answers)
    assert time.process_time() - start < 1


def tables(n_items, n_answers):
    left, right, c = simulated(n_items, n_answers, 0.5, 6)
    items = {"id": np.arange(n_items), "size": np.linspace(0, 1, n_items)}
    return items, {"left": left, "right": right, "difference": c}


def test_the_check_reports_the_curve():
    report = check_comparisons(*tables(60, 400), scale="-1,1")
    curve = report.measures["learning_curve"]
    assert curve.answers == 400
    assert json.loads(check_json(report))["measures"]["learning_curve"]["text"] == curve.text
    page = check_html(report)
    assert curve.text in page
    assert "pairwise accuracy against the number of answers" in page


def test_a_check_of_a_tiny_table_says_that_answers_are_too_few():
    report = check_comparisons(*tables(8, 20), scale="-1,1")
    page = check_html(report)
    assert "Too few answers to project" in page
    assert "pairwise accuracy against the number of answers" not in page


def test_edges_with_repeats_count_all_answers():
    from confdiff.tabular.checks.graph import edges_of

    left, right, c = simulated(40, 300, 0.5, 7)
    twice = judged(*zip([*left, *left], [*right, *right], [*c, *c], strict=True), n_items=40)
    assert curve_of(edges_of(twice)).answers == 600
