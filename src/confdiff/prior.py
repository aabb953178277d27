r"""The class prior, as far as differences tell it.

Differences tell the posterior up to one constant: :math:`r(x) = d(x) + \pi` where :math:`d` has mean 0 and is learned
by regression on the differences. As :math:`r` lies in [0, 1], the prior :math:`\pi` lies in
:math:`[-\min d,\ 1 - \max d]`: a single point where some items are certainly negative and others certainly
positive, an interval otherwise, in which nothing but labels can tell more. With K classes each prior is at least
:math:`-\min d_k`, and what these leave of 1 is open.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs
from confdiff.randomness import derived_seed, generator
from confdiff.training import Recipe, epochs_for, predict_scores, train
from confdiff.validation import as_float32, as_tensor, check_count, check_items, check_labels, column_names, warn_user

WIDE = 0.1
"""An interval wider than this leaves the prior open."""

_TAIL = 0.01  # of the items at either end, who may be there by mistake
_RESAMPLED = 300
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class PriorEstimate:
    """What differences, and labels where there are some, tell of the class prior.

    low, high: the identified interval: every prior in it goes with the differences equally well.
    value: the best guess; without labels the middle of that interval.
    confidence_low, confidence_high: a 95 % interval for the prior.
    n_labels: how many labelled items were used.
    """

    low: float
    high: float
    value: float
    confidence_low: float
    confidence_high: float
    n_labels: int = 0

    @property
    def is_identified(self) -> bool:
        """Whether the data tell the prior, up to chance."""
        return self.confidence_high - self.confidence_low <= WIDE + 2 * _TAIL

    def __str__(self) -> str:
        told = f"prior {self.value:.3f} (95 %: {self.confidence_low:.3f} to {self.confidence_high:.3f})"
        return told if self.is_identified else f"{told}; {_left_open(self.confidence_low, self.confidence_high)}"


def identified_interval(
    probabilities: ArrayLike, *, weight: ArrayLike | None = None, tail: float = _TAIL
) -> tuple[float, float]:
    """The priors that go with the differences of these probabilities: adding a constant must leave them in [0, 1].

    Shapes: probabilities, weight: (m,), one for each item. A share ``tail`` of them at either end is left out. Where
    what is left spans all of [0, 1] or more there is one prior, the mean.

    >>> identified_interval([0.2, 0.4, 0.6], tail=0)
    (0.2, 0.8)
    """
    p = np.asarray(probabilities, dtype=np.float64)
    w = np.ones_like(p) if weight is None else np.asarray(weight, dtype=np.float64)
    centre = np.average(p, weights=w)
    least, greatest = _quantiles(p, w, tail, 1 - tail)
    low, high = centre - least, centre + 1 - greatest
    if low > high:
        low = high = (low + high) / 2
    return float(np.round(low, 12).clip(0, 1)), float(np.round(high, 12).clip(0, 1))


def _quantiles(values: Vector, weight: Vector, *shares: float) -> list[float]:
    """The values below which a share of the weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    places = np.searchsorted(total, np.array(shares) * total[-1]).clip(max=len(values) - 1)
    return [float(value) for value in values[order][places]]


def warn_if_open(
    predicted: ArrayLike, differences: ArrayLike, probabilities: ArrayLike, weight: ArrayLike | None = None
) -> None:
    """Warn where a model that was told no prior could as well have had another.

    predicted, differences: (n,) or (n, K), what the model says of pairs that it was not fitted on, and what was given.
        By them the spread of its probabilities is judged: a model that learned noise by heart says 0 and 1 of all.
    probabilities: (m,) or (m, K), those of items, at best also held out.
    """
    p, given, said = (np.asarray(values, dtype=np.float64) for values in (probabilities, differences, predicted))
    w = np.ones(len(given)) if weight is None else np.asarray(weight, dtype=np.float64)
    spread = _sure_slope(said, given, w)
    columns = np.stack([1 - p, p], axis=1) if p.ndim == 1 else p
    lows = [column.mean() - np.quantile(column, _TAIL) for column in columns.T]
    open_share = 1 - min(1.0, spread) * sum(lows)
    if open_share <= WIDE:
        return
    if p.ndim == 1:
        low, high = min(1.0, spread) * lows[1], 1 - min(1.0, spread) * lows[0]
        warn_user(f"{_left_open(low, high)} Probabilities may be off by a constant.")
        return
    warn_user(
        f"the differences leave {open_share:.2f} of the class priors open: no item seems certain not to be of some "
        "classes. Pass the priors if you know them. Probabilities may be off by a constant for each class."
    )


def _sure_slope(predicted: Vector, given: Vector, weight: Vector) -> float:
    """The least slope (at the 5 % level) by which predicted differences must be stretched to fit those given."""
    w = np.repeat(weight, predicted.size // len(predicted))
    x, y = predicted.reshape(-1), given.reshape(-1)
    total = float(w @ x**2)
    if total < 1e-12 or len(y) < 2:
        return 0.0
    slope = float(w @ (x * y)) / total
    error = math.sqrt(float(w**2 @ (x**2 * (y - slope * x) ** 2))) / total  # robust to errors that are not alike
    return max(0.0, slope - 1.645 * error)


def _left_open(low: float, high: float) -> str:
    return (
        f"the differences leave the class prior open between {low:.2f} and {high:.2f}: no item seems certain. "
        "Pass the prior if you know it, or a few labelled items."
    )


def estimate_prior(
    pairs: Pairs,
    *,
    labelled: tuple[Any, ArrayLike] | None = None,
    model: ModelLike = "mlp",
    recipe: Recipe | None = None,
    folds: int = 3,
) -> PriorEstimate:
    """What the differences of these pairs, and a few labelled items, tell of the class prior; a warning where little.

    In each of ``folds`` parts, d is predicted by a network that was trained on the others by difference regression.
    The interval without labels is the identified one, widened by a bootstrap over the pairs; with labels it is that of
    the prior's posterior, if any prior in the former interval was equally likely before. It holds what chance does in
    drawing pairs and labels, not the error of the network.

    labelled: items and their labels, drawn as the items of the pairs were.
    recipe: if not given, 20 epochs and at least 500 steps by a one-cycle schedule.

    Items that stand in several pairs may lie in several folds: then d is known a little too well.
    """
    check_count("folds", folds, least=2)
    if pairs.has_vectors:
        raise ValueError("a prior is estimated from differences of two classes; these pairs have vectors of them.")
    if len(pairs) < 2 * folds:
        raise ValueError(f"{len(pairs)} pairs are too few to estimate a prior in {folds} folds.")
    if recipe is None:
        kept = len(pairs) * (folds - 1) // folds
        recipe = Recipe(epochs=epochs_for(kept, 256), learning_rate=3e-3, schedule="one-cycle")
    items, labels = _labelled(labelled, pairs)
    d, extra = _out_of_fold(pairs, items, model, recipe, folds)
    (c,) = pairs.targets("differences").double().numpy()
    weight = np.ones(len(c)) if pairs.weight is None else pairs.weight.double().numpy()
    low, high = _interval(d, c, weight)
    outer = _outer(d, c, weight, np.random.default_rng(derived_seed(recipe.seed, "bootstrap")))
    estimate = PriorEstimate(low, high, (low + high) / 2, *outer)
    if labels is not None:
        value, below, above = _posterior(extra * _slope(d, c, weight), labels, *outer)
        estimate = PriorEstimate(low, high, value, below, above, len(labels))
    if not estimate.is_identified:
        warn_user(_left_open(estimate.confidence_low, estimate.confidence_high))
    return estimate


def _labelled(
    labelled: tuple[Any, ArrayLike] | None, pairs: Pairs
) -> tuple[torch.Tensor | None, NDArray[np.float32] | None]:
    """Labelled items with the columns that the items of the pairs have."""
    if labelled is None:
        return None, None
    names = column_names(labelled[0])
    if names is not None and pairs.feature_names is not None and names != pairs.feature_names:
        raise ValueError(f"labelled items must have the columns {list(pairs.feature_names)}; got {list(names)}.")
    items = as_float32("labelled items", check_items("labelled items", labelled[0]))
    if items.shape[1] != pairs.items.shape[1]:
        raise ValueError(f"labelled items must have {pairs.items.shape[1]} features; got {items.shape[1]}.")
    return as_tensor(items), check_labels(labelled[1], len(items))


def _out_of_fold(
    pairs: Pairs, extra: torch.Tensor | None, model: ModelLike, recipe: Recipe, folds: int
) -> tuple[Vector, Vector]:
    """(2, n) what was predicted of both items of each pair, and (m,) of the labelled items; centred.

    Each network has a constant of its own, so that its predictions are centred by their mean over all items.
    """
    order = torch.randperm(len(pairs), generator=generator(recipe.seed, "prior"))
    d, others = np.zeros((2, len(pairs))), []
    rows = torch.stack([pairs.left, pairs.right])
    for fold, part in enumerate(torch.tensor_split(order, folds)):
        kept = np.setdiff1d(order.numpy(), part.numpy())
        network = build_model(model, pairs.items.shape[1], seed=derived_seed(recipe.seed, "prior", fold))
        train(network, pairs[kept], "confdiff-regression", recipe=replace(recipe, seed=recipe.seed + fold))
        p = torch.sigmoid(predict_scores(network, pairs.items)).double()
        centre = p[rows].mean() if pairs.weight is None else (p[rows].mean(0) * pairs.weight).mean()
        d[:, part.numpy()] = (p[rows[:, part]] - centre).numpy()
        if extra is not None:
            others.append((torch.sigmoid(predict_scores(network, extra)).double() - centre).numpy())
    return d, np.mean(others, axis=0) if others else np.zeros(0)


def _slope(d: Vector, c: Vector, weight: Vector) -> float:
    """By how much predicted differences must be stretched to fit the given ones: below 1 where they are overdone."""
    predicted = d[1] - d[0]
    return float(np.clip((weight * predicted) @ c / max(float((weight * predicted) @ predicted), 1e-12), 0, 2))


def _interval(d: Vector, c: Vector, weight: Vector) -> tuple[float, float]:
    stretched = d * _slope(d, c, weight)
    both = np.concatenate([weight, weight])
    return identified_interval(stretched.reshape(-1) - np.average(stretched.reshape(-1), weights=both), weight=both)


def _outer(d: Vector, c: Vector, weight: Vector, chance: np.random.Generator) -> tuple[float, float]:
    """The identified interval, with ends that it has in 2.5 % of bootstrap samples of the pairs only."""
    ends = []
    for _ in range(_RESAMPLED):
        rows = chance.integers(0, len(c), len(c))
        if weight[rows].any():
            ends.append(_interval(d[:, rows], c[rows], weight[rows]))
    lows, highs = zip(*ends, strict=True)
    return float(np.quantile(lows, 0.025)), float(np.quantile(highs, 0.975))


def _posterior(d: Vector, y: NDArray[np.float32], low: float, high: float) -> tuple[float, float, float]:
    """Mean and middle 95 % of the prior given labels, with posteriors d + prior and all priors alike before."""
    priors = np.linspace(low, high, 401)
    r = np.clip(d[:, None] + priors, 0.01, 0.99)
    log_likelihood = np.where(y[:, None] > 0, np.log(r), np.log1p(-r)).sum(axis=0)
    share = np.exp(log_likelihood - log_likelihood.max())
    below, above = _quantiles(priors, share, 0.025, 0.975)
    return float(np.average(priors, weights=share)), below, above
