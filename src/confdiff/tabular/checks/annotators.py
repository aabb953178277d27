"""Check how each annotator judges, compared with the scores that fit the judgements of the others.

``repeats.py`` checks contradictory judgements of the same pair.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.pairs.describe import NEAR_TIE
from confdiff.tabular.checks.data import CheckData, encode_names
from confdiff.tabular.checks.finding import Finding, first_rows
from confdiff.tabular.checks.graph import Edges, Judgements, components_of
from confdiff.tabular.checks.one_score import fitted_scores

FEWEST_PAIRS = 10
"""An annotator with fewer comparable pairs is not assessed."""
STRONG_BIAS = 0.2
"""A mean deviation of this size is a bias."""

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_FOLDS = 20  # number of score fits; with more annotators, several share one fit
_PRECISION = 1e-4  # solver tolerance: slopes keep three digits, in a tenth of the time
_POOR = 0.3  # correlation of the median annotator with the others
_MOST_NAMED = 10  # annotators with a finding of their own


@dataclass(frozen=True)
class Annotator:
    """Judgements c of one annotator compared with d = s(right) - s(left) of the scores that fit the others best.

    Attributes
    ----------
    name : str
    pairs : int
        Number of judged pairs.
    compared : int
        Number of those whose items the judgements of others connect. Only these enter the values below.
    bias, bias_error : float or None
        Mean of c - d and its standard error; above 0 if the second item is favoured.
    slope, slope_error : float or None
        Slope of c on d and its standard error: how much of the scale is used.
    correlation : float or None
        Correlation of c and d.
    repeated : int
        Number of judgements of pairs that others judged too, not counting near ties.
    same_sign : float or None
        Fraction of the repeated judgements with the sign of the others' mean.
    deviations : tuple of str
        Deviations of the annotator from the others, in words.
    """

    name: str
    pairs: int
    compared: int
    bias: float | None
    bias_error: float | None
    slope: float | None
    slope_error: float | None
    correlation: float | None
    repeated: int
    same_sign: float | None
    deviations: tuple[str, ...] = ()

    @property
    def is_assessed(self) -> bool:
        """Whether there are enough comparable pairs."""
        return self.compared >= FEWEST_PAIRS


def measure_annotators(data: CheckData) -> tuple[Annotator, ...]:
    """Measure how each annotator judges; return () without a column of annotators."""
    names, codes = _annotator_codes(data)
    expected = _expected_by_others(data.judgements, codes)
    same_sign = _same_sign(data.edges, codes)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
    annotators = []
    for position, name in enumerate(names):
        rows = order[ends[position] : ends[position + 1]]
        annotators.append(_annotator(name, data.judgements.c[rows], expected[rows], same_sign[rows]))
    return _with_deviations(annotators)


def _annotator_codes(data: CheckData) -> tuple[list[str], _Rows]:
    """Return the names of the annotators of usable pairs, and the position of each judgement's among them, or -1."""
    rows = data.judgements.rows
    if data.pairs.annotator is None:
        return [], np.full(len(rows), -1)
    return encode_names(data.pairs.annotator[rows])


def _expected_by_others(judgements: Judgements, codes: _Rows) -> _Floats:
    """Return d = s(right) - s(left) of scores fitted to the judgements of other annotators. Shape: (n,).

    It is NaN where the judgements of others do not connect the two items. An annotator's judgements would pull the
    scores towards themselves, the more so the fewer others there are.
    """
    expected = np.full(len(judgements), np.nan)
    for fold in range(min(_FOLDS, codes.max(initial=-1) + 1)):
        in_fold = (codes >= 0) & (codes % _FOLDS == fold)
        if in_fold.all():
            break
        rest = judgements[~in_fold]
        scores = fitted_scores(rest, precision=_PRECISION)
        components = components_of(rest.left, rest.right, judgements.n_items)
        left = judgements.left[in_fold]
        right = judgements.right[in_fold]
        connected = (components[left] == components[right]) & (components[left] >= 0)
        expected[in_fold] = np.where(connected, scores[right] - scores[left], np.nan)
    return expected


def _same_sign(edges: Edges, codes: _Rows) -> _Floats:
    """Return 1 where a judgement has the sign of the others' mean of its pair, 0 where not, NaN if not comparable."""
    # Judgements of one pair by one annotator, who may have judged it several times, have one number.
    _, same_annotator = np.unique(edges.of * (codes.max() + 2) + codes, return_inverse=True)
    own_count = np.bincount(same_annotator)[same_annotator]
    own_sum = np.bincount(same_annotator, edges.oriented)[same_annotator]
    total_count = edges.count[edges.of]
    total_sum = (edges.mean * edges.count)[edges.of]
    other_count = total_count - own_count
    other_sum = total_sum - own_sum
    is_clear = np.abs(edges.oriented) >= NEAR_TIE
    others_are_clear = (other_count > 0) & (np.abs(other_sum) >= NEAR_TIE * other_count)
    is_comparable = others_are_clear & is_clear & (codes >= 0)
    return np.where(is_comparable, np.sign(other_sum) == np.sign(edges.oriented), np.nan)


def _annotator(name: str, c: _Floats, d: _Floats, same_sign: _Floats) -> Annotator:
    connected = np.isfinite(d)
    repeated = same_sign[np.isfinite(same_sign)]
    n_pairs = len(c)
    c = c[connected]
    d = d[connected]
    slope, slope_error, correlation = _line(c, d)
    return Annotator(
        name=name,
        pairs=n_pairs,
        compared=len(c),
        bias=float((c - d).mean()) if len(c) else None,
        bias_error=float((c - d).std() / len(c) ** 0.5) if len(c) else None,
        slope=slope,
        slope_error=slope_error,
        correlation=correlation,
        repeated=len(repeated),
        same_sign=float(repeated.mean()) if len(repeated) else None,
    )


def _line(c: _Floats, d: _Floats) -> tuple[float | None, float | None, float | None]:
    """Return the slope of c on d, its standard error, and the correlation; None if they are not defined."""
    if len(c) < 3:
        return None, None, None
    c = c - c.mean()
    d = d - d.mean()
    c_squares = float(c @ c)
    d_squares = float(d @ d)
    if d_squares < 1e-12:
        return None, None, None
    slope = float(c @ d) / d_squares
    error = (float(((c - slope * d) ** 2).sum()) / (len(c) - 2) / d_squares) ** 0.5
    correlation = float(c @ d) / (d_squares * c_squares) ** 0.5 if c_squares > 1e-12 else None
    return slope, error, correlation


def _with_deviations(annotators: list[Annotator]) -> tuple[Annotator, ...]:
    """Return the annotators with their deviations from the median of those that are assessed."""
    assessed = [annotator for annotator in annotators if annotator.is_assessed]
    slope = _median([annotator.slope for annotator in assessed])
    correlation = _median([annotator.correlation for annotator in assessed])
    return tuple(replace(annotator, deviations=_deviations(annotator, slope, correlation)) for annotator in annotators)


def _median(values: list[float | None]) -> float:
    defined = [value for value in values if value is not None]
    return float(np.median(defined)) if defined else 0.0


def _deviations(annotator: Annotator, median_slope: float, median_correlation: float) -> tuple[str, ...]:
    """Return in words how an assessed annotator differs from the medians by more than two standard errors."""
    if not annotator.is_assessed:
        return ()
    little_agreement = _little_agreement(annotator, median_correlation)
    deviations = (
        little_agreement or _other_use_of_scale(annotator, median_slope),
        _reversed_scale(annotator, median_slope),
        _favoured_position(annotator),
    )
    return tuple(text for text in deviations if text)


def _little_agreement(annotator: Annotator, median: float) -> str:
    """Describe a correlation that is below half of the median one; empty if it is not."""
    correlation = annotator.correlation
    if correlation is not None and correlation + 2 / annotator.compared**0.5 < median / 2:
        return f"agrees little with the others (correlation {correlation:.2f}, median {median:.2f})"
    return ""


def _other_use_of_scale(annotator: Annotator, median: float) -> str:
    """Describe a slope that is below half of the median one, or above twice of it; empty if it is not."""
    low, high = _interval(annotator.slope, annotator.slope_error)
    if median > 0 and (high < median / 2 or low > 2 * median):
        amount = "less" if high < median / 2 else "more"
        return f"uses {amount} of the scale than others (slope {annotator.slope:.2f}, median {median:.2f})"
    return ""


def _reversed_scale(annotator: Annotator, median: float) -> str:
    """Describe a slope below 0 if the median one is above 0; empty if it is not."""
    _, high = _interval(annotator.slope, annotator.slope_error)
    if high < 0 < median:
        return f"seems to use the scale in reverse (slope {annotator.slope:.2f}, median {median:.2f})"
    return ""


def _favoured_position(annotator: Annotator) -> str:
    """Describe a strong bias; empty if there is none."""
    low, high = _interval(annotator.bias, annotator.bias_error)
    if annotator.bias is not None and abs(annotator.bias) > STRONG_BIAS and (low > 0 or high < 0):
        position = "second" if annotator.bias > 0 else "first"
        return f"favours the {position} item (by {abs(annotator.bias):.2f} on average)"
    return ""


def _interval(value: float | None, error: float | None) -> tuple[float, float]:
    """Return an interval of two standard errors to both sides; unbounded if the value is not defined."""
    return (-np.inf, np.inf) if value is None or error is None else (value - 2 * error, value + 2 * error)


def annotator_findings(data: CheckData, measure: tuple[Annotator, ...]) -> list[Finding]:
    """Return findings about annotators who differ from the others, those with the lowest correlation first."""
    deviating = [annotator for annotator in measure if annotator.deviations]
    deviating.sort(key=lambda annotator: (annotator.correlation or 0.0, annotator.name))
    findings = [_deviates(data, annotator) for annotator in deviating[:_MOST_NAMED]]
    if len(deviating) > _MOST_NAMED:
        findings.append(_more_deviate(len(deviating) - _MOST_NAMED))
    correlations = [a.correlation for a in measure if a.is_assessed and a.correlation is not None]
    if len(correlations) > 1 and np.median(correlations) < _POOR:
        findings.append(_disagree(correlations))
    unassessed = sum(not annotator.is_assessed for annotator in measure)
    if unassessed:
        findings.append(_few_comparable_pairs(unassessed))
    return findings


def _deviates(data: CheckData, annotator: Annotator) -> Finding:
    names, codes = _annotator_codes(data)
    rows = data.judgements.rows[codes == names.index(annotator.name)]
    return Finding(
        kind="annotator",
        severity="warning",
        count=annotator.pairs,
        rows=first_rows(data.pairs.source, rows),
        text=f"Annotator {annotator.name} ({plural(annotator.pairs, 'pair')}): {'; '.join(annotator.deviations)}.",
        action="`fit` uses these judgements like all others: look at some, then give them less weight or drop them.",
    )


def _more_deviate(count: int) -> Finding:
    return Finding(
        kind="annotators",
        severity="warning",
        count=count,
        text=f"{plural(count, 'more annotator')} differ{'s' if count == 1 else ''} from the others.",
        action="See the table of annotators.",
    )


def _disagree(correlations: list[float]) -> Finding:
    return Finding(
        kind="annotators-disagree",
        severity="warning",
        count=len(correlations),
        text=f"{len(correlations)} annotators agree little: the median correlation with the others is "
        f"{np.median(correlations):.2f}.",
        action="`fit` goes on, but expect a low pairwise accuracy. Make sure that all annotators had the same question "
        "and the same scale.",
    )


def _few_comparable_pairs(count: int) -> Finding:
    return Finding(
        kind="annotators-with-few-pairs",
        severity="note",
        count=count,
        text=f"{plural(count, 'annotator')} with fewer than {FEWEST_PAIRS} pairs that can be compared with those of "
        "others: too few to assess.",
        action="`fit` uses their judgements like all others.",
    )
