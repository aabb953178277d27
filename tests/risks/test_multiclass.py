import pytest
import torch
from scipy.optimize import minimize

from confdiff.methods import METHODS
from confdiff.risks import multiclass_projection, multiclass_targets, multiclass_terms
from confdiff.risks.multiclass import cross_entropy, simplex_projection

MANY = [name for name, method in METHODS.items() if method.multiclass is not None]
DIFFERENCES = [name for name in MANY if METHODS[name].learns_from == "differences"]
CONSISTENT = [name for name in DIFFERENCES if METHODS[name].reference.startswith("confdiff")]


class Classes:
    """k points with probabilities, and posteriors of K classes: expectations are sums."""

    def __init__(self, k=5, n_classes=4, seed=0):
        generator = torch.Generator().manual_seed(seed)

        def rand(*shape):
            return torch.rand(*shape, generator=generator, dtype=torch.float64)

        self.p = rand(k) + 0.1
        self.p /= self.p.sum()
        self.r = torch.softmax(3 * rand(k, n_classes), dim=1)
        self.g = 4 * rand(k, n_classes) - 2
        self.prior = self.p @ self.r
        self.i, self.j = torch.cartesian_prod(torch.arange(k), torch.arange(k)).T
        self.weight = self.p[self.i] * self.p[self.j] * k * k
        self.c = self.r[self.j] - self.r[self.i]

    def risk(self):
        return self.p @ (self.r * cross_entropy(self.g)).sum(1)


@pytest.mark.parametrize("seed", range(3))
def test_partial_risks_sum_to_the_true_risk_in_expectation(seed):
    d = Classes(seed=seed)
    terms = multiclass_terms(d.g[d.i], d.g[d.j], d.c, prior=d.prior, weight=d.weight)
    assert terms.shape == (8,)
    assert terms.sum().item() == pytest.approx(d.risk().item(), abs=1e-12)
    assert (terms >= 0).all()


@pytest.mark.parametrize(
    ("name", "prior"),
    [(name, prior) for name in MANY for prior in (0.3, None) if prior or not METHODS[name].needs_prior],
)
def test_two_classes_are_the_binary_case(name, prior):
    method = METHODS[name]
    generator = torch.Generator().manual_seed(0)
    g, g_prime, c, r, r_prime = torch.rand(5, 9, generator=generator, dtype=torch.float64) * 2 - 1
    targets = [c] if method.learns_from == "differences" else [r.abs(), r_prime.abs()]

    def two(values, total):
        return torch.stack([total - values, values], dim=1)

    weight = torch.rand(9, generator=generator, dtype=torch.float64)
    binary = method.risk(g, g_prime, *targets, prior=prior, weight=weight)
    vectors = [two(values, 0 if method.learns_from == "differences" else 1) for values in targets]
    priors = None if prior is None else torch.tensor([1 - prior, prior])
    scores = [torch.stack([torch.zeros_like(z), z], dim=1) for z in (g, g_prime)]
    many = method.risk(*scores, *vectors, prior=priors, weight=weight)
    assert many.item() == pytest.approx(binary.item(), abs=1e-7)


@pytest.mark.parametrize("name", CONSISTENT)
@pytest.mark.parametrize("prior_given", [True, False])
def test_the_true_scores_are_stationary(name, prior_given):
    d = Classes()
    for scores, rests in ((torch.log(d.r), True), (d.g, False)):
        g = scores.clone().requires_grad_()
        METHODS[name].risk(g[d.i], g[d.j], d.c, prior=d.prior if prior_given else None, weight=d.weight).backward()
        assert (g.grad.abs().max() < 1e-12) == rests


def test_projection_is_the_nearest_feasible_pair():
    d = Classes(k=6, n_classes=3)
    p, p_prime = torch.softmax(d.g[d.i], 1), torch.softmax(d.g[d.j], 1)
    t = multiclass_projection(p, p_prime, d.c)
    torch.testing.assert_close(t.sum(1), torch.ones(len(t), dtype=torch.float64))
    assert t.min() >= 0
    assert (t + d.c).min() >= -1e-12
    for row in range(0, len(t), 5):
        a, b, c = (value[row].numpy() for value in (p, p_prime, d.c))
        solution = minimize(
            lambda t, a=a, b=b, c=c: ((t - a) ** 2).sum() + ((t + c - b) ** 2).sum(),
            a,
            bounds=[(max(0, -each), min(1, 1 - each)) for each in c],
            constraints={"type": "eq", "fun": lambda t: t.sum() - 1},
            options={"ftol": 1e-14},
        )
        assert t[row].tolist() == pytest.approx(solution.x.tolist(), abs=1e-5)


def test_simplex_projection_of_no_mass_is_nothing():
    assert simplex_projection(torch.tensor([[0.3, -0.2]]), torch.zeros(1)).tolist() == [[0, 0]]


def test_vectors_that_no_posteriors_differ_by_are_scaled_down():
    t, t_prime = multiclass_targets(torch.zeros(1, 4), torch.zeros(1, 4), torch.tensor([[0.9, 0.9, -0.9, -0.9]]))
    torch.testing.assert_close(t_prime, torch.tensor([[0.5, 0.5, 0.0, 0.0]]))
    torch.testing.assert_close(t, torch.tensor([[0.0, 0.0, 0.5, 0.5]]))


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].multiclass is None])
def test_binary_methods_refuse_more_classes(name):
    method, g = METHODS[name], torch.zeros(2, 3)
    targets = [g] if method.learns_from == "differences" else []
    with pytest.raises(ValueError, match="supports two classes only"):
        method.risk(g, g, *targets, prior=torch.tensor([0.2, 0.3, 0.5]))


def test_nothing_broadcasts():
    g = torch.zeros(4, 3)
    for wrong in (torch.zeros(4), torch.zeros(4, 2), torch.zeros(1, 3)):
        with pytest.raises(ValueError, match="must be matrices of one shape"):
            multiclass_terms(g, g, wrong, prior=torch.full((3,), 1 / 3))
    with pytest.raises(ValueError, match="weight must be one number for each pair"):
        multiclass_terms(g, g, g, prior=torch.full((3,), 1 / 3), weight=torch.ones(4, 1))
