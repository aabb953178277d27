"""Check pairs that were judged more than once: contradictions, spread, and the effect of the order of the items."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.pairs.describe import NEAR_TIE
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, Severity, first_rows
from confdiff.tabular.checks.graph import Edges

_Floats = NDArray[np.float64]
_Mask = NDArray[np.bool_]
_LARGE = 0.25  # mean asymmetry: an eighth of the scale from -1 to 1


@dataclass(frozen=True)
class Repeats:
    """Pairs that were judged more than once.

    Attributes
    ----------
    pairs, judgements : int
        Number of such pairs, and of their judgements.
    contradictions : int
        Number of these pairs with judgements of both signs, not counting near ties.
    standard_deviation : float or None
        Standard deviation of the judgements of one pair, pooled over pairs.
    both_orders : int
        Number of pairs that were judged as (a, b) and as (b, a).
    asymmetry, largest_asymmetry : float or None
        Mean and largest |c(a, b) + c(b, a)|, which is 0 without an effect of the order.
    position_bias : float or None
        Mean of (c(a, b) + c(b, a)) / 2: above 0 if the second position is favoured.
    """

    pairs: int
    judgements: int
    contradictions: int
    standard_deviation: float | None
    both_orders: int
    asymmetry: float | None
    largest_asymmetry: float | None
    position_bias: float | None


def measure_repeats(data: CheckData) -> Repeats:
    """Measure how far judgements of the same pair agree."""
    return repeats_of(data.edges)


def repeats_of(edges: Edges) -> Repeats:
    """Measure how far judgements of the same edge agree."""
    repeated = edges.count > 1
    degrees_of_freedom = int((edges.count - 1).sum())
    squares = float(((edges.oriented - edges.mean[edges.of]) ** 2).sum())
    sums = _order_sums(edges)
    sums = sums[np.isfinite(sums)]
    return Repeats(
        pairs=int(repeated.sum()),
        judgements=int(edges.count[repeated].sum()),
        contradictions=int(_is_contradicted(edges).sum()),
        standard_deviation=(squares / degrees_of_freedom) ** 0.5 if degrees_of_freedom else None,
        both_orders=len(sums),
        asymmetry=float(np.abs(sums).mean()) if len(sums) else None,
        largest_asymmetry=float(np.abs(sums).max()) if len(sums) else None,
        position_bias=float(sums.mean() / 2) if len(sums) else None,
    )


def _is_contradicted(edges: Edges) -> _Mask:
    """Return a mask of the edges with judgements of both signs, not counting near ties. Shape: (m,)."""
    up = np.bincount(edges.of, edges.oriented >= NEAR_TIE, len(edges.mean))
    down = np.bincount(edges.of, -edges.oriented >= NEAR_TIE, len(edges.mean))
    mask: _Mask = (up > 0) & (down > 0)
    return mask


def _order_sums(edges: Edges) -> _Floats:
    """Return c(a, b) + c(b, a) from the means of both orders; NaN for edges judged in one order. Shape: (m,)."""
    sums = np.zeros(len(edges.mean))
    for in_order, sign in ((edges.forward, 1), (~edges.forward, -1)):
        count = np.bincount(edges.of, in_order, len(sums))
        total = np.bincount(edges.of, edges.oriented * in_order, len(sums))
        sums += sign * total / np.where(count > 0, count, np.nan)
    return sums


def repeat_findings(data: CheckData, measure: Repeats) -> list[Finding]:
    """Return findings about repeated pairs, contradictions, and pairs judged in both orders."""
    findings = []
    if measure.pairs:
        findings.append(_repeated(data, measure))
    if measure.contradictions:
        findings.append(_contradicted(data, measure))
    if measure.asymmetry is not None and measure.asymmetry > _LARGE:
        findings.append(_asymmetric(data, measure))
    return findings


def _finding(
    data: CheckData, mask: _Mask, *, kind: str, severity: Severity, count: int, text: str, action: str
) -> Finding:
    """Return a finding with the rows of the judgements of the edges where the mask is true."""
    rows = np.sort(data.judgements.rows[mask[data.edges.of]])
    shown = first_rows(data.pairs.source, rows)
    return Finding(kind=kind, severity=severity, count=count, rows=shown, text=text, action=action)


def _repeated(data: CheckData, measure: Repeats) -> Finding:
    judgements = plural(measure.judgements, "judgement")
    return _finding(
        data,
        data.edges.count > 1,
        kind="repeats",
        severity="note",
        count=measure.pairs,
        text=f"{plural(measure.pairs, 'pair')} judged more than once ({judgements}), in either order.",
        action="`fit` uses every judgement.",
    )


def _contradicted(data: CheckData, measure: Repeats) -> Finding:
    return _finding(
        data,
        _is_contradicted(data.edges),
        kind="contradictions",
        severity="warning",
        count=measure.contradictions,
        text=f"{measure.contradictions:,} of {plural(measure.pairs, 'pair')} judged more than once have judgements of "
        "opposite signs, not counting near ties.",
        action="`fit` uses all of them, so they average out. Look at some: items swapped by mistake show up here.",
    )


def _asymmetric(data: CheckData, measure: Repeats) -> Finding:
    return _finding(
        data,
        np.isfinite(_order_sums(data.edges)),
        kind="asymmetry",
        severity="warning",
        count=measure.both_orders,
        text=f"{plural(measure.both_orders, 'pair')} judged in both orders: |c(a, b) + c(b, a)| is "
        f"{measure.asymmetry:.2f} on average and {measure.largest_asymmetry:.2f} at most; it should be 0.",
        action="`fit` uses both judgements, so they average out.",
    )
