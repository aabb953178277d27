"""Estimate the model of annotators by empirical Bayes: the spreads over annotators are learned."""

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from confdiff.annotators.estimates import AnnotatorEstimates, AnnotatorModel
from confdiff.annotators.noise import NoisePrior, common_noise, learn_noise
from confdiff.annotators.posterior import Posterior, posterior_of
from confdiff.annotators.sums import AnswerSums, RealArray
from confdiff.validation import check_choice

_ROUNDS = 12
_LARGEST_SPREAD = 2.0  # of scales, relative to their mean; of biases, relative to the root mean square of the answers
_GRID = np.square(np.linspace(0.0, 1.0, 33))[:, None]
_GRID_WEIGHT = np.gradient(_GRID[:, 0])  # a flat prior of the spread
_ERROR_RATE = 0.05
_POWER = 3.3  # standard errors at which a one-sided test at 5 % has a power of 95 %


def estimate_annotators(sums: AnswerSums, model: str = "full") -> AnnotatorEstimates:
    """Estimate scales, side biases and noise from the sums of answers.

    The spreads of scales and biases have flat priors. Their posterior is computed on a grid and integrated over, so
    that intervals do not collapse if a spread may be 0. Noise variances have an inverse-gamma prior that maximises the
    likelihood. With few answers, all annotators are shrunk to the common values.

    Parameters
    ----------
    sums : AnswerSums
        Sums over answers, with predicted differences of models that were not fitted to these answers.
    model : {"pooled", "scale", "full"}
        ``"scale"`` has a scale for each annotator, ``"full"`` also a side bias and noise. Biases are estimated only if
        sides are given. If the predicted differences explain nothing of the answers, the result is the pooled model.

    Returns
    -------
    AnnotatorEstimates
        Annotators with a significantly negative scale are marked, and do not affect the estimates of the others.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> d = rng.uniform(-1, 1, 600)
    >>> who = np.arange(600) % 2
    >>> c = np.array([0.5, 1.5])[who] * d + 0.1 * rng.normal(size=600)
    >>> estimate_annotators(AnswerSums.of(d, c, who), "scale").scale.round(1)
    array([0.5, 1.5])
    """
    check_choice("model", model, get_args(AnnotatorModel))
    answers = sums.normalised()
    pooled = _pooled(answers)
    if model == "pooled" or not _explains(answers, pooled):
        return pooled
    first = _Fit.of(answers, is_full=model == "full")
    is_reversed = _reversed(answers, first.noise)
    fit = first
    if is_reversed.any() and not is_reversed.all():
        others = _Fit.of(answers.of_annotators(answers.codes[~is_reversed]), is_full=model == "full")
        fit = first.replaced(others, ~is_reversed)
    used = np.where(is_reversed, 0.0, answers.weight)
    mean = float(used @ fit.scale / used.sum()) if used.any() else 0.0
    if mean <= 0:
        return pooled
    return AnnotatorEstimates(
        model="full" if model == "full" else "scale",
        codes=answers.codes,
        count=answers.count,
        scale=fit.scale / mean,
        bias=fit.bias,
        noise=np.sqrt(fit.noise),
        scale_error=fit.scale_error / mean,
        bias_error=fit.bias_error,
        is_reversed=is_reversed,
        is_chance=_chance(answers, fit.noise, mean) & ~is_reversed,
        slope=mean,
        scale_spread=fit.scale_spread / mean,
        bias_spread=fit.bias_spread,
        noise_prior=fit.noise_prior,
        has_side=model == "full" and answers.has_side,
    )


def _pooled(sums: AnswerSums) -> AnnotatorEstimates:
    """Return the estimates in which all annotators are the same."""
    slope = float(sums.dc.sum() / max(sums.dd.sum(), 1e-300))
    error = np.maximum(sums.cc - 2 * slope * sums.dc + slope**2 * sums.dd, 0.0)
    prior = common_noise(error, sums.weight)
    noise = np.full(len(sums.codes), prior.variance)
    size = len(sums.codes)
    is_reversed = _reversed(sums, noise)
    return AnnotatorEstimates(
        model="pooled",
        codes=sums.codes,
        count=sums.count,
        scale=np.ones(size),
        bias=np.zeros(size),
        noise=np.sqrt(noise),
        scale_error=np.zeros(size),
        bias_error=np.zeros(size),
        is_reversed=is_reversed,
        is_chance=_chance(sums, noise, slope) & ~is_reversed,
        slope=slope,
        scale_spread=0.0,
        bias_spread=0.0,
        noise_prior=prior,
        has_side=False,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """Posterior means and standard deviations, before the mean scale is set to 1; ``noise`` are variances."""

    scale: RealArray
    scale_error: RealArray
    bias: RealArray
    bias_error: RealArray
    noise: RealArray
    scale_spread: float
    bias_spread: float
    noise_prior: NoisePrior

    @classmethod
    def of(cls, sums: AnswerSums, *, is_full: bool) -> "_Fit":
        """Alternate between the spreads and the noise, then integrate over the spreads."""
        has_bias = is_full and sums.has_side
        learn = learn_noise if is_full else common_noise
        answers = sums if has_bias else _without_side(sums)
        largest_scale = _LARGEST_SPREAD * abs(float(answers.dc.sum() / answers.dd.sum()))
        largest_bias = _LARGEST_SPREAD * float(np.sqrt(answers.cc.sum() / answers.weight.sum())) if has_bias else 0.0
        prior = _pooled_noise(answers)
        noise = np.full(len(answers.codes), prior.variance)
        scale_spread = largest_scale / 4
        bias_spread = largest_bias / 4
        for _ in range(_ROUNDS):
            scale_spread = _mean_spread(posterior_of(answers, noise, largest_scale * _GRID, bias_spread), largest_scale)
            if has_bias:
                over_bias = posterior_of(answers, noise, scale_spread, largest_bias * _GRID)
                bias_spread = _mean_spread(over_bias, largest_bias)
            error = posterior_of(answers, noise, scale_spread, bias_spread).squared_error(answers)
            prior = learn(error, answers.weight)
            noise = prior.update(error, answers.weight)
        over_scale = posterior_of(answers, noise, largest_scale * _GRID, bias_spread)
        over_bias = posterior_of(answers, noise, scale_spread, largest_bias * _GRID)
        scale, scale_error = _mixed(over_scale, over_scale.scale, over_scale.scale_variance)
        bias, bias_error = _mixed(over_bias, over_bias.bias, over_bias.bias_variance)
        return cls(
            scale=scale,
            scale_error=scale_error,
            bias=bias,
            bias_error=bias_error,
            noise=noise,
            scale_spread=scale_spread,
            bias_spread=bias_spread,
            noise_prior=prior,
        )

    def replaced(self, other: "_Fit", is_other: NDArray[np.bool_]) -> "_Fit":
        """Return the fit of the annotators that are marked, with the values of this one for all others."""
        values = {}
        for name in ("scale", "scale_error", "bias", "bias_error", "noise"):
            column = getattr(self, name).copy()
            column[is_other] = getattr(other, name)
            values[name] = column
        return replace(other, **values)


def _without_side(sums: AnswerSums) -> AnswerSums:
    absent = np.zeros(len(sums.codes))
    return replace(sums, dz=absent, zz=absent, zc=absent)


def _pooled_noise(sums: AnswerSums) -> NoisePrior:
    explained = sums.dc.sum() ** 2 / sums.dd.sum()
    return common_noise(np.array([max(sums.cc.sum() - explained, 0.0)]), np.array([sums.weight.sum()]))


def _grid_probability(posterior: Posterior) -> RealArray:
    """Return the posterior probabilities of the spreads of the grid."""
    log_evidence = posterior.log_evidence
    density = np.exp(log_evidence - log_evidence.max()) * _GRID_WEIGHT
    return np.asarray(density / density.sum())


def _mean_spread(posterior: Posterior, largest: float) -> float:
    return float(_grid_probability(posterior) @ _GRID[:, 0] * largest)


def _mixed(posterior: Posterior, mean: RealArray, variance: RealArray) -> tuple[RealArray, RealArray]:
    """Return mean and standard deviation of a mixture over the spreads of the grid."""
    probability = _grid_probability(posterior)
    mixed = probability @ mean
    square = probability @ (variance + (mean - mixed) ** 2)
    return mixed, np.sqrt(square)


def _slopes(sums: AnswerSums, noise: RealArray) -> tuple[RealArray, RealArray]:
    """Return the least-squares slope of each annotator on d, given the side, and its information 1 / error^2."""
    squares = sums.zz > 0
    zz = np.where(squares, sums.zz, 1.0)
    dd = np.maximum(sums.dd - np.where(squares, sums.dz**2 / zz, 0.0), 0.0)
    dc = sums.dc - np.where(squares, sums.dz * sums.zc / zz, 0.0)
    slope = np.where(dd > 0, dc / np.where(dd > 0, dd, 1.0), 0.0)
    return slope, dd / noise


def _reversed(sums: AnswerSums, noise: RealArray) -> NDArray[np.bool_]:
    """Return which annotators have a slope below 0, with correction for their number (Bonferroni)."""
    slope, information = _slopes(sums, noise)
    critical = t.ppf(_ERROR_RATE / len(slope), np.maximum(sums.weight - 2, 1))
    return np.asarray(slope * np.sqrt(information) < critical)


def _chance(sums: AnswerSums, noise: RealArray, mean: float) -> NDArray[np.bool_]:
    """Return whose slope is not above 0, though that of an average annotator for the same pairs would be."""
    slope, information = _slopes(sums, noise)
    _, average_information = _slopes(sums, np.full(len(noise), np.median(noise)))
    is_decidable = mean * np.sqrt(average_information) >= _POWER
    critical = t.ppf(1 - _ERROR_RATE, np.maximum(sums.weight - 2, 1))
    return np.asarray(is_decidable & (slope * np.sqrt(information) < critical))


def _explains(sums: AnswerSums, pooled: AnnotatorEstimates) -> bool:
    """Return whether the predicted differences explain something of the answers, and there is something to compare."""
    information = sums.dd.sum() / pooled.noise_prior.variance
    return len(sums.codes) > 1 and pooled.slope * np.sqrt(information) > _POWER / 2
