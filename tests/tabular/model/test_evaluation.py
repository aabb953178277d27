"""Models that are compared with labels and judged pairs."""

import json

import numpy as np
import pytest

from confdiff.tabular.model.evaluation import evaluate_labels, evaluate_pairs, write_evaluation
from confdiff.tabular.model.label_measures import measure
from tabular.people import FRAME, RISK, judgements

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")


def test_labels_are_compared_with_probabilities(model, tmp_path):
    labels = (np.random.default_rng(3).random(300) < RISK).astype(float)
    labels[:50] = np.nan
    FRAME.assign(ill=labels).to_parquet(tmp_path / "items.parquet")
    found = evaluate_labels(model, tmp_path / "items.parquet", "ill")
    assert (found.items, found.without_label) == (250, 50)
    assert found.positives == int(np.nansum(labels))
    p = model.predict_proba(FRAME)[50:, 1]
    assert found.accuracy == pytest.approx(np.mean((p >= 0.5) == (labels[50:] == 1)))
    assert found.brier == pytest.approx(np.mean((p - labels[50:]) ** 2), abs=1e-6)
    (tn, fp), (fn, tp) = found.confusion
    assert tn + tp == round(found.accuracy * 250)
    assert tn + fp + fn + tp == 250
    files = write_evaluation(found, tmp_path / "page", "ill")
    assert json.loads(files["numbers"].read_text())["auc"] == found.auc
    assert "data:image/png" in files["page"].read_text()


def test_one_class_has_no_area_under_the_curve():
    found = measure(np.array([0.2, 0.9]), np.array([1.0, 1.0]))
    assert found.auc is None
    assert found.accuracy == 0.5


def test_judged_pairs_are_compared_with_probabilities(model, tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    judgements(FRAME, RISK, seed=9).to_csv(tmp_path / "pairs.csv", index=False)
    found = evaluate_pairs(model, tmp_path / "items.csv", tmp_path / "pairs.csv")
    assert found.pairs == 600
    assert found.pairwise_accuracy > 0.9


def test_labels_of_a_file_without_rows(model, tmp_path):
    FRAME.head(0).assign(ill=[]).to_parquet(tmp_path / "items.parquet")
    with pytest.raises(ValueError, match=r"items\.parquet must have at least one row of data; got none"):
        evaluate_labels(model, tmp_path / "items.parquet", "ill")
