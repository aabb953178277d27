"""Gradients of boosted trees against autograd of the risks, and Hessians against finite differences."""

import numpy as np
import pytest
import torch

from confdiff.estimators.trees.ends import Ends
from confdiff.estimators.trees.table import DistinctPairs, difference_error, objective_of
from confdiff.methods import METHODS
from confdiff.pairs import Pairs

N_ITEMS = 25
N_PAIRS = 40
TREE_METHODS = [
    "confdiff-regression",
    "confdiff-unbiased",
    "confdiff-relu",
    "confdiff-abs",
    "oracle-soft",
    "oracle-hard",
]
PRIORS = {1: 0.3, 3: np.array([0.2, 0.3, 0.5])}


def random_table(n_scores, method, seed=0):
    """A table of pairs in which items are in several pairs, and one pair has the same item twice."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, N_ITEMS, (N_PAIRS, 2))
    rows[0] = 3
    shape = (N_ITEMS,) if n_scores == 1 else (N_ITEMS, n_scores)
    posteriors = rng.random(shape) if n_scores == 1 else rng.dirichlet(np.ones(n_scores), N_ITEMS)
    pairs = Pairs(
        np.arange(N_ITEMS, dtype=float)[:, None],
        rows[:, 0],
        rows[:, 1],
        (posteriors[rows[:, 1]] - posteriors[rows[:, 0]]) * 0.8,
        weight=rng.random(N_PAIRS) + 0.1,
        posteriors=posteriors,
        labels=rng.integers(0, max(n_scores, 2), N_ITEMS),
    )
    return DistinctPairs.of(pairs, METHODS[method], seed=1)


def random_scores(table, seed=1):
    shape = (len(table.items),) if table.n_scores == 1 else (len(table.items), table.n_scores)
    return 2 * np.random.default_rng(seed).normal(size=shape)


def risk_and_gradient(table, method, prior, scores):
    """n times the risk of the table of methods, and its gradient by the scores of the items, from autograd."""
    g = torch.tensor(scores, requires_grad=True)
    targets = [torch.from_numpy(target) for target in table.targets]
    uses_prior = METHODS[method].prior != "unused"
    options = {"prior": torch.from_numpy(prior) if isinstance(prior, np.ndarray) else prior} if uses_prior else {}
    risk = METHODS[method].risk(
        g[table.pairs.left],
        g[table.pairs.right],
        *targets,
        weight=torch.from_numpy(Ends.of(table.pairs).weight),
        **options,
    )
    total = risk * len(table.pairs)
    total.backward()
    return float(total.detach()), g.grad.numpy()


@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("method", TREE_METHODS)
@pytest.mark.parametrize("seed", [1, 2])
def test_values_and_gradients_are_those_of_the_risks(method, n_scores, seed):
    table = random_table(n_scores, method)
    scores = random_scores(table, seed)
    objective = objective_of(table, METHODS[method], PRIORS[n_scores])
    value, gradient = risk_and_gradient(table, method, PRIORS[n_scores], scores)
    assert objective.value(scores) == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(objective.derivatives(scores)[0], gradient, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("link", ["preference", "score"])
def test_derivatives_of_the_other_links(link):
    table = random_table(1, link)
    table = table[np.flatnonzero((table.pairs.left != table.pairs.right).numpy())]
    scores = random_scores(table)
    objective = objective_of(table, METHODS[link], None)
    value, expected = risk_and_gradient(table, link, None, scores)
    gradient, hessian = objective.derivatives(scores)
    assert objective.value(scores) == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    step = 1e-5
    for item in range(len(scores)):
        moved = scores.copy()
        moved[item] += step
        second = (objective.derivatives(moved)[0][item] - gradient[item]) / step
        assert hessian[item] == pytest.approx(second, rel=0.01, abs=1e-3 * Ends.of(table.pairs).degrees[item])


def test_the_hessian_of_difference_regression_is_that_of_gauss_and_newton():
    table = random_table(1, "confdiff-regression")
    rows = np.flatnonzero((table.pairs.left != table.pairs.right).numpy())
    table = table[rows]
    scores = random_scores(table) / 4
    ends = Ends.of(table.pairs)
    p = 1 / (1 + np.exp(-scores))
    jacobian = np.zeros((ends.n_pairs, ends.n_items))  # of the predicted differences by the scores
    jacobian[np.arange(ends.n_pairs), ends.right] = (p * (1 - p))[ends.right]
    jacobian[np.arange(ends.n_pairs), ends.left] = -(p * (1 - p))[ends.left]
    expected = 2 * np.diag(jacobian.T @ np.diag(ends.weight) @ jacobian)
    np.testing.assert_allclose(difference_error(table, None).derivatives(scores)[1], expected, rtol=1e-9)


@pytest.mark.parametrize("n_scores", [1, 3])
@pytest.mark.parametrize("method", TREE_METHODS)
def test_small_steps_lower_the_objective_and_hessians_are_positive(method, n_scores):
    table = random_table(n_scores, method)
    objective = objective_of(table, METHODS[method], PRIORS[n_scores])
    for seed in range(5):
        scores = random_scores(table, seed)
        gradient, hessian = objective.derivatives(scores)
        assert (hessian > 0).all()
        assert objective.value(scores - 0.01 * gradient / hessian) < objective.value(scores)


def test_two_classes_as_vectors_have_the_binary_value_and_gradient():
    table = random_table(1, "confdiff-regression")
    c = table.targets[0]
    vectors = DistinctPairs(pairs=table.pairs, targets=np.stack([-c, c], axis=1)[None])
    scores = random_scores(table)
    both = np.stack([np.zeros_like(scores), scores], axis=1)
    binary = difference_error(table, 0.3)
    multiclass = difference_error(vectors, np.array([0.7, 0.3]))
    assert multiclass.value(both) == pytest.approx(binary.value(scores))
    gradient, hessian = binary.derivatives(scores)
    np.testing.assert_allclose(multiclass.derivatives(both)[0][:, 1], gradient, atol=1e-12)
    ordinary = hessian > 1.0001e-3 * Ends.of(table.pairs).degrees
    np.testing.assert_allclose(2 * hessian[ordinary], multiclass.derivatives(both)[1][ordinary, 1], rtol=1e-9)


def test_swapped_pairs_have_the_same_derivatives():
    table = random_table(1, "confdiff-regression")
    swapped = DistinctPairs(pairs=table.pairs.oriented(torch.ones(N_PAIRS, dtype=bool)), targets=-table.targets)
    scores = random_scores(table)
    for first, second in zip(
        difference_error(table, 0.3).derivatives(scores),
        difference_error(swapped, 0.3).derivatives(scores),
        strict=True,
    ):
        np.testing.assert_array_equal(first, second)
