"""Score answers from the preferences of LLM judges: JSON lines with chosen, rejected and margin in and out.

`confdiff label judge` asks LLMs itself. This example begins with preferences that were collected elsewhere.
Two simulated judges compare answers to the same question and say which is better, and by how many points from 0 to 10.
The model scores single answers, also to new questions, and gives every preference a margin without the judges' noise.
"""

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from confdiff import fit_comparisons
from confdiff.tabular.formats.exporting import export_judgements
from confdiff.tabular.formats.importing import import_judgements

TOPICS = ["tides", "inflation", "vaccines", "compilers", "glaciers", "sleep", "bridges", "yeast"]
PHRASES = {
    "here is why, step by step": 1.2,
    "for example": 0.8,
    "the evidence shows": 1.0,
    "in short": 0.3,
    "as everyone knows": -0.6,
    "it just works that way": -1.1,
    "i cannot say": -1.5,
    "to be honest": -0.3,
}


def make_answers(count: int, seed: int) -> pd.DataFrame:
    """Return answers to questions on eight topics, and their quality from 0 to 1."""
    rng = np.random.default_rng(seed)
    topics = rng.choice(TOPICS, count)
    contents = [rng.choice(list(PHRASES), rng.integers(2, 6), replace=False) for _ in range(count)]
    texts = [f"on {topic}: " + "; ".join(phrases) for topic, phrases in zip(topics, contents, strict=True)]
    score = np.array([sum(PHRASES[phrase] for phrase in phrases) for phrases in contents])
    return pd.DataFrame({"topic": topics, "text": texts, "quality": 1 / (1 + np.exp(-1.5 * score))})


def write_judged(path: Path, answers: pd.DataFrame, count: int = 1200) -> None:
    """Write one line per preference, as such files have it: the better answer is always `chosen`."""
    rng = np.random.default_rng(1)
    with path.open("w", encoding="utf-8") as file:
        while count:
            topic = rng.choice(TOPICS)
            first, second = answers[answers["topic"] == topic].sample(2, random_state=rng).itertuples()
            points = round(10 * (first.quality - second.quality) + rng.normal(0, 2))
            better, worse = (first, second) if points > 0 else (second, first)
            if better.text != worse.text:
                line = {"prompt": f"Explain {topic}.", "chosen": better.text, "rejected": worse.text}
                line |= {"margin": min(abs(points), 10), "judge": f"judge-{count % 2}"}
                file.write(json.dumps(line) + "\n")
                count -= 1


def main() -> None:
    """Read preferences, learn from them, score the answers and write the result."""
    with tempfile.TemporaryDirectory() as folder:
        judged = Path(folder) / "judged.jsonl"
        scored = Path(folder) / "scored.jsonl"
        write_judged(judged, make_answers(400, seed=0))

        imported = import_judgements(judged)
        items, pairs = imported.items, imported.pairs
        model = fit_comparisons(items, pairs, model="linear", link="probability")
        score = pd.Series(model.predict_proba(items)[:, 1], index=items["id"])
        learned = score[pairs["right"]].to_numpy() - score[pairs["left"]].to_numpy()
        export_judgements(scored, items, pairs | {"difference": learned}, format="trl")

        print("judged:", judged.read_text().splitlines()[0])
        print("scored:", scored.read_text().splitlines()[0])
    assert model.validation is not None  # pairs are held out by default
    test = model.validation.test
    print(f"\n{len(pairs['left']):,} preferences among {len(items['id'])} answers; ", end="")
    print(f"pairwise accuracy {test.pairwise_accuracy:.1%} on {test.pairs} held-out ones")
    for warning in model.about.warnings:
        print("warning:", warning)
    new = make_answers(500, seed=2)
    new["score"] = model.predict_proba(new)[:, 1]
    print(f"500 new answers: rank correlation with true quality {new['score'].corr(new['quality'], 'spearman'):.3f}")
    print(new.sort_values("score")[["score", "quality", "text"]].iloc[[0, 250, -1]].round(2).to_string(index=False))


if __name__ == "__main__":
    main()
