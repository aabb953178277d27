"""Compare the paper's theorems with simulations: one function per result, which measures it and checks its bound."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from confdiff.theory import bounds
from confdiff.theory.complexity import finite_complexity
from confdiff.theory.measuring import (
    DELTA,
    Settings,
    TheoryCheck,
    complexity,
    decay,
    error_table,
    growth,
    rate,
    samples,
    standardised,
    terms_at,
    typical_function,
)
from confdiff.theory.simulation import FloatArray, Sample, World, pair_losses, partial_risks

FEW = (2, 4, 8, 16, 32, 64)
"""Sizes of samples so small that partial risks are often negative."""


def unbiasedness(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 1 and each line of Lemma 3: the mean estimate is the true value, up to 4 standard errors."""
    n = settings.sizes[0]
    function = typical_function(world)
    terms = terms_at(world, function, n, settings, 10)
    estimates = [*terms.T, terms.sum(axis=1)]
    z = standardised(estimates, [*world.expected_terms[:, function], world.true_risks[function]])
    return TheoryCheck(
        name="Theorem 1 and Lemma 3",
        statement="each partial risk is an unbiased estimate of half the risk of one class, "
        "and their sum of the classification risk",
        simulated=settings.samples_of(n, times=10),
        x_name="partial risk",
        x=[1, 2, 3, 4, 5],
        measured=z,
        bound=[],
        finding=f"largest bias {max(map(abs, z)):.1f} standard errors",
        holds=max(map(abs, z)) < 4,
        logarithmic=False,
        y_name="bias / standard error",
        labels=("A", "B", "C", "D", "sum"),
    )


def variance(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 2: of the estimators weighted by alpha, that with 1/2 has the least variance."""
    n = settings.sizes[0]
    alphas = np.linspace(0, 1, 11)
    terms = terms_at(world, typical_function(world), n, settings, 5)
    first = 2 * terms[:, :2].sum(1)  # L(x, x'): the partial risks contain one half of it
    second = 2 * terms[:, 2:].sum(1)  # L(x', x)
    values = [float(np.var(alpha * first + (1 - alpha) * second, ddof=1)) for alpha in alphas]
    square, linear, _ = np.polyfit(alphas, values, 2)
    minimum = float(-linear / (2 * square))
    return TheoryCheck(
        name="Theorem 2",
        statement="the variance is a parabola in alpha with its minimum at 1/2",
        simulated=settings.samples_of(n, times=5),
        x_name="alpha",
        x=alphas.tolist(),
        measured=values,
        bound=[],
        finding=f"minimum at alpha = {minimum:.3f}; at 0 and 1 the variance is {values[0] / values[5]:.1f} and "
        f"{values[-1] / values[5]:.1f} times that at 1/2",
        holds=abs(minimum - 0.5) < 0.05 and min(values) == values[5],
        logarithmic=False,
        y_name="variance",
    )


def convergence_at_a_function(world: World, settings: Settings) -> TheoryCheck:
    """Check that the error of the estimate at one function falls as n^(-1/2)."""
    function = typical_function(world)

    def error(terms: FloatArray) -> float:
        return float(terms.sum(0)[function] - world.true_risks[function])

    bound = [2 * world.constants.bound * bounds.mcdiarmid(n, DELTA) for n in settings.sizes]
    statement = "|R_hat(g) - R(g)| falls as n^(-1/2)"
    return rate("R_hat(g) at one g", statement, settings, error_table(world, settings, error), bound, exact=True)


def complexity_of_the_losses(world: World, settings: Settings) -> TheoryCheck:
    """Check Lemma 4: the complexity of the losses of pairs is at most 2 L times that of the scores of items."""
    sizes = settings.sizes[:4]
    measured = []
    bound = []
    for n in sizes:
        sample = next(samples(world, n, settings))
        measured.append(finite_complexity(pair_losses(world, sample), draws=200, seed=settings.seed)[0])
        lipschitz = world.constants.lipschitz
        bound.append(bounds.lemma_4_complexity_of_the_risk(complexity(world, n, settings), lipschitz=lipschitz))
    ratio = np.array(measured) / np.array(bound)
    return TheoryCheck(
        name="Lemma 4",
        statement="the Rademacher complexity of the losses is at most 2 L times that of the class",
        simulated=f"one sample of {', '.join(map(str, sizes))} pairs, 200 draws of signs",
        x_name="n",
        x=[float(n) for n in sizes],
        measured=measured,
        bound=bound,
        finding=f"{ratio.min():.2f} to {ratio.max():.2f} times the bound",
        holds=bool((ratio <= 1).all()),
        y_name="Rademacher complexity",
    )


def uniform_deviation(world: World, settings: Settings) -> TheoryCheck:
    """Check Lemma 5: the largest error over the class falls as n^(-1/2)."""

    def error(terms: FloatArray) -> float:
        return float(np.abs(terms.sum(0) - world.true_risks).max())

    bound = [
        bounds.lemma_5_uniform_deviation(n, complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    statement = "sup |R_hat(g) - R(g)| over the class falls as n^(-1/2)"
    return rate("Lemma 5", statement, settings, error_table(world, settings, error), bound, exact=True)


def estimation_error(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 3: the excess risk of the minimiser falls at least as n^(-1/2)."""

    def error(terms: FloatArray) -> float:
        return float(world.true_risks[terms.sum(0).argmin()] - world.best)

    bound = [
        bounds.theorem_3_estimation_error(n, complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    statement = "the excess risk of the minimiser falls at least as n^(-1/2)"
    return rate("Theorem 3", statement, settings, error_table(world, settings, error), bound)


def error_under_noise(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 4: the excess risk when differences are shrunk, or change their sign, by increasing noise.

    Noise that is independent of the pair would hardly matter: its effects on x and on x' cancel in the mean.
    """
    n = settings.sizes[-1]
    measured = []
    bound = []
    mean_errors = []
    for sigma in (0.0, 0.1, 0.2, 0.3, 0.4):
        errors = []
        noise_sizes = []
        for number, sample in enumerate(samples(world, n, settings)):
            noise = sigma * np.abs(np.random.default_rng([settings.seed, number]).normal(size=n))
            noisy = Sample(left=sample.left, right=sample.right, c=sample.c - np.sign(sample.c) * noise)
            errors.append(world.true_risks[partial_risks(world, noisy).sum(0).argmin()] - world.best)
            noise_sizes.append(float(np.abs(noisy.c - sample.c).mean()))
        mean_errors.append(float(np.mean(noise_sizes)))
        measured.append(float(np.quantile(errors, 1 - DELTA)))
        bound.append(_bound_under_noise(world, n, settings, mean_error=mean_errors[-1]))
    return growth("Theorem 4, noise", _GROWTH, "mean |c_bar - c|", settings.samples_of(n), mean_errors, measured, bound)


def error_under_a_wrong_prior(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 4: the excess risk when the prior has an increasing error."""
    n = settings.sizes[-1]
    prior_errors = [0.0, 0.05, 0.1, 0.2, 0.3]
    measured = []
    bound = []
    for shift in prior_errors:
        errors = [
            world.true_risks[partial_risks(world, sample, prior=world.prior + shift).sum(0).argmin()] - world.best
            for sample in samples(world, n, settings)
        ]
        measured.append(float(np.quantile(errors, 1 - DELTA)))
        bound.append(_bound_under_noise(world, n, settings, prior_error=shift))
    return growth("Theorem 4, prior", _GROWTH, "|pi_bar - pi|", settings.samples_of(n), prior_errors, measured, bound)


_GROWTH = "the excess risk grows by at most 4 C times the error of the input"


def _bound_under_noise(world: World, n: int, settings: Settings, **errors: float) -> float:
    return bounds.theorem_4_estimation_error_under_noise(
        n, complexity(world, n, settings), delta=DELTA, loss=world.constants, **errors
    )


def negative_terms(world: World, settings: Settings) -> TheoryCheck:
    """Check Lemma 6: how often a partial risk is not positive, with scores so small that Delta is not trivial."""
    mild, function = _mild(world)
    least = mild.expected_terms[:, function].tolist()
    measured = [float((terms_at(mild, function, n, settings, 20) <= 0).any(axis=1).mean()) for n in FEW]
    bound = [bounds.lemma_6_negative_terms(n, least, bound=mild.constants.bound) for n in FEW]
    return _exponential(
        "Lemma 6",
        "the probability that a partial risk is not positive is at most Delta",
        settings,
        measured,
        bound,
        "probability",
    )


def correction_bias(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 5: the bias of the corrected (ABS) risk, measured as R_tilde(g) - R_hat(g), falls exponentially."""
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
    """Return the simulation with scores divided by 8, for a small loss and a small bound, and its best function."""
    mild = replace(world, scores=world.scores / 8)
    return mild, int(mild.true_risks.argmin())


def _exponential(
    name: str, statement: str, settings: Settings, measured: list[float], bound: list[float], y_name: str
) -> TheoryCheck:
    """Check that a quantity falls exponentially in n and stays below its bound."""
    slope, r2_linear, r2_logarithmic = decay(list(FEW), measured)
    below = all(m <= b for m, b in zip(measured, bound, strict=True))
    return TheoryCheck(
        name=name,
        statement=statement,
        simulated=settings.samples_of(*FEW, times=20),
        x_name="n",
        x=[float(n) for n in FEW],
        measured=measured,
        bound=bound,
        finding=f"its logarithm falls by {-slope:.3f} per pair and is linear in n "
        f"(R² {r2_linear:.3f}; in log n {r2_logarithmic:.3f})",
        holds=slope < 0 and r2_linear > r2_logarithmic and below,
        y_name=y_name,
    )


def corrected_deviation(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 5: the error of the corrected (ABS) risk at one function falls as n^(-1/2)."""
    function = typical_function(world)
    least = world.expected_terms[:, function].tolist()

    def error(terms: FloatArray) -> float:
        return float(np.abs(terms[:, function]).sum() - world.true_risks[function])

    bound = [bounds.theorem_5_deviation(n, least, delta=DELTA, bound=world.constants.bound) for n in settings.sizes]
    statement = "|R_tilde(g) - R(g)| falls as n^(-1/2)"
    return rate("Theorem 5, deviation", statement, settings, error_table(world, settings, error), bound, exact=True)


def corrected_estimation_error(world: World, settings: Settings) -> TheoryCheck:
    """Check Theorem 6: the excess risk of the minimiser of the corrected (ABS) risk."""
    least = world.expected_terms.min(axis=1).tolist()
    bound = [
        bounds.theorem_6_estimation_error_of_the_corrected(
            n, complexity(world, n, settings), least, delta=DELTA, loss=world.constants
        )
        for n in settings.sizes
    ]
    return rate("Theorem 6", _CORRECTED, settings, _corrected_errors(world, settings), bound)


def corrected_estimation_error_by_our_proof(world: World, settings: Settings) -> TheoryCheck:
    """Check the same excess risk against the bound of this library, whose proof has no gaps and needs no a, b, c, d."""
    bound = [
        bounds.estimation_error_of_the_corrected(n, complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    return rate("Theorem 6, our proof", _CORRECTED, settings, _corrected_errors(world, settings), bound)


_CORRECTED = "the excess risk of the corrected minimiser falls at least as n^(-1/2)"


def _corrected_errors(world: World, settings: Settings) -> FloatArray:
    def error(terms: FloatArray) -> float:
        return float(world.true_risks[np.abs(terms).sum(0).argmin()] - world.best)

    return error_table(world, settings, error)


THEORY_CHECKS: tuple[Callable[[World, Settings], TheoryCheck], ...] = (
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
    corrected_estimation_error_by_our_proof,
)
"""All checks, in the order of the paper."""
