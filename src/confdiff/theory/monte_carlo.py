"""The paper's theorems held against simulations: what was measured, what the bound says, and whether it holds."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from confdiff.theory import bounds
from confdiff.theory.complexity import finite_complexity
from confdiff.theory.measuring import (
    DELTA,
    Check,
    Settings,
    Vector,
    along,
    complexity,
    decay,
    growth,
    rate,
    samples,
    some_function,
    standard_error,
    terms_at,
)
from confdiff.theory.simulation import Sample, World, pair_losses, partial_risks

FEW = (2, 4, 8, 16, 32, 64)  # pairs, so few that partial risks are often negative


def unbiasedness(world: World, settings: Settings) -> Check:
    """Theorem 1, and each line of Lemma 3: the mean of many estimates is the truth, up to four standard errors."""
    n, function = settings.sizes[0], some_function(world)
    terms = terms_at(world, function, n, settings, 10)
    estimates = [*terms.T, terms.sum(axis=1)]
    truths = [*world.expected_terms[:, function], world.true_risks[function]]
    z = [
        float(estimate.mean() - truth) / max(standard_error(estimate), 1e-12)
        for estimate, truth in zip(estimates, truths, strict=True)
    ]
    return Check(
        "Theorem 1 and Lemma 3",
        "each partial risk estimates half the risk of one class without bias, and their sum the classification risk",
        settings.samples_of(n, times=10),
        "partial risk",
        [1, 2, 3, 4, 5],
        z,
        [],
        f"largest bias {max(map(abs, z)):.1f} standard errors",
        max(map(abs, z)) < 4,
        logarithmic=False,
        y_name="bias / standard error",
        labels=("A", "B", "C", "D", "sum"),
    )


def variance(world: World, settings: Settings) -> Check:
    """Theorem 2: of the estimators weighted by alpha, that with 1/2 has the least variance."""
    n = settings.sizes[0]
    alphas = np.linspace(0, 1, 11)
    terms = terms_at(world, some_function(world), n, settings, 5)
    first, second = 2 * terms[:, :2].sum(1), 2 * terms[:, 2:].sum(1)  # L(x, x') and L(x', x), as they come by half
    values = [float(np.var(alpha * first + (1 - alpha) * second, ddof=1)) for alpha in alphas]
    square, linear, _ = np.polyfit(alphas, values, 2)
    place = float(-linear / (2 * square))
    return Check(
        "Theorem 2",
        "the variance is a parabola in alpha with its minimum at 1/2",
        settings.samples_of(n, times=5),
        "alpha",
        alphas.tolist(),
        values,
        [],
        f"minimum at alpha = {place:.3f}; at 0 and 1 the variance is {values[0] / values[5]:.1f} and "
        f"{values[-1] / values[5]:.1f} times that at 1/2",
        abs(place - 0.5) < 0.05 and min(values) == values[5],
        logarithmic=False,
        y_name="variance",
    )


def convergence_at_a_function(world: World, settings: Settings) -> Check:
    """The estimate at one function: its error falls as one over the root of n."""
    function = some_function(world)

    def error(terms: Vector) -> float:
        return float(terms.sum(0)[function] - world.true_risks[function])

    bound = [2 * world.constants.bound * bounds.mcdiarmid(n, DELTA) for n in settings.sizes]
    statement = "|R_hat(g) - R(g)| falls as n^(-1/2)"
    return rate("R_hat(g) at one g", statement, settings, along(world, settings, error), bound, exact=True)


def complexity_of_the_losses(world: World, settings: Settings) -> Check:
    """Lemma 4: the losses of pairs are no more complex than twice the Lipschitz constant times the scores of items."""
    sizes = settings.sizes[:4]
    measured, bound = [], []
    for n in sizes:
        sample = next(samples(world, n, settings))
        measured.append(finite_complexity(pair_losses(world, sample), draws=200, seed=settings.seed)[0])
        lipschitz = world.constants.lipschitz
        bound.append(bounds.lemma_4_complexity_of_the_risk(complexity(world, n, settings), lipschitz=lipschitz))
    ratio = np.array(measured) / np.array(bound)
    return Check(
        "Lemma 4",
        "the Rademacher complexity of the losses is at most 2 L times that of the class",
        f"a sample of {', '.join(map(str, sizes))} pairs, 200 draws of signs",
        "n",
        [float(n) for n in sizes],
        measured,
        bound,
        f"{ratio.min():.2f} to {ratio.max():.2f} of what is allowed",
        bool((ratio <= 1).all()),
        y_name="Rademacher complexity",
    )


def uniform_deviation(world: World, settings: Settings) -> Check:
    """Lemma 5: the largest error over the class."""

    def error(terms: Vector) -> float:
        return float(np.abs(terms.sum(0) - world.true_risks).max())

    bound = [
        bounds.lemma_5_uniform_deviation(n, complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    statement = "sup |R_hat(g) - R(g)| over the class falls as n^(-1/2)"
    return rate("Lemma 5", statement, settings, along(world, settings, error), bound, exact=True)


def estimation_error(world: World, settings: Settings) -> Check:
    """Theorem 3: the excess risk of the minimiser falls at least as fast."""

    def error(terms: Vector) -> float:
        return float(world.true_risks[terms.sum(0).argmin()] - world.best)

    bound = [
        bounds.theorem_3_estimation_error(n, complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    statement = "the excess risk of the minimiser falls at least as n^(-1/2)"
    return rate("Theorem 3", statement, settings, along(world, settings, error), bound)


def error_under_noise(world: World, settings: Settings) -> Check:
    """Theorem 4: the excess risk where differences are too small, or turned round, by more and more.

    Noise that does not depend on the pair would hardly matter: what it does to x and to x' cancels in the mean.
    """
    n = settings.sizes[-1]
    measured, bound, sizes = [], [], []
    for sigma in (0.0, 0.1, 0.2, 0.3, 0.4):
        errors, wrong = [], []
        for number, sample in enumerate(samples(world, n, settings)):
            noise = sigma * np.abs(np.random.default_rng([settings.seed, number]).normal(size=n))
            noisy = Sample(sample.left, sample.right, sample.c - np.sign(sample.c) * noise)
            errors.append(world.true_risks[partial_risks(world, noisy).sum(0).argmin()] - world.best)
            wrong.append(float(np.abs(noisy.c - sample.c).mean()))
        sizes.append(float(np.mean(wrong)))
        measured.append(float(np.quantile(errors, 1 - DELTA)))
        bound.append(_under_noise(world, n, settings, mean_error=sizes[-1]))
    return growth("Theorem 4, noise", "mean |c_bar - c|", settings.samples_of(n), sizes, measured, bound)


def error_under_a_wrong_prior(world: World, settings: Settings) -> Check:
    """Theorem 4: the same where the prior is wrong by more and more."""
    n = settings.sizes[-1]
    sizes = [0.0, 0.05, 0.1, 0.2, 0.3]
    measured, bound = [], []
    for wrong in sizes:
        errors = [
            world.true_risks[partial_risks(world, sample, prior=world.prior + wrong).sum(0).argmin()] - world.best
            for sample in samples(world, n, settings)
        ]
        measured.append(float(np.quantile(errors, 1 - DELTA)))
        bound.append(_under_noise(world, n, settings, prior_error=wrong))
    return growth("Theorem 4, prior", "|pi_bar - pi|", settings.samples_of(n), sizes, measured, bound)


def _under_noise(world: World, n: int, settings: Settings, **wrong: float) -> float:
    return bounds.theorem_4_estimation_error_under_noise(
        n, complexity(world, n, settings), delta=DELTA, loss=world.constants, **wrong
    )


def negative_terms(world: World, settings: Settings) -> Check:
    """Lemma 6: how often one of the four partial risks is not positive, with scores so small that Delta says much."""
    mild, function = _mild(world)
    least = mild.expected_terms[:, function].tolist()
    measured = [float((terms_at(mild, function, n, settings, 20) <= 0).any(axis=1).mean()) for n in FEW]
    bound = [bounds.lemma_6_negative_terms(n, least, bound=mild.constants.bound) for n in FEW]
    return _exponential(
        "Lemma 6",
        "the chance that a partial risk is not positive is at most Delta",
        settings,
        measured,
        bound,
        "chance",
    )


def correction_bias(world: World, settings: Settings) -> Check:
    """Theorem 5: the bias of the corrected (ABS) risk decays exponentially in n; measured as R_tilde(g) - R_hat(g)."""
    mild, function = _mild(world)
    measured = []
    for n in FEW:
        terms = terms_at(mild, function, n, settings, 20)
        measured.append(float((np.abs(terms).sum(1) - terms.sum(1)).mean()))
    least = mild.expected_terms[:, function].tolist()
    bound = [bounds.theorem_5_bias(n, least, bound=mild.constants.bound) for n in FEW]
    statement = "E R_tilde(g) - R(g) is at most 2 (L_f + 1) C Delta, which falls exponentially"
    return _exponential("Theorem 5, bias", statement, settings, measured, bound, "bias")


def _mild(world: World) -> tuple[World, int]:
    """The world with an eighth of the scores, so that the loss and its bound are small, and its best function."""
    mild = replace(world, scores=world.scores / 8)
    return mild, int(mild.true_risks.argmin())


def _exponential(
    name: str, statement: str, settings: Settings, measured: list[float], bound: list[float], y_name: str
) -> Check:
    slope, fit, power = decay(list(FEW), measured)
    return Check(
        name,
        statement,
        settings.samples_of(*FEW, times=20),
        "n",
        [float(n) for n in FEW],
        measured,
        bound,
        f"its logarithm falls by {-slope:.3f} a pair, and is a line in n (R^2 {fit:.3f}; in log n {power:.3f})",
        slope < 0 and fit > power and all(m <= b for m, b in zip(measured, bound, strict=True)),
        y_name=y_name,
    )


def corrected_deviation(world: World, settings: Settings) -> Check:
    """Theorem 5: the error of the corrected (ABS) risk at one function."""
    function = some_function(world)
    least = world.expected_terms[:, function].tolist()

    def error(terms: Vector) -> float:
        return float(np.abs(terms[:, function]).sum() - world.true_risks[function])

    bound = [bounds.theorem_5_deviation(n, least, delta=DELTA, bound=world.constants.bound) for n in settings.sizes]
    statement = "|R_tilde(g) - R(g)| falls as n^(-1/2)"
    return rate("Theorem 5, deviation", statement, settings, along(world, settings, error), bound, exact=True)


def corrected_estimation_error(world: World, settings: Settings) -> Check:
    """Theorem 6: the excess risk of the minimiser of the corrected (ABS) risk."""
    least = world.expected_terms.min(axis=1).tolist()
    bound = [
        bounds.theorem_6_estimation_error_of_the_corrected(
            n, complexity(world, n, settings), least, delta=DELTA, loss=world.constants
        )
        for n in settings.sizes
    ]
    return rate("Theorem 6", _CORRECTED, settings, _corrected_errors(world, settings), bound)


def corrected_estimation_error_anew(world: World, settings: Settings) -> Check:
    """The same beside a bound of ours, whose proof has no gap and which needs no a, b, c, d."""
    bound = [
        bounds.estimation_error_of_the_corrected(n, complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    return rate("Theorem 6, our proof", _CORRECTED, settings, _corrected_errors(world, settings), bound)


_CORRECTED = "the excess risk of the corrected minimiser falls at least as n^(-1/2)"


def _corrected_errors(world: World, settings: Settings) -> Vector:
    def error(terms: Vector) -> float:
        return float(world.true_risks[np.abs(terms).sum(0).argmin()] - world.best)

    return along(world, settings, error)


CHECKS: tuple[Callable[[World, Settings], Check], ...] = (
    unbiasedness,
    variance,
    convergence_at_a_function,
    complexity_of_the_losses,
    uniform_deviation,
    estimation_error,
    error_under_noise,
    error_under_a_wrong_prior,
    negative_terms,
    correction_bias,
    corrected_deviation,
    corrected_estimation_error,
    corrected_estimation_error_anew,
)
"""All of them, in the order of the paper."""
