"""Tests of the comparison of candidates on folds: which of them leads, and which are dropped."""

import numpy as np
import pytest

from confdiff import ConfDiffLogisticRegression, Pairs
from confdiff.estimators.candidates import resolve_candidates
from confdiff.estimators.comparison import Comparison
from confdiff.estimators.folds import plan_folds

N = 100


def _comparison(errors_of_contenders):
    """Return a comparison whose contenders have predicted with these errors, one for each of their folds."""
    rng = np.random.default_rng(0)
    pairs = Pairs(rng.normal(size=(2 * N, 2)), range(0, 2 * N, 2), range(1, 2 * N, 2), rng.uniform(-1, 1, N))
    plan = plan_folds(pairs, 5, seed=0)
    candidates = resolve_candidates([ConfDiffLogisticRegression() for _ in errors_of_contenders], pairs)
    comparison = Comparison(plan, candidates, ["probability"], None, {})
    c = pairs.difference.double().numpy()
    for contender, errors in zip(comparison.contenders, errors_of_contenders, strict=True):
        contender.predicted = [c[test] + error for (_, test), error in zip(plan.folds, errors, strict=False)]
    return comparison


@pytest.mark.parametrize(
    ("errors", "leader"),
    [
        ([[0.2, 0.2, 0.2], [0.1, 0.1, 0.4]], 0),  # both in all folds
        ([[0.2, 0.2, 0.1], [0.15, 0.15]], 1),  # better in the two folds of both
        ([[0.1, 0.1, 0.4], [0.15, 0.15]], 0),  # its mean error over three folds would be higher
        ([[0.1, 0.1, 0.1], [0.2, 0.2, 0.0], [0.09]], 2),
        ([[0.1, 0.1], [0.1, 0.1]], 0),  # equal: the simplest
        ([[0.1], [0.1, 0.1]], 1),  # equal in the fold of both: that with more folds
    ],
)
def test_leader_is_found_in_shared_folds(errors, leader):
    comparison = _comparison(errors)
    assert comparison._leader(comparison.contenders) is comparison.contenders[leader]


def test_folds_of_pairs_without_common_items_test_every_pair_once():
    plan = _comparison([[0.1]]).plan
    assert sorted(np.concatenate([test for _, test in plan.folds])) == list(range(N))
    assert all(len(training) + len(test) == N for training, test in plan.folds)


def test_too_few_items_for_folds_are_refused():
    pairs = Pairs(np.eye(2), [0], [1], [0.5])
    with pytest.raises(ValueError, match="2 items are too few for 5 folds"):
        plan_folds(pairs, 5, seed=0)


@pytest.mark.parametrize(
    ("errors", "chosen"),
    [
        ([0.31, 0.29, 0.31, 0.29, 0.299], 0),  # better by less than a standard error
        ([0.25] * 5, 1),
        ([0.29999] * 5, 1),  # better by little, but in every pair
    ],
)
def test_the_simplest_of_equally_good_candidates_is_chosen(errors, chosen):
    comparison = _comparison([[0.3] * 5, errors])
    assert comparison._leader(comparison.contenders) is comparison.contenders[1]
    assert comparison._choice() is comparison.contenders[chosen]
