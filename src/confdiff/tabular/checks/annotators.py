"""Check how each annotator judges, compared with the scores that fit the judgements of the others.

An annotator has a finding if a test says so (``annotator_tests.py``): of the bias, of the use of the scale and of the
agreement. Holm's method corrects for the number of tests. ``repeats.py`` checks contradictory judgements of a pair.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.pairs.describe import NEAR_TIE
from confdiff.tabular.checks.annotator_reference import expected_differences
from confdiff.tabular.checks.annotator_tests import (
    Effect,
    adjusted,
    against_others,
    agreement_tests,
    line_estimates,
)
from confdiff.tabular.checks.data import CheckData, encode_names
from confdiff.tabular.checks.finding import Finding, first_rows
from confdiff.tabular.checks.graph import Edges, Judgements
from confdiff.tabular.roles import wins_by_position

FEWEST_PAIRS = 10
"""An annotator with fewer comparable pairs is not assessed."""

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_POOR = 0.3  # correlation of the median annotator with the others
_MOST_NAMED = 10  # annotators with a finding of their own


@dataclass(frozen=True)
class JudgedAnnotator:
    """Judgements c of one annotator compared with d = s(right) - s(left) of the scores that fit the others best.

    Attributes
    ----------
    name : str
    pairs : int
        Number of judged pairs.
    compared : int
        Number of those whose items the judgements of others connect. Only these enter the values below.
    bias, bias_error : float or None
        Mean of c - d and its standard error; above 0 if the second item is favoured. Where the item shown first is
        declared, the mean of (c - d) side, above 0 if the item shown second is favoured.
    slope, slope_error : float or None
        Slope of c on d and its standard error: how much of the scale is used, relative to the median annotator.
    correlation : float or None
        Correlation of c and d.
    repeated : int
        Number of judgements of pairs that others judged too, not counting near ties.
    same_sign : float or None
        Fraction of the repeated judgements with the sign of the others' mean.
    tests : dict of str to Effect
        The tests by name: ``bias``, ``slope`` and ``agreement``, the fraction of clear judgements with the sign of d.
    deviations : tuple of str
        Significant deviations of the annotator from the others, in words.
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
    tests: Mapping[str, Effect] = field(default_factory=dict)
    deviations: tuple[str, ...] = ()

    @property
    def is_assessed(self) -> bool:
        """Whether there are enough comparable pairs."""
        return self.compared >= FEWEST_PAIRS


def measure_annotators(data: CheckData) -> tuple[JudgedAnnotator, ...]:
    """Measure how each annotator judges; return () without a column of annotators."""
    names, codes = _annotator_codes(data)
    judgements = data.judgements
    side = _declared_side(data)
    if wins_by_position(data.pairs.names):
        judgements, side = _by_item_number(judgements, side)
    expected = expected_differences(judgements, codes, fewest=FEWEST_PAIRS)
    same_sign = _same_sign(data.edges, codes)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
    annotators = []
    for position, name in enumerate(names):
        rows = order[ends[position] : ends[position + 1]]
        own_side = np.ones(len(rows)) if side is None else side[rows]
        annotators.append(_annotator(name, judgements.c[rows], expected[rows], same_sign[rows], own_side))
    effects = _effects(judgements, expected, codes, annotators, side)
    return tuple(
        replace(annotator, tests=tests, deviations=_deviations(tests, is_side_declared=side is not None))
        for annotator, tests in zip(annotators, effects, strict=True)
    )


def _effects(
    judgements: Judgements, expected: _Floats, codes: _Rows, annotators: list[JudgedAnnotator], side: _Floats | None
) -> list[dict[str, Effect]]:
    """Return the tests of each annotator, adjusted together; none for those who are not assessed."""
    assessed = np.array([annotator.is_assessed for annotator in annotators], dtype=bool)
    is_clear = (np.abs(judgements.c) >= NEAR_TIE) & (np.abs(expected) > 0)
    agrees = np.where(is_clear, np.sign(judgements.c) == np.sign(expected), np.nan)
    lines = [line_estimates(judgements, expected, np.flatnonzero(codes == a), side) for a in range(len(annotators))]
    agreements = agreement_tests(agrees, expected, codes, len(annotators))
    effects: list[dict[str, Effect]] = [{} for _ in annotators]
    for row in np.flatnonzero(assessed).tolist():
        for name in ("bias", "slope"):
            effect = against_others(lines, row, name)
            if effect is not None:
                effects[row][name] = effect
        agreement = agreements[row]
        if agreement is not None:
            effects[row]["agreement"] = agreement
    return adjusted(effects)


def _annotator_codes(data: CheckData) -> tuple[list[str], _Rows]:
    """Return the names of the annotators of usable pairs, and the position of each judgement's among them, or -1."""
    rows = data.judgements.rows
    if data.pairs.annotator is None:
        return [], np.full(len(rows), -1)
    return encode_names(data.pairs.annotator[rows])


def _declared_side(data: CheckData) -> _Floats | None:
    """Return the side of each judgement; None if it is not declared for any."""
    if data.sides is None:
        return None
    side = data.sides[0][data.judgements.rows].astype(np.float64)
    return side if side.any() else None


def _by_item_number(judgements: Judgements, side: _Floats | None) -> tuple[Judgements, _Floats]:
    """Return judgements with the item of the smaller row on the left, and their sides.

    If the winner is always the second item of a pair, the order of the items is the answer, and not that in which they
    were shown. Sides that are not declared are then not known, and no bias is estimated.
    """
    is_swapped = judgements.left > judgements.right
    sign = np.where(is_swapped, -1.0, 1.0)
    ordered = replace(
        judgements,
        left=np.where(is_swapped, judgements.right, judgements.left),
        right=np.where(is_swapped, judgements.left, judgements.right),
        c=sign * judgements.c,
    )
    return ordered, np.zeros(len(judgements)) if side is None else sign * side


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


def _annotator(name: str, c: _Floats, d: _Floats, same_sign: _Floats, side: _Floats) -> JudgedAnnotator:
    connected = np.isfinite(d)
    repeated = same_sign[np.isfinite(same_sign)]
    n_pairs = len(c)
    c = c[connected]
    d = d[connected]
    deviation = ((c - d) * side[connected])[side[connected] != 0]
    slope, slope_error, correlation = _line(c, d)
    return JudgedAnnotator(
        name=name,
        pairs=n_pairs,
        compared=len(c),
        bias=float(deviation.mean()) if len(deviation) else None,
        bias_error=float(deviation.std() / len(deviation) ** 0.5) if len(deviation) else None,
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


def _deviations(tests: Mapping[str, Effect], *, is_side_declared: bool) -> tuple[str, ...]:
    """Return in words how an annotator differs significantly from the others."""
    significant = {name: effect for name, effect in tests.items() if effect.is_significant}
    texts = []
    agreement = significant.get("agreement")
    if agreement is not None and agreement.value < agreement.expected:
        texts.append(f"agrees less with the others ({_words(agreement, 'agreement')})")
    slope = significant.get("slope")
    if slope is not None and slope.high < 0 < slope.expected:
        texts.append(f"seems to use the scale in reverse ({_words(slope, 'slope')})")
    elif slope is not None and not texts:
        amount = "less" if slope.value < slope.expected else "more"
        texts.append(f"uses {amount} of the scale than others ({_words(slope, 'slope')})")
    bias = significant.get("bias")
    if bias is not None:
        position = "second" if bias.value > 0 else "first"
        item = f"item shown {position}" if is_side_declared else f"{position} item"
        texts.append(f"favours the {item} ({_words(bias, 'bias')})")
    return tuple(texts)


def _words(effect: Effect, name: str) -> str:
    p_value = "< 0.001" if effect.adjusted_p < 0.001 else f"= {effect.adjusted_p:.3f}"
    return (
        f"{name} {effect.value:.2f}, 95% interval {effect.low:.2f} to {effect.high:.2f}, others {effect.expected:.2f}; "
        f"adjusted p {p_value}"
    )


def annotator_findings(data: CheckData, measure: tuple[JudgedAnnotator, ...]) -> list[Finding]:
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
    if len(measure) == 1:
        findings.append(_single_annotator(measure[0]))
    elif unassessed:
        findings.append(_few_comparable_pairs(unassessed))
    return findings


def _deviates(data: CheckData, annotator: JudgedAnnotator) -> Finding:
    names, codes = _annotator_codes(data)
    rows = data.judgements.rows[codes == names.index(annotator.name)]
    return Finding(
        kind="annotator",
        severity="warning",
        count=annotator.pairs,
        rows=first_rows(data.pairs.source, rows),
        text=f"Annotator {annotator.name} ({plural(annotator.pairs, 'pair')}): {'; '.join(annotator.deviations)}.",
        action="Look at some of these judgements. `fit` estimates the scale, side bias and noise of annotators and "
        "accounts for them where this predicts held-out answers better; `show` lists the estimates.",
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


def _single_annotator(annotator: JudgedAnnotator) -> Finding:
    return Finding(
        kind="single-annotator",
        severity="note",
        count=annotator.pairs,
        text=f"Annotator {annotator.name} is the only one, so there are no others to compare with.",
        action="`fit` models no annotators.",
    )


def _few_comparable_pairs(count: int) -> Finding:
    return Finding(
        kind="annotators-with-few-pairs",
        severity="note",
        count=count,
        text=f"{plural(count, 'annotator')} with fewer than {FEWEST_PAIRS} pairs that can be compared with those of "
        "others: too few to assess.",
        action="`fit` shrinks the estimates of such annotators to those of an average one.",
    )
