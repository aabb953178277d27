import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from confdiff import ConfDiffClassifier, PcompClassifier
from confdiff.methods import METHODS
from confdiff.pairs import order_by_labels
from easy import easy_pairs

ORDERED = [name for name, method in METHODS.items() if method.learns_from == "order"]


def quick(**options):
    return PcompClassifier(**({"prior": 0.5, "model": "linear", "epochs": 40, "learning_rate": 0.05} | options))


@pytest.mark.parametrize("method", ORDERED)
def test_every_ordered_method_learns(method):
    pairs = order_by_labels(easy_pairs())
    model = quick(method=method).fit(pairs)
    truth = np.where(pairs.posteriors > 0.5, 1, -1)
    assert (model.predict(pairs.items.numpy()) == truth).mean() > 0.85
    assert model.predict_proba(pairs.items.numpy()).shape == (300, 2)


def test_the_device_reaches_training():
    pairs = order_by_labels(easy_pairs())
    model = quick(device="cpu", epochs=1).fit(pairs)
    assert {parameter.device.type for parameter in model.model_.parameters()} == {"cpu"}
    with pytest.raises(ValueError, match="device 'abacus' is not available; pass device='auto'"):
        quick(device="abacus").fit(pairs)


def test_forms_agree_and_the_order_has_an_effect():
    pairs = order_by_labels(easy_pairs())
    items, rows = pairs.items.numpy(), np.stack([pairs.left, pairs.right], axis=1)
    by_pairs = quick().fit(pairs).decision_function(items)
    assert (quick().fit(rows, items=items).decision_function(items) == by_pairs).all()
    assert (quick().fit(items[rows]).decision_function(items) == by_pairs).all()
    turned = quick().fit(rows[:, ::-1], items=items).decision_function(items)
    assert np.corrcoef(turned, by_pairs)[0, 1] < -0.5


def test_score_is_the_pairwise_accuracy():
    pairs = order_by_labels(easy_pairs())
    model = quick().fit(pairs)
    g = model.decision_function(pairs.items.numpy())
    assert model.score(pairs) == pytest.approx((g[pairs.left] > g[pairs.right]).mean())
    weight = np.arange(len(pairs)) < 50
    assert model.score(pairs, sample_weight=weight) == pytest.approx((g[pairs.left] > g[pairs.right])[:50].mean())
    assert cross_val_score(quick(), pairs, cv=3).mean() > 0.6


def test_parameters_and_errors():
    assert clone(quick(method="pcomp-abs")).get_params()["method"] == "pcomp-abs"
    pairs = order_by_labels(easy_pairs())
    with pytest.raises(ValueError, match="ordered pairs have no differences"):
        quick().fit(pairs, pairs.difference)
    with pytest.raises(
        ValueError,
        match="or order and same; got method='confdiff-abs', which learns from differences",
    ):
        quick(method="confdiff-abs").fit(pairs)
    with pytest.raises(ValueError, match="got method='pcomp-abs', which learns from order"):
        ConfDiffClassifier("pcomp-abs", prior=0.5).fit(pairs)
    with pytest.raises(ValueError, match="needs the class prior"):
        PcompClassifier().fit(pairs)
