import numpy as np
import pytest
import torch

from confdiff.pairs import NOISES, Pairs, add_noise
from easy import easy_pairs

AMOUNTS = {"multiplicative": 0.3, "additive": 0.2, "likert": 7, "labels": None}


def many(c, n=40_000):
    return Pairs(np.zeros((2, 1)), np.zeros(n), np.ones(n), np.full(n, c), labels=[0, 1])


@pytest.mark.parametrize("c", [-1.0, -0.4, 0.0, 0.7])
@pytest.mark.parametrize(("kind", "spread"), [("multiplicative", lambda c: 0.3 * abs(c)), ("additive", lambda c: 0.3)])
def test_noise_has_the_mean_and_the_spread_that_it_says(kind, spread, c):
    noisy = add_noise(many(c), kind, 0.3, clip=False).difference
    assert noisy.mean() == pytest.approx(c, abs=0.006)
    assert noisy.std() == pytest.approx(spread(c), abs=0.006)


@pytest.mark.parametrize("kind", [*NOISES, "labels"])
def test_every_kind_keeps_the_pairs_and_the_range_and_is_decided_by_the_seed(kind):
    pairs = easy_pairs()
    noisy, same, other = (add_noise(pairs, kind, AMOUNTS[kind], seed=seed) for seed in (1, 1, 2))
    assert torch.equal(noisy.left, pairs.left)
    assert noisy.items is pairs.items
    assert noisy.difference.abs().max() <= 1 or kind == "multiplicative"
    assert not torch.equal(noisy.difference, pairs.difference)
    assert torch.equal(noisy.difference, same.difference)
    assert torch.equal(noisy.difference, other.difference) == (kind in ("likert", "labels"))


def test_multiplicative_noise_is_not_clipped_unless_asked_as_in_the_paper():
    assert add_noise(many(1.0), "multiplicative", 0.5).difference.max() > 1
    assert add_noise(many(1.0), "multiplicative", 0.5, clip=True).difference.max() == 1
    assert add_noise(many(1.0), "additive", 0.5).difference.max() == 1


@pytest.mark.parametrize("points", [3, 4, 5, 6])
def test_likert_is_antisymmetric_also_half_way_between_grades(points):
    c = torch.arange(-10, 11) / (points - 1) / 5
    pairs = Pairs(torch.zeros(2, 1), torch.zeros(21), torch.ones(21), c.clamp(-1, 1))
    turned = pairs.with_difference(-pairs.difference)
    given, mirrored = (add_noise(each, "likert", points).difference for each in (pairs, turned))
    assert torch.allclose(given[c != 0], -mirrored[c != 0])


@pytest.mark.parametrize("points", [2, 3, 4, 5, 7, 11])
def test_likert_gives_the_nearest_grade_and_is_antisymmetric(points):
    c = np.random.default_rng(0).uniform(-1, 1, 1000)
    pairs = Pairs(np.zeros((2, 1)), np.zeros(1000), np.ones(1000), c)
    grades = np.linspace(-1, 1, points)
    given = add_noise(pairs, "likert", points).difference
    assert given.numpy() == pytest.approx(grades[np.abs(c[:, None] - grades).argmin(1)], abs=1e-6)
    assert len(given.unique()) == points
    mirrored = add_noise(pairs.with_difference(-pairs.difference), "likert", points).difference
    assert torch.allclose(given, -mirrored, atol=1e-6)


def test_an_even_scale_sends_ties_to_both_sides():
    grades = add_noise(many(0.0), "likert", 4).difference
    assert (grades > 0).float().mean() == pytest.approx(0.5, abs=0.01)
    assert grades.unique().tolist() == pytest.approx([-1 / 3, 1 / 3])


def test_label_differences():
    pairs = easy_pairs()
    given = add_noise(pairs, "labels").difference
    assert torch.equal(given, pairs.labels[pairs.right] - pairs.labels[pairs.left])


@pytest.mark.parametrize(
    ("kind", "amount", "message"),
    [
        ("gaussian", 1, "unknown noise 'gaussian'"),
        ("additive", None, "sigma, the amount of additive noise, must be a finite number of at least 0; got None"),
        ("multiplicative", -1, "got -1"),
        ("likert", 2.5, "points, those of a Likert scale, must be a whole number of at least 2; got 2.5"),
        ("likert", 1, "at least 2; got 1"),
        ("labels", 3, "label differences have no amount; got 3"),
    ],
)
def test_mistakes(kind, amount, message):
    with pytest.raises(ValueError, match=message):
        add_noise(easy_pairs(), kind, amount)
