"""The paper's theorems held against simulations: what was measured, what the bound says, and whether it holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from confdiff.theory import bounds
from confdiff.theory.complexity import finite_complexity
from confdiff.theory.simulation import Sample, World, draw, partial_risks, slope_of

Vector = NDArray[np.float64]
DELTA = 0.05


@dataclass(frozen=True)
class Check:
    """A result of the paper beside a simulation of it.

    x, measured, bound: a curve, what was measured along it, and what the result allows (empty where it is no bound).
    finding: what was found, in words and numbers. holds: whether that is as the result says.
    labels: what stands at each x, where these are no numbers.
    """

    name: str
    statement: str
    x_name: str
    x: list[float]
    measured: list[float]
    bound: list[float]
    finding: str
    holds: bool
    spread: list[float] = field(default_factory=list)
    logarithmic: bool = True
    y_name: str = "error, 95 % quantile"
    labels: tuple[str, ...] = ()

    @property
    def ratio(self) -> float | None:
        """How many times larger the bound is than what was measured, at its tightest."""
        if not self.bound:
            return None
        return min(b / m for b, m in zip(self.bound, self.measured, strict=True) if m > 0)


@dataclass(frozen=True)
class Settings:
    """How much is simulated: the sizes of samples, and how often each."""

    sizes: tuple[int, ...] = (50, 100, 200, 400, 800, 1600, 3200)
    repetitions: int = 200
    seed: int = 0


def unbiasedness(world: World, settings: Settings) -> Check:
    """Theorem 1, and each line of Lemma 3: the mean of many estimates is the truth, up to four standard errors."""
    n, function = settings.sizes[0], _some_function(world)
    terms = np.stack([partial_risks(world, sample)[:, function] for sample in _samples(world, n, settings, 10)])
    errors = terms.mean(axis=0) - world.expected_terms[:, function]
    standard = np.maximum(terms.std(axis=0, ddof=1) / np.sqrt(len(terms)), 1e-12)
    z = np.append(errors / standard, (terms.sum(1).mean() - world.true_risks[function]) / _standard_error(terms.sum(1)))
    return Check(
        "Theorem 1 and Lemma 3",
        "each partial risk estimates half the risk of one class without bias, and their sum the classification risk",
        "partial risk",
        [1, 2, 3, 4, 5],
        [float(value) for value in z],
        [],
        f"largest bias {np.abs(z).max():.1f} standard errors over {len(terms):,} samples of {n} pairs",
        bool(np.abs(z).max() < 4),
        logarithmic=False,
        y_name="bias / standard error",
        labels=("A", "B", "C", "D", "sum"),
    )


def variance(world: World, settings: Settings) -> Check:
    """Theorem 2: of the estimators weighted by alpha, that with 1/2 has the least variance."""
    n, function = settings.sizes[0], _some_function(world)
    alphas = np.linspace(0, 1, 11)
    terms = np.stack([partial_risks(world, sample)[:, function] for sample in _samples(world, n, settings, 5)])
    first, second = 2 * terms[:, :2].sum(1), 2 * terms[:, 2:].sum(1)  # L(x, x') and L(x', x), as they come by half
    values = [float(np.var(alpha * first + (1 - alpha) * second, ddof=1)) for alpha in alphas]
    place = float(-np.polyfit(alphas, values, 2)[1] / (2 * np.polyfit(alphas, values, 2)[0]))
    return Check(
        "Theorem 2",
        "the variance is a parabola in alpha with its minimum at 1/2",
        "alpha",
        alphas.tolist(),
        values,
        [],
        f"minimum at alpha = {place:.3f}; at 0 and 1 the variance is {values[0] / values[5]:.1f} and "
        f"{values[-1] / values[5]:.1f} times that at 1/2",
        abs(place - 0.5) < 0.05 and min(values) == values[5],
        logarithmic=False,
        y_name="variance",
    )


def convergence_at_a_function(world: World, settings: Settings) -> Check:
    """The estimate at one function: its error falls as one over the root of n."""
    function = _some_function(world)

    def error(terms: Vector) -> float:
        return float(terms.sum(0)[function] - world.true_risks[function])

    table = _along(world, settings, error)
    limit = [2 * world.constants.bound * bounds.mcdiarmid(n, DELTA) for n in settings.sizes]
    return _rate("R_hat(g) at one g", "|R_hat(g) - R(g)| falls as n^(-1/2)", settings, table, limit, exact=True)


def uniform_deviation(world: World, settings: Settings) -> Check:
    """Lemma 5: the largest error over the class."""

    def error(terms: Vector) -> float:
        return float(np.abs(terms.sum(0) - world.true_risks).max())

    limit = [
        bounds.lemma_5_uniform_deviation(n, _complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    table = _along(world, settings, error)
    return _rate(
        "Lemma 5", "sup |R_hat(g) - R(g)| over the class falls as n^(-1/2)", settings, table, limit, exact=True
    )


def estimation_error(world: World, settings: Settings) -> Check:
    """Theorem 3: the excess risk of the minimiser falls at least as fast."""

    def error(terms: Vector) -> float:
        return float(world.true_risks[terms.sum(0).argmin()] - world.best)

    limit = [
        bounds.theorem_3_estimation_error(n, _complexity(world, n, settings), delta=DELTA, loss=world.constants)
        for n in settings.sizes
    ]
    table = _along(world, settings, error)
    return _rate("Theorem 3", "the excess risk of the minimiser falls at least as n^(-1/2)", settings, table, limit)


def error_under_noise(world: World, settings: Settings) -> Check:
    """Theorem 4: the excess risk under noise of more and more size stays below a line in its mean size."""
    n = settings.sizes[-1]
    sigmas = [0.0, 0.2, 0.4, 0.6, 0.8]
    measured, limit, spread, sizes = [], [], [], []
    for sigma in sigmas:
        errors, noises = [], []
        for number, sample in enumerate(_samples(world, n, settings)):
            noise = sigma * np.abs(
                np.random.default_rng([settings.seed, number]).normal(size=n)
            )  # of one sign: the worst
            noisy = Sample(sample.left, sample.right, sample.c + noise)
            errors.append(world.true_risks[partial_risks(world, noisy).sum(0).argmin()] - world.best)
            noises.append(float(noise.mean()))
        sizes.append(float(np.mean(noises)))
        measured.append(float(np.quantile(errors, 1 - DELTA)))
        spread.append(float(np.std(errors)))
        limit.append(_under_noise(world, n, settings, mean_error=sizes[-1]))
    return _growth("Theorem 4, noise", "mean |c_bar - c|", sizes, measured, limit, spread)


def error_under_a_wrong_prior(world: World, settings: Settings) -> Check:
    """Theorem 4: the same where the prior is wrong by more and more."""
    n = settings.sizes[-1]
    errors_of_prior = [0.0, 0.05, 0.1, 0.2, 0.3]
    measured, limit, spread = [], [], []
    for wrong in errors_of_prior:
        errors = [
            world.true_risks[partial_risks(world, sample, prior=world.prior + wrong).sum(0).argmin()] - world.best
            for sample in _samples(world, n, settings)
        ]
        measured.append(float(np.quantile(errors, 1 - DELTA)))
        spread.append(float(np.std(errors)))
        limit.append(_under_noise(world, n, settings, prior_error=wrong))
    return _growth("Theorem 4, prior", "|pi_bar - pi|", errors_of_prior, measured, limit, spread)


def correction_bias(world: World, settings: Settings) -> Check:
    """Theorem 5: the bias of the corrected (ABS) risk is not negative, and decays exponentially in n."""
    function = int(world.true_risks.argmin())
    least = world.expected_terms[:, function]
    sizes = [2, 4, 8, 16, 32, 64]
    measured, limit, spread = [], [], []
    for n in sizes:
        terms = np.stack([partial_risks(world, sample)[:, function] for sample in _samples(world, n, settings, 20)])
        biases = np.abs(terms).sum(1) - terms.sum(1)
        measured.append(float(biases.mean()))
        spread.append(_standard_error(biases))
        limit.append(bounds.theorem_5_bias(n, least.tolist(), bound=world.constants.bound))
    seen = np.array(measured) > 0
    slope = float(np.polyfit(np.array(sizes)[seen], np.log(np.array(measured)[seen]), 1)[0])
    holds = all(0 <= m <= b for m, b in zip(measured, limit, strict=True)) and slope < 0
    return Check(
        "Theorem 5, bias",
        "0 <= E R_tilde(g) - R(g) <= 2 (L_f + 1) C Delta, which falls exponentially",
        "n",
        [float(n) for n in sizes],
        measured,
        limit,
        f"the logarithm of the bias falls by {-slope:.3f} a pair; it is {measured[0]:.3f} at {sizes[0]} pairs and "
        f"{measured[-1]:.1e} at {sizes[-1]}",
        holds,
        spread,
        y_name="bias",
    )


def corrected_deviation(world: World, settings: Settings) -> Check:
    """Theorem 5: the error of the corrected (ABS) risk at one function."""
    function = _some_function(world)
    least = world.expected_terms[:, function].tolist()

    def error(terms: Vector) -> float:
        return float(np.abs(terms[:, function]).sum() - world.true_risks[function])

    limit = [bounds.theorem_5_deviation(n, least, delta=DELTA, bound=world.constants.bound) for n in settings.sizes]
    table = _along(world, settings, error)
    return _rate("Theorem 5, deviation", "|R_tilde(g) - R(g)| falls as n^(-1/2)", settings, table, limit, exact=True)


def corrected_estimation_error(world: World, settings: Settings) -> Check:
    """Theorem 6: the excess risk of the minimiser of the corrected (ABS) risk."""

    def error(terms: Vector) -> float:
        return float(world.true_risks[np.abs(terms).sum(0).argmin()] - world.best)

    least = world.expected_terms.min(axis=1).tolist()
    limit = [
        bounds.theorem_6_estimation_error_of_the_corrected(
            n, _complexity(world, n, settings), least, delta=DELTA, loss=world.constants
        )
        for n in settings.sizes
    ]
    table = _along(world, settings, error)
    return _rate(
        "Theorem 6", "the excess risk of the corrected minimiser falls at least as n^(-1/2)", settings, table, limit
    )


CHECKS: tuple[Callable[[World, Settings], Check], ...] = (
    unbiasedness,
    variance,
    convergence_at_a_function,
    uniform_deviation,
    estimation_error,
    error_under_noise,
    error_under_a_wrong_prior,
    correction_bias,
    corrected_deviation,
    corrected_estimation_error,
)
"""All of them, in the order of the paper."""


def _some_function(world: World) -> int:
    """A function that is neither the best nor the worst."""
    return int(np.argsort(world.true_risks)[len(world.true_risks) // 3])


def _samples(world: World, n: int, settings: Settings, times: int = 1) -> Iterator[Sample]:
    for number in range(times * settings.repetitions):
        yield draw(world, n, np.random.default_rng([settings.seed, n, number]))


def _standard_error(values: Vector) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def _along(world: World, settings: Settings, error: Callable[[Vector], float]) -> Vector:
    """(sizes, repetitions) an error at every size of sample, over and over."""
    return np.array(
        [[error(partial_risks(world, sample)) for sample in _samples(world, n, settings)] for n in settings.sizes]
    )


def _complexity(world: World, n: int, settings: Settings) -> float:
    """The Rademacher complexity of the class on n points drawn from the world."""
    rows = np.random.default_rng([settings.seed, n]).choice(len(world.mass), n, p=world.mass)
    return finite_complexity(world.scores[:, rows], draws=200, seed=settings.seed)[0]


def _rate(
    name: str, statement: str, settings: Settings, table: Vector, limit: list[float], *, exact: bool = False
) -> Check:
    """A check of a rate: the slope, and the bound at the quantile at which it must hold."""
    n = np.array(settings.sizes, dtype=np.float64)
    slope, low, high = slope_of(n, table, np.random.default_rng(settings.seed))
    measured = np.quantile(np.abs(table), 1 - DELTA, axis=1)
    right = low <= -0.5 <= high if exact else high <= -0.5 or low <= -0.5 <= high
    below = bool((measured <= np.array(limit)).all())
    return Check(
        name,
        statement,
        "n",
        n.tolist(),
        measured.tolist(),
        limit,
        f"slope {slope:.3f} (95 %: {low:.3f} to {high:.3f})",
        right and below,
        table.std(axis=1).tolist(),
    )


def _under_noise(world: World, n: int, settings: Settings, **wrong: float) -> float:
    complexity = _complexity(world, n, settings)
    return bounds.theorem_4_estimation_error_under_noise(n, complexity, delta=DELTA, loss=world.constants, **wrong)


def _growth(
    name: str, x_name: str, x: list[float], measured: list[float], limit: list[float], spread: list[float]
) -> Check:
    """A check that an error grows with what is wrong, and stays below its bound."""
    grows = measured[-1] > measured[0]
    below = all(m <= b for m, b in zip(measured, limit, strict=True))
    return Check(
        name,
        "the excess risk grows at most linearly in what is wrong",
        x_name,
        x,
        measured,
        limit,
        f"from {measured[0]:.4f} to {measured[-1]:.4f}, where the bound grows by {limit[-1] - limit[0]:.2f}",
        grows and below,
        spread,
        logarithmic=False,
    )
