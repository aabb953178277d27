"""Scores rescaled by labels and same-class answers, compared with a restatement by scipy."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from confdiff import ConfDiffLogisticRegression
from confdiff.annotators import ScaleEvidence
from confdiff.estimators.linear.solving import Solution
from confdiff.estimators.linear.steepness import rescaled

NONE = np.zeros(0)
FLAT = Solution(w=np.array([1.0, -2.0]), b=0.0, n_iter=1, value=0.0, slope=0.0, message="")
PRIOR = 0.3


def of_labels(scores, labels):
    return ScaleEvidence(scores, labels, first=NONE, second=NONE, same=NONE, weight=NONE)


def of_answers(first, second, same, weight=None):
    ones = np.ones(len(same)) if weight is None else weight
    return ScaleEvidence(NONE, NONE, first=first, second=second, same=same, weight=ones)


def drawn(factor, n=4_000, seed=0):
    """Return scores, their weights, and labels of items whose log-odds are a factor times the scores."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    offset = brentq(lambda b: expit(factor * scores + b).mean() - PRIOR, -30, 30)
    labels = (rng.uniform(size=n) < expit(factor * scores + offset)).astype(float)
    return scores, np.ones(n), labels


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_many_labels_determine_the_factor(factor):
    scores, weight, labels = drawn(factor)
    solution = rescaled(FLAT, scores, weight, PRIOR, of_labels(scores, labels))
    assert solution.w / FLAT.w == pytest.approx(factor, rel=0.1)
    assert expit(solution.w[0] * scores + solution.b).mean() == pytest.approx(PRIOR, abs=1e-6)


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_many_same_class_answers_determine_the_factor(factor):
    scores, weight, labels = drawn(factor)
    first, second = np.arange(4_000).reshape(2, -1)
    same = (labels[first] == labels[second]).astype(float)
    solution = rescaled(FLAT, scores, weight, PRIOR, of_answers(scores[first], scores[second], same))
    assert solution.w[0] == pytest.approx(factor, rel=0.2)


def test_few_labels_move_the_scores_less_than_many():
    scores, weight, labels = drawn(2.0)
    few = rescaled(FLAT, scores, weight, PRIOR, of_labels(scores[:10], labels[:10])).w[0]
    many = rescaled(FLAT, scores, weight, PRIOR, of_labels(scores, labels)).w[0]
    assert abs(few - 1) < abs(many - 1)


def test_answers_of_weight_zero_have_no_influence():
    scores, weight, _ = drawn(1.0)
    same = np.ones(50)
    evidence = of_answers(scores[:50], scores[50:100], same, weight=np.zeros(50))
    assert rescaled(FLAT, scores, weight, PRIOR, evidence).w[0] == pytest.approx(1, abs=1e-9)


def test_timid_answers_of_annotators_become_steeper_by_labels():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(400, 2))
    p = expit(4 * items[:, 0])
    rows = rng.integers(0, 400, (600, 2))
    who = np.arange(600) % 5
    c = 0.5 * np.linspace(0.5, 1.5, 5)[who] * (p[rows[:, 1]] - p[rows[:, 0]])
    labelled = (items[:300], (rng.uniform(size=300) < p[:300]).astype(int))
    errors = {}
    for name, answers in (("labels", labelled), ("none", None)):
        model = ConfDiffLogisticRegression(prior=None if answers else 0.5)
        model.fit(rows, c, items=items, annotators=who, labelled=answers)
        errors[name] = np.abs(model.predict_proba(items)[:, 1] - p).mean()
    assert errors["labels"] < 0.3 * errors["none"]
