"""Compare a result with simulations: rates by their slopes, growth by its increments, bounds by a quantile."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from confdiff.theory.complexity import finite_complexity
from confdiff.theory.simulation import FloatArray, Sample, World, draw, partial_risks, slope_of

DELTA = 0.05
"""Probability that a bound fails."""

SampleNoise = Callable[[World, Sample, np.random.Generator], Sample]
"""Replace the true differences of a sample by noisy ones."""


@dataclass(frozen=True)
class TheoryCheck:
    """A result and a simulation of it.

    Attributes
    ----------
    name : str
        Name of the result in the paper or in ``docs/theory.md``.
    statement : str
        Statement of the result.
    simulated : str
        The number of samples and their sizes.
    x_name, y_name : str
        Labels of the axes.
    x, measured : list of float
        Points of a curve, and the values measured at them.
    bound : list of float
        Bound at each point; empty if the result is not a bound.
    finding : str
        The outcome of the simulation.
    holds : bool
        Whether the outcome agrees with the result.
    logarithmic : bool
        Whether both axes are logarithmic.
    labels : tuple of str
        Labels of the points if they are not numbers.
    bound_name : str
        What ``bound`` has: a bound, or the predicted value itself.
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
    bound_name: str = "bound"

    @property
    def ratio(self) -> float | None:
        """Least ratio of the bound to the measured value; ``None`` without a bound."""
        if self.bound_name != "bound":
            return None
        ratios = [b / m for b, m in zip(self.bound, self.measured, strict=False) if m > 0]
        return min(ratios) if ratios else None

    @property
    def looseness(self) -> str:
        """The ratio as text; empty without a bound."""
        if self.ratio is None:
            return ""
        return f"{self.ratio:,.0f}" if self.ratio >= 100 else f"{self.ratio:.3g}"


@dataclass(frozen=True)
class Settings:
    """The extent of the simulations.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of pairs in a sample.
    repetitions : int
        Number of samples of each size.
    seed : int
        Seed of all draws.
    """

    sizes: tuple[int, ...] = (50, 100, 200, 400, 800, 1600, 3200)
    repetitions: int = 200
    seed: int = 0

    def samples_of(self, *sizes: int, times: int = 1) -> str:
        """Describe the number of samples and their sizes."""
        return f"{times * self.repetitions:,} samples of {', '.join(map(str, sizes))} pairs"


def samples(
    world: World, n: int, settings: Settings, times: int = 1, *, noise: SampleNoise | None = None
) -> Iterator[Sample]:
    """Yield ``times * settings.repetitions`` samples of n pairs, with noise in their differences if it is given."""
    for number in range(times * settings.repetitions):
        sample = draw(world, n, np.random.default_rng([settings.seed, n, number]))
        yield sample if noise is None else noise(world, sample, np.random.default_rng([settings.seed, n, number, 1]))


def terms_at(world: World, function: int, n: int, settings: Settings, times: int) -> FloatArray:
    """Return the partial risks of one function on each sample, (samples, 4)."""
    return np.stack([partial_risks(world, sample)[:, function] for sample in samples(world, n, settings, times)])


def typical_function(world: World) -> int:
    """Return the index of a function with large scores that is neither the best nor the worst."""
    size = np.abs(world.scores).max(axis=1)
    large = np.flatnonzero(size >= size.max() / 2)
    return int(large[np.argsort(world.true_risks[large])[len(large) // 3]])


def standard_error(values: FloatArray) -> float:
    """Return the standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def standardised(estimates: Iterable[FloatArray | list[float]], truths: Iterable[float]) -> list[float]:
    """Return the mean of each row of estimates minus its true value, in standard errors."""
    return [
        float(np.mean(values) - truth) / max(standard_error(np.asarray(values)), 1e-12)
        for values, truth in zip(estimates, truths, strict=True)
    ]


def complexity(world: World, n: int, settings: Settings) -> float:
    """Return the Rademacher complexity of the class on n points of the simulated distribution."""
    rows = np.random.default_rng([settings.seed, n]).choice(len(world.mass), n, p=world.mass)
    return finite_complexity(world.scores[:, rows], draws=200, seed=settings.seed)[0]


def error_table(world: World, settings: Settings, error: Callable[[FloatArray], float]) -> FloatArray:
    """Return an error, a function of the (4, m) partial risks, for all samples, (sizes, repetitions)."""
    rows = []
    for n in settings.sizes:
        rows.append([error(partial_risks(world, sample)) for sample in samples(world, n, settings)])
    return np.array(rows)


def rate(
    name: str,
    statement: str,
    settings: Settings,
    table: FloatArray,
    bound: list[float],
    *,
    exact: bool = False,
    power: float = 0.5,
) -> TheoryCheck:
    """Check a rate of convergence: the slope over sizes, and the bound at the quantile at which it must hold.

    Parameters
    ----------
    name, statement : str
        Name and statement of the result.
    settings : Settings
        The extent of the simulations.
    table : ndarray of shape (sizes, repetitions)
        Measured errors.
    bound : list of float
        Bound at each size.
    exact : bool
        Whether the interval of the slope must contain ``-power``. Otherwise it must reach ``-power`` or below, and the
        slope itself nine tenths of it.
    power : float
        The rate: errors fall as :math:`n^{-power}`.
    """
    n = np.array(settings.sizes, dtype=np.float64)
    measured = np.quantile(np.abs(table), 1 - DELTA, axis=1)
    nonzero = (table != 0).any(axis=1)
    if nonzero.sum() < 3:
        finding = "too few errors above 0 for a slope"
        slope_holds = False
    else:
        slope, low, high = slope_of(n[nonzero], table[nonzero], np.random.default_rng(settings.seed))
        finding = f"slope {slope:.3f} (99 %: {low:.3f} to {high:.3f})"
        slope_holds = low <= -power <= high if exact else low <= -power and slope <= -0.9 * power
    bound_holds = bool((measured <= np.array(bound)).all())
    return TheoryCheck(
        name=name,
        statement=statement,
        simulated=settings.samples_of(*settings.sizes),
        x_name="n",
        x=n.tolist(),
        measured=measured.tolist(),
        bound=bound,
        finding=finding,
        holds=slope_holds and bound_holds,
    )


def growth(
    name: str, statement: str, x_name: str, simulated: str, x: list[float], measured: list[float], bound: list[float]
) -> TheoryCheck:
    """Check that an error grows with the error of the input, by at most as much as its bound, and below it.

    Parameters
    ----------
    name, statement : str
        Name and statement of the result.
    x_name : str
        Name of the error of the input.
    simulated : str
        The number of samples and their sizes.
    x, measured, bound : list of float
        Errors of the input, and the measured error and its bound at each.
    """
    grows = measured[-1] > measured[0]
    below = all(m <= b and m - measured[0] <= b - bound[0] + 1e-12 for m, b in zip(measured, bound, strict=True))
    return TheoryCheck(
        name=name,
        statement=statement,
        simulated=simulated,
        x_name=x_name,
        x=x,
        measured=measured,
        bound=bound,
        finding=f"from {measured[0]:.4f} to {measured[-1]:.4f}, while the bound grows by {bound[-1] - bound[0]:.2f}",
        holds=grows and below,
        logarithmic=False,
    )


def decay(x: list[int], measured: list[float]) -> tuple[float, float, float]:
    """Fit the logarithm of a decreasing quantity by a line in x and by a line in log x.

    Parameters
    ----------
    x : list of int
        Points.
    measured : list of float
        The quantity at each point; zeros are left out.

    Returns
    -------
    tuple of float
        Slope over x, R² over x, R² over log x.

    Examples
    --------
    >>> slope, exponential, power = decay([1, 2, 4, 8], [0.5**n for n in (1, 2, 4, 8)])
    >>> round(slope, 3), round(exponential, 3), power < 0.95
    (-0.693, 1.0, True)
    """
    positive = np.array(measured) > 0
    n = np.array(x, dtype=np.float64)[positive]
    logs = np.log(np.array(measured)[positive])
    r2_linear, r2_logarithmic = (float(np.corrcoef(axis, logs)[0, 1] ** 2) for axis in (n, np.log(n)))
    return float(np.polyfit(n, logs, 1)[0]), r2_linear, r2_logarithmic
