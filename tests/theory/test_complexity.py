import math
from itertools import product

import numpy as np
import pytest
from torch import nn

from confdiff.theory.bounds import LossConstants
from confdiff.theory.complexity import (
    finite_complexity,
    frobenius_norms,
    largest_score,
    linear_complexity,
    linear_complexity_monte_carlo,
    network_complexity,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(6, 3))
SIGNS = np.array(list(product([-1, 1], repeat=6)))


@pytest.mark.parametrize("norm", [1, 2])
def test_monte_carlo_is_the_mean_over_all_signs(norm):
    sums = SIGNS @ X
    exact = 2.0 * np.mean(np.abs(sums).max(axis=1) if norm == 1 else np.linalg.norm(sums, axis=1)) / 6
    estimate, error = linear_complexity_monte_carlo(X, 2.0, norm=norm, draws=4000)
    assert abs(estimate - exact) < 4 * error
    assert error < 0.02
    if norm == 2:
        assert exact <= linear_complexity(X, 2.0) <= math.sqrt(2) * exact  # Jensen, and Khintchine and Kahane


def test_finite_classes():
    scores = rng.normal(size=(5, 6))
    exact = np.mean((SIGNS @ scores.T).max(axis=1)) / 6
    estimate, error = finite_complexity(scores, draws=4000)
    assert abs(estimate - exact) < 4 * error
    spread = np.std((SIGNS @ scores.T).max(axis=1) / 6)
    assert error == pytest.approx(spread / math.sqrt(4000), rel=0.1)


def test_the_bound_of_a_network_is_above_what_networks_reach():
    network = nn.Sequential(nn.Linear(3, 4, bias=False), nn.ReLU(), nn.Linear(4, 1, bias=False))
    norms = frobenius_norms(network)
    assert norms == pytest.approx([np.linalg.norm(layer.weight.detach().numpy()) for layer in network[::2]])
    bound = network_complexity(X, norms)
    # A finite subset of the class: networks with weights of these norms in random directions.
    members = []
    for _ in range(200):
        first, second = rng.normal(size=(4, 3)), rng.normal(size=4)
        first *= norms[0] / np.linalg.norm(first)
        second *= norms[1] / np.linalg.norm(second)
        members.append(np.maximum(first @ X.T, 0).T @ second)
    assert finite_complexity(members)[0] < bound
    assert np.abs(members).max() <= largest_score(X, norms)
    assert largest_score(X, norms) == pytest.approx(np.linalg.norm(X, axis=1).max() * norms[0] * norms[1])
    constants = LossConstants.of("logistic", largest_score(X, [2.0]))  # of linear functions of norm 2
    steepest = 2 * X / np.linalg.norm(X, axis=1, keepdims=True)
    assert constants.bound == pytest.approx(max(np.log1p(np.exp(np.einsum("ij,ij->i", steepest, X)))))
    assert bound == pytest.approx(np.linalg.norm(X) / 6 * (math.sqrt(4 * math.log(2)) + 1) * norms[0] * norms[1])


@pytest.mark.parametrize("layer", [nn.Linear(3, 4), nn.BatchNorm1d(3), nn.Sigmoid()])
def test_networks_that_the_bound_is_not_for_are_refused(layer):
    with pytest.raises(ValueError, match="got a network with"):
        frobenius_norms(nn.Sequential(nn.Linear(3, 3, bias=False), layer))


def test_unknown_norms_are_refused():
    with pytest.raises(ValueError, match="norm must be 1 or 2"):
        linear_complexity_monte_carlo(X, 1.0, norm=3)
