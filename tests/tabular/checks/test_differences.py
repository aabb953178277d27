"""Near ties, ends of the scale, position bias and the class prior."""

import numpy as np
import pytest

from confdiff.pairs import Pairs
from confdiff.pairs.describe import describe_pairs
from confdiff.tabular.checks.report import check_comparisons
from judging import clean, kinds, the


def test_the_summary_is_that_of_describe_pairs():
    items, pairs = clean()
    report = check_comparisons(items, pairs)
    rows = [items.index.get_indexer(pairs[side]) for side in ("left", "right")]
    expected = describe_pairs(Pairs(items.to_numpy(), *rows, pairs["difference"].to_numpy()))
    assert report.measures["differences"].summary == expected
    low, high = expected.prior_interval
    assert f"between {low:.0%} and {high:.0%} of the items are positive" in report.prior_statement
    c = pairs["difference"]
    assert report.measures["differences"].mean_error == pytest.approx(c.std(ddof=0) / len(c) ** 0.5)


def test_position_bias_is_found():
    items, pairs = clean()
    pairs["difference"] = (0.5 * pairs["difference"] + 0.2).clip(-1, 1)
    report = check_comparisons(items, pairs)
    differences = report.measures["differences"]
    interval = f"{differences.summary.mean:+.3f} ± {differences.mean_error:.3f}"
    assert f"The second item is favoured: mean difference {interval}" in the(report, "position-bias").text
    pairs["difference"] *= -1
    assert "The first item is favoured" in the(check_comparisons(items, pairs), "position-bias").text


def test_one_sided_differences_may_be_on_another_scale():
    items, pairs = clean()
    pairs["difference"] = (1 + pairs["difference"]) / 2
    report = check_comparisons(items, pairs)
    assert "No pair favours the first item" in the(report, "one-sided").text
    assert "position-bias" not in kinds(report)
    assert check_comparisons(items, pairs, scale="0,1").findings == ()


def test_ties_and_ends_are_found():
    items, pairs = clean()
    n = len(pairs)
    pairs["difference"] = np.where(np.arange(n) < 0.6 * n, 0.01, pairs["difference"])
    report = check_comparisons(items, pairs)
    ties = int((pairs["difference"].abs() < 0.05).sum())
    assert the(report, "near-ties").count == ties
    assert f"{ties / n:.0%} of the pairs are near ties" in the(report, "near-ties").text
    items, pairs = clean()
    pairs["difference"] = np.sign(pairs["difference"])
    report = check_comparisons(items, pairs)
    assert report.measures["differences"].at_ends == 1
    assert the(report, "ends-of-scale").count == n
    assert report.measures["differences"].summary.prior_interval is None
    assert "No class prior" in the(report, "no-prior").text
    assert "No class prior" in report.prior_statement
