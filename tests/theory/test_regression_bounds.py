"""Compare the bounds for difference regression with values computed by hand, and with small cases enumerated."""

import math
from itertools import product

import numpy as np
import pytest

from confdiff.theory.regression_bounds import (
    proposition_3_complexity,
    proposition_3_estimation_error,
    proposition_3_uniform_deviation,
    proposition_4_posterior_error,
    proposition_5_bias,
    proposition_5_deviation,
    proposition_6_offset_error,
    proposition_7_finite_class,
)

# sqrt(ln(2/delta) / 2n) = 1/sqrt(n) for TWO, and sqrt(ln(4/delta) / 2n) for FOUR.
TWO = 2 * math.exp(-2)
FOUR = 4 * math.exp(-2) / 2  # a probability; ln(4/delta) = 2 + ln(2)
EPSILON = math.sqrt((2 + math.log(2)) / 200)


def test_worked_by_hand():
    assert proposition_3_complexity(0.2, largest=2.0) == pytest.approx(0.6)
    plain = {"delta": TWO, "largest": 2.0}
    assert proposition_3_uniform_deviation(100, 0.2, **plain) == pytest.approx(1.2 + 0.9)
    assert proposition_3_estimation_error(100, 0.2, **plain) == pytest.approx(1.2 + 1.8)
    assert proposition_5_deviation(100, **plain) == pytest.approx(0.9)
    given = {"delta": FOUR, "largest": 2.0, "prior": 0.3}
    assert proposition_3_uniform_deviation(100, 0.2, **given) == pytest.approx(1.2 + 0.14 + (9 + 1.4) * EPSILON)
    assert proposition_3_estimation_error(100, 0.2, **given) == pytest.approx(1.2 + 0.28 + (18 + 2.8) * EPSILON)
    assert proposition_5_deviation(100, delta=TWO, largest=2.0, prior=0.7) == pytest.approx(1.04 + 1 / 800)
    assert proposition_4_posterior_error(0.09, noise_shift=0.2, prior_error=-0.1) == pytest.approx(0.3 + 0.6)
    assert proposition_5_bias(50, 0.2) == pytest.approx(0.002)
    assert proposition_6_offset_error(0.09, margin=0.1, mass=0.2) == pytest.approx(0.1 + 0.6)
    assert proposition_7_finite_class(100, 3, delta=3 * math.exp(-2), largest=2.0) == pytest.approx(
        28 / 3 * 9 * 2 / 100
    )
    bound = proposition_7_finite_class(100, 3, delta=3 * math.exp(-2), largest=2.0, prior=0.5)
    assert bound == pytest.approx((96 + 2) * (2 + math.log(4)) / 100)


def test_the_default_is_a_difference_of_at_most_1():
    assert proposition_3_complexity(0.2) == pytest.approx(0.4)
    for function in (proposition_3_uniform_deviation, proposition_3_estimation_error):
        assert function(10, 0.2, delta=0.1) == function(10, 0.2, delta=0.1, largest=1.0)
    assert proposition_5_deviation(10, delta=0.1) == proposition_5_deviation(10, delta=0.1, largest=1.0)
    assert proposition_7_finite_class(10, 2, delta=0.1) == proposition_7_finite_class(10, 2, delta=0.1, largest=1.0)
    assert proposition_4_posterior_error(0.04) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: proposition_3_complexity(-0.1), "complexity must be"),
        (lambda: proposition_3_complexity(0.1, largest=-1.0), "largest must be"),
        (lambda: proposition_3_estimation_error(10, 0.1, delta=2.0, prior=0.5), "delta must be .* got 2.0"),
        (lambda: proposition_3_estimation_error(10, 0.1, delta=0.1, prior=1.5), "prior must be"),
        (lambda: proposition_4_posterior_error(-1.0), "estimation_error must be"),
        (lambda: proposition_5_bias(0, 0.1), "n must be"),
        (lambda: proposition_6_offset_error(0.1, margin=0.1, mass=0.0), "mass must be"),
        (lambda: proposition_6_offset_error(-0.1, margin=0.1, mass=0.5), "variance must be"),
        (lambda: proposition_7_finite_class(10, 0, delta=0.1), "functions must be"),
        (lambda: proposition_7_finite_class(10, 5, delta=0.1, prior=0.0), "prior must be"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("seed", range(5))
def test_the_complexity_of_squared_errors_over_all_signs(seed):
    """Contraction for one sample: the pairs' complexity against that of both items' scores, each over all signs."""
    rng = np.random.default_rng(seed)
    g, g_prime = rng.normal(scale=3, size=(2, 8, 6))  # 8 functions on 6 pairs
    c = rng.uniform(-1, 1, 6)
    signs = np.array(list(product([-1, 1], repeat=6)))

    def complexity(values):
        return (signs @ values.T).max(axis=1).mean() / 6

    squares = (1 / (1 + np.exp(-g_prime)) - 1 / (1 + np.exp(-g)) - c) ** 2
    scores = (complexity(g) + complexity(g_prime)) / 2  # the same in expectation
    assert complexity(squares) <= proposition_3_complexity(scores)
    assert complexity(squares) > 0


def test_the_deviation_of_a_mean_in_every_sample():
    """Two points, p in {0, 1} and exact differences: all samples of n pairs, against Proposition 5."""
    n, delta, p, r = 6, 0.1, np.array([0.0, 1.0]), np.array([0.2, 0.8])
    expected = 2 * 0.2**2  # errors -.2 and .2 have the mean 0
    pairs = [(i, j) for i in (0, 1) for j in (0, 1)]
    values = {pair: (p[pair[1]] - p[pair[0]] - r[pair[1]] + r[pair[0]]) ** 2 for pair in pairs}
    bound = proposition_5_deviation(n, delta=delta, prior=0.5)
    outside = 0
    deviations = []
    for sample in product(pairs, repeat=n):
        mean = np.mean([p[i] + p[j] for i, j in sample]) / 2
        risk = np.mean([values[pair] for pair in sample]) + (mean - 0.5) ** 2
        deviations.append(risk - expected)
        outside += abs(risk - expected) > bound
    assert outside / 4**n <= delta
    assert np.mean(deviations) == pytest.approx(proposition_5_bias(n, 0.25))
