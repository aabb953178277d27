"""Pairs judged more than once."""

import numpy as np
import pandas as pd
import pytest

from confdiff.tabular.checks.graph import edges_of
from confdiff.tabular.checks.repeats import repeats_of
from confdiff.tabular.checks.report import check_comparisons
from judging import clean, judged, the


def test_antisymmetry_and_spread_are_known():
    repeats = repeats_of(edges_of(judged((0, 1, 0.5), (1, 0, -0.1), (1, 2, 0.2), (1, 2, 0.4), (0, 2, 0.9))))
    assert (repeats.pairs, repeats.judgements, repeats.contradictions, repeats.both_orders) == (2, 4, 0, 1)
    assert repeats.asymmetry == pytest.approx(0.4)
    assert repeats.largest_asymmetry == pytest.approx(0.4)
    assert repeats.position_bias == pytest.approx(0.2)
    assert repeats.standard_deviation == pytest.approx(np.sqrt((2 * 0.2**2 + 2 * 0.1**2) / 2))


def test_a_pair_judged_in_both_orders_by_many_is_averaged_first():
    repeats = repeats_of(edges_of(judged((0, 1, 0.5), (0, 1, 0.7), (1, 0, -0.6), (3, 2, 0.4), (2, 3, 0.0))))
    assert repeats.asymmetry == pytest.approx(0.2)  # 0 and .4
    assert repeats.largest_asymmetry == pytest.approx(0.4)


@pytest.mark.parametrize(("second", "contradicts"), [(0.5, True), (0.05, True), (0.04, False), (-0.5, False)])
def test_contradictions_are_opposite_signs_without_near_ties(second, contradicts):
    assert repeats_of(edges_of(judged((0, 1, 0.3), (1, 0, second)))).contradictions == contradicts


def test_repeats_contradictions_and_asymmetry_are_findings_with_rows():
    items, pairs = clean()
    c = pairs["difference"]
    row = int(np.flatnonzero(c > 0.5)[0])
    again = pairs.iloc[[row, row + 1]].assign(left=pairs["right"], right=pairs["left"])
    again["difference"] = [c[row], -c[row + 1]]  # the first contradicts, the second is the same judgement swapped
    report = check_comparisons(items, pd.concat([pairs, again]))
    n = len(pairs)
    assert the(report, "repeats").count == 2
    assert the(report, "repeats").rows == (row, row + 1, n, n + 1)
    assert the(report, "contradictions").count == 1
    assert the(report, "contradictions").rows == (row, n)
    assert the(report, "asymmetry").rows == (row, row + 1, n, n + 1)
    assert report.measures["repeats"].largest_asymmetry == pytest.approx(2 * c[row])
