"""Risk of a disease from doctors who only compare patients: data frames in, probabilities out.

The patients are those of scikit-learn's breast-cancer data. No doctor is asked how likely a tumour is malignant; they
are shown two patients and say on a scale from -3 to 3 how much more likely that is of the second one. Each has a bias
towards one side, a use of the scale of their own, and makes mistakes. Every pair is shown to two of six doctors.
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
    """600 pairs, each judged by two of the doctors. What they know of a patient is a risk, not the diagnosis."""
    chance = np.random.default_rng(seed)
    risk = cross_val_predict(by_labels(), patients, ill, method="predict_proba")[:, 1]
    first = np.repeat(chance.integers(0, len(patients), 600), 2)
    second = (first + np.repeat(chance.integers(1, len(patients), 600), 2)) % len(patients)
    doctor = np.concatenate([chance.choice(DOCTORS, 2, replace=False) for _ in range(600)])
    bias, reach = chance.normal(0, 0.05, DOCTORS), chance.uniform(0.7, 1.3, DOCTORS)
    felt = reach[doctor] * (risk[second] - risk[first]) + bias[doctor] + chance.normal(0, 0.15, len(doctor))
    said = np.clip(np.round(3 * felt), -3, 3).astype(int)
    ids = patients.index.to_numpy()
    return pd.DataFrame({"first": ids[first], "second": ids[second], "rating": said, "rater": doctor})


def by_labels() -> Any:
    """Logistic regression, which must be told who is ill."""
    return make_pipeline(StandardScaler(), LogisticRegression())


def main() -> None:
    """Learn from 1,200 judgements, and compare with what a model learns that is told every diagnosis."""
    data = load_breast_cancer(as_frame=True)
    everyone, ill = data.data.rename(index="P{:03d}".format), 1 - data.target.rename(index="P{:03d}".format)
    patients, others, known, truth = train_test_split(everyone, ill, test_size=0.3, random_state=0)
    judged = make_judgements(patients, known)
    print(judged.head(3), "\n")

    model = fit_comparisons(patients, judged)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "risk-model")
        model = load_model(Path(folder) / "risk-model")
    held_out = model.about["validation"]["judged"]
    print(f"order of {held_out['pairs']} held-out judgements: {held_out['order']:.1%} right\n")

    learned = {
        "1,200 comparisons": model.predict_proba(others)[:, 1],
        f"{len(known)} diagnoses": by_labels().fit(patients, known).predict_proba(others)[:, 1],
    }
    print(f"{len(others)} other patients   accuracy    AUC  calibration error")
    for name, p in learned.items():
        print(f"{name:20s} {accuracy_score(truth, p > 0.5):10.3f} {roc_auc_score(truth, p):6.3f}", end=" ")
        print(f"{calibration_error(p, truth.to_numpy()):18.3f}")
    print("\nWho is at higher risk is learned as well as from diagnoses; how high, from how doctors use the scale.")


if __name__ == "__main__":
    main()
