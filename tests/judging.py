"""Judged pairs with known answers, and what a check found about them."""

import itertools

import numpy as np
import pandas as pd

from confdiff.tabular.checks.graph import Judgements


def judged(*pairs, n_items=None, weight=None):
    """Judgements from (left, right, c)."""
    left, right, c = (np.array(column) for column in zip(*pairs, strict=True))
    n_items = n_items or int(max(left.max(), right.max())) + 1
    weight = np.ones(len(left)) if weight is None else np.array(weight, dtype=float)
    return Judgements(
        n_items=n_items,
        rows=np.arange(len(left)),
        left=left,
        right=right,
        c=c.astype(float),
        weight=weight,
    )


def clean(n_items=40, n_pairs=400, seed=0):
    """Items and pairs with exact differences of posteriors, about which there is nothing to say."""
    rng = np.random.default_rng(seed)
    r = rng.uniform(0, 1, n_items)
    left = np.concatenate([np.arange(n_items), rng.integers(0, n_items, n_pairs - n_items)])
    right = (left + np.concatenate([np.ones(n_items, int), rng.integers(1, n_items, n_pairs - n_items)])) % n_items
    keep = ~pd.DataFrame({"u": np.minimum(left, right), "v": np.maximum(left, right)}).duplicated().to_numpy()
    left, right = left[keep], right[keep]
    items = pd.DataFrame({"feature": r, "other": rng.normal(size=n_items)}, index=[f"i{k}" for k in range(n_items)])
    names = items.index.to_numpy()
    return items, pd.DataFrame({"left": names[left], "right": names[right], "difference": r[right] - r[left]})


def crowd(n_items=12, seed=0, **ways):
    """Each annotator judges every pair of items, in his or her own way of the exact difference."""
    rng = np.random.default_rng(seed)
    r = rng.permutation(np.linspace(0, 1, n_items))
    rows = []
    for name, way in ways.items():
        for a, b in itertools.combinations(range(n_items), 2):
            left, right = (a, b) if rng.random() < 0.5 else (b, a)
            c = np.clip(way(r[right] - r[left]), -1, 1)
            rows.append((f"i{left}", f"i{right}", c, name))
    items = pd.DataFrame({"r": r}, index=[f"i{k}" for k in range(n_items)])
    return items, pd.DataFrame(rows, columns=["left", "right", "difference", "annotator"])


def exact(c):
    return c


def kinds(report, severity=None):
    return [finding.kind for finding in report.findings if severity in (None, finding.severity)]


def the(report, kind):
    (finding,) = [finding for finding in report.findings if finding.kind == kind]
    return finding
