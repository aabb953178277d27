"""Values of grades: recovered where they are unequal, equal where the data do not say otherwise."""

import numpy as np
import pytest

from confdiff.spacing import Spacing, can_be_learned, learn_spacing, learned_values, levels_of, out_of_fold

THRESHOLDS = np.array([0.05, 0.15, 0.9])  # of the levels 1/3, 2/3 and 1: the second is much wider than the first
EQUAL = np.array([1, 3, 5]) / 6


def graded(n, seed, thresholds=THRESHOLDS):
    rng = np.random.default_rng(seed)
    d = rng.normal(size=n) * 0.6
    latent = d + rng.normal(size=n) * 0.1
    return np.sign(latent) * np.searchsorted(thresholds, np.abs(latent)) / 3, d


def sizes(c):
    return np.array([(np.abs(c).round(5) == level).sum() for level in levels_of(c)])


def test_values_are_means_of_levels_with_the_energy_of_equal_spacing():
    c, d = graded(50_000, 0, thresholds=np.array([0.05, 0.6, 0.9]))
    values = learned_values(c, d)
    means = np.array([(np.sign(c) * d)[np.abs(c).round(5) == level].mean() for level in levels_of(c)])
    assert values / values[2] == pytest.approx(means / means[2], abs=0.01)
    if values[2] < 1:
        assert sizes(c) @ values**2 == pytest.approx(sizes(c) @ np.array(levels_of(c)) ** 2)


def test_values_never_leave_the_scale():
    c, d = graded(5_000, 0, thresholds=np.array([0.3, 0.6, 2.0]))
    values = learned_values(c, d)
    assert values[-1] == pytest.approx(1)
    assert np.abs(Spacing("learned", levels_of(c), tuple(values)).differences([-1, 1, 0.9])).max() <= 1


def test_values_do_not_depend_on_the_scale_of_predictions_or_on_swaps():
    c, d = graded(500, 1)
    values = learned_values(c, d)
    assert learned_values(c, 0.01 * d) == pytest.approx(values)
    sign = np.where(np.arange(500) % 2, 1, -1)
    assert learned_values(sign * c, sign * d) == pytest.approx(values)


@pytest.mark.parametrize("seed", range(20))
def test_values_are_monotone_and_not_negative(seed):
    rng = np.random.default_rng(seed)
    c = rng.integers(-3, 4, 30) / 3
    values = learned_values(c, rng.normal(size=30) + c)
    assert np.all(np.diff(values) >= 0)
    assert values[0] >= 0


def test_few_answers_are_shrunk_to_equal_spacing():
    c, d = graded(20_000, 2)
    far = np.abs(learned_values(c, d) - levels_of(c)).sum()
    rng = np.random.default_rng(0)
    few = c[:25]
    noisy = [learned_values(few, d[:25] + 3 * rng.normal(size=25)) for _ in range(50)]
    assert np.median([np.abs(values - levels_of(few)).sum() for values in noisy]) < far


def test_predictions_that_contradict_the_answers_leave_equal_spacing():
    c, d = graded(500, 3)
    assert tuple(learned_values(c, -d)) == levels_of(c)
    assert learned_values(np.sign(c), d).tolist() == [1]


def test_only_ends_of_the_scale_mean_at_least():
    spacing = Spacing("learned", (0.5, 1.0), (0.4, 1.0))
    c = np.array([-1, -0.5, 0, 0.5, 1])
    assert spacing.targets(c, 0.5 * c) == pytest.approx([-1, -0.4, 0, 0.4, 1])
    assert spacing.targets(c, 3 * c) == pytest.approx([-3, -0.4, 0, 0.4, 3])
    inner = Spacing("learned", (0.25, 0.5), (0.2, 0.5))  # no answer reached an end
    assert inner.targets([0.5], [9.0]) == pytest.approx([0.5])


def test_differences_are_antisymmetric_and_interpolated():
    spacing = Spacing("learned", (0.25, 0.5), (0.1, 0.5))
    c = np.linspace(-1, 1, 21)
    assert spacing.differences(c) == pytest.approx(-spacing.differences(-c))
    assert np.all(np.diff(spacing.differences(c)) > 0)
    assert spacing.differences([1.0, 0.375]) == pytest.approx([1.0, 0.3])  # 1 did not occur
    assert Spacing("equal", (0.5, 1.0), (0.5, 1.0)).differences(c) == pytest.approx(c)


@pytest.mark.parametrize("levels", [(), (0.0, 1.0), (1.0, 0.5)])
def test_levels_must_increase(levels):
    with pytest.raises(ValueError, match="levels must increase"):
        Spacing("learned", levels, levels)


def item_scores(seed, n_items=60, n=3000, thresholds=THRESHOLDS, spread=0.5):
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n_items) * spread
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    latent = score[right] - score[left] + 0.2 * rng.normal(size=n)
    c = np.sign(latent) * np.searchsorted(thresholds, np.abs(latent)) / 3
    design = np.zeros((n, n_items))
    design[np.arange(n), right] = 1
    design[np.arange(n), left] = -1

    def fit_predict(training, targets, test):
        x = design[training]
        return design[test] @ np.linalg.solve(x.T @ x + np.eye(n_items), x.T @ targets)

    return c, fit_predict, design, score


def test_unequal_grades_are_learned_by_alternation_and_chosen():
    c, fit_predict, design, score = item_scores(0)
    spacing = learn_spacing(c, fit_predict)
    assert spacing.name == "learned"
    assert spacing.values[1] - spacing.values[0] < spacing.values[2] - spacing.values[1]  # unlike equal spacing
    assert spacing.agreement["learned"] > spacing.agreement["equal"]

    def correlation(target):
        return np.corrcoef(np.linalg.solve(design.T @ design + np.eye(60), design.T @ target), score)[0, 1]

    targets = spacing.targets(c, out_of_fold(spacing.differences(c), np.arange(len(c)), fit_predict, 0))
    assert correlation(targets) > correlation(c)


def test_equal_spacing_is_kept_where_it_is_right():
    names = [learn_spacing(*item_scores(seed, n=600, thresholds=EQUAL, spread=0.2)[:2]).name for seed in range(10)]
    assert names.count("learned") <= 3  # in 40 tables it was chosen 3 times


def test_held_out_answers_do_not_enter_their_own_prediction():
    c, fit_predict, _, _ = item_scores(1, n=200)
    seen = []

    def recording(training, targets, test):
        assert not set(training.tolist()) & set(test.tolist())
        seen.append((set(training.tolist()), set(test.tolist())))
        return fit_predict(training, targets, test)

    learn_spacing(c, recording, spacing="auto")
    held_out = seen[0][1]
    of_fold = seen[: len(seen) // 5 if len(seen) % 5 == 0 else 8]
    assert not any(held_out & training for training, _ in of_fold)


def test_a_spacing_that_is_asked_for_is_used():
    c, fit_predict, _, _ = item_scores(1, n=300)
    assert learn_spacing(c, fit_predict, spacing="equal").values == levels_of(c)
    assert learn_spacing(c, fit_predict, spacing="learned").name == "learned"
    assert learn_spacing(c[:40], fit_predict, spacing="auto").name == "equal"  # too few answers to choose
    with pytest.raises(ValueError, match="unknown spacing 'log'"):
        learn_spacing(c, fit_predict, spacing="log")


@pytest.mark.parametrize("c", [np.sign(np.linspace(-1, 1, 99)), np.linspace(-1, 1, 99), np.zeros(60)])
def test_numbers_and_signs_are_not_grades(c):
    assert not can_be_learned(c, "auto")
    with pytest.raises(ValueError, match="needs 2 to 10 sizes of differences"):
        can_be_learned(c, "learned")
    assert learn_spacing(c, None).name == "equal"
