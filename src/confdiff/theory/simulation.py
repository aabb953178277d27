"""A distribution with known posteriors and a class of linear scores, over which every risk is a matrix product.

The distribution has finitely many points, so that true risks are sums. The class is a grid of linear functions of
bounded norm, so that suprema and minima are looked up. A sample of pairs enters a risk only by how much weight of each
kind falls on each point: risks of all functions on a sample are one product.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from torch import from_numpy

from confdiff.losses import LOSSES
from confdiff.theory.bounds import LossConstants

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class World:
    """k points in the plane with probabilities and posteriors, and the scores of m functions on them.

    points: (k, 2). mass: (k,) p(x). posteriors: (k,) r(x). scores: (m, k). loss: a name from LOSSES.
    """

    points: Vector
    mass: Vector
    posteriors: Vector
    scores: Vector
    loss: str = "logistic"

    @classmethod
    def make(
        cls, *, k: int = 60, radius: float = 2.0, side: int = 51, sharpness: float = 2.0, seed: int = 0
    ) -> "World":
        """Points around the origin, posteriors that a linear function explains but for a bend, a grid of weights."""
        chance = np.random.default_rng(seed)
        points = chance.normal(size=(k, 2))
        points /= np.maximum(1.0, np.linalg.norm(points, axis=1, keepdims=True) / 2)
        logits = sharpness * points[:, 0] - 0.5 * points[:, 1] + 0.4 * np.sin(3 * points[:, 1]) - 0.5
        line = np.linspace(-radius, radius, side)
        weights = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
        weights = weights[np.linalg.norm(weights, axis=1) <= radius]
        mass = chance.random(k) + 0.2
        return cls(points, mass / mass.sum(), 1 / (1 + np.exp(-logits)), weights @ points.T)

    @property
    def prior(self) -> float:
        """The class prior."""
        return float(self.mass @ self.posteriors)

    @cached_property
    def losses(self) -> tuple[Vector, Vector]:
        """(m, k) the losses of all functions on all points, for the positive and for the negative label."""
        function = LOSSES[self.loss].function
        scores = from_numpy(self.scores)
        return function(scores).numpy(), function(-scores).numpy()

    @cached_property
    def constants(self) -> LossConstants:
        """What the bounds ask of the loss on the scores of this class."""
        return LossConstants.of(self.loss, float(np.abs(self.scores).max()))

    @cached_property
    def true_risks(self) -> Vector:
        """(m,) the classification risk of each function."""
        positive, negative = self.losses
        return positive @ (self.mass * self.posteriors) + negative @ (self.mass * (1 - self.posteriors))

    @cached_property
    def expected_terms(self) -> Vector:
        """(4, m) what A, B, C, D estimate: half the risk of the positives or of the negatives (Lemma 3)."""
        positive, negative = self.losses
        of_positives = positive @ (self.mass * self.posteriors) / 2
        of_negatives = negative @ (self.mass * (1 - self.posteriors)) / 2
        return np.stack([of_positives, of_negatives, of_positives, of_negatives])

    @property
    def best(self) -> float:
        """The least risk in the class."""
        return float(self.true_risks.min())


@dataclass(frozen=True, eq=False)
class Sample:
    """n pairs of points with differences: left, right: (n,) which points; c: (n,)."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    c: Vector

    def __len__(self) -> int:
        return len(self.c)


def draw(world: World, n: int, chance: np.random.Generator) -> Sample:
    """N independent pairs of independent points with their true differences."""
    left, right = chance.choice(len(world.mass), (2, n), p=world.mass)
    return Sample(left, right, world.posteriors[right] - world.posteriors[left])


def partial_risks(world: World, sample: Sample, *, prior: float | None = None) -> Vector:
    """(4, m) the partial risks A, B, C, D of all functions on a sample."""
    shares = _shares(world, sample, world.prior if prior is None else prior)
    k, n = len(world.mass), len(sample)
    return np.stack([loss @ np.bincount(rows, weight, k) for loss, rows, weight in shares]) / (2 * n)


def pair_losses(world: World, sample: Sample) -> Vector:
    """(m, n) the loss of each function on each pair; its mean is the risk on the sample."""
    shares = _shares(world, sample, world.prior)
    losses: Vector = np.stack([loss[:, rows] * weight for loss, rows, weight in shares]).sum(axis=0) / 2
    return losses


def _shares(world: World, sample: Sample, pi: float) -> tuple[tuple[Vector, NDArray[np.int64], Vector], ...]:
    """A, B, C, D: the losses on all points, which points, and with what weights."""
    c = sample.c
    positive, negative = world.losses
    return (
        (positive, sample.left, pi - c),
        (negative, sample.right, 1 - pi - c),
        (positive, sample.right, pi + c),
        (negative, sample.left, 1 - pi + c),
    )


def slope_of(
    n: Vector, values: Vector, chance: np.random.Generator, resamples: int = 1000
) -> tuple[float, float, float]:
    """The slope of log values over log n, and its 99 % interval from a bootstrap over the repetitions.

    Shapes: n: (s,); values: (s, t), t repetitions at each n, of which the root of the mean square is taken.

    >>> chance = np.random.default_rng(0)
    >>> slope, low, high = slope_of(np.array([1.0, 10.0]), np.array([[1.0, 1.0], [0.1, 0.1]]), chance)
    >>> round(slope, 6), round(low, 6), round(high, 6)
    (-1.0, -1.0, -1.0)
    """

    def fit(table: Vector) -> float:
        sizes = np.sqrt((table**2).mean(axis=1))
        return float(np.polyfit(np.log(n), np.log(np.maximum(sizes, 1e-300)), 1)[0])

    count = values.shape[1]
    slopes = [fit(values[:, chance.integers(0, count, count)]) for _ in range(resamples)]
    low, high = np.quantile(slopes, [0.005, 0.995])
    return fit(values), float(low), float(high)
