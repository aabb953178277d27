"""Cheap models that predict differences for answers that they were not fitted to: a linear model, and few trees."""

from collections.abc import Callable
from typing import Any

from confdiff.pairs import Pairs
from confdiff.pairs.sparse import SparseItems

Probe = Callable[[Pairs, int], Any]
"""Pairs and a seed -> an unfitted estimator with differences in the units of the answers."""
_MOST_TREE_FEATURES = 5_000


def _linear_probe(pairs: Pairs, seed: int) -> Any:
    from sklearn.model_selection import KFold

    from confdiff.estimators.logistic import ConfDiffLogisticRegression

    return ConfDiffLogisticRegression(
        link="score",
        C="auto",
        standardise=not isinstance(pairs.items, SparseItems),
        cv=KFold(3, shuffle=True, random_state=0),
    )


def _tree_probe(pairs: Pairs, seed: int) -> Any:
    from confdiff.estimators.boosting import ConfDiffBoosting

    return ConfDiffBoosting(link="score", n_folds=1, max_iter=150, n_iter_no_change=10, random_state=seed)


PROBES: dict[str, Probe] = {"linear": _linear_probe, "trees": _tree_probe}
"""The probes by name."""


def suits(probe: str, pairs: Pairs) -> bool:
    """Return whether a probe takes the items of pairs; one of the two always does."""
    is_wide = pairs.items.shape[1] > _MOST_TREE_FEATURES
    has_missing = pairs.allow_missing and not isinstance(pairs.items, SparseItems) and bool(pairs.items.isnan().any())
    return not is_wide if probe == "trees" else not has_missing
