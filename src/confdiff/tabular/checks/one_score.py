"""Check how much of the differences one score per item explains (HodgeRank: Jiang, Lim, Yao and Ye 2011)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding
from confdiff.tabular.checks.graph import Judgements, components_of

_Floats = NDArray[np.float64]
_POOR = 0.3  # adjusted R²


@dataclass(frozen=True)
class OneScore:
    """Fit of c ~ s(right) - s(left) with one number s per item.

    Attributes
    ----------
    r2 : float
        Fraction of the sum of squares of c that the scores explain.
    degrees_of_freedom : int
        Residual degrees of freedom of the fit.
    adjusted_r2 : float or None
        R² with both sums divided by their degrees of freedom; None without residual degrees of freedom.
    """

    r2: float
    degrees_of_freedom: int
    adjusted_r2: float | None


def measure_one_score(data: CheckData) -> OneScore | None:
    """Measure how much of the differences one score per item explains; None if all differences are 0."""
    return explained_by(data.judgements, fitted_scores(data.judgements))


def fitted_scores(judgements: Judgements, *, precision: float = 1e-8) -> _Floats:
    """Return the scores of the weighted least-squares fit with the smallest norm.

    Parameters
    ----------
    judgements : Judgements
        n judgements of N items.
    precision : float
        Relative tolerance of the solver.

    Returns
    -------
    ndarray, shape (N,)
        Scores; 0 for items that occur in no pair.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import lsqr

    root = np.sqrt(judgements.weight)
    rows = np.arange(len(judgements))
    entries = np.concatenate([-root, root])
    positions = np.concatenate([rows, rows]), np.concatenate([judgements.left, judgements.right])
    incidence = coo_array((entries, positions), shape=(len(judgements), judgements.n_items)).tocsr()
    scores: _Floats = lsqr(incidence, root * judgements.c, atol=precision, btol=precision, iter_lim=2000)[0]
    return scores


def explained_by(judgements: Judgements, scores: _Floats) -> OneScore | None:
    """Measure how much of the differences given scores explain; None if all differences are 0."""
    total = float(judgements.weight @ judgements.c**2)
    if total == 0:
        return None
    residual = judgements.c - scores[judgements.right] + scores[judgements.left]
    unexplained = float(judgements.weight @ residual**2) / total
    components = components_of(judgements.left, judgements.right, judgements.n_items)
    free = len(judgements) - int((components >= 0).sum()) + int(components.max()) + 1
    return OneScore(
        r2=1 - unexplained,
        degrees_of_freedom=free,
        adjusted_r2=1 - unexplained * len(judgements) / free if free else None,
    )


def one_score_findings(data: CheckData, measure: OneScore | None) -> list[Finding]:
    """Return a finding if one score per item explains little, or if that cannot be checked."""
    if measure is None:
        return []
    if measure.adjusted_r2 is None:
        return [_not_checkable(len(data.judgements))]
    return [_poor_fit(len(data.judgements), measure.adjusted_r2)] if measure.adjusted_r2 < _POOR else []


def _not_checkable(n_pairs: int) -> Finding:
    return Finding(
        kind="no-cycles",
        severity="note",
        count=n_pairs,
        text="No judgement can be checked against others: no pair was judged twice, and the graph has no cycle.",
        action="Judge some pairs twice, or add pairs that close a cycle.",
    )


def _poor_fit(n_pairs: int, adjusted_r2: float) -> Finding:
    return Finding(
        kind="one-score",
        severity="warning",
        count=n_pairs,
        text=f"One score per item explains {max(0, adjusted_r2):.0%} of the differences (adjusted R²).",
        action="`fit` finds the scores that fit best: expect a low pairwise accuracy.",
    )
