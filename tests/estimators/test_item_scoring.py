"""Permutation importance of scikit-learn with pairs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance

from confdiff import ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression, Pairs, score_items

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)).astype(np.float32)
RISK = 1 / (1 + np.exp(-2 * X[:, 1]))
PAIRS = Pairs(X, range(60), range(60, 120)).graded_by(RISK)


@pytest.mark.parametrize("estimator", [ConfDiffLogisticRegression(prior=0.5), ConfDiffClassifier(prior=0.5, epochs=3)])
def test_permutation_importance_finds_the_feature_that_matters(estimator):
    estimator.fit(PAIRS)
    result = permutation_importance(estimator, PAIRS.items, PAIRS, scoring=score_items, n_repeats=3, random_state=0)
    assert result.importances.shape == (3, 3)
    assert result.importances_mean.argmax() == 1
    assert score_items(estimator, X, PAIRS) == estimator.score(PAIRS)


def test_items_may_be_a_data_frame():
    frame = pd.DataFrame(X, columns=["age", "risk", "size"])
    pairs = Pairs(frame, range(60), range(60, 120)).graded_by(RISK)
    model = ConfDiffLogisticRegression(prior=0.5).fit(pairs)
    result = permutation_importance(model, frame, pairs, scoring=score_items, n_repeats=2, random_state=0)
    assert frame.columns[result.importances_mean.argmax()] == "risk"


def test_pairs_must_be_pairs():
    model = ConfDiffLogisticRegression(prior=0.5).fit(PAIRS)
    with pytest.raises(ValueError, match="takes Pairs as y; got ndarray"):
        score_items(model, X, np.zeros(60))


@pytest.mark.parametrize("link", ["probability", "preference", "score"])
@pytest.mark.parametrize("estimator", [ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression])
def test_a_single_pair_has_one_difference(estimator, link):
    model = estimator(link=link, prior=0.5 if link == "probability" else None).fit(PAIRS)
    assert model.predict_difference(PAIRS[[0]]).shape == (1,)
    assert model.predict_difference(PAIRS[[0]])[0] == pytest.approx(model.predict_difference(PAIRS)[0], abs=1e-6)
