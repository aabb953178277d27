"""Simulate a distribution with known posteriors and a class of linear scores; every risk is a matrix product.

The distribution has finitely many points, so that true risks are sums. The class is a grid of linear functions of
bounded norm, so that suprema and minima are taken over its members. A sample of pairs enters a risk only by the total
weight on each point. The risks of all functions on a sample are therefore one product.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from torch import from_numpy

from confdiff.losses import LOSSES, probability
from confdiff.theory.bounds import LossConstants

FloatArray = NDArray[np.float64]
"""A vector or matrix of 64-bit floats."""


@dataclass(frozen=True, eq=False)
class World:
    """A distribution over k points in the plane, and the scores of m functions on them.

    Attributes
    ----------
    points : ndarray of shape (k, 2)
        Coordinates of the points.
    mass : ndarray of shape (k,)
        Probabilities p(x) of the points.
    posteriors : ndarray of shape (k,)
        Posteriors r(x) = p(y = +1 | x).
    scores : ndarray of shape (m, k)
        Scores of the functions, one row per function.
    loss : str
        Name of the loss, from :data:`confdiff.losses.LOSSES`.
    """

    points: FloatArray
    mass: FloatArray
    posteriors: FloatArray
    scores: FloatArray
    loss: str = "logistic"

    @classmethod
    def make(
        cls, *, k: int = 60, radius: float = 2.0, side: int = 51, sharpness: float = 2.0, seed: int = 0
    ) -> "World":
        """Draw points around the origin, nearly linear posteriors, and a grid of linear functions.

        Parameters
        ----------
        k : int
            Number of points.
        radius : float
            Largest norm of the weights of a function.
        side : int
            Number of values of each weight in the grid.
        sharpness : float
            Slope of the logits of the posteriors.
        seed : int
            Seed of the draws.
        """
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(k, 2))
        points /= np.maximum(1.0, np.linalg.norm(points, axis=1, keepdims=True) / 2)
        logits = sharpness * points[:, 0] - 0.5 * points[:, 1] + 0.4 * np.sin(3 * points[:, 1]) - 0.5
        line = np.linspace(-radius, radius, side)
        weights = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
        weights = weights[np.linalg.norm(weights, axis=1) <= radius]
        mass = rng.random(k) + 0.2
        return cls(
            points=points,
            mass=mass / mass.sum(),
            posteriors=1 / (1 + np.exp(-logits)),
            scores=weights @ points.T,
        )

    @property
    def prior(self) -> float:
        """The class prior."""
        return float(self.mass @ self.posteriors)

    @property
    def posterior_variance(self) -> float:
        """The variance of the posterior over items."""
        return float(self.mass @ (self.posteriors - self.prior) ** 2)

    @cached_property
    def losses(self) -> tuple[FloatArray, FloatArray]:
        """Losses of all functions on all points for the positive and for the negative label, each (m, k)."""
        function = LOSSES[self.loss].function
        scores = from_numpy(self.scores)
        return function(scores).numpy(), function(-scores).numpy()

    @cached_property
    def probabilities(self) -> FloatArray:
        """Probabilities of the positive class that the scores represent, (m, k)."""
        return probability(from_numpy(self.scores), LOSSES[self.loss].function).numpy()

    @cached_property
    def constants(self) -> LossConstants:
        """Constants of the loss on the scores of this class."""
        return LossConstants.of(self.loss, float(np.abs(self.scores).max()))

    @cached_property
    def true_risks(self) -> FloatArray:
        """Classification risk of each function, (m,)."""
        positive, negative = self.losses
        return positive @ (self.mass * self.posteriors) + negative @ (self.mass * (1 - self.posteriors))

    @cached_property
    def expected_terms(self) -> FloatArray:
        """Expectations of A, B, C, D, (4, m): half the risk of the positives or of the negatives (Lemma 3)."""
        positive, negative = self.losses
        of_positives = positive @ (self.mass * self.posteriors) / 2
        of_negatives = negative @ (self.mass * (1 - self.posteriors)) / 2
        return np.stack([of_positives, of_negatives, of_positives, of_negatives])

    @property
    def best(self) -> float:
        """Least risk in the class."""
        return float(self.true_risks.min())


@dataclass(frozen=True, eq=False)
class Sample:
    """Pairs of points with differences.

    Attributes
    ----------
    left, right : ndarray of shape (n,)
        Row numbers of the points.
    c : ndarray of shape (n,)
        Differences.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    c: FloatArray

    def __len__(self) -> int:
        return len(self.c)


def draw(world: World, n: int, rng: np.random.Generator) -> Sample:
    """Draw n independent pairs of independent points with their true differences."""
    left, right = rng.choice(len(world.mass), (2, n), p=world.mass)
    return Sample(left=left, right=right, c=world.posteriors[right] - world.posteriors[left])


def partial_risks(world: World, sample: Sample, *, prior: float | None = None) -> FloatArray:
    """Return the partial risks A, B, C, D of all functions on a sample, (4, m)."""
    terms = _weighted_losses(world, sample, world.prior if prior is None else prior)
    k = len(world.mass)
    n = len(sample)
    return np.stack([loss @ np.bincount(rows, weight, k) for loss, rows, weight in terms]) / (2 * n)


def pair_losses(world: World, sample: Sample) -> FloatArray:
    """Return the loss of each function on each pair, (m, n); its mean over pairs is the risk on the sample."""
    terms = _weighted_losses(world, sample, world.prior)
    losses: FloatArray = np.stack([loss[:, rows] * weight for loss, rows, weight in terms]).sum(axis=0) / 2
    return losses


def _weighted_losses(
    world: World, sample: Sample, pi: float
) -> tuple[tuple[FloatArray, NDArray[np.int64], FloatArray], ...]:
    """Return, for each of A, B, C, D, the losses on all points, the points of the pairs and their weights."""
    c = sample.c
    positive, negative = world.losses
    return (
        (positive, sample.left, pi - c),
        (negative, sample.right, 1 - pi - c),
        (positive, sample.right, pi + c),
        (negative, sample.left, 1 - pi + c),
    )


def slope_of(
    n: FloatArray, values: FloatArray, rng: np.random.Generator, resamples: int = 1000
) -> tuple[float, float, float]:
    """Return the slope of log values over log n, and its 99 % interval from a bootstrap over the repetitions.

    Parameters
    ----------
    n : ndarray of shape (s,)
        Sizes of the samples.
    values : ndarray of shape (s, t)
        Errors of t repetitions at each size; the slope is that of their root mean square.
    rng : Generator
        Source of the bootstrap samples.
    resamples : int
        Number of bootstrap samples.

    Returns
    -------
    tuple of float
        Slope, lower and upper end of the interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> slope, low, high = slope_of(np.array([1.0, 10.0]), np.array([[1.0, 1.0], [0.1, 0.1]]), rng)
    >>> round(slope, 6), round(low, 6), round(high, 6)
    (-1.0, -1.0, -1.0)
    """

    def fit(table: FloatArray) -> float:
        sizes = np.sqrt((table**2).mean(axis=1))
        return float(np.polyfit(np.log(n), np.log(np.maximum(sizes, 1e-300)), 1)[0])

    count = values.shape[1]
    slopes = [fit(values[:, rng.integers(0, count, count)]) for _ in range(resamples)]
    low, high = np.quantile(slopes, [0.005, 0.995])
    return fit(values), float(low), float(high)
