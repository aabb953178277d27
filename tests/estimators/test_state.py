"""Classifiers that are saved as plain values and tensors, and restored."""

import json

import numpy as np
import pytest
import torch

from confdiff.estimators import ConfDiffClassifier, PcompClassifier
from easy import easy_pairs

PAIRS = easy_pairs()
ITEMS = PAIRS.items.numpy()


def through_json(state):
    weights = state.pop("weights")
    return json.loads(json.dumps(state)) | {"weights": weights}


@pytest.mark.parametrize(
    "classifier",
    [
        ConfDiffClassifier(model="linear", prior=0.4, epochs=2, calibrated=True),
        ConfDiffClassifier(model="mlp", prior=0.4, epochs=1, target_prior=0.2, classes=["low", "high"]),
        ConfDiffClassifier(model="linear", prior=0.4, epochs=1, classes=[0, "high"]),
        PcompClassifier(model="linear", prior=0.4, epochs=1),
    ],
)
def test_predictions_come_back(classifier):
    classifier.fit(PAIRS)
    restored = type(classifier).from_state(through_json(classifier.to_state()))
    np.testing.assert_array_equal(restored.predict_proba(ITEMS), classifier.predict_proba(ITEMS))
    np.testing.assert_array_equal(restored.predict(ITEMS), classifier.predict(ITEMS))
    assert restored.classes_.tolist() == classifier.classes_.tolist()
    assert (restored.prior_, restored.n_iter_) == (classifier.prior_, classifier.n_iter_)


def test_the_names_of_features_come_back():
    frame = pytest.importorskip("pandas").DataFrame(ITEMS, columns=["a", "b", "c"])
    rows = np.stack([PAIRS.left, PAIRS.right], axis=1)
    classifier = ConfDiffClassifier(model="linear", prior=0.5, epochs=1).fit(rows, PAIRS.difference, items=frame)
    restored = ConfDiffClassifier.from_state(classifier.to_state())
    np.testing.assert_array_equal(restored.predict_proba(frame), classifier.predict_proba(frame))
    with pytest.raises(ValueError, match="feature names"):
        restored.predict_proba(frame.rename(columns={"a": "z"}))


def test_many_classes_come_back():
    rng = np.random.default_rng(0)
    posteriors = rng.dirichlet(np.ones(3), size=100)
    pairs = rng.normal(size=(50, 2, 3))
    classifier = ConfDiffClassifier(model="linear", prior=[0.2, 0.3, 0.5], epochs=1)
    classifier.fit(pairs, posteriors[50:] - posteriors[:50])
    restored = ConfDiffClassifier.from_state(through_json(classifier.to_state()))
    np.testing.assert_array_equal(restored.predict_proba(pairs[:, 0]), classifier.predict_proba(pairs[:, 0]))


def test_what_cannot_be_saved_or_restored():
    own = ConfDiffClassifier(model=torch.nn.Linear(3, 1), prior=0.5, epochs=1).fit(PAIRS)
    with pytest.raises(ValueError, match=r"only classifiers with a network from the table of models can be saved"):
        own.to_state()
    state = ConfDiffClassifier(model="linear", prior=0.5, epochs=1).fit(PAIRS).to_state()
    with pytest.raises(ValueError, match="the weights of a 'mlp' network do not fit"):
        ConfDiffClassifier.from_state(state | {"model": "mlp"})
    with pytest.raises(ValueError, match="unknown network 'cnn'"):
        ConfDiffClassifier.from_state(state | {"model": "cnn"})


def test_a_target_prior_of_numpy_is_restored():
    fitted = ConfDiffClassifier(model="linear", prior=0.5, epochs=1, target_prior=np.float64(0.3)).fit(PAIRS)
    assert ConfDiffClassifier.from_state(fitted.to_state()).target_prior == 0.3
