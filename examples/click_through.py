"""Learn click-through rates of ads from judged differences: numbers, categories and texts in, probabilities out.

Nobody can say how often an ad will be clicked. But experts can say how many points the rates of two ads differ, in
steps of five. The overall rate of clicks is known, and is the class prior.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV

from confdiff import ConfDiffClassifier, ItemFeatures, Pairs

TOPICS = ["travel", "shoes", "insurance", "games"]
DEVICES = ["phone", "tablet", "desktop"]
WORDS = {"free": 0.9, "new": 0.5, "today": 0.4, "sale": 0.7, "best": 0.2, "our": -0.1, "terms": -0.8, "policy": -0.9}


def make_ads(count: int, seed: int) -> tuple[pd.DataFrame, pd.Series]:
    """Return ads with a position, a price, a topic, a device and a headline, and their hidden true rates."""
    rng = np.random.default_rng(seed)
    headlines = [rng.choice(list(WORDS), rng.integers(3, 6), replace=False) for _ in range(count)]
    ads = pd.DataFrame(
        {
            "position": rng.integers(1, 9, count),
            "price": np.where(rng.random(count) < 0.1, np.nan, rng.lognormal(3, 1, count).round(2)),
            "topic": rng.choice(TOPICS, count),
            "device": rng.choice(DEVICES, count),
            "headline": [" ".join(words) for words in headlines],
        },
        index=[f"ad-{seed}-{number}" for number in range(count)],
    )
    score = -0.5 - 0.45 * ads["position"] - 0.3 * np.log(ads["price"].fillna(20) / 20)
    score += ads["topic"].map({"travel": 0.3, "shoes": 0.0, "insurance": -1.2, "games": 0.8})
    score += (ads["device"] == "phone") * np.where(ads["topic"] == "games", 1.0, -0.3)
    score += [sum(WORDS[word] for word in words) for words in headlines]
    return ads, 1 / (1 + np.exp(-score))


def judge(ads: pd.DataFrame, rate: pd.Series, count: int = 1200) -> pd.DataFrame:
    """Return pairs of ads with a noisy difference of their rates, in steps of five points."""
    rng = np.random.default_rng(1)
    left = rng.integers(0, len(ads), count)
    right = (left + rng.integers(1, len(ads), count)) % len(ads)
    perceived = rate.to_numpy()[right] - rate.to_numpy()[left] + rng.normal(0, 0.05, count)
    return pd.DataFrame({"left": ads.index[left], "right": ads.index[right], "c": (perceived * 20).round() / 20})


def main() -> None:
    """Choose a model by cross-validation on the judged pairs, and score 2,000 new ads."""
    ads, rate = make_ads(600, seed=0)
    judged = judge(ads, rate)
    features = ItemFeatures().fit(ads)
    print("columns:", ", ".join(f"{name} ({kind})" for name, kind in features.kinds_.items()))

    pairs = Pairs.from_rows(judged[["left", "right"]], features.transform(ads), judged["c"])
    search = GridSearchCV(
        ConfDiffClassifier(prior=float(rate.mean()), epochs=30),
        [{"model": ["linear"], "weight_decay": [1e-5, 1e-3]}, {"model": ["mlp"]}],
        cv=3,
    ).fit(pairs)
    for setting, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        print(f"{setting}: R² {score:.3f} on held-out pairs")

    new, truth = make_ads(2000, seed=7)
    predicted = pd.Series(search.predict_proba(features.transform(new))[:, 1], index=new.index)
    print(f"\n2,000 new ads: mean absolute error of the rate {np.abs(predicted - truth).mean():.3f}, ", end="")
    print(f"of the constant {rate.mean():.2f}: {np.abs(rate.mean() - truth).mean():.3f}; ", end="")
    print(f"rank correlation {predicted.corr(truth, method='spearman'):.3f}")
    fifths = pd.qcut(predicted, 5, labels=["lowest fifth", "second", "third", "fourth", "highest fifth"])
    print(pd.DataFrame({"predicted": predicted, "true rate": truth}).groupby(fifths, observed=True).mean().round(3))


if __name__ == "__main__":
    main()
