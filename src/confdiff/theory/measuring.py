"""How a result is held against simulations: rates by their slopes, growth by its increments, bounds by a quantile."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.theory.complexity import finite_complexity
from confdiff.theory.simulation import Sample, World, draw, partial_risks, slope_of

Vector = NDArray[np.float64]
DELTA = 0.05


@dataclass(frozen=True)
class Check:
    """A result of the paper beside a simulation of it.

    simulated: how many samples of how many pairs.
    x, measured, bound: a curve, what was measured along it, and what the result allows (empty where it is no bound).
    finding: what was found, in words and numbers. holds: whether that is as the result says.
    labels: what stands at each x, where these are no numbers.
    """

    name: str
    statement: str
    simulated: str
    x_name: str
    x: list[float]
    measured: list[float]
    bound: list[float]
    finding: str
    holds: bool
    logarithmic: bool = True
    y_name: str = "error, 95 % quantile"
    labels: tuple[str, ...] = ()

    @property
    def ratio(self) -> float | None:
        """How many times larger the bound is than what was measured, at its tightest; None without a bound."""
        ratios = [b / m for b, m in zip(self.bound, self.measured, strict=False) if m > 0]
        return min(ratios) if ratios else None

    @property
    def looseness(self) -> str:
        """The ratio as it is shown."""
        return "" if self.ratio is None else f"{self.ratio:,.0f}" if self.ratio >= 100 else f"{self.ratio:.3g}"


@dataclass(frozen=True)
class Settings:
    """How much is simulated: the sizes of samples, and how often each."""

    sizes: tuple[int, ...] = (50, 100, 200, 400, 800, 1600, 3200)
    repetitions: int = 200
    seed: int = 0

    def samples_of(self, *sizes: int, times: int = 1) -> str:
        """What is simulated, in words."""
        return f"{times * self.repetitions:,} samples of {', '.join(map(str, sizes))} pairs"


def samples(world: World, n: int, settings: Settings, times: int = 1) -> Iterator[Sample]:
    """Samples of n pairs, ``times`` as many as there are repetitions."""
    for number in range(times * settings.repetitions):
        yield draw(world, n, np.random.default_rng([settings.seed, n, number]))


def terms_at(world: World, function: int, n: int, settings: Settings, times: int) -> Vector:
    """(samples, 4) the partial risks of one function."""
    return np.stack([partial_risks(world, sample)[:, function] for sample in samples(world, n, settings, times)])


def some_function(world: World) -> int:
    """A function that is neither the best nor the worst, and has scores of some size."""
    size = np.abs(world.scores).max(axis=1)
    large = np.flatnonzero(size >= size.max() / 2)
    return int(large[np.argsort(world.true_risks[large])[len(large) // 3]])


def standard_error(values: Vector) -> float:
    """Of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def complexity(world: World, n: int, settings: Settings) -> float:
    """The Rademacher complexity of the class on n points drawn from the world."""
    rows = np.random.default_rng([settings.seed, n]).choice(len(world.mass), n, p=world.mass)
    return finite_complexity(world.scores[:, rows], draws=200, seed=settings.seed)[0]


def along(world: World, settings: Settings, error: Callable[[Vector], float]) -> Vector:
    """(sizes, repetitions) an error, a function of the (4, m) partial risks, at every size of sample, over and over."""
    return np.array(
        [[error(partial_risks(world, sample)) for sample in samples(world, n, settings)] for n in settings.sizes]
    )


def rate(
    name: str, statement: str, settings: Settings, table: Vector, bound: list[float], *, exact: bool = False
) -> Check:
    """A check of a rate: the slope over sizes, and the bound at the quantile at which it must hold.

    exact: the interval of the slope must contain -1/2; otherwise it must reach -1/2 or below, and not by being wide.
    """
    n = np.array(settings.sizes, dtype=np.float64)
    measured = np.quantile(np.abs(table), 1 - DELTA, axis=1)
    seen = (table != 0).any(axis=1)
    if seen.sum() < 3:
        finding, right = "too few errors above 0 for a slope", False
    else:
        slope, low, high = slope_of(n[seen], table[seen], np.random.default_rng(settings.seed))
        finding = f"slope {slope:.3f} (99 %: {low:.3f} to {high:.3f})"
        right = low <= -0.5 <= high if exact else low <= -0.5 and slope <= -0.45
    below = bool((measured <= np.array(bound)).all())
    simulated = settings.samples_of(*settings.sizes)
    return Check(name, statement, simulated, "n", n.tolist(), measured.tolist(), bound, finding, right and below)


def growth(name: str, x_name: str, simulated: str, x: list[float], measured: list[float], bound: list[float]) -> Check:
    """A check that an error grows with what is wrong, by no more than its bound does, and stays below that."""
    grows = measured[-1] > measured[0]
    below = all(m <= b and m - measured[0] <= b - bound[0] + 1e-12 for m, b in zip(measured, bound, strict=True))
    return Check(
        name,
        "the excess risk grows by no more than 4 C times what is wrong",
        simulated,
        x_name,
        x,
        measured,
        bound,
        f"from {measured[0]:.4f} to {measured[-1]:.4f}, where the bound grows by {bound[-1] - bound[0]:.2f}",
        grows and below,
        logarithmic=False,
    )


def decay(x: list[int], measured: list[float]) -> tuple[float, float, float]:
    """How a quantity falls: the slope of its logarithm over x, and how well that fits (R^2) over x and over log x.

    >>> slope, exponential, power = decay([1, 2, 4, 8], [0.5**n for n in (1, 2, 4, 8)])
    >>> round(slope, 3), round(exponential, 3), power < 0.95
    (-0.693, 1.0, True)
    """
    seen = np.array(measured) > 0
    n, logs = np.array(x, dtype=np.float64)[seen], np.log(np.array(measured)[seen])
    fits = [float(np.corrcoef(along_x, logs)[0, 1] ** 2) for along_x in (n, np.log(n))]
    return float(np.polyfit(n, logs, 1)[0]), fits[0], fits[1]
