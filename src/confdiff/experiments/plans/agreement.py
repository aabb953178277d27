"""Our cells and the printed numbers, as tests: what chance alone gives, and which cells differ after a correction.

The verdicts of :mod:`~confdiff.experiments.plans.verdicts` describe agreement. They are not tests. This module
states how many verdicts other than ``within`` chance would give, and tests the cells, corrected for their number.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from confdiff.experiments.plans.paper_tables import PAPER_TRIALS, TableCell
from confdiff.experiments.plans.printed import Printed
from confdiff.experiments.plans.verdicts import AGREEMENT_DEVIATIONS
from confdiff.experiments.statistics import SIGNIFICANCE_LEVEL, MeanInterval, Trials
from confdiff.multiple_tests import benjamini_hochberg, holm

_ROUNDING = 0.001**2 / 12  # variance of a printed mean by its rounding to three digits


def chance_outside(n: int, printed_n: int = PAPER_TRIALS) -> float:
    """Return the probability that the means of two equal normal distributions do not agree.

    They do not agree if they differ by more than two combined standard deviations; the tolerance of .01 only makes
    that rarer. The spreads are equal, too. If only one of them is above zero, the probability is that of a single
    sample, ``chance_outside_of_one``.

    Parameters
    ----------
    n, printed_n : int
        Number of trials of each mean.

    Examples
    --------
    >>> round(chance_outside(5), 4), round(chance_outside(3), 4)
    (0.0021, 0.0091)
    """
    from scipy.integrate import quad
    from scipy.special import stdtr
    from scipy.stats import beta

    first = n - 1
    second = printed_n - 1
    freedom = first + second
    scale = AGREEMENT_DEVIATIONS**2 * freedom / (1 / n + 1 / printed_n)
    part = beta(first / 2, second / 2)  # of the sum of squares that comes from the first sample

    def outside(w: float) -> float:
        return float(2 * stdtr(freedom, -math.sqrt(scale * (w / first + (1 - w) / second))) * part.pdf(w))

    return float(quad(outside, 0, 1)[0])


def chance_outside_of_one(n: int) -> float:
    """Return the probability that a mean of n trials is off by more than two of their standard deviations.

    >>> round(chance_outside_of_one(5), 3)
    0.011
    """
    from scipy.special import stdtr

    return float(2 * stdtr(n - 1, -AGREEMENT_DEVIATIONS * math.sqrt(n)))


@dataclass(frozen=True)
class CellTest:
    """Welch's t-test of a cell against the printed number.

    Attributes
    ----------
    cell : TableCell
        The cell.
    interval : (float, float)
        The 95 % interval of our mean minus the printed one.
    p_value, holm_p, bh_p : float
        The p-value, and the same adjusted for the number of cells by Holm, and by Benjamini and Hochberg.
    """

    cell: TableCell
    interval: MeanInterval
    p_value: float
    holm_p: float
    bh_p: float

    @property
    def differs(self) -> bool:
        """Whether the cell differs from print at a false discovery rate of 5 %."""
        return self.bh_p <= SIGNIFICANCE_LEVEL


@dataclass(frozen=True)
class PrintAgreement:
    """The cells of a table with a verdict, tested.

    Attributes
    ----------
    tests : tuple of CellTest
        One per cell with a verdict.
    by_chance, by_chance_at_most : float
        Number of cells outside the printed numbers that chance alone gives: if both spreads are equal, and if only
        ours is above zero.
    """

    tests: tuple[CellTest, ...]
    by_chance: float
    by_chance_at_most: float

    @property
    def outside(self) -> int:
        """Number of cells above or below the printed number."""
        return sum(test.cell.verdict != "within" for test in self.tests)

    def rejected(self, correction: str, *, outside: bool) -> int:
        """Return the number of cells that differ after ``holm`` or ``bh``, among those outside or within."""
        return sum(
            getattr(test, f"{correction}_p") <= SIGNIFICANCE_LEVEL
            for test in self.tests
            if (test.cell.verdict != "within") == outside
        )


def agreement_of(cells: Iterable[TableCell]) -> PrintAgreement:
    """Test the cells that have a verdict; the correction is for all of them together."""
    tested = [(cell, cell.printed) for cell in cells if cell.verdict and cell.printed is not None]
    results = [welch(cell.trials, printed) for cell, printed in tested]
    p_values = [p_value for _, p_value in results]
    tests = tuple(
        CellTest(cell=cell, interval=interval, p_value=p_value, holm_p=holm_p, bh_p=bh_p)
        for (cell, _), (interval, p_value), holm_p, bh_p in zip(
            tested, results, holm(p_values).tolist(), benjamini_hochberg(p_values).tolist(), strict=True
        )
    )
    return PrintAgreement(
        tests=tests,
        by_chance=_sum_over(tests, chance_outside),
        by_chance_at_most=_sum_over(tests, chance_outside_of_one),
    )


def _sum_over(tests: Sequence[CellTest], probability: Callable[[int], float]) -> float:
    by_number = {n: probability(n) for n in {test.cell.trials.n for test in tests}}
    return sum(by_number[test.cell.trials.n] for test in tests)


def welch(trials: Trials, printed: Printed) -> tuple[MeanInterval, float]:
    """Return the interval of our mean minus the printed one, and the p-value of Welch's t-test.

    The printed number is the mean of five trials, rounded to three digits, whose variance is added.

    Parameters
    ----------
    trials : Trials
        At least two trials.
    printed : Printed
        The paper's number, with its standard deviation.
    """
    from scipy.special import stdtr, stdtrit

    ours = (trials.std or 0.0) ** 2 / trials.n
    theirs = (printed.std or 0.0) ** 2 / PAPER_TRIALS
    error = math.sqrt(ours + theirs + _ROUNDING)
    freedom = float(trials.n + PAPER_TRIALS - 2)
    if ours + theirs > 0:
        freedom = (ours + theirs) ** 2 / (ours**2 / (trials.n - 1) + theirs**2 / (PAPER_TRIALS - 1))
    difference = trials.mean - printed.mean
    margin = error * float(stdtrit(freedom, 1 - SIGNIFICANCE_LEVEL / 2))
    return (difference - margin, difference + margin), float(2 * stdtr(freedom, -abs(difference) / error))
