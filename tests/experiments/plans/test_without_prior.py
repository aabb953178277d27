"""Our methods between ConfDiff-ABS and the oracle, with the prior and without it."""

import pytest

from confdiff.experiments.plans import find_experiment
from confdiff.experiments.plans.without_prior import prior_rows
from confdiff.experiments.report.writing import report_html, report_markdown
from trial_records import trial

RECORDS = [
    trial("confdiff-abs", 0, 0.95),
    trial("confdiff-abs", 1, 0.93),
    trial("oracle-soft", 0, 0.98),
    trial("oracle-soft", 1, 0.97),
    trial("oracle-soft", 2, 0.5),
    trial("confdiff-regression", 0, 0.975),
    trial("confdiff-regression", 1, 0.971),
    trial("confdiff-regression", 1, 0.961, prior_given=False),
    trial("confdiff-regression", 0, 0.1, noise="labels"),
    trial("confdiff-regression", 0, 0.99, dataset="letter"),
]


def test_differences_are_over_the_seeds_that_both_have():
    usps, letter = prior_rows(RECORDS)
    assert (usps.dataset, letter.dataset) == ("usps", "letter")
    assert usps.gap_to_oracle == pytest.approx((0.005 - 0.001) / 2)
    assert usps.gain_over_baseline == pytest.approx((0.025 + 0.041) / 2)
    assert usps.loss_without_prior == pytest.approx(0.01)
    assert (letter.gap_to_oracle, letter.gain_over_baseline, letter.loss_without_prior) == (None, None, None)


def test_the_report_has_them():
    section = find_experiment("without_prior").section
    text = report_markdown(section(RECORDS))
    cells = "| .940 ± .014 (2) | .973 ± .003 (2) | .961 (1, no interval) | .817 ± .274 (3) | +.033 | +.002 | +.010 |"
    assert f"| USPS | 0.2 {cells}" in text
    assert "| Letter | 0.2 |  | .990 (1, no interval) |  |  |  |  |  |" in text
    page = report_html(section(RECORDS))
    assert "<td>.973 ± .003 (2)</td>" in page
    assert '<a href="#oracle">' in page
    assert section([]) == []
