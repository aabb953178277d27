"""Tests of whether an annotator differs from the others, with a correction for their number.

Judgements of pairs that share an item are dependent, because its score is estimated. Standard errors allow for it
(Aronow, Samii and Assenova 2015, "Cluster-robust variance estimation for dyadic data").
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from confdiff.multiple_tests import holm
from confdiff.tabular.checks.graph import Judgements
from confdiff.tabular.model.agreement import wilson_interval

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
LEVEL = 0.05
"""The probability of at least one finding where no annotator differs, at most."""
_RESOLUTION = 1e-3  # smallest standard error: the scores are solved to a tenth of it
_BINS = 5  # of expected differences: agreement is compared among pairs of similar difficulty


@dataclass(frozen=True)
class Effect:
    """An effect of one annotator, compared with its value if the annotator judged like the others.

    Attributes
    ----------
    value : float
        The effect.
    low, high : float
        The 95 % confidence interval.
    expected : float
        The value of the others.
    p_value : float
        Probability of a deviation of this size if there were none, for this test alone.
    adjusted_p : float
        The same for all tests of all annotators together, by Holm's method; significant at 0.05.
    """

    value: float
    low: float
    high: float
    expected: float
    p_value: float
    adjusted_p: float = 1.0

    @property
    def is_significant(self) -> bool:
        """Whether the annotator differs from the others by more than chance explains."""
        return self.adjusted_p <= LEVEL


def dyadic_error(terms: _Floats, left: _Rows, right: _Rows) -> float:
    """Return the standard error of a sum of terms of pairs, in which pairs that share an item are dependent.

    Parameters
    ----------
    terms
        (n,) terms of the sum, with mean 0 over the pairs.
    left, right
        (n,) items of the pairs.

    Returns
    -------
    error
        At least the standard error of independent terms.
    """
    ends = np.concatenate([left, right])
    _, item = np.unique(ends, return_inverse=True)
    sums = np.bincount(item.reshape(-1), np.concatenate([terms, terms]))
    independent = float(terms @ terms)
    n = len(terms)
    return float(np.sqrt(max(float(sums @ sums) - independent, independent) * n / max(n - 1, 1)))


def t_test(value: float, error: float, expected: float, expected_error: float, df: float) -> float:
    """Return the two-sided p-value of a difference of two estimates.

    >>> round(t_test(0.5, 0.2, 0.0, 0.0, 1e9), 3)
    0.012
    """
    from scipy.stats import t

    total = max(float(np.hypot(error, expected_error)), _RESOLUTION)
    return float(2 * t.sf(abs(value - expected) / total, df))


def t_interval(value: float, error: float, df: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of an estimate."""
    from scipy.stats import t

    margin = float(t.ppf(1 - LEVEL / 2, df)) * error
    return value - margin, value + margin


def adjusted(effects: list[dict[str, Effect]]) -> list[dict[str, Effect]]:
    """Return the tests with p-values that are adjusted for the number of all tests."""
    p_values = iter(holm([effect.p_value for tests in effects for effect in tests.values()]).tolist())
    return [{name: replace(effect, adjusted_p=next(p_values)) for name, effect in tests.items()} for tests in effects]


@dataclass(frozen=True)
class LineEstimate:
    """An estimate of one annotator, its standard error and degrees of freedom."""

    value: float
    error: float
    df: float


def line_estimates(
    judgements: Judgements, expected: _Floats, rows: _Rows, side: _Floats | None = None
) -> dict[str, LineEstimate]:
    """Return the bias and the slope of c on d of one annotator; none with too few pairs.

    Parameters
    ----------
    judgements
        n judgements c.
    expected
        (n,) expected differences d; NaN where a judgement cannot be compared.
    rows
        The judgements of the annotator.
    side
        (n,) +1 where the left item was shown first, -1 where the right one was, 0 if not known. The bias is then the
        mean of (c - d) side over the known ones, towards the item shown second. Without it, the bias is the mean of
        c - d, towards the right item.
    """
    rows = rows[np.isfinite(expected[rows])]
    estimates = {"bias": _bias(judgements, expected, rows, side), "slope": _slope(judgements, expected, rows)}
    return {name: estimate for name, estimate in estimates.items() if estimate is not None}


def _bias(judgements: Judgements, expected: _Floats, rows: _Rows, side: _Floats | None) -> LineEstimate | None:
    if side is not None:
        rows = rows[side[rows] != 0]
    if len(rows) < 3:
        return None
    deviation = judgements.c[rows] - expected[rows]
    if side is not None:
        deviation = deviation * side[rows]
    bias = float(deviation.mean())
    left = judgements.left[rows]
    right = judgements.right[rows]
    return LineEstimate(
        value=bias, error=dyadic_error((deviation - bias) / len(rows), left, right), df=_degrees(left, right)
    )


def _slope(judgements: Judgements, expected: _Floats, rows: _Rows) -> LineEstimate | None:
    if len(rows) < 3:
        return None
    c = judgements.c[rows]
    spread = expected[rows] - expected[rows].mean()
    squares = float(spread @ spread)
    if squares <= 1e-12:
        return None
    slope = float(c @ spread) / squares
    leverage = 1 / len(c) + spread**2 / squares
    residual = (c - c.mean() - slope * spread) / np.maximum(1 - leverage, 0.1)  # as in HC3
    left = judgements.left[rows]
    right = judgements.right[rows]
    return LineEstimate(
        value=slope, error=dyadic_error(residual * spread / squares, left, right), df=_degrees(left, right)
    )


def _degrees(left: _Rows, right: _Rows) -> float:
    return float(min(len(left), len(np.union1d(left, right))) - 2)


def against_others(lines: list[dict[str, LineEstimate]], row: int, name: str) -> Effect | None:
    """Return the test of an estimate of one annotator against the median of the others.

    A bias must also differ from 0 on the same side. If all favour the second item, because the better one always comes
    second, nobody is peculiar.
    """
    own = lines[row].get(name)
    others = [line[name] for other, line in enumerate(lines) if other != row and name in line]
    if own is None or not others:
        return None
    expected = float(np.median([other.value for other in others]))
    # The standard error of a median of independent normal estimates with different errors, from above.
    expected_error = (np.pi / 2) ** 0.5 * float(np.sqrt(np.mean([other.error**2 for other in others]) / len(others)))
    p_value = t_test(own.value, own.error, expected, expected_error, own.df)
    if name == "bias":
        same_side = np.sign(own.value) == np.sign(own.value - expected)
        p_value = max(p_value, t_test(own.value, own.error, 0.0, 0.0, own.df)) if same_side else 1.0
    low, high = t_interval(own.value, own.error, own.df)
    return Effect(value=own.value, low=low, high=high, expected=expected, p_value=p_value)


def agreement_tests(agrees: _Floats, expected: _Floats, codes: _Rows, n_annotators: int) -> list[Effect | None]:
    """Test for each annotator whether fewer or more judgements than those of others have the expected sign.

    Judgements are compared with those of other annotators about equally different items (Cochran, Mantel and
    Haenszel's test with a correction for continuity).

    Parameters
    ----------
    agrees
        (n,) 1 where a judgement has the expected sign, 0 where not, NaN where it cannot be compared.
    expected
        (n,) expected differences; their size measures how hard a pair is.
    codes
        (n,) annotators, counted from 0.
    n_annotators
        Number of annotators.

    Returns
    -------
    effects
        One for each annotator; None if nothing can be compared.
    """
    rows = np.flatnonzero(np.isfinite(agrees) & np.isfinite(expected) & (codes >= 0))
    if not len(rows):
        return [None] * n_annotators
    size = np.abs(expected[rows])
    bins = np.searchsorted(np.quantile(size, np.arange(1, _BINS) / _BINS), size, side="right")
    shape = (n_annotators, _BINS)
    cell = np.ravel_multi_index((codes[rows], bins), shape)
    judged = np.bincount(cell, minlength=n_annotators * _BINS).reshape(shape).astype(np.float64)
    agreed = np.bincount(cell, agrees[rows], minlength=n_annotators * _BINS).reshape(shape).astype(np.float64)
    return [_agreement(judged, agreed, annotator) for annotator in range(n_annotators)]


def _agreement(judged: _Floats, agreed: _Floats, annotator: int) -> Effect | None:
    from scipy.stats import norm

    own = judged[annotator]
    total = judged.sum(axis=0)
    others = total - own
    used = (own > 0) & (others > 0)
    if not used.any():
        return None
    own = own[used]
    total = total[used]
    rate = agreed.sum(axis=0)[used] / total
    deviation = float((agreed[annotator, used] - own * rate).sum())
    variance = float((own * rate * (1 - rate) * (total - own) / np.maximum(total - 1, 1)).sum())
    z = max(abs(deviation) - 0.5, 0) / variance**0.5 if variance > 0 else 0.0
    value = float(agreed[annotator, used].sum() / own.sum())
    rate_of_others = (agreed.sum(axis=0) - agreed[annotator])[used] / others[used]
    low, high = wilson_interval(value, int(own.sum()))
    return Effect(
        value=value,
        low=low,
        high=high,
        expected=float((own * rate_of_others).sum() / own.sum()),
        p_value=float(2 * norm.sf(z)),
    )
