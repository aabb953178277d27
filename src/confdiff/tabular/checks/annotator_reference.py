"""The reference that each annotator is compared with: scores that fit the judgements of others, on one common scale.

Scores without an annotator and scores of all judgements differ in scale where annotators use the scale differently.
Every annotator would then be measured in another unit, so all references are converted to that of all judgements.
Annotators who use the scale in reverse are no part of the reference.
"""

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.annotator_tests import LineEstimate, adjusted, against_others, line_estimates
from confdiff.tabular.checks.graph import Judgements, components_of
from confdiff.tabular.checks.one_score import fitted_scores

_Floats = NDArray[np.float64]
_Mask = NDArray[np.bool_]
_Rows = NDArray[np.int64]
_FOLDS = 20  # number of score fits; with more annotators, several share one fit
_PRECISION = 1e-4  # solver tolerance: slopes keep three digits, in a tenth of the time
_FEWEST_IN_REFERENCE = 2  # annotators; with fewer, reversed ones cannot be left out


def expected_differences(judgements: Judgements, codes: _Rows, *, fewest: int) -> _Floats:
    """Return d = s(right) - s(left) of scores fitted to the judgements of other annotators.

    An annotator's judgements would pull the scores towards themselves, the more so the fewer others there are.

    Parameters
    ----------
    judgements
        n judgements.
    codes
        (n,) annotators, counted from 0; -1 if not known.
    fewest
        Number of pairs of an annotator whose slope counts for the unit of d.

    Returns
    -------
    expected
        (n,) differences in units of the median annotator, whose slope of c on d is 1; NaN where the judgements of
        others do not connect the two items.
    """
    everyone = np.ones(len(judgements), dtype=bool)
    expected = _out_of_fold(judgements, codes, everyone)
    reversed_codes = _reversed_annotators(judgements, expected, codes, fewest)
    n_others = len(np.unique(codes[codes >= 0])) - len(reversed_codes)
    if len(reversed_codes) and n_others >= _FEWEST_IN_REFERENCE:
        expected = _out_of_fold(judgements, codes, ~np.isin(codes, reversed_codes))
    return expected * _median_slope(_slopes(judgements, expected, codes, fewest))


def _out_of_fold(judgements: Judgements, codes: _Rows, in_reference: _Mask) -> _Floats:
    """Return the differences of scores that are fitted to the reference without the annotator's fold."""
    expected = np.full(len(judgements), np.nan)
    common = _differences(judgements, fitted_scores(judgements[in_reference], precision=_PRECISION))
    for fold in range(min(_FOLDS, codes.max(initial=-1) + 1)):
        in_fold = (codes >= 0) & (codes % _FOLDS == fold)
        in_rest = in_reference & ~in_fold
        if not in_rest.any():
            continue
        rest = judgements[in_rest]
        differences = _differences(judgements, fitted_scores(rest, precision=_PRECISION))
        components = components_of(rest.left, rest.right, judgements.n_items)
        first = components[judgements.left]
        connected = in_fold & (first == components[judgements.right]) & (first >= 0)
        unit = _unit(differences[in_rest], common[in_rest], rest.weight)
        expected[connected] = differences[connected] / unit
    return expected


def _differences(judgements: Judgements, scores: _Floats) -> _Floats:
    differences: _Floats = scores[judgements.right] - scores[judgements.left]
    return differences


def _unit(differences: _Floats, common: _Floats, weight: _Floats) -> float:
    """Return the size of differences relative to common ones; 1 where it is not determined.

    Where annotators do not differ, it is 1 on average: the covariance of a least-squares fit to all judgements with a
    fit to some of them is the variance of the former.
    """
    squares = float(weight @ common**2)
    products = float(weight @ (differences * common))
    total = float(weight @ differences**2)
    is_determined = products > 0 and squares > 1e-6 * total
    return products / squares if is_determined else 1.0


def _slopes(judgements: Judgements, expected: _Floats, codes: _Rows, fewest: int) -> dict[int, LineEstimate]:
    """Return the slope of each annotator with enough comparable pairs."""
    slopes = {}
    for code in np.unique(codes[codes >= 0]).tolist():
        rows = np.flatnonzero((codes == code) & np.isfinite(expected))
        if len(rows) < fewest:
            continue
        slope = line_estimates(judgements, expected, rows).get("slope")
        if slope is not None:
            slopes[code] = slope
    return slopes


def _median_slope(slopes: dict[int, LineEstimate]) -> float:
    """Return the median of slopes; 1 if there is none above 0."""
    median = float(np.median([slope.value for slope in slopes.values()])) if slopes else 1.0
    return median if median > 0 else 1.0


def _reversed_annotators(judgements: Judgements, expected: _Floats, codes: _Rows, fewest: int) -> list[int]:
    """Return the annotators whose slope is significantly below 0 while that of the others is above."""
    slopes = _slopes(judgements, expected, codes, fewest)
    lines = [{"slope": slope} for slope in slopes.values()]
    effects = []
    for row in range(len(lines)):
        effect = against_others(lines, row, "slope")
        effects.append({} if effect is None else {"slope": effect})
    reversed_codes = []
    for code, tests in zip(slopes, adjusted(effects), strict=True):
        slope = tests.get("slope")
        if slope is not None and slope.is_significant and slope.high < 0 < slope.expected:
            reversed_codes.append(code)
    return reversed_codes
