"""Compare the propositions on difference regression with simulations, as :mod:`confdiff.theory.monte_carlo` does."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from confdiff.theory import regression_bounds as bounds
from confdiff.theory.complexity import finite_complexity
from confdiff.theory.efficiency_checks import cost, weight_of_the_prior
from confdiff.theory.measuring import (
    DELTA,
    SampleNoise,
    Settings,
    TheoryCheck,
    complexity,
    growth,
    rate,
    samples,
    standardised,
    typical_function,
)
from confdiff.theory.regression_risks import (
    expected_regression_risks,
    label_differences,
    regression_risks,
    squared_errors,
    well_specified,
    with_functions,
)
from confdiff.theory.simulation import FloatArray, Sample, World

_FEW = (1, 2, 4, 8, 16, 32)


def excess_identity(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 1, for exact and for label differences, and the mean of the term of the prior."""
    n = settings.sizes[0]
    single = with_functions(world, [typical_function(world)])
    squares, offset = expected_regression_risks(single)[:, 0]
    slopes = world.posteriors * (1 - world.posteriors)
    exact = _terms(single, settings, n, times=10)
    labelled = _terms(single, settings, n, times=10, noise=label_differences)
    estimates = (exact[:, 0], exact[:, 1], labelled[:, 0])
    truths = (squares, offset + bounds.proposition_5_bias(n, _variance(single)), squares + 2 * world.mass @ slopes)
    z = standardised(estimates, truths)
    return TheoryCheck(
        name="Proposition 1",
        statement="the risk is 2 Var(p - r) + (E p - pi)^2 up to the variance of the noise and Var(p) / 2n",
        simulated=settings.samples_of(n, times=10),
        x_name="term",
        x=[1, 2, 3],
        measured=z,
        bound=[],
        finding=f"largest deviation {max(map(abs, z)):.1f} standard errors",
        holds=max(map(abs, z)) < 4,
        logarithmic=False,
        y_name="deviation / standard error",
        labels=("differences", "prior", "label differences"),
    )


def complexity_of_squared_errors(world: World, settings: Settings) -> TheoryCheck:
    """Check that the complexity of the squared errors of pairs is at most (1 + B) times that of the scores."""
    sizes = settings.sizes[:4]
    measured = []
    for n in sizes:
        sample = next(samples(world, n, settings))
        p = world.probabilities
        squares = (p[:, sample.right] - p[:, sample.left] - sample.c) ** 2
        measured.append(finite_complexity(squares, draws=200, seed=settings.seed)[0])
    bound = [bounds.proposition_3_complexity(complexity(world, n, settings)) for n in sizes]
    ratio = np.array(measured) / np.array(bound)
    return TheoryCheck(
        name="Proposition 3, complexity",
        statement="the Rademacher complexity of the squared errors is at most twice that of the scores",
        simulated=f"one sample of {', '.join(map(str, sizes))} pairs, 200 draws of signs",
        x_name="n",
        x=[float(n) for n in sizes],
        measured=measured,
        bound=bound,
        finding=f"{ratio.min():.2f} to {ratio.max():.2f} times the bound",
        holds=bool((ratio <= 1).all()),
        y_name="Rademacher complexity",
    )


def regression_deviation(world: World, settings: Settings) -> TheoryCheck:
    """Check that the largest error of the risk over the class falls as n^(-1/2)."""
    expected = expected_regression_risks(world).sum(axis=0)
    rows = []
    for n in settings.sizes:
        risks = (regression_risks(world, sample).sum(axis=0) for sample in samples(world, n, settings))
        rows.append([np.abs(risk - expected).max() for risk in risks])
    bound = [
        bounds.proposition_3_uniform_deviation(n, complexity(world, n, settings), delta=DELTA, prior=world.prior)
        for n in settings.sizes
    ]
    statement = "sup |J_hat - J| over the class falls as n^(-1/2)"
    return rate("Proposition 3, uniform deviation", statement, settings, np.array(rows), bound, exact=True)


def regression_error(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 3: the excess risk of the minimiser, for exact differences."""
    return rate("Proposition 3", _EXCESS, settings, _excess(world, settings), _estimation_errors(world, settings))


def regression_error_of_labels(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 4: noise of mean zero, here of label differences, does not keep the excess risk from 0."""
    table = _excess(world, settings, noise=label_differences)
    statement = f"with label differences, {_EXCESS}"
    return rate("Proposition 4, label differences", statement, settings, table, _estimation_errors(world, settings))


def error_of_shrunk_differences(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 4: the error of the posterior if all differences are smaller by a factor."""
    n = settings.sizes[-1]
    right = well_specified(world)
    spread = float(np.sqrt(right.posterior_variance))
    measured = []
    bound = []
    shrinkage = [0.0, 0.1, 0.2, 0.3, 0.4]
    for amount in shrinkage:
        shrunk = (replace(sample, c=(1 - amount) * sample.c) for sample in samples(right, n, settings))
        measured.append(_posterior_error(right, shrunk))
        bound.append(
            bounds.proposition_4_posterior_error(_estimation_error(right, n, settings), noise_shift=amount * spread)
        )
    name = "Proposition 4, shrunk differences"
    return growth(name, _POSTERIOR_ERROR, "1 - factor", settings.samples_of(n), shrinkage, measured, bound)


def regression_error_under_a_wrong_prior(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 4: the error of the posterior if the prior has an increasing error."""
    n = settings.sizes[-1]
    right = well_specified(world)
    measured = []
    bound = []
    prior_errors = [0.0, 0.05, 0.1, 0.2, 0.3]
    for shift in prior_errors:
        prior = right.prior + shift
        measured.append(_posterior_error(right, samples(right, n, settings), prior=prior))
        excess = _estimation_error(right, n, settings, prior=prior)
        bound.append(bounds.proposition_4_posterior_error(excess, prior_error=shift))
    name = "Proposition 4, prior"
    return growth(name, _POSTERIOR_ERROR, "pi_bar - pi", settings.samples_of(n), prior_errors, measured, bound)


def regression_bias(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 5: the bias of the risk on a sample is Var(p) / 2n."""
    single = with_functions(world, [typical_function(world)])
    offset = expected_regression_risks(single)[1, 0]
    estimates = [_terms(single, settings, n, times=20)[:, 1] - offset for n in _FEW]
    predicted = [bounds.proposition_5_bias(n, _variance(single)) for n in _FEW]
    z = standardised(estimates, predicted)
    return TheoryCheck(
        name="Proposition 5",
        statement="without a correction, the risk on a sample has the bias Var(p) / 2n",
        simulated=settings.samples_of(*_FEW, times=20),
        x_name="n",
        x=[float(n) for n in _FEW],
        measured=[float(values.mean()) for values in estimates],
        bound=predicted,
        finding=f"largest deviation {max(map(abs, z)):.1f} standard errors",
        holds=max(map(abs, z)) < 4,
        y_name="bias",
        bound_name="predicted",
    )


def offset_of_certain_items(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 6 for clipped shifts of the posterior, which it limits the most."""
    shifts = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5])
    shifted = np.clip(world.posteriors + shifts[:, None], 0, 1)
    errors = shifted - world.posteriors
    offsets = errors @ world.mass
    variances = (errors - offsets[:, None]) ** 2 @ world.mass
    bound = [_tightest_offset_error(world, variance) for variance in variances]
    return TheoryCheck(
        name="Proposition 6",
        statement="certain items bound the offset of any p in [0, 1] by its difference error",
        simulated="p = clip(r + t, 0, 1) for seven shifts t, without samples",
        x_name="standard deviation of p - r",
        x=np.sqrt(variances).tolist(),
        measured=offsets.tolist(),
        bound=bound,
        finding=f"offsets of {offsets[0]:.3f} to {offsets[-1]:.3f}",
        holds=bool((offsets <= np.array(bound) + 1e-12).all()),
        logarithmic=False,
        y_name="offset E(p - r)",
    )


def rate_of_a_finite_class(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 7: for a class that contains the posterior, the excess risk falls as 1/n.

    The excess risk of small samples is limited by that of the worst function, so the slope is a little above -1.
    """
    right = well_specified(world)
    bound = [
        bounds.proposition_7_finite_class(n, len(right.scores), delta=DELTA, prior=right.prior) for n in settings.sizes
    ]
    statement = "if the class is finite and contains r, the excess risk falls as 1/n (tested: at least as n^(-0.9))"
    table = _excess(right, settings, noise=label_differences)
    return rate("Proposition 7", statement, settings, table, bound, power=0.9)


_EXCESS = "the excess risk of the minimiser falls at least as n^(-1/2)"
_POSTERIOR_ERROR = "the error of the posterior grows by at most 2 sqrt(2 E h^2 + (pi_bar - pi)^2)"


def _terms(world: World, settings: Settings, n: int, *, times: int, noise: SampleNoise | None = None) -> FloatArray:
    """Return the two terms of the first function on each sample, (samples, 2)."""
    drawn = samples(world, n, settings, times, noise=noise)
    return np.stack([regression_risks(world, sample)[:, 0] for sample in drawn])


def _excess(world: World, settings: Settings, *, noise: SampleNoise | None = None) -> FloatArray:
    """Return the excess risk of the minimiser over the class for all samples, (sizes, repetitions)."""
    expected = expected_regression_risks(world).sum(axis=0)
    excess = expected - expected.min()
    rows = []
    for n in settings.sizes:
        drawn = samples(world, n, settings, noise=noise)
        rows.append([excess[regression_risks(world, sample).sum(axis=0).argmin()] for sample in drawn])
    return np.array(rows)


def _estimation_error(world: World, n: int, settings: Settings, *, prior: float | None = None) -> float:
    return bounds.proposition_3_estimation_error(
        n, complexity(world, n, settings), delta=DELTA, prior=world.prior if prior is None else prior
    )


def _estimation_errors(world: World, settings: Settings) -> list[float]:
    return [_estimation_error(world, n, settings) for n in settings.sizes]


def _posterior_error(world: World, drawn: Iterator[Sample], *, prior: float | None = None) -> float:
    """Return the quantile over samples of the root mean squared error of the minimiser's probabilities."""
    errors = np.sqrt(squared_errors(world))
    minimisers = [regression_risks(world, sample, prior=prior).sum(axis=0).argmin() for sample in drawn]
    return float(np.quantile(errors[minimisers], 1 - DELTA))


def _tightest_offset_error(world: World, variance: float) -> float:
    """Return the least bound of Proposition 6 over all margins."""
    candidates = []
    for margin in np.unique(np.minimum(world.posteriors, 1 - world.posteriors)):
        low = float(world.mass[world.posteriors <= margin].sum())
        high = float(world.mass[world.posteriors >= 1 - margin].sum())
        if min(low, high) > 0:
            candidates.append(
                bounds.proposition_6_offset_error(variance, margin=float(margin), mass=min(low, high, 1.0))
            )
    return min(candidates)


def _variance(world: World) -> float:
    """Return the variance of the first function's probabilities over items."""
    p = world.probabilities[0]
    return float(world.mass @ p**2 - (world.mass @ p) ** 2)


REGRESSION_CHECKS: tuple[Callable[[World, Settings], TheoryCheck], ...] = (
    excess_identity,
    weight_of_the_prior,
    cost,
    complexity_of_squared_errors,
    regression_deviation,
    regression_error,
    regression_error_of_labels,
    error_of_shrunk_differences,
    regression_error_under_a_wrong_prior,
    regression_bias,
    offset_of_certain_items,
    rate_of_a_finite_class,
)
"""All checks of difference regression, in the order of the propositions."""
