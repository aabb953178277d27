"""Values of grades before a fit of an estimator."""

import numpy as np
import pytest

from confdiff.estimators.grades import space_grades, with_values
from confdiff.estimators.logistic import ConfDiffLogisticRegression
from confdiff.pairs import Pairs


def graded_pairs(n=600, seed=0, **columns):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 2))
    left = rng.integers(0, 100, n)
    right = rng.integers(100, 200, n)
    d = x[right, 0] - x[left, 0]
    c = np.sign(d) * np.digitize(np.abs(d), [0.1, 0.3]) / 2  # the upper grade is far wider than the lower one
    return Pairs(x, left, right, c, **columns)


def test_learned_values_replace_the_differences_and_annotators_are_kept():
    who = np.arange(600) % 3
    pairs = graded_pairs(annotator=who, side=np.where(who, 1, -1))
    spaced, spacing = space_grades(pairs, spacing="learned")
    assert spacing.values[0] < 0.4 * spacing.values[1]
    assert spaced.difference.numpy() == pytest.approx(spacing.differences(pairs.difference.numpy()), abs=1e-6)
    assert spaced.annotator.tolist() == who.tolist()
    assert spaced.side.tolist() == pairs.side.tolist()
    assert float(spaced.difference.abs().max()) <= 1


def test_ends_of_the_scale_mean_at_least_for_scores():
    pairs = graded_pairs()
    spaced, spacing = space_grades(pairs, spacing="learned", at_least=True)
    at_end = pairs.difference.abs() == 1
    plain = with_values(pairs, spacing).difference
    assert bool((spaced.difference[~at_end] == plain[~at_end]).all())
    assert bool((spaced.difference.abs()[at_end] >= plain.abs()[at_end] - 1e-6).all())
    assert float(spaced.difference.abs().max()) > 1.2
    x = pairs.items.numpy()[:, 0]

    def correlation(data):
        return np.corrcoef(ConfDiffLogisticRegression(link="score").fit(data).decision_function(pairs.items), x)[0, 1]

    assert correlation(spaced) >= correlation(pairs) - 1e-3


def test_auto_learns_where_it_helps_and_equal_changes_nothing():
    pairs = graded_pairs()
    assert space_grades(pairs)[1].name == "learned"
    same, spacing = space_grades(pairs, spacing="equal")
    assert same is pairs
    assert spacing.name == "equal"


def test_pairs_without_a_difference_keep_it_missing():
    pairs = graded_pairs()
    c = pairs.difference.numpy().copy()
    c[5] = np.nan
    mixed = Pairs(pairs.items.numpy(), pairs.left, pairs.right, c, same=np.where(np.isnan(c), 1.0, np.nan))
    spaced, _ = space_grades(mixed, spacing="learned")
    assert np.flatnonzero(np.isnan(spaced.difference.numpy())).tolist() == [5]


def test_values_need_grades_of_two_classes():
    pairs = graded_pairs()
    with pytest.raises(ValueError, match="needs 2 to 10 sizes"):
        space_grades(pairs.with_difference(pairs.difference.sign()), spacing="learned")
    with pytest.raises(ValueError, match="before the annotators"):
        space_grades(pairs.with_precision(pairs.difference, pairs.difference.abs() + 1))
    with pytest.raises(ValueError, match="differences of two classes"):
        space_grades(Pairs(np.eye(2), [0], [1], same=[1.0]))
