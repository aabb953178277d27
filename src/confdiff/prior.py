r"""Estimate the class prior, as far as differences determine it.

Differences determine the posterior up to one constant: :math:`r(x) = d(x) + \pi`, where :math:`d` has mean 0 and is
learned by regression on the differences. As :math:`r` lies in [0, 1], the prior :math:`\pi` lies in
:math:`[-\min d,\ 1 - \max d]`. This is a single point if some items are certainly negative and others certainly
positive, and an interval otherwise, which only labels can narrow. With K classes each prior is at least
:math:`-\min d_k`, and the rest of 1 is not identified.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import Items, as_items, as_matrix
from confdiff.randomness import derived_seed, generator
from confdiff.standardisation import fit_scaling
from confdiff.threads import follow_policy
from confdiff.training import Recipe, epochs_for, learning_rate_for, predict_scores, train
from confdiff.validation import check_count, check_labels, check_matrix, column_names, warn_user

WIDE = 0.1
"""Width above which an interval does not identify the prior."""

_TAIL = 0.01  # fraction of the items at either end, whose predictions may be wrong
_BOOTSTRAP_SAMPLES = 300
_UNDERFITTED = 1.25  # ratio of observed and predicted differences, above which a network has not converged
_Vector = NDArray[np.float64]

Interval = tuple[float, float]
"""Lower and upper end."""

PriorInterval = Interval | tuple[Interval, ...]
"""Class priors that the data leave open: of the positive class, or of each of K classes."""


@dataclass(frozen=True)
class PriorEstimate:
    """An estimate of the class prior from differences and, optionally, labels.

    Attributes
    ----------
    low, high : float
        The identified interval: every prior in it fits the differences equally well.
    value : float
        The point estimate; without labels the middle of the identified interval.
    confidence_low, confidence_high : float
        A 95 % interval for the prior.
    n_labels : int
        Number of labelled items used.
    """

    low: float
    high: float
    value: float
    confidence_low: float
    confidence_high: float
    n_labels: int = 0

    @property
    def is_identified(self) -> bool:
        """Whether the data determine the prior, up to sampling error."""
        return self.confidence_high - self.confidence_low <= WIDE + 2 * _TAIL

    def __str__(self) -> str:
        text = f"prior {self.value:.3f} (95 %: {self.confidence_low:.3f} to {self.confidence_high:.3f})"
        return text if self.is_identified else f"{text}; {_not_identified(self.confidence_low, self.confidence_high)}"


def identified_interval(
    probabilities: ArrayLike, *, weight: ArrayLike | None = None, tail: float = _TAIL
) -> tuple[float, float]:
    """Return the interval of priors that fit the differences of probabilities equally well.

    These are the means of all shifted copies of the probabilities that lie in [0, 1]. If the probabilities span all
    of [0, 1], the interval is one point, their mean.

    Parameters
    ----------
    probabilities : array-like of shape (m,)
        Predicted probabilities of the items.
    weight : array-like of shape (m,) or None
        Weights of the items.
    tail : float
        Fraction of the items that is left out at either end.

    Returns
    -------
    tuple of float
        Lower and upper end.

    Examples
    --------
    >>> identified_interval([0.2, 0.4, 0.6], tail=0)
    (0.2, 0.8)
    """
    p = np.asarray(probabilities, dtype=np.float64)
    w = np.ones_like(p) if weight is None else np.asarray(weight, dtype=np.float64)
    centre = np.average(p, weights=w)
    least, greatest = _quantiles(p, w, tail, 1 - tail)
    low = centre - least
    high = centre + 1 - greatest
    if low > high:
        low = high = (low + high) / 2
    return float(np.round(low, 12).clip(0, 1)), float(np.round(high, 12).clip(0, 1))


def _quantiles(values: _Vector, weight: _Vector, *fractions: float) -> list[float]:
    """Return the values below which each fraction of the weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    positions = np.searchsorted(total, np.array(fractions) * total[-1]).clip(max=len(values) - 1)
    return [float(value) for value in values[order][positions]]


def open_interval(
    predicted: ArrayLike, differences: ArrayLike, probabilities: ArrayLike, weight: ArrayLike | None = None
) -> PriorInterval:
    """Return the interval of priors with which a model would fit the differences equally well.

    Parameters
    ----------
    predicted, differences : array-like of shape (n,) or (n, K)
        Predicted and observed differences of held-out pairs. They scale the spread of the probabilities: a model that
        overfits noise predicts 0 or 1 for all items.
    probabilities : array-like of shape (m,) or (m, K)
        Predicted probabilities of items, preferably held out.
    weight : array-like of shape (n,) or None
        Weights of the pairs.

    Returns
    -------
    PriorInterval
        Lower and upper end; for K classes a tuple of K such tuples, all of the same width.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    c = np.asarray(differences, dtype=np.float64)
    c_hat = np.asarray(predicted, dtype=np.float64)
    w = np.ones(len(c)) if weight is None else np.asarray(weight, dtype=np.float64)
    spread = min(1.0, _least_slope(c_hat, c, w))
    columns = np.stack([1 - p, p], axis=1) if p.ndim == 1 else p
    lows = spread * np.array([column.mean() - np.quantile(column, _TAIL) for column in columns.T])
    lows = lows / max(1.0, lows.sum())
    width = float(1 - lows.sum())
    ends = tuple((float(low), min(1.0, float(low) + width)) for low in lows)
    return ends[1] if p.ndim == 1 else ends


def is_narrow(interval: PriorInterval) -> bool:
    """Return whether an interval of priors, or one for each of K classes, is narrow enough to determine the prior.

    >>> is_narrow((0.3, 0.35)), is_narrow(((0.3, 0.5), (0.5, 0.7)))
    (True, False)
    """
    return all(high - low <= WIDE for low, high in _ends_of(interval))


def check_prior_interval(interval: PriorInterval, n_classes: int | None) -> None:
    """Check an interval of priors, or one for each of ``n_classes`` classes."""
    ends = _ends_of(interval)
    if len(ends) != (n_classes or 1) or not all(0 <= low <= high <= 1 for low, high in ends):
        raise ValueError(f"prior_interval must be {n_classes or 1} intervals in [0, 1]; got {interval!r:.100}")


def _ends_of(interval: PriorInterval) -> tuple[Interval, ...]:
    """Return the intervals of all classes, or the one of the positive class."""
    return interval if isinstance(interval[0], tuple) else (interval,)


def warn_of_open_prior(interval: PriorInterval) -> None:
    """Warn that differences leave the priors of an interval open, in one sentence that says what to do.

    Parameters
    ----------
    interval : PriorInterval
        As :func:`open_interval` returns it.
    """
    low, high = _ends_of(interval)[0]
    if not isinstance(interval[0], tuple):
        warn_user(f"{_not_identified(low, high)} Probabilities may be off by a constant.")
        return
    warn_user(
        f"the differences do not determine {high - low:.2f} of the class priors: some classes have no item that "
        "certainly does not belong to them. Pass prior=... if you know it. Probabilities may be off by a constant per "
        "class."
    )


def _least_slope(predicted: _Vector, differences: _Vector, weight: _Vector) -> float:
    """Return the lower 95 % limit of the slope by which predicted differences must be scaled to fit the observed."""
    w = np.repeat(weight, predicted.size // len(predicted))
    x = predicted.reshape(-1)
    y = differences.reshape(-1)
    total = float(w @ x**2)
    if total < 1e-12 or len(y) < 2:
        return 0.0
    slope = float(w @ (x * y)) / total
    error = math.sqrt(float(w**2 @ (x**2 * (y - slope * x) ** 2))) / total  # robust to errors of unequal variance
    return max(0.0, slope - 1.645 * error)


def _not_identified(low: float, high: float) -> str:
    return (
        f"the differences do not determine the class prior: any value from {low:.2f} to {high:.2f} fits, as no item "
        "is certain. Pass prior=... if you know it, or a few labelled items."
    )


@follow_policy
def estimate_prior(
    pairs: Pairs,
    *,
    labelled: tuple[Any, ArrayLike] | None = None,
    model: ModelLike = "mlp",
    recipe: Recipe | None = None,
    folds: int = 3,
) -> PriorEstimate:
    """Estimate the class prior from the differences of pairs and, optionally, a few labelled items.

    In each of ``folds`` folds, d is predicted by a network that was trained on the others by difference regression.
    Without labels, the confidence interval is the identified interval, widened by a bootstrap over the pairs. With
    labels, it is the credible interval of a uniform distribution over that interval, given the labels. The interval
    covers the sampling error of pairs and labels, not the error of the network.

    Parameters
    ----------
    pairs : Pairs
        Pairs with differences of two classes. Items in several pairs may be in several folds; then the error of d is
        slightly underestimated.
    labelled : tuple of (array-like of shape (m, d), array-like of shape (m,)), or None
        Items and their labels, drawn from the same distribution as the items of the pairs.
    model : str, nn.Module or callable
        The network, as in :func:`confdiff.models.build_model`. The items of a linear model are standardised.
    recipe : Recipe or None
        Training recipe of the networks; ``None`` means 20 epochs and at least 500 steps with a one-cycle schedule,
        and the learning rate of the model (:func:`confdiff.training.learning_rate_for`).
    folds : int
        Number of folds, at least 2.

    Returns
    -------
    PriorEstimate

    Raises
    ------
    ValueError
        If the pairs are too few, or have differences of more than two classes.

    Warns
    -----
    UserWarning
        If the data do not determine the prior, or if the network underfits the differences.
    """
    _check_pairs(pairs, folds)
    if recipe is None:
        n_training = len(pairs) * (folds - 1) // folds
        recipe = Recipe(
            epochs=epochs_for(n_training, 256), learning_rate=learning_rate_for(model), schedule="one-cycle"
        )
    labelled_items, labels = _labelled(labelled, pairs)
    if model == "linear":
        pairs, labelled_items = _standardised(pairs, labelled_items)
    centred, labelled_centred = _out_of_fold(pairs, labelled_items, model, recipe, folds)
    (differences,) = pairs.targets("differences").double().numpy()
    weight = np.ones(len(differences)) if pairs.weight is None else pairs.weight.double().numpy()
    _warn_if_underfitted(centred, differences, weight)
    low, high = _interval(centred, differences, weight)
    rng = np.random.default_rng(derived_seed(recipe.seed, "bootstrap"))
    widened_low, widened_high = _widened_interval(centred, differences, weight, rng)
    if labels is None:
        value = (low + high) / 2
        confidence_low = widened_low
        confidence_high = widened_high
    else:
        rescaled = labelled_centred * _slope(centred, differences, weight)
        value, confidence_low, confidence_high = _posterior(rescaled, labels, widened_low, widened_high)
    estimate = PriorEstimate(
        low=low,
        high=high,
        value=value,
        confidence_low=confidence_low,
        confidence_high=confidence_high,
        n_labels=0 if labels is None else len(labels),
    )
    if not estimate.is_identified:
        warn_user(_not_identified(estimate.confidence_low, estimate.confidence_high))
    return estimate


def _check_pairs(pairs: Pairs, folds: int) -> None:
    check_count("folds", folds, least=2)
    if pairs.has_vectors:
        raise ValueError("estimate_prior needs differences of two classes; got pairs with vectors of differences.")
    if len(pairs) < 2 * folds:
        raise ValueError(f"estimate_prior with folds={folds} needs at least {2 * folds} pairs; got {len(pairs)}.")


def _labelled(labelled: tuple[Any, ArrayLike] | None, pairs: Pairs) -> tuple[Items | None, NDArray[np.float32] | None]:
    """Return the labelled items and labels, after checking that they have the columns of the items of the pairs."""
    if labelled is None:
        return None, None
    names = column_names(labelled[0])
    if names is not None and pairs.feature_names is not None and names != pairs.feature_names:
        raise ValueError(f"labelled items must have the columns {list(pairs.feature_names)}; got {list(names)}.")
    items = as_items("labelled items", check_matrix("labelled items", labelled[0]))
    if items.shape[1] != pairs.items.shape[1]:
        raise ValueError(f"labelled items must have {pairs.items.shape[1]} features; got {items.shape[1]}.")
    return items, check_labels(labelled[1], len(items))


def _standardised(pairs: Pairs, labelled_items: Items | None) -> tuple[Pairs, Items | None]:
    """Return pairs and labelled items with standardised columns; a linear model converges only with such columns."""
    scaling = fit_scaling(as_matrix(pairs.items))
    scaled = pairs.with_items(scaling.apply(as_matrix(pairs.items)), pairs.feature_names)
    if labelled_items is not None:
        labelled_items = as_items("labelled items", scaling.apply(as_matrix(labelled_items)))
    return scaled, labelled_items


def _warn_if_underfitted(d: _Vector, c: _Vector, weight: _Vector) -> None:
    """Warn if the predicted differences are clearly smaller than the observed ones: the interval is then wrong."""
    slope = _least_slope(d[1] - d[0], c, weight)
    if slope > _UNDERFITTED:
        warn_user(
            f"the network underfits: differences of held-out pairs are at least {slope:.1f} times the predicted ones, "
            "so the estimated prior may be wrong. Standardise the items, train for more epochs or with a higher "
            "learning rate, or pass another model=..."
        )


def _out_of_fold(
    pairs: Pairs, labelled_items: Items | None, model: ModelLike, recipe: Recipe, folds: int
) -> tuple[_Vector, _Vector]:
    """Return (2, n) centred predictions of both items of each pair, and (m,) of the labelled items.

    Each network determines d up to a constant, so its predictions are centred by their mean over all items.
    """
    order = torch.randperm(len(pairs), generator=generator(recipe.seed, "prior"))
    d = np.zeros((2, len(pairs)))
    labelled_d = []
    rows = torch.stack([pairs.left, pairs.right])
    for fold, held_out in enumerate(torch.tensor_split(order, folds)):
        training = np.setdiff1d(order.numpy(), held_out.numpy())
        network = build_model(model, pairs.items.shape[1], seed=derived_seed(recipe.seed, "prior", fold))
        train(network, pairs[training], "confdiff-regression", recipe=replace(recipe, seed=recipe.seed + fold))
        p = torch.sigmoid(predict_scores(network, pairs.items)).double()
        centre = p[rows].mean() if pairs.weight is None else (p[rows].mean(0) * pairs.weight).mean()
        d[:, held_out.numpy()] = (p[rows[:, held_out]] - centre).numpy()
        if labelled_items is not None:
            labelled_p = torch.sigmoid(predict_scores(network, labelled_items)).double()
            labelled_d.append((labelled_p - centre).numpy())
    return d, np.mean(labelled_d, axis=0) if labelled_d else np.zeros(0)


def _slope(d: _Vector, c: _Vector, weight: _Vector) -> float:
    """Return the slope by which predicted differences must be scaled to fit the observed; below 1 after overfitting."""
    predicted = d[1] - d[0]
    return float(np.clip((weight * predicted) @ c / max(float((weight * predicted) @ predicted), 1e-12), 0, 2))


def _interval(d: _Vector, c: _Vector, weight: _Vector) -> tuple[float, float]:
    scaled = d * _slope(d, c, weight)
    item_weight = np.concatenate([weight, weight])
    centre = np.average(scaled.reshape(-1), weights=item_weight)
    return identified_interval(scaled.reshape(-1) - centre, weight=item_weight)


def _widened_interval(d: _Vector, c: _Vector, weight: _Vector, rng: np.random.Generator) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % quantiles of the ends of the identified interval, by a bootstrap over the pairs."""
    ends = []
    for _ in range(_BOOTSTRAP_SAMPLES):
        rows = rng.integers(0, len(c), len(c))
        if weight[rows].any():
            ends.append(_interval(d[:, rows], c[rows], weight[rows]))
    lows, highs = zip(*ends, strict=True)
    return float(np.quantile(lows, 0.025)), float(np.quantile(highs, 0.975))


def _posterior(d: _Vector, y: NDArray[np.float32], low: float, high: float) -> tuple[float, float, float]:
    """Return the mean and the central 95 % of the prior given labels, uniform in [low, high] before them."""
    priors = np.linspace(low, high, 401)
    r = np.clip(d[:, None] + priors, 0.01, 0.99)
    log_likelihood = np.where(y[:, None] > 0, np.log(r), np.log1p(-r)).sum(axis=0)
    likelihood = np.exp(log_likelihood - log_likelihood.max())
    below, above = _quantiles(priors, likelihood, 0.025, 0.975)
    return float(np.average(priors, weights=likelihood)), below, above
