"""Our methods between ConfDiff-ABS and the oracle, told the prior and not."""

import pytest

from confdiff.experiments.findings import Findings
from confdiff.experiments.markdown import as_markdown
from confdiff.experiments.oracles import oracle_rows
from confdiff.experiments.report import as_html


def trial(method, seed, accuracy, dataset="usps", **options):
    return {
        "key": f"{dataset} {method} {seed} {options}", "dataset": dataset, "prior": 0.2, "protocol": "authors",
        "seed": seed, "method": method, "epochs": 200, "accuracy": accuracy, "seconds": 1.0, "curve": [], **options,
    }  # fmt: skip


RECORDS = [
    trial("confdiff-abs", 0, 0.95), trial("confdiff-abs", 1, 0.93),
    trial("oracle-soft", 0, 0.98), trial("oracle-soft", 1, 0.97), trial("oracle-soft", 2, 0.5),
    trial("confdiff-regression", 0, 0.975), trial("confdiff-regression", 1, 0.971),
    trial("confdiff-regression", 1, 0.961, prior_is_told=False),
    trial("confdiff-regression", 0, 0.1, noise="labels"), trial("confdiff-regression", 0, 0.99, dataset="letter"),
]  # fmt: skip


def test_differences_are_over_the_seeds_that_both_have():
    usps, letter = oracle_rows(RECORDS)
    assert (usps.dataset, letter.dataset) == ("usps", "letter")
    assert usps.below_oracle == pytest.approx((0.005 - 0.001) / 2)
    assert usps.above_baseline == pytest.approx((0.025 + 0.041) / 2)
    assert usps.lost_without_prior == pytest.approx(0.01)
    assert (letter.below_oracle, letter.above_baseline, letter.lost_without_prior) == (None, None, None)


def test_the_report_has_them():
    rows = oracle_rows(RECORDS)
    text = as_markdown(Findings(oracles=rows))
    cells = "| .940 ± .014 (2) | .973 ± .003 (2) | .961 (1) | .817 ± .274 (3) | +.033 | +.002 | +.010 |"
    assert f"| USPS | 0.2 {cells}" in text
    assert "| Letter | 0.2 |  | .990 (1) |  |  |  |  |  |" in text
    page = as_html(Findings(oracles=rows))
    assert "<td>.973 ± .003 (2)</td>" in page
    assert '<a href="#oracle">' in page
    assert "Between ConfDiff-ABS" not in as_markdown(Findings())
