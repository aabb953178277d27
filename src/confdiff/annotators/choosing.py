"""Choose the model of annotators by held-out answers."""

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.annotators.estimates import AnnotatorEstimates, AnnotatorModel
from confdiff.annotators.estimating import estimate_annotators
from confdiff.annotators.sums import AnswerSums, RealArray
from confdiff.randomness import derived_seed

_FOLDS = 5
_SIGNIFICANT = 1.645  # standard errors: one-sided test at 5 %


@dataclass(frozen=True)
class ModelChoice:
    """The chosen model, and how the models predict held-out answers.

    Attributes
    ----------
    model : {"pooled", "scale", "full"}
        The pooled model unless another one is significantly better, and of the others the simplest within one standard
        error of the best.
    gain : dict
        Model -> mean log density of held-out answers minus that of the pooled model.
    error : dict
        Model -> standard error of the gain.
    """

    model: AnnotatorModel
    gain: dict[AnnotatorModel, float]
    error: dict[AnnotatorModel, float]


def choose_model(
    d: ArrayLike,
    c: ArrayLike,
    annotators: ArrayLike,
    *,
    side: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    seed: int = 0,
) -> ModelChoice:
    """Choose the model of annotators that predicts held-out answers; the pooled one unless the gain is significant.

    The answers of each annotator are divided into five folds. The parameters are estimated without a fold, and the
    models are compared by the log density of its answers, which takes scale, bias and noise into account. With few
    answers, single ones decide such a comparison. So another model than the pooled one must be better by a one-sided
    test at 5 %. Of those, the simplest within one standard error of the best is chosen.

    Parameters
    ----------
    d, c, annotators, side, weight
        As in :meth:`AnswerSums.of`.
    seed : int
        Seed of the folds.

    Returns
    -------
    ModelChoice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> d = rng.uniform(-1, 1, 600)
    >>> who = np.arange(600) % 2
    >>> c = np.array([0.5, 1.5])[who] * d + 0.1 * rng.normal(size=600)
    >>> choose_model(d, c, who).model
    'scale'
    """
    difference = np.asarray(d, dtype=np.float64)
    answer = np.asarray(c, dtype=np.float64)
    codes = np.asarray(annotators, dtype=np.int64)
    z = None if side is None else np.asarray(side, dtype=np.float64)
    w = np.ones(len(answer)) if weight is None else np.asarray(weight, dtype=np.float64)
    fold = _folds_within(codes, seed)
    parts = [
        AnswerSums.of(difference[rows], answer[rows], codes[rows], side=None if z is None else z[rows], weight=w[rows])
        for rows in (fold == k for k in range(fold.max() + 1))
    ]
    models: tuple[AnnotatorModel, ...] = get_args(AnnotatorModel)
    density = {model: np.zeros(len(answer)) for model in models}
    for k in range(len(parts)):
        rows = np.flatnonzero(fold == k)
        training = _all_but(parts, k)
        for model in models:
            estimates = estimate_annotators(training, model)
            density[model][rows] = _log_density(
                estimates, difference[rows], answer[rows], codes[rows], None if z is None else z[rows]
            )
    return _chosen(density, w)


def _folds_within(codes: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Return the fold of each answer; the folds have about as many answers of each annotator."""
    rng = np.random.default_rng(derived_seed(seed, "folds of answers"))
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold = np.empty(len(codes), dtype=np.int64)
    fold[order] = np.arange(len(codes)) % _FOLDS
    return fold


def _all_but(parts: list[AnswerSums], k: int) -> AnswerSums:
    others = [part for j, part in enumerate(parts) if j != k]
    total = others[0]
    for part in others[1:]:
        total = total.merge(part)
    return total


def _log_density(
    estimates: AnnotatorEstimates, d: RealArray, c: RealArray, codes: NDArray[np.int64], side: RealArray | None
) -> RealArray:
    """Return the log density of answers under a normal distribution with the posterior predictive variance."""
    rows = estimates._rows(codes)
    scaled = estimates.slope * d
    z = np.zeros(len(d)) if side is None else side
    scale_variance = np.append(estimates.scale_error, estimates.scale_spread)[rows] ** 2
    bias_variance = np.append(estimates.bias_error, estimates.bias_spread)[rows] ** 2
    noise = np.append(estimates.noise**2, estimates.noise_prior.variance)[rows]
    variance = noise + scale_variance * scaled**2 + bias_variance * z**2
    error = c - estimates.predict(scaled, codes, side)
    log_density: RealArray = -(np.log(2 * np.pi * variance) + error**2 / variance) / 2
    return log_density


def _chosen(density: dict[AnnotatorModel, RealArray], weight: RealArray) -> ModelChoice:
    """Return the pooled model, or the simplest of the significantly better ones within one standard error."""
    total = weight.sum()
    means = {model: float(weight @ values / total) for model, values in density.items()}

    def error_of(model: AnnotatorModel, other: AnnotatorModel) -> float:
        gap = density[model] - density[other]
        centred = weight * (gap - weight @ gap / total)
        return float(np.sqrt(np.square(centred).sum())) / float(total)

    gain = {model: mean - means["pooled"] for model, mean in means.items()}
    error = {model: error_of(model, "pooled") for model in density}
    better = [model for model in density if gain[model] > _SIGNIFICANT * error[model]]
    if not better:
        return ModelChoice(model="pooled", gain=gain, error=error)
    best = max(better, key=lambda model: means[model])
    chosen = next(model for model in better if means[best] - means[model] <= error_of(best, model))
    return ModelChoice(model=chosen, gain=gain, error=error)
