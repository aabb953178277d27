"""Risk of patients from doctors who only compare them: data frames in, probabilities out.

A table of patients by id, and a table of comparisons: how much higher is the second patient's risk than the first's?
"""

import numpy as np
import pandas as pd

from confdiff import ConfDiffClassifier, ItemTransformer, Pairs


def make_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """500 patients, 1,000 comparisons, and the true risks, which nobody told the learner."""
    chance = np.random.default_rng(0)
    patients = pd.DataFrame(
        {"age": chance.integers(20, 90, 500), "pressure": chance.normal(130, 20, 500)},
        index=[f"P{number:03d}" for number in range(500)],
    )
    risk = 1 / (1 + np.exp(-((patients["age"] - 60) / 12 + (patients["pressure"] - 130) / 25)))
    comparisons = pd.DataFrame(chance.choice(patients.index, (1000, 2)), columns=["first", "second"])
    difference = risk[comparisons["second"]].to_numpy() - risk[comparisons["first"]].to_numpy()
    comparisons["higher_by"] = (difference * 10).round() / 10  # doctors speak in steps of ten points
    return patients, comparisons, risk


def main() -> None:
    """Learn from 800 comparisons, check on 200 others, and predict."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    patients, comparisons, risk = make_tables()
    pairs = Pairs.from_rows(comparisons[["first", "second"]], patients, comparisons["higher_by"])
    model = make_pipeline(
        ItemTransformer(StandardScaler()), ConfDiffClassifier(prior=0.45, model="linear", learning_rate=0.05)
    )
    model.fit(pairs[:800])
    print(f"differences explained, held-out comparisons: {model.score(pairs[800:]):.3f}")
    predicted = model.predict_proba(patients)[:, 1]
    print(f"mean error of the risk, all patients:        {np.abs(predicted - risk).mean():.3f}")
    print(patients.assign(risk=predicted.round(2)).head(3))


if __name__ == "__main__":
    main()
