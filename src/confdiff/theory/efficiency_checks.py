"""Compare asymptotic variances of difference regression and of the unbiased risk with fits to samples."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from confdiff.theory import efficiency
from confdiff.theory.measuring import SampleNoise, Settings, TheoryCheck, samples, standardised
from confdiff.theory.regression_risks import label_differences
from confdiff.theory.simulation import FloatArray, Sample, World

_WEIGHTS = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_LOGISTIC = (-1.0, 2.0, -0.5)
"""Weights of the logistic posteriors."""


def weight_of_the_prior(world: World, settings: Settings) -> TheoryCheck:
    """Check Proposition 2: the best weight of the prior, and that it is at least as good as the unbiased risk."""
    n = settings.sizes[-1]
    sigma = 0.5
    logistic = efficiency.logistic_world(world, _LOGISTIC)
    noise = np.full((len(world.mass),) * 2, sigma**2)
    best = efficiency.best_prior_weight(logistic, sigma**2)
    covariances = [efficiency.regression_covariance(logistic, noise, prior_weight=w * best) for w in _WEIGHTS]
    predicted = [efficiency.limiting_error(logistic, covariance) for covariance in covariances]
    errors = []
    unbiased = []
    for sample in samples(logistic, n, settings, noise=_normal(sigma)):
        fits = [efficiency.fit_regression(logistic, sample, prior_weight=w * best) for w in _WEIGHTS]
        errors.append([n * _squared_error(logistic, p) for p in fits])
        unbiased.append(n * _squared_error(logistic, efficiency.fit_unbiased(logistic, sample)))
    z = standardised(np.transpose(errors), predicted)
    measured = np.mean(errors, axis=0)
    least = measured[_WEIGHTS.index(1.0)]
    others = (measured[0], measured[-1], np.mean(unbiased))
    return TheoryCheck(
        name="Proposition 2",
        statement="the weight 2 s^2 / Var(r) of the prior has the least asymptotic variance, at most that of the "
        "unbiased risk",
        simulated=f"{settings.samples_of(n)}, differences plus N(0, {sigma:g}^2)",
        x_name="weight / best weight",
        x=list(_WEIGHTS),
        measured=measured.tolist(),
        bound=predicted,
        finding=f"n E(p - r)^2 is {least:.3f} with the weight {best:.2f}, {others[0]:.3f} without a prior, "
        f"{others[1]:.3f} with eight times the weight, {others[2]:.3f} by the unbiased risk",
        holds=bool(max(map(abs, z)) < 4 and least < min(others)),
        logarithmic=False,
        y_name="n E(p - r)²",
        bound_name="predicted",
    )


def cost(world: World, settings: Settings) -> TheoryCheck:
    """Check the asymptotic variances of difference regression and of the unbiased risk."""
    n = settings.sizes[-1]
    logistic = efficiency.logistic_world(world, _LOGISTIC)
    labels = []
    errors = []
    predicted = []
    for kind, noise, noisy in _kinds_of_noise(logistic, n, settings):
        covariances = (
            efficiency.unbiased_covariance(logistic, noise),
            efficiency.regression_covariance(logistic, noise),
        )
        predicted += [efficiency.limiting_error(logistic, covariance) for covariance in covariances]
        fits = [
            (efficiency.fit_unbiased(logistic, sample), efficiency.fit_regression(logistic, sample)) for sample in noisy
        ]
        errors += [[n * _squared_error(logistic, p) for p in column] for column in zip(*fits, strict=True)]
        labels += [f"U {kind}", f"R {kind}"]
    z = standardised(errors, predicted)
    values = ", ".join(f"{label} {value:.3f}" for label, value in zip(labels, predicted, strict=True))
    return TheoryCheck(
        name="Asymptotic variance",
        statement="n E(p - r)^2 of the unbiased risk (U) and of difference regression (R) has the predicted limit",
        simulated=settings.samples_of(n),
        x_name="method and differences",
        x=[float(number) for number in range(1, len(labels) + 1)],
        measured=z,
        bound=[],
        finding=f"{values}; largest deviation {max(map(abs, z)):.1f} standard errors",
        holds=max(map(abs, z)) < 4,
        logarithmic=False,
        y_name="deviation / standard error",
        labels=tuple(labels),
    )


def _normal(sigma: float) -> SampleNoise:
    def noise(world: World, sample: Sample, rng: np.random.Generator) -> Sample:
        return replace(sample, c=sample.c + sigma * rng.normal(size=len(sample)))

    return noise


def _kinds_of_noise(world: World, n: int, settings: Settings) -> Iterator[tuple[str, FloatArray, Iterator[Sample]]]:
    """Yield the name, the variance over pairs of points, and samples of each kind of differences."""
    shape = (len(world.mass),) * 2
    yield "exact", np.zeros(shape), samples(world, n, settings)
    yield "noisy", np.full(shape, 0.3**2), samples(world, n, settings, noise=_normal(0.3))
    yield "labels", efficiency.label_noise(world), samples(world, n, settings, noise=label_differences)


def _squared_error(world: World, p: FloatArray) -> float:
    return float(world.mass @ (p - world.posteriors) ** 2)
