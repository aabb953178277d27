"""Score a model by pairs where scikit-learn exchanges the features of items, as in permutation importance."""

from typing import Any

from confdiff.pairs import Pairs


def score_items(estimator: Any, items: Any, pairs: Pairs) -> float:
    """Return the R² of the differences of pairs whose items have these features.

    It is a scorer of scikit-learn with X the items and y the pairs.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of differences.
    items : array of shape (N, d) or DataFrame
        Features of the items of ``pairs``.
    pairs : Pairs
        Pairs with differences.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.inspection import permutation_importance
    >>> from confdiff import ConfDiffLogisticRegression, Pairs, score_items
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> risk = 1 / (1 + np.exp(-2 * X[:, 0]))  # the second feature does not matter
    >>> pairs = Pairs(X, range(100), range(100, 200)).graded_by(risk)
    >>> model = ConfDiffLogisticRegression(prior=0.5).fit(pairs)
    >>> result = permutation_importance(model, X, pairs, scoring=score_items, random_state=0)
    >>> result.importances_mean.round(1)
    array([2., 0.])
    """
    if not isinstance(pairs, Pairs):
        raise ValueError(f"score_items(estimator, items, pairs) takes Pairs as y; got {type(pairs).__name__}.")
    return float(estimator.score(pairs.with_items(items, pairs.feature_names)))
