"""Check whether there are enough pairs to hold some out for validation and testing.

The warning that features outnumber the compared items is issued by the fit itself, ``tabular/fitting.py``.
"""

import numpy as np

from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding
from confdiff.tabular.comparisons import Comparisons, split_pairs
from confdiff.tabular.scales import PLAIN_SCALE

HELD_OUT = 0.2
"""Fraction of the pairs that `fit` holds out by default."""


def few_pairs_findings(data: CheckData) -> list[Finding]:
    """Return a finding if the split of `fit` fails on these pairs."""
    judgements = data.judgements
    pairs = Comparisons(
        left=judgements.left,
        right=judgements.right,
        difference=judgements.c.astype(np.float32),
        scale=PLAIN_SCALE,
    )
    try:
        split_pairs(pairs, HELD_OUT, seed=0)
    except ValueError as error:
        message = str(error)
    else:
        return []
    finding = Finding(
        kind="few-pairs",
        severity="warning",
        count=len(judgements),
        text=message[:1].upper() + message[1:],
        action="`fit` stops with an error unless no pairs are held out; then the quality of the model is not measured.",
    )
    return [finding]
