"""How each annotator judges, held against the scores that fit the judgements of others."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.pairs.describe import NEAR_TIE
from confdiff.tabular.checks.findings import FIRST, Finding
from confdiff.tabular.checks.graph import Edges, Floats, Judgements, Rows, parts_of
from confdiff.tabular.checks.one_score import fitted_scores
from confdiff.tabular.values import is_missing

FEWEST = 10  # pairs by which an annotator is judged
FOLDS = 20  # annotators beyond so many share the scores that they are held against
PRECISION = 1e-4  # of these scores: slopes are the same to three digits, in a tenth of the time
STRONG_BIAS = 0.2
POOR = 0.3  # correlation of the median annotator with others
MOST_NAMED = 10  # annotators with a finding of their own


@dataclass(frozen=True)
class Annotator:
    """How one annotator judges, against d = s(right) - s(left) of the scores that fit the judgements of others best.

    pairs: how many were judged. compared: those of them that others' judgements connect, which all else is about.
    bias: the mean of c - d; above 0 where the second item is favoured. slope: of c on d. agreement: their correlation.
    bias_error, slope_error: standard errors. repeated: judgements of pairs that others judged too, near ties apart;
    same_sign: the share of them that have the sign of the others' mean. stands_out: in what ways, in words.
    """

    name: str
    pairs: int
    compared: int
    bias: float | None
    bias_error: float | None
    slope: float | None
    slope_error: float | None
    agreement: float | None
    repeated: int
    same_sign: float | None
    stands_out: tuple[str, ...] = ()


def coded(column: NDArray[Any]) -> tuple[list[str], Rows]:
    """The different names in a column, and for each row which it is; -1 where none stands there.

    >>> coded(np.array(["b", "", "a", "b"], dtype=object))
    (['a', 'b'], array([ 1, -1,  0,  1]))
    """
    missing = is_missing(column)
    there = column[~missing]
    if there.dtype.kind == "f" and not np.any(there % 1):
        there = there.astype(np.int64)  # whole numbers become floats where some are missing
    names, places = np.unique(there.astype(str), return_inverse=True)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[~missing] = places
    return names.tolist(), codes


def annotators_of(judged: Judgements, edges: Edges, names: list[str], codes: Rows) -> tuple[Annotator, ...]:
    """How each annotator judges; codes: (n,) who made each judgement, -1 where that is not known."""
    expected, same = _by_others(judged, codes), _same_sign(edges, codes)
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(names) + 1))
    found = []
    for place, name in enumerate(names):
        own = order[ends[place] : ends[place + 1]]
        found.append(_annotator(name, judged.c[own], expected[own], same[own]))
    return _held_against_each_other(found)


def _by_others(judged: Judgements, codes: Rows) -> Floats:
    """(n,) d = s(right) - s(left) by scores that fit what others judged; NaN where theirs do not connect the two.

    Own judgements would pull the scores towards themselves, the more the fewer there are of others.
    """
    expected = np.full(len(judged), np.nan)
    for fold in range(min(FOLDS, codes.max(initial=-1) + 1)):
        own = (codes >= 0) & (codes % FOLDS == fold)
        if own.all():
            break
        others = judged[~own]
        scores = fitted_scores(others, precision=PRECISION)
        parts = parts_of(others.left, others.right, judged.n_items)
        left, right = judged.left[own], judged.right[own]
        connected = (parts[left] == parts[right]) & (parts[left] >= 0)
        expected[own] = np.where(connected, scores[right] - scores[left], np.nan)
    return expected


def _annotator(name: str, c: Floats, d: Floats, same: Floats) -> Annotator:
    repeated, pairs, there = same[np.isfinite(same)], len(c), np.isfinite(d)
    share = float(repeated.mean()) if len(repeated) else None
    c, d = c[there], d[there]
    bias = float((c - d).mean()) if len(c) else None
    error = float((c - d).std() / len(c) ** 0.5) if len(c) else None
    return Annotator(name, pairs, len(c), bias, error, *_line(c, d), len(repeated), share)


def _line(c: Floats, d: Floats) -> tuple[float | None, float | None, float | None]:
    """The slope of c on d, its standard error, and the correlation; None where they are not defined."""
    if len(c) < 3:
        return None, None, None
    c, d = c - c.mean(), d - d.mean()
    spread, size = float(d @ d), float(c @ c)
    if spread < 1e-12:
        return None, None, None
    slope = float(c @ d) / spread
    error = (float(((c - slope * d) ** 2).sum()) / (len(c) - 2) / spread) ** 0.5
    return slope, error, float(c @ d) / (spread * size) ** 0.5 if size > 1e-12 else None


def _same_sign(edges: Edges, codes: Rows) -> Floats:
    """(n,) 1 where a judgement has the sign of the others' mean of its pair, 0 where not; NaN if not comparable."""
    mine = np.unique(edges.of * (codes.max() + 2) + codes, return_inverse=True)[1]
    others = edges.count[edges.of] - np.bincount(mine)[mine]
    rest = (edges.mean * edges.count)[edges.of] - np.bincount(mine, edges.turned)[mine]
    clear = (others > 0) & (np.abs(rest) >= NEAR_TIE * others) & (np.abs(edges.turned) >= NEAR_TIE) & (codes >= 0)
    return np.where(clear, np.sign(rest) == np.sign(edges.turned), np.nan)


def _held_against_each_other(found: list[Annotator]) -> tuple[Annotator, ...]:
    """The same annotators, with the ways in which they stand out from the median of those with enough pairs."""
    enough = [one for one in found if one.compared >= FEWEST]
    slopes = [one.slope for one in enough if one.slope is not None]
    agreements = [one.agreement for one in enough if one.agreement is not None]
    usual = float(np.median(slopes)) if slopes else 0.0, float(np.median(agreements)) if agreements else 0.0
    return tuple(replace(one, stands_out=_ways(one, *usual)) if one.compared >= FEWEST else one for one in found)


def _ways(one: Annotator, slope: float, agreement: float) -> tuple[str, ...]:
    """In what ways an annotator stands out, by more than two standard errors."""
    ways = []
    low, high = _reach(one.slope, one.slope_error)
    if one.agreement is not None and one.agreement + 2 / one.compared**0.5 < agreement / 2:
        ways.append(f"agrees little with the others (correlation {one.agreement:.2f}, median {agreement:.2f})")
    elif slope > 0 and (high < slope / 2 or low > 2 * slope):
        less = "less" if high < slope / 2 else "more"
        ways.append(f"uses {less} of the scale than others (slope {one.slope:.2f}, median {slope:.2f})")
    if high < 0 < slope:
        ways.append(f"the scale seems turned round (slope {one.slope:.2f}, median {slope:.2f})")
    low, high = _reach(one.bias, one.bias_error)
    if one.bias is not None and abs(one.bias) > STRONG_BIAS and (low > 0 or high < 0):
        ways.append(f"favours the {'second' if one.bias > 0 else 'first'} item (by {abs(one.bias):.2f} on average)")
    return tuple(ways)


def _reach(value: float | None, error: float | None) -> tuple[float, float]:
    """Two standard errors to both sides; everything where nothing is known."""
    return (-np.inf, np.inf) if value is None or error is None else (value - 2 * error, value + 2 * error)


def annotator_findings(annotators: tuple[Annotator, ...], rows: Callable[[str], Rows]) -> list[Finding]:
    """Those who stand out, who agree least first; rows: name -> where their judgements stand."""
    out = sorted((one for one in annotators if one.stands_out), key=lambda one: (one.agreement or 0.0, one.name))
    few = sum(one.compared < FEWEST for one in annotators)
    findings = [_stands_out(one, rows(one.name)) for one in out[:MOST_NAMED]]
    if len(out) > MOST_NAMED:
        more, action = plural(len(out) - MOST_NAMED, "more annotator"), "The table of annotators names them."
        findings.append(Finding("annotators", "mind", len(out) - MOST_NAMED, (), f"{more} stand out.", action))
    judged = [one.agreement for one in annotators if one.compared >= FEWEST and one.agreement is not None]
    if len(judged) > 1 and np.median(judged) < POOR:
        text = f"{len(judged)} annotators agree little: the median correlation with others is {np.median(judged):.2f}."
        action = "`fit` goes on: expect little of it. Ask whether all of them judged the same thing, on the same scale."
        findings.append(Finding("annotators-disagree", "mind", len(judged), (), text, action))
    if few:
        text = f"{plural(few, 'annotator')} with fewer than {FEWEST} pairs that others' connect: too few to judge by."
        action = "`fit` counts them like all others."
        findings.append(Finding("annotators-with-few-pairs", "note", few, (), text, action))
    return findings


def _stands_out(one: Annotator, rows: Rows) -> Finding:
    text = f"Annotator {one.name} ({plural(one.pairs, 'pair')}): {'; '.join(one.stands_out)}."
    action = "`fit` counts these judgements like all others: look at some, then weight them down or leave them out."
    return Finding("annotator", "mind", one.pairs, tuple(rows[:FIRST].tolist()), text, action)
