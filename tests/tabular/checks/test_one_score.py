"""One score per item, compared with known answers."""

import itertools

import numpy as np
import pytest

from confdiff.tabular.checks.one_score import explained_by, fitted_scores
from confdiff.tabular.checks.report import check_comparisons
from judging import clean, judged, the


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
