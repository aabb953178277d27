"""Patients whose risk is known, and doctors who compare them."""

import numpy as np
import pandas as pd


def people(n=300, seed=0):
    """Patients with numbers, a category and a missing value here and there; and the risk of each."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(60, 10, n).round(1),
            "ward": rng.choice(["A", "B", "C"], n),
            "pressure": np.where(rng.random(n) < 0.1, np.nan, rng.normal(120, 15, n).round()),
        },
        index=pd.Index([f"P{i}" for i in range(n)], name="id"),
    )
    pressure = frame["pressure"].fillna(120)
    score = (frame["age"] - 60) / 4 + (pressure - 120) / 8 + (frame["ward"] == "A") * 2 - 0.7
    return frame, 1 / (1 + np.exp(-score.to_numpy()))


def judgements(frame, risk, n=600, seed=1):
    """Pairs of different patients with the difference of their risks."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, len(frame), n)
    right = (left + rng.integers(1, len(frame), n)) % len(frame)
    ids = frame.index.to_numpy()
    return pd.DataFrame({"left": ids[left], "right": ids[right], "difference": risk[right] - risk[left]})


FRAME, RISK = people()
JUDGED = judgements(FRAME, RISK)
