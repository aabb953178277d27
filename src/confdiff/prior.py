r"""The class prior, as far as differences tell it.

Differences tell the posterior up to one constant: :math:`r(x) = d(x) + \pi` where :math:`d` has mean 0 and is learned
by regression on the differences. As :math:`r` lies in [0, 1], the prior :math:`\pi` lies in
:math:`[-\min d,\ 1 - \max d]`: a single point where some items are certainly negative and others certainly
positive, an interval otherwise, in which nothing but labels can tell more.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs
from confdiff.randomness import derived_seed, generator
from confdiff.training import Recipe, predict_scores, train
from confdiff.validation import as_float32, as_tensor, check_count, check_items, check_labels

WIDE = 0.1
"""An interval wider than this leaves the prior open."""

PRIOR_RECIPE = Recipe(epochs=20, learning_rate=3e-3, schedule="one-cycle")

_TAIL = 0.01  # of the items at either end, who may be there by mistake
_RESAMPLED = 500


@dataclass(frozen=True)
class PriorEstimate:
    """What differences, and labels where there are some, tell of the class prior.

    low, high: the identified interval: every prior in it goes with the differences equally well.
    value: the best guess; without labels the middle of that interval.
    confidence_low, confidence_high: a 95 % interval for the prior, from a bootstrap over the pairs and the labels.
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
        return told if self.is_identified else f"{told}; {_left_open(self.low, self.high)}"


def identified_interval(probabilities: ArrayLike, *, tail: float = _TAIL) -> tuple[float, float]:
    """The priors that go with the differences of these probabilities: adding a constant must leave them in [0, 1].

    Shapes: probabilities: (m,), one for each item. A share ``tail`` of them at either end is left out. Where what
    is left spans all of [0, 1] or more there is one prior, the mean.

    >>> identified_interval([0.2, 0.4, 0.6], tail=0)
    (0.2, 0.8)
    """
    p = np.asarray(probabilities, dtype=np.float64)
    least, greatest = np.quantile(p, [tail, 1 - tail])
    low, high = p.mean() - least, p.mean() + 1 - greatest
    if low > high:
        low = high = (low + high) / 2
    return float(np.round(low, 12).clip(0, 1)), float(np.round(high, 12).clip(0, 1))


def warn_if_open(probabilities: ArrayLike) -> None:
    """Warn where a model that was told no prior could as well have had another."""
    low, high = identified_interval(probabilities)
    if high - low > WIDE:
        warnings.warn(f"{_left_open(low, high)} Probabilities may be off by a constant.", UserWarning, stacklevel=3)


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
    recipe: Recipe = PRIOR_RECIPE,
    folds: int = 3,
) -> PriorEstimate:
    """What the differences of these pairs, and a few labelled items, tell of the class prior.

    In each of ``folds`` parts, d is predicted by a network that was trained on the others by difference regression.
    labelled: items and their labels, drawn as the items of the pairs were.

    Items that stand in several pairs may lie in several folds: then d is known a little too well.
    """
    check_count("folds", folds, least=2)
    if len(pairs) < 2 * folds:
        raise ValueError(f"{len(pairs)} pairs are too few to estimate a prior in {folds} folds.")
    items, labels = _labelled(labelled)
    d, c, extra = _out_of_fold(pairs, items, model, recipe, folds)
    chance = np.random.default_rng(derived_seed(recipe.seed, "bootstrap"))
    resampled = [_interval(*_resample(chance, d, c)) for _ in range(_RESAMPLED)]
    low, high = _interval(d, c)
    outer = _spread([interval[0] for interval in resampled])[0], _spread([interval[1] for interval in resampled])[1]
    if labels is None:
        return PriorEstimate(low, high, (low + high) / 2, *outer)
    offsets = extra * _slope(d, c)
    samples = (chance.integers(0, len(labels), len(labels)) for _ in range(_RESAMPLED))
    confidence = _spread([_likeliest(offsets[rows], labels[rows], *outer) for rows in samples])
    return PriorEstimate(low, high, _likeliest(offsets, labels, low, high), *confidence, n_labels=len(labels))


def _spread(values: list[float]) -> tuple[float, float]:
    """The middle 95 %."""
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _labelled(labelled: tuple[Any, ArrayLike] | None) -> tuple[torch.Tensor | None, NDArray[np.float32] | None]:
    if labelled is None:
        return None, None
    items = as_float32("labelled items", check_items("labelled items", labelled[0]))
    return as_tensor(items), check_labels(labelled[1], len(items))


def _out_of_fold(
    pairs: Pairs, extra: torch.Tensor | None, model: ModelLike, recipe: Recipe, folds: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """(2, n) what was predicted of both items of each pair, (n,) their differences, (m,) the labelled items'; centred.

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
        centre = p[rows].mean()
        d[:, part.numpy()] = (p[rows[:, part]] - centre).numpy()
        if extra is not None:
            others.append((torch.sigmoid(predict_scores(network, extra)).double() - centre).numpy())
    (c,) = pairs.targets("differences").double().numpy()
    return d, c, np.mean(others, axis=0) if others else np.zeros(0)


def _slope(d: NDArray[np.float64], c: NDArray[np.float64]) -> float:
    """By how much predicted differences must be stretched to fit the given ones: below 1 where they are overdone."""
    predicted = d[1] - d[0]
    return float(np.clip(predicted @ c / max(float(predicted @ predicted), 1e-12), 0, 2))


def _interval(d: NDArray[np.float64], c: NDArray[np.float64]) -> tuple[float, float]:
    stretched = d * _slope(d, c)
    return identified_interval(stretched.reshape(-1) - stretched.mean())


def _resample(
    chance: np.random.Generator, d: NDArray[np.float64], c: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rows = chance.integers(0, len(c), len(c))
    return d[:, rows], c[rows]


def _likeliest(d: NDArray[np.float64], y: NDArray[np.float32], low: float, high: float) -> float:
    """The prior in [low, high] under which these labels are likeliest, with posteriors d + prior."""
    priors = np.linspace(low, high, 201)
    r = np.clip(d[:, None] + priors, 0.01, 0.99)
    positive = y[:, None] > 0
    return float(priors[np.where(positive, np.log(r), np.log1p(-r)).sum(axis=0).argmax()])
