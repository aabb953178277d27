"""Learn the risk of a disease from doctors who only compare patients: data frames in, probabilities out.

The patients are those of scikit-learn's breast-cancer data. No doctor is asked how likely a tumour is malignant. They
see two patients and grade from -3 to 3 how much more likely that is for the second one. Every doctor has a side bias,
an individual use of the scale, and noise. Every pair is shown to two of six doctors.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from confdiff import fit_comparisons, load_model
from confdiff.metrics import calibration_error

DOCTORS = 6


def make_judgements(patients: pd.DataFrame, ill: pd.Series, seed: int = 0) -> pd.DataFrame:
    """Return 600 pairs with grades from two doctors each. Doctors see the risk of a patient, not the diagnosis."""
    rng = np.random.default_rng(seed)
    risk = cross_val_predict(by_labels(), patients, ill, method="predict_proba")[:, 1]
    first = np.repeat(rng.integers(0, len(patients), 600), 2)
    second = (first + np.repeat(rng.integers(1, len(patients), 600), 2)) % len(patients)
    doctor = np.concatenate([rng.choice(DOCTORS, 2, replace=False) for _ in range(600)])
    bias = rng.normal(0, 0.05, DOCTORS)
    scale = rng.uniform(0.7, 1.3, DOCTORS)
    perceived = scale[doctor] * (risk[second] - risk[first]) + bias[doctor] + rng.normal(0, 0.15, len(doctor))
    grade = np.clip(np.round(3 * perceived), -3, 3).astype(int)
    ids = patients.index.to_numpy()
    return pd.DataFrame({"first": ids[first], "second": ids[second], "rating": grade, "rater": doctor})


def by_labels() -> Any:
    """Return logistic regression, which needs the diagnoses."""
    return make_pipeline(StandardScaler(), LogisticRegression())


def main() -> None:
    """Learn from 1,200 judgements, and compare with a model that learns from every diagnosis."""
    data = load_breast_cancer(as_frame=True)
    everyone = data.data.rename(index="P{:03d}".format)
    ill = 1 - data.target.rename(index="P{:03d}".format)
    patients, others, diagnoses, truth = train_test_split(everyone, ill, test_size=0.3, random_state=0)
    judged = make_judgements(patients, diagnoses)
    print(judged.head(3), "\n")

    model = fit_comparisons(patients, judged, link="probability")  # the doctors compared risks
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "risk-model")
        model = load_model(Path(folder) / "risk-model")
    assert model.validation is not None  # pairs are held out by default
    test = model.validation.test
    print(f"pairwise accuracy on {test.pairs} held-out judgements: {test.pairwise_accuracy:.1%}\n")

    predictions = {
        "1,200 comparisons": model.predict_proba(others)[:, 1],
        f"{len(diagnoses)} diagnoses": by_labels().fit(patients, diagnoses).predict_proba(others)[:, 1],
    }
    print(f"{len(others)} other patients   accuracy    AUC  calibration error")
    for name, p in predictions.items():
        print(f"{name:20s} {accuracy_score(truth, p > 0.5):10.3f} {roc_auc_score(truth, p):6.3f}", end=" ")
        print(f"{calibration_error(p, truth.to_numpy()):18.3f}")
    print("\nThe ranking is as good as from diagnoses. The probabilities depend on how doctors use the scale.")


if __name__ == "__main__":
    main()
