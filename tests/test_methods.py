"""Tests that run over the whole table of methods, so that a new row is tested without a new test."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from confdiff.corrections import CORRECTIONS
from confdiff.links import LINKS, find_link
from confdiff.losses import LOSSES, logistic
from confdiff.methods import METHODS, REFERENCES, find_method
from confdiff.risks import (
    euclidean_projection,
    glws_targets,
    projected_targets,
    regression_terms,
    sconf_confdiff_terms,
    sd_pcomp_terms,
    supervised_terms,
)
from finite import Finite, some_distribution

everywhere = pytest.mark.parametrize("name", METHODS)
plain = [name for name, method in METHODS.items() if method.companion is None]
without_companion = pytest.mark.parametrize("name", plain)
consistent = [name for name, method in METHODS.items() if method.family == "confdiff" and method.prior == "optional"]
biased = [name for name, method in METHODS.items() if method.family == "baseline"]
estimators = [name for name in plain if name not in (*consistent, *biased) and METHODS[name].classifies]  # of the risk
every_estimator = pytest.mark.parametrize("name", estimators)
every_consistent = pytest.mark.parametrize("name", consistent)
every_loss = pytest.mark.parametrize("loss", [facts.function for facts in LOSSES.values()], ids=list(LOSSES))


def expectation(method, d):
    """All pairs of points with their exact supervision, and weights with which a mean is the expectation.

    Labels are drawn, so oracle-hard has a test of its own; methods that learn from the order get the pairs that are
    left when those with labels (-, +) are discarded. Pairs with a similarity are separate from ordered ones.
    """
    i, j, weight = d.pairs()
    c, s = d.r[j] - d.r[i], d.similarity(i, j)
    if "order" not in method.learns_from:
        targets = {"differences": [c], "same": [s], "differences and same": [c, s]}
        return d.g[i], d.g[j], targets.get(method.learns_from, [d.r[i], d.r[j]]), weight
    first, second, _, _, ordered_weight = (column[discarded(d)] for column in d.labelled_pairs())
    ordered_weight = ordered_weight / ordered_weight.mean()
    if method.learns_from == "order":
        return d.g[first], d.g[second], [], ordered_weight
    answers = torch.cat([s, torch.full_like(ordered_weight, torch.nan)])
    return d.g[torch.cat([i, first])], d.g[torch.cat([j, second])], [answers], torch.cat([weight, ordered_weight])


def discarded(d):
    """The pairs that are left when those with labels (-, +) are discarded."""
    _, _, y, y_prime, _ = d.labelled_pairs()
    return y >= y_prime


def random_batch(name, n=7, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def rand():
        return torch.rand(n, generator=generator, dtype=torch.float64)

    g, g_prime = rand() * 6 - 3, rand() * 6 - 3
    kind = METHODS[name].learns_from
    c, s = rand() * 2 - 1, rand()
    targets = {"differences": [c], "order": [], "same": [s], "differences and same": [c, s], "order and same": [s]}.get(
        kind, [c.abs(), s]
    )
    if kind == "order and same":
        targets[0][1::2] = torch.nan
    if kind == "differences and same":
        targets[0][0] = torch.nan
        targets[1][-1] = torch.nan
    if METHODS[name].companion is not None:  # weights of both items, the teacher's scores, the weight of consistency
        targets = [(rand() * 2).round(), (rand() * 2).round(), rand() * 6 - 3, rand() * 6 - 3, 3.0]
    if kind == "labels":
        targets = [t.round() for t in targets]
    return g, g_prime, targets


# What each method's risk is, written again from the formulas, one pair at a time.
def l_plus(z):
    return math.log(1 + math.exp(-z))


def l_minus(z):
    return math.log(1 + math.exp(z))


def confdiff_restated(f):
    def risk(g, g_prime, targets, prior):
        (c,) = targets
        n = len(g)
        a = sum((prior - c[i]) * l_plus(g[i]) for i in range(n)) / (2 * n)
        b = sum((1 - prior - c[i]) * l_minus(g_prime[i]) for i in range(n)) / (2 * n)
        cc = sum((prior + c[i]) * l_plus(g_prime[i]) for i in range(n)) / (2 * n)
        d = sum((1 - prior + c[i]) * l_minus(g[i]) for i in range(n)) / (2 * n)
        return f(a) + f(b) + f(cc) + f(d)

    return risk


def supervised_restated(g, g_prime, targets, prior):
    r, r_prime = targets
    n = len(g)
    first = sum(r[i] * l_plus(g[i]) + (1 - r[i]) * l_minus(g[i]) for i in range(n))
    second = sum(r_prime[i] * l_plus(g_prime[i]) + (1 - r_prime[i]) * l_minus(g_prime[i]) for i in range(n))
    return (first + second) / (2 * n)


def pcomp_restated(f):
    def risk(g, g_prime, targets, prior):
        n = len(g)
        positives = sum(l_plus(g[i]) - (1 - prior) * l_plus(g_prime[i]) for i in range(n)) / n
        negatives = sum(l_minus(g_prime[i]) - prior * l_minus(g[i]) for i in range(n)) / n
        return f(positives) + f(negatives)

    return risk


def pcomp_teacher_restated(g, g_prime, targets, prior):
    w, w_prime, t, t_prime, consistency = targets
    total = 0.0
    for i in range(len(g)):
        total += w[i] * l_plus(g[i]) + w_prime[i] * l_minus(g_prime[i])
        for score, taught in ((g[i], t[i]), (g_prime[i], t_prime[i])):
            total += consistency * (1 / (1 + math.exp(-score)) - 1 / (1 + math.exp(-taught))) ** 2
    return total / (2 * len(g))


def sigma(z):
    return 1 / (1 + math.exp(-z))


def regression_restated(g, g_prime, targets, prior):
    (c,) = targets
    n = len(g)
    error = sum((sigma(g_prime[i]) - sigma(g[i]) - c[i]) ** 2 for i in range(n)) / n
    mean = sum(sigma(z) for z in [*g, *g_prime]) / (2 * n)
    return error + (mean - prior) ** 2


def nearest(p, p_prime, c):
    """The nearest point of the segment, found by trying many."""
    low, high = max(0, -c), min(1, 1 - c)
    steps = [low + (high - low) * k / 200_000 for k in range(200_001)]
    return min(steps, key=lambda t: (t - p) ** 2 + (t + c - p_prime) ** 2)


BY_TRYING = ("confdiff-projection", "confdiff-combined")


def least_divergence(p, p_prime, c):
    """Where logit t + logit (t + c) = logit p + logit p', by bisection: the left side grows with t."""
    low, high = max(0, -c), min(1, 1 - c)
    aim = math.log(p / (1 - p)) + math.log(p_prime / (1 - p_prime))
    for _ in range(200):
        t = (low + high) / 2
        value = math.log(t / (1 - t)) + math.log((t + c) / (1 - t - c)) if low < t < high else aim
        low, high = (t, high) if value < aim else (low, t)
    return (low + high) / 2


def projection_restated(project):
    def risk(g, g_prime, targets, prior):
        (c,) = targets
        t = [project(sigma(a), sigma(b), d) for a, b, d in zip(g, g_prime, c, strict=True)]
        t_prime = [a + d for a, d in zip(t, c, strict=True)]
        shift = prior - sum([*t, *t_prime]) / (2 * len(t))
        moved = [[min(1, max(0, a + shift)) for a in side] for side in (t, t_prime)]
        return supervised_restated(g, g_prime, moved, prior)

    return risk


def combined_restated(*arguments):
    return regression_restated(*arguments) + 0.1 * projection_restated(nearest)(*arguments)


def ranking_restated(phi):
    def risk(g, g_prime, targets, prior):
        (c,) = targets
        losses = [phi((b - a) * math.copysign(1, d)) for a, b, d in zip(g, g_prime, c, strict=True) if d != 0]
        return sum(losses) / len(g)

    return risk


def preference_restated(g, g_prime, targets, prior):
    (c,) = targets
    total = 0.0
    for a, b, d in zip(g, g_prime, c, strict=True):
        p = sigma(b - a)
        total -= (1 + d) / 2 * math.log(p) + (1 - d) / 2 * math.log(1 - p)
    return total / len(g)


def score_restated(g, g_prime, targets, prior):
    (c,) = targets
    return sum((b - a - d) ** 2 for a, b, d in zip(g, g_prime, c, strict=True)) / len(g)


def sconf_weights(s, prior):
    return [(value - (1 - prior)) / (2 * prior - 1) for value in s]


def sconf_restated(f):
    def risk(g, g_prime, targets, prior):
        (s,) = targets
        n = len(g)
        w = sconf_weights(s, prior)
        positives = sum(w[i] * (l_plus(g[i]) + l_plus(g_prime[i])) for i in range(n)) / (2 * n)
        negatives = sum((1 - w[i]) * (l_minus(g[i]) + l_minus(g_prime[i])) for i in range(n)) / (2 * n)
        return f(positives) + f(negatives)

    return risk


def average(values):
    return sum(values) / len(values)


def residuals(values):
    return [value - average(values) for value in values]


def sconf_confdiff_restated(f):
    def risk(g, g_prime, targets, prior):
        c, s = targets
        similar = [i for i in range(len(g)) if not math.isnan(s[i])]
        graded = [i for i in range(len(g)) if not math.isnan(c[i])]

        def four(i, w, w_prime):
            a, b = g[i], g_prime[i]
            return [
                w * l_plus(a) / 2,
                (1 - w_prime) * l_minus(b) / 2,
                w_prime * l_plus(b) / 2,
                (1 - w) * l_minus(a) / 2,
            ]

        first = {i: four(i, *[(s[i] - 1 + prior) / (2 * prior - 1)] * 2) for i in similar}
        second = {i: four(i, prior - c[i], prior + c[i]) for i in graded}
        e = dict(zip(similar, residuals([sum(values) for values in first.values()]), strict=True))
        h = dict(zip(graded, residuals([sum(values) for values in second.values()]), strict=True))
        a = sum(x * x for x in e.values()) / len(e) ** 2
        b = sum(x * x for x in h.values()) / len(h) ** 2
        k = sum(e[i] * h[i] for i in e if i in h) / (len(e) * len(h))
        gamma = min(1, max(0, (b - k) / (a + b - 2 * k)))
        means = [
            gamma * average([v[k] for v in first.values()]) + (1 - gamma) * average([v[k] for v in second.values()])
            for k in range(4)
        ]
        return sum(f(mean) for mean in means)

    return risk


def sd_strata(g, g_prime, s, prior):
    """The (positives, negatives) of each similar and of each dissimilar pair, with the shares s and 1 - s."""
    rate = prior**2 + (1 - prior) ** 2
    similar, dissimilar = [], []
    for a, b, share in zip(g, g_prime, s, strict=True):
        plus, minus = (l_plus(a) + l_plus(b)) / 2, (l_minus(a) + l_minus(b)) / 2
        scale = 2 * prior - 1
        similar.append((share, rate * prior * plus / scale, -rate * (1 - prior) * minus / scale))
        dissimilar.append((1 - share, -(1 - rate) * (1 - prior) * plus / scale, (1 - rate) * prior * minus / scale))
    return similar, dissimilar


def stratum_mean(stratum, value):
    return sum(row[0] * value(row) for row in stratum) / sum(row[0] for row in stratum)


def stratum_variance(stratum):
    mean = stratum_mean(stratum, lambda row: row[1] + row[2])
    return sum(row[0] * (row[1] + row[2] - mean) ** 2 for row in stratum) / sum(row[0] for row in stratum) ** 2


def sd_restated(f):
    def risk(g, g_prime, targets, prior):
        strata = sd_strata(g, g_prime, targets[0], prior)
        return sum(f(sum(stratum_mean(part, lambda row, k=k: row[k]) for part in strata)) for k in (1, 2))

    return risk


def sd_pcomp_restated(f):
    def risk(g, g_prime, targets, prior):
        (s,) = targets
        asked = [i for i in range(len(g)) if not math.isnan(s[i])]
        ordered = [i for i in range(len(g)) if math.isnan(s[i])]
        strata = sd_strata([g[i] for i in asked], [g_prime[i] for i in asked], [s[i] for i in asked], prior)
        order = [
            (
                1.0,
                l_plus(g[i]) - (1 - prior) * l_plus(g_prime[i]),
                l_minus(g_prime[i]) - prior * l_minus(g[i]),
            )
            for i in ordered
        ]
        a = sum(stratum_variance(part) for part in strata)
        b = stratum_variance(order)
        gamma = b / (a + b)
        return sum(
            f(
                gamma * sum(stratum_mean(part, lambda row, k=k: row[k]) for part in strata)
                + (1 - gamma) * stratum_mean(order, lambda row, k=k: row[k])
            )
            for k in (1, 2)
        )

    return risk


def similarity_regression_restated(g, g_prime, targets, prior):
    c, s = targets
    total = 0.0
    for a, b, difference, similarity in zip(g, g_prime, c, s, strict=True):
        p, q = sigma(a), sigma(b)
        total += 0.0 if math.isnan(difference) else (q - p - difference) ** 2
        total += 0.0 if math.isnan(similarity) else (p * q + (1 - p) * (1 - q) - similarity) ** 2
    mean = sum(sigma(z) for z in [*g, *g_prime]) / (2 * len(g))
    return total / len(g) + (mean - prior) ** 2


def glws_restated(g, g_prime, targets, prior):
    (c,) = targets
    first, second = [], []
    for a, b, d in zip(g, g_prime, c, strict=True):
        weights = {(1, 1): 1 - abs(d), (0, 0): 1 - abs(d), (0, 1): max(0, d), (1, 0): max(0, -d)}
        joint = {
            (y, z): (sigma(a) if y else 1 - sigma(a)) * (sigma(b) if z else 1 - sigma(b)) * weight
            for (y, z), weight in weights.items()
        }
        first.append((joint[1, 0] + joint[1, 1]) / sum(joint.values()))
        second.append((joint[0, 1] + joint[1, 1]) / sum(joint.values()))
    return supervised_restated(g, g_prime, [first, second], prior)


def crcr_like_restated(g, g_prime, targets, prior):
    (c,) = targets
    n = len(g)
    clear = [i for i in range(n) if abs(c[i]) >= 0.5]
    gaps = sum((sigma(g[i]) - sigma(g_prime[i])) ** 2 for i in range(n) if i not in clear) / n
    rows = [[values[i] for i in clear] for values in (g, g_prime, c)]
    scaled = confdiff_restated(abs)(rows[0], rows[1], [rows[2]], prior) * len(clear) / n if clear else 0.0
    return scaled + gaps


RESTATED = {
    "confdiff-similarity": similarity_regression_restated,
    "glws": glws_restated,
    "crcr-like": crcr_like_restated,
    **{
        f"{family}-{kind}": restated(f)
        for family, restated in {
            "sconf": sconf_restated,
            "sconf-confdiff": sconf_confdiff_restated,
            "sd": sd_restated,
            "sd-pcomp": sd_pcomp_restated,
        }.items()
        for kind, f in {"unbiased": lambda z: z, "relu": lambda z: max(0.0, z), "abs": abs}.items()
    },
    "preference": preference_restated,
    "score": score_restated,
    "bpr": ranking_restated(l_plus),
    "mrl": ranking_restated(lambda z: max(0.0, 1 - z)),
    "confdiff-regression": regression_restated,
    "confdiff-combined": combined_restated,
    "confdiff-projection": projection_restated(nearest),
    "confdiff-information": projection_restated(least_divergence),
    "confdiff-unbiased": confdiff_restated(lambda z: z),
    "confdiff-relu": confdiff_restated(lambda z: max(0.0, z)),
    "confdiff-abs": confdiff_restated(abs),
    "pcomp-unbiased": pcomp_restated(lambda z: z),
    "pcomp-relu": pcomp_restated(lambda z: max(0.0, z)),
    "pcomp-abs": pcomp_restated(abs),
    "pcomp-teacher": pcomp_teacher_restated,
    "oracle-hard": supervised_restated,
    "oracle-soft": supervised_restated,
}


@everywhere
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_a_scalar_restatement(name, seed):
    g, g_prime, targets = random_batch(name, n=9, seed=seed)
    value = METHODS[name].risk(g, g_prime, *targets, prior=0.3).item()
    as_lists = [target.tolist() if isinstance(target, torch.Tensor) else target for target in targets]
    restated = RESTATED[name](g.tolist(), g_prime.tolist(), as_lists, 0.3)
    assert value == pytest.approx(restated, abs=1e-5 if name in BY_TRYING else 1e-11)


@every_estimator
@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_partial_risks_sum_to_the_true_risk_in_expectation(name, loss, seed):
    method, d = METHODS[name], some_distribution(seed)
    g, g_prime, targets, weight = expectation(method, d)
    terms = method.partial_risks(g, g_prime, *targets, prior=d.prior, weight=weight, loss=loss)
    assert terms.sum().item() == pytest.approx(d.risk(loss).item(), abs=1e-12)


@every_loss
def test_oracle_hard_is_unbiased_over_labels(loss):
    d = some_distribution()
    i, j, y, y_prime, weight = d.labelled_pairs()
    terms = METHODS["oracle-hard"].partial_risks(d.g[i], d.g[j], y, y_prime, weight=weight, loss=loss)
    assert terms.sum().item() == pytest.approx(d.risk(loss).item(), abs=1e-12)


@every_estimator
def test_every_partial_risk_is_not_negative_in_expectation(name):
    method, d = METHODS[name], some_distribution()
    g, g_prime, targets, weight = expectation(method, d)
    terms = method.partial_risks(g, g_prime, *targets, prior=d.prior, weight=weight)
    assert (terms >= 0).all()


def swapped_targets(method, targets):
    """The supervision of swapped pairs: differences change their sign, and same-class answers stay."""
    if method.learns_from in ("labels", "posteriors"):
        return targets[::-1]
    has_differences = method.learns_from.startswith("differences")
    return [-targets[0], *targets[1:]] if has_differences else targets


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "order" not in method.learns_from])
def test_swapping_the_items_of_all_pairs_changes_nothing(name):
    g, g_prime, targets = random_batch(name)
    method = METHODS[name]
    swapped = swapped_targets(method, targets)
    before = method.risk(g, g_prime, *targets, prior=0.3)
    assert method.risk(g_prime, g, *swapped, prior=0.3).item() == pytest.approx(before.item(), abs=1e-12)


@everywhere
def test_gradients(name):
    g, g_prime, targets = random_batch(name)
    weight = torch.rand(len(g), dtype=torch.float64)
    g.requires_grad_()
    g_prime.requires_grad_()
    method = METHODS[name]
    options = {"prior": 0.3, "weight": weight}
    if name == "glws":
        made = glws_targets(g, g_prime, *targets)
        assert_same_gradient(
            lambda a, b: method.risk(a, b, *targets, **options), towards(made, targets, options), (g, g_prime)
        )
        return
    if name in ESTIMATES_GAMMA:  # the share stands still while the scores move
        assert_share_has_no_gradient(name, g, g_prime, targets, options)
        return
    if name in PROJECTING:  # targets stand still while the scores move towards them
        made = projected_targets(g, g_prime, *targets, project=PROJECTING[name][0], **options)
        fixed = PROJECTING[name][1](made, targets, options)
        assert_same_gradient(lambda a, b: method.risk(a, b, *targets, **options), fixed, (g, g_prime))
        return
    assert torch.autograd.gradcheck(lambda a, b: method.risk(a, b, *targets, **options), (g, g_prime))


ESTIMATES_GAMMA = {
    f"{family}-{kind}": terms
    for family, terms in {"sconf-confdiff": sconf_confdiff_terms, "sd-pcomp": sd_pcomp_terms}.items()
    for kind in ("unbiased", "relu", "abs")
}


def assert_share_has_no_gradient(name, g, g_prime, targets, options):
    method, terms = METHODS[name], ESTIMATES_GAMMA[name]
    ends = torch.stack([terms(g, g_prime, *targets, gamma=end, **options) for end in (0.0, 1.0)])
    value = method.partial_risks(g, g_prime, *targets, **options)
    share = ((value - ends[0]) / (ends[1] - ends[0])).mean().item()
    fixed = lambda a, b: method.correction(terms(a, b, *targets, gamma=share, **options)).sum()  # noqa: E731
    assert_same_gradient(lambda a, b: method.risk(a, b, *targets, **options), fixed, (g, g_prime))


def towards(made, targets, options):
    return lambda a, b: supervised_terms(a, b, *made, weight=options["weight"]).sum()


def combined(made, targets, options):
    little = towards(made, targets, options)
    return lambda a, b: regression_terms(a, b, *targets, **options).sum() + 0.1 * little(a, b)


PROJECTING = {
    **{name: (method.project, towards) for name, method in METHODS.items() if method.project is not None},
    "confdiff-combined": (euclidean_projection, combined),
}


def assert_same_gradient(first, second, at):
    one, other = (torch.autograd.grad(f(*at), at) for f in (first, second))
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b)


def gradient_at(method, d, g, targets_of, prior):
    """The gradient of the expected risk by the scores of the points of a finite distribution."""
    scores = g.clone().requires_grad_()
    i, j, c, weight = targets_of(d)
    targets = [c, d.similarity(i, j)] if method.learns_from == "differences and same" else [c]
    method.risk(scores[i], scores[j], *targets, prior=prior, weight=weight).backward()
    return scores.grad / d.p


def exact_differences(d):
    i, j, weight = d.pairs()
    return i, j, d.r[j] - d.r[i], weight


def label_differences(d):
    i, j, y, y_prime, weight = d.labelled_pairs()
    return i, j, y_prime - y, weight


@every_consistent
@pytest.mark.parametrize("prior_given", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_true_scores_are_stationary(name, prior_given, seed):
    d = some_distribution(seed)
    prior = d.prior if prior_given else None
    at_truth = gradient_at(METHODS[name], d, torch.logit(d.r), exact_differences, prior)
    assert at_truth.abs().max() < 1e-12
    elsewhere = gradient_at(METHODS[name], d, torch.logit(d.r) + torch.linspace(-1, 1, 6), exact_differences, prior)
    assert elsewhere.abs().max() > 0.01


def test_regression_rests_at_the_truth_also_under_noise_and_projection_does_not():
    d = some_distribution()
    for name, rests in (("confdiff-regression", True), ("confdiff-projection", False)):
        gradient = gradient_at(METHODS[name], d, torch.logit(d.r), label_differences, d.prior)
        assert (gradient.abs().max() < 1e-12) == rests


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.link != "probability"])
@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_the_true_scores_of_a_link_are_stationary_with_any_constant(name, constant):
    d = some_distribution()
    i, j, weight = d.pairs()
    link = find_link(METHODS[name].link)

    def differences(d):
        return i, j, torch.from_numpy(link.difference(d.g[i].numpy(), d.g[j].numpy())), weight

    at_truth = gradient_at(METHODS[name], d, d.g + constant, differences, None)
    assert at_truth.abs().max() < 1e-12
    elsewhere = gradient_at(METHODS[name], d, d.g + torch.linspace(-1, 1, 6), differences, None)
    assert elsewhere.abs().max() > 0.01


def test_every_link_has_a_method_that_learns_it():
    assert {method.link for method in METHODS.values()} == set(LINKS)


@pytest.mark.parametrize("name", [name for name in consistent if METHODS[name].learns_from == "differences"])
def test_only_a_prior_moves_what_differences_leave_open(name):
    d = some_distribution()
    inside = Finite(d.p, 0.3 + 0.3 * d.r, d.g)  # the constant is not determined: r + .1 has the same differences
    moved = torch.logit(inside.r + 0.1)
    assert gradient_at(METHODS[name], inside, moved, exact_differences, None).abs().max() < 1e-12
    if METHODS[name].prior == "unused":
        return
    pushed = gradient_at(METHODS[name], inside, moved, exact_differences, inside.prior)
    assert (pushed > 0).all()  # a step against it lowers every score


@everywhere
def test_whole_weights_are_repetitions(name):
    g, g_prime, targets = random_batch(name, n=18)
    counts = torch.tensor([1, 1, 2, 3, 1, 0, 4, 0, 2] * 2)
    method = METHODS[name]
    weighted = method.risk(g, g_prime, *targets, prior=0.3, weight=counts / counts.double().mean())
    repeat = [t.repeat_interleave(counts) if isinstance(t, torch.Tensor) else t for t in (g, g_prime, *targets)]
    assert weighted.item() == pytest.approx(method.risk(*repeat, prior=0.3).item(), abs=1e-12)


@everywhere
@pytest.mark.parametrize("wrong", ["a column", "too short", "a single number"])
def test_nothing_broadcasts(name, wrong):
    g, g_prime, targets = random_batch(name)
    change = {"a column": lambda t: t[:, None], "too short": lambda t: t[1:], "a single number": lambda t: t[0]}[wrong]
    arguments = [g, g_prime, *targets]
    for place in [place for place, argument in enumerate(arguments) if isinstance(argument, torch.Tensor)]:
        arguments = [g, g_prime, *targets]
        arguments[place] = change(arguments[place])
        with pytest.raises(ValueError, match="must be vectors of one length"):
            METHODS[name].risk(*arguments, prior=0.3)


@everywhere
def test_a_prior_for_each_pair(name):
    g, g_prime, targets = random_batch(name)
    method = METHODS[name]
    priors = torch.linspace(0.1, 0.95, len(g), dtype=torch.float64)
    if method.takes_one_prior:
        with pytest.raises(ValueError, match="takes one prior for all pairs"):
            method.risk(g, g_prime, *targets, prior=priors)
        return
    one_by_one = [
        method.partial_risks(*(part_of(value, i) for value in (g, g_prime, *targets)), prior=float(priors[i]))
        for i in range(len(g))
    ]
    together = method.partial_risks(g, g_prime, *targets, prior=priors)
    torch.testing.assert_close(together, torch.stack(one_by_one).mean(0))
    if method.needs_prior and method.companion is None:
        with pytest.raises(ValueError, match="needs the class prior"):
            method.risk(g, g_prime, *targets)
        with pytest.raises(ValueError, match="one length"):
            method.risk(g, g_prime, *targets, prior=torch.full((3,), 0.3))


def part_of(value, i):
    return value[i : i + 1] if isinstance(value, torch.Tensor) else value


@settings(max_examples=50)
@given(
    values=st.lists(st.tuples(*[st.floats(-30, 30)] * 2, st.floats(-1, 1)), min_size=1, max_size=20),
    prior=st.floats(0.01, 0.99),
)
def test_unbiased_below_relu_below_abs(values, prior):
    g, g_prime, c = torch.tensor(values, dtype=torch.float64).T
    risks = [METHODS[f"confdiff-{kind}"].risk(g, g_prime, c, prior=prior) for kind in ("unbiased", "relu", "abs")]
    assert all(torch.isfinite(risk) for risk in risks)
    assert risks[0] <= risks[1] + 1e-9
    assert risks[1] <= risks[2] + 1e-9


def test_rows_are_complete():
    for name, method in METHODS.items():
        assert method.name == name
        assert any(method.reference.startswith(f"{paper} (") for paper in REFERENCES)
        assert method.correction in CORRECTIONS.values()
        g, g_prime, targets = random_batch(name)
        assert method.partial_risks(g, g_prime, *targets, prior=0.4, loss=logistic).shape == (len(method.term_names),)


@pytest.mark.parametrize(
    "name",
    [name for name, method in METHODS.items() if not {"order", "labels", "posteriors"} & {*method.learns_from.split()}],
)
def test_swapping_some_pairs_matters_only_where_pairs_must_be_exchangeable(name):
    method = METHODS[name]
    swap = torch.arange(7) % 2 == 0
    changes = []
    for seed in range(20):
        g, g_prime, targets = random_batch(name, seed=seed)
        mirrored = zip(targets, swapped_targets(method, targets), strict=True)
        swapped = (
            torch.where(swap, g_prime, g),
            torch.where(swap, g, g_prime),
            *(torch.where(swap, b, a) for a, b in mirrored),
        )
        changes.append(abs((method.risk(*swapped, prior=0.3) - method.risk(g, g_prime, *targets, prior=0.3)).item()))
    assert (max(changes) > 1e-6) == method.needs_exchangeable_pairs


def test_the_documentation_has_every_method():
    page = (Path(__file__).parent.parent / "docs" / "methods.md").read_text()
    assert [name for name in METHODS if f"`{name}`" not in page] == []


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'confdiff-abs'"):
        find_method("ConfDiff-ABS")
