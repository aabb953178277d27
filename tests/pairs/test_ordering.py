import pytest
import torch

from confdiff.losses import logistic
from confdiff.pairs import STRATEGIES, Pairs, order_by_labels
from easy import easy_pairs
from finite import some_distribution


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_first_item_is_at_least_as_positive(strategy):
    pairs = easy_pairs()
    ordered = order_by_labels(pairs, strategy, seed=1)
    y, y_prime = ordered.targets("labels")
    assert (y >= y_prime).all()
    r, r_prime = ordered.targets("posteriors")
    assert torch.allclose(ordered.difference, r_prime - r, atol=1e-6)  # c turns round with its pair
    before = pairs.targets("labels")
    lost = int((before[0] < before[1]).sum())
    assert lost > 20
    assert len(ordered) == len(pairs) - (lost if strategy == "discard" else 0)


def test_pairs_of_one_class_keep_no_order():
    n = 2000
    pairs = Pairs([[0.0], [1.0]], torch.zeros(n), torch.ones(n), labels=[1, 1])  # the second always stands second
    assert order_by_labels(pairs).left.float().mean() == pytest.approx(0.5, abs=0.04)


def test_discarding_leaves_nothing():
    with pytest.raises(ValueError, match="expected at least one pair"):
        order_by_labels(Pairs([[0.0], [1.0]], [0], [1], labels=[0, 1]), "discard")


def pcomp_risk(pairs, weight, g, prior):
    """The unbiased Pcomp risk (Feng et al. 2021), with x the item said to be at least as positive."""
    z, z_prime = g[pairs.left], g[pairs.right]
    terms = logistic(z) + logistic(-z_prime) - prior * logistic(-z) - (1 - prior) * logistic(z_prime)
    return (weight * terms).sum() / weight.sum()


def test_pcomp_is_exact_under_discarding_and_biased_under_reversing():
    """Expectations are sums over all labelled pairs of a finite distribution.

    Among all pairs, those of one class stand in both orders with equal weight: what a coin would do on average.
    """
    finite = some_distribution()
    i, j, y, y_prime, weight = finite.labelled_pairs()
    k = len(finite.p)
    labels = torch.cat([torch.zeros(k), torch.ones(k)])  # an item is a point with a label
    pairs = Pairs(torch.zeros(2 * k, 1), i + k * y.long(), j + k * y_prime.long(), labels=labels)
    error = {}
    for strategy, kept in (("discard", y >= y_prime), ("reverse", torch.ones_like(y, dtype=torch.bool))):
        ordered = order_by_labels(pairs, strategy)
        tie = (y == y_prime)[kept]
        left = torch.where(tie, pairs.left[kept], ordered.left)
        right = torch.where(tie, pairs.right[kept], ordered.right)
        averaged = Pairs(pairs.items, left, right, labels=labels)
        risk = pcomp_risk(averaged, weight[kept], finite.g.repeat(2), finite.prior)
        error[strategy] = abs(float(risk - finite.risk(logistic)))
    assert error["discard"] < 1e-12
    assert error["reverse"] > 0.005
