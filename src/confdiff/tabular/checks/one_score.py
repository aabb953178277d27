"""How far one score per item explains the differences."""

from dataclasses import dataclass

import numpy as np

from confdiff.tabular.checks.findings import Finding
from confdiff.tabular.checks.graph import Floats, Judgements, parts_of

POOR = 0.3  # share of the differences that scores explain


@dataclass(frozen=True)
class OneScore:
    """How far c ~ s(right) - s(left) holds with one number s for each item (HodgeRank: Jiang, Lim, Yao and Ye 2011).

    r_squared: the share of the sum of squares of c that is explained. spare: how many judgements there are beyond those
    that any scores would fit. adjusted: r_squared with both sums divided by their degrees of freedom; None without any.
    """

    r_squared: float
    spare: int
    adjusted: float | None


def fitted_scores(judged: Judgements, *, precision: float = 1e-8) -> Floats:
    """(N,) the scores of least squares, weighted; of all such the ones of least size, so 0 for items in no pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import lsqr

    root, rows = np.sqrt(judged.weight), np.arange(len(judged))
    places = np.concatenate([rows, rows]), np.concatenate([judged.left, judged.right])
    incidence = coo_array((np.concatenate([-root, root]), places), shape=(len(judged), judged.n_items)).tocsr()
    limits = {"atol": precision, "btol": precision, "iter_lim": 2000}
    scores: Floats = lsqr(incidence, root * judged.c, **limits)[0]
    return scores


def explained(judged: Judgements, scores: Floats) -> OneScore | None:
    """How much of the differences these scores explain; None where all differences are 0."""
    total = float(judged.weight @ judged.c**2)
    if total == 0:
        return None
    left = float(judged.weight @ (judged.c - scores[judged.right] + scores[judged.left]) ** 2) / total
    parts = parts_of(judged.left, judged.right, judged.n_items)
    spare = len(judged) - int((parts >= 0).sum()) + int(parts.max()) + 1
    return OneScore(1 - left, spare, 1 - left * len(judged) / spare if spare else None)


def score_findings(found: OneScore | None, pairs: int) -> list[Finding]:
    """Differences that one score per item does not explain, or that cannot be held against each other at all."""
    if found is None:
        return []
    if found.adjusted is None:
        text = "No pair can be held against others: no chain of pairs closes, and none is judged twice."
        return [Finding("no-spare-pairs", "note", pairs, (), text, "Judge some pairs twice, or close some chains.")]
    if found.adjusted >= POOR:
        return []
    text = f"One score per item explains {max(0, found.adjusted):.0%} of the differences, beyond what chance would."
    action = "`fit` finds the scores that fit best: expect that its order is often wrong."
    return [Finding("one-score", "mind", pairs, (), text, action)]
