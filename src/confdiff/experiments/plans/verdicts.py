"""The verdicts of the report: the rules, their constants, and their wording.

- A cell of Table 1 or 2 is ``within``, ``above`` or ``below`` the number that the paper prints: :func:`table_verdict`.
- A claim about a figure ``holds``, ``does not hold`` or is ``not clear``: :func:`claim_verdict`.

The study under noise compares methods by :attr:`confdiff.experiments.statistics.Paired.direction` alone.
"""

import math
from collections.abc import Collection

from confdiff.display.text import in_words
from confdiff.experiments.plans.printed import PAPER_EPOCHS, Printed
from confdiff.experiments.statistics import FEWEST_TRIALS, SIGNIFICANCE_LEVEL, Paired, Trials

AGREEMENT_TOLERANCE = 0.01
"""Accuracies that differ by no more than this agree, whatever their standard deviations."""
AGREEMENT_DEVIATIONS = 2
"""Means that differ by no more than this many combined standard deviations agree."""
TABLE_VERDICTS = ("within", "above", "below")
"""What :func:`table_verdict` returns where there are enough trials."""
SIGNS = {"within": "=", "level": "=", "above": "+", "below": "-", "": ""}
"""Verdict or direction -> its sign in tables."""

TOLERANCE_TEXT = f"{AGREEMENT_TOLERANCE:g}".removeprefix("0")
"""The tolerance as the report writes it, ``.01``."""
FEWEST_TEXT = in_words(FEWEST_TRIALS)
"""The number of trials that a verdict needs, in words."""
SIGNIFICANCE_TEXT = f"{100 * SIGNIFICANCE_LEVEL:g} % level"
"""The level of the paired tests, in words."""
AGREEMENT_TEXT = f"within {in_words(AGREEMENT_DEVIATIONS)} combined standard deviations or {TOLERANCE_TEXT}"
"""The rule of agreement, in words."""


def table_verdict(trials: Trials, printed: Printed | None, epochs: int) -> str:
    """Compare the mean of our trials with the number that the paper prints.

    With our mean m and standard deviation s, and the printed ones m' and s', they agree if

        abs(m - m') <= max(.01, 2 sqrt(s^2 + s'^2)).

    Parameters
    ----------
    trials : Trials
        Our accuracies.
    printed : Printed or None
        The paper's number, where it has one.
    epochs : int
        Number of epochs of our trials.

    Returns
    -------
    str
        ``within`` if they agree, else ``above`` or ``below`` the printed number. Empty for fewer than three trials,
        another number of epochs than the paper's, or no printed number.

    Examples
    --------
    >>> number = Printed("table2", "usps", 0.5, "confdiff-abs", "accuracy", mean=0.96, std=0.001)
    >>> table_verdict(Trials({0: 0.95, 1: 0.955, 2: 0.96}), number, epochs=200)
    'within'
    >>> table_verdict(Trials({0: 0.94, 1: 0.94, 2: 0.94}), number, epochs=200)
    'below'
    """
    if trials.n < FEWEST_TRIALS or epochs != PAPER_EPOCHS or printed is None:
        return ""
    difference = trials.mean - printed.mean
    spread = AGREEMENT_DEVIATIONS * math.hypot(trials.std or 0.0, printed.std or 0.0)
    if abs(difference) <= max(AGREEMENT_TOLERANCE, spread):
        return "within"
    return "above" if difference > 0 else "below"


def claim_verdict(outcome: Paired, expected: Collection[str]) -> str:
    """Compare two points of a figure with what the paper claims about them.

    Parameters
    ----------
    outcome : Paired
        How the first differs from the second.
    expected : collection of str
        What agrees with the claim: ``above`` or ``below`` by a significant difference, or ``similar``, a difference
        within the tolerance, significant or not.

    Returns
    -------
    str
        ``holds``, ``does not hold`` or, without a significant difference, ``not clear``. Empty without a test.

    Examples
    --------
    >>> claim_verdict(Paired(difference=0.005, seeds=5, p_value=0.01), ["similar"])
    'holds'
    >>> claim_verdict(Paired(difference=0.005, seeds=5, p_value=0.3), ["above"])
    'not clear'
    """
    if not outcome.direction:
        return ""
    is_similar = abs(outcome.difference) <= AGREEMENT_TOLERANCE
    if is_similar and "similar" in expected:
        return "holds"
    if outcome.direction == "level":
        return "not clear"
    return "holds" if outcome.direction in expected else "does not hold"
