"""The rules of the verdicts, and the texts that state them."""

import pytest

from confdiff.experiments.plans.printed import Printed
from confdiff.experiments.plans.verdicts import AGREEMENT_TEXT, SIGNIFICANCE_TEXT, claim_verdict, table_verdict
from confdiff.experiments.statistics import Paired, Trials


@pytest.mark.parametrize(
    ("accuracies", "mean", "std", "verdict"),
    [
        ((0.95, 0.95, 0.95), 0.959, 0.0, "within"),  # .01
        ((0.95, 0.95, 0.95), 0.961, 0.0, "below"),
        ((0.95, 0.95, 0.95), 0.939, 0.0, "above"),
        ((0.95, 0.95, 0.95), 0.970, 0.011, "within"),  # two printed deviations
        ((0.93, 0.95, 0.97), 0.985, 0.0, "within"),  # two of ours
        ((0.93, 0.95, 0.97), 0.991, 0.0, "below"),
        ((0.93, 0.95, 0.97), 0.995, 0.015, "within"),  # both combined are .025: twice that is more than .045
        ((0.93, 0.95, 0.97), 1.001, 0.015, "below"),  # and less than .051
        ((0.95, 0.95), 0.95, 0.0, ""),  # too few trials
    ],
)
def test_verdicts_on_cells(accuracies, mean, std, verdict):
    trials = Trials(dict(enumerate(accuracies)))
    printed = Printed("table2", "usps", 0.5, "confdiff-abs", "accuracy", mean, std)
    assert table_verdict(trials, printed, epochs=200) == verdict
    assert table_verdict(trials, printed, epochs=50) == ""  # not the paper's
    assert table_verdict(trials, None, epochs=200) == ""


@pytest.mark.parametrize(
    ("difference", "p_value", "expected", "verdict"),
    [
        (0.02, 0.01, ("above",), "holds"),
        (0.02, 0.2, ("above",), "not clear"),
        (-0.02, 0.01, ("above",), "does not hold"),
        (-0.02, 0.01, ("below",), "holds"),
        (0.01, 0.01, ("similar",), "holds"),  # significant, but within the tolerance
        (0.02, 0.2, ("similar",), "not clear"),
        (0.02, 0.01, ("similar",), "does not hold"),
        (-0.005, 0.01, ("above", "similar"), "holds"),
        (0.0, None, ("similar",), ""),  # no test
    ],
)
def test_verdicts_on_claims(difference, p_value, expected, verdict):
    assert claim_verdict(Paired(difference, seeds=5, p_value=p_value), expected) == verdict


def test_the_texts_state_the_rules():
    assert AGREEMENT_TEXT == "within two combined standard deviations or .01"
    assert SIGNIFICANCE_TEXT == "5 % level"
