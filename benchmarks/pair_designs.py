"""Compare pair designs on simulated annotators: balanced, random, and pairs of uncertain items.

``spambase``
    1,000 e-mails are compared, the others are the test set. The posteriors of trees, cross-fitted to labels, are the
    truth. Measures: pairwise accuracy on random test pairs (the truth orders them), and accuracy on the labels.
``ukpconvarg1``
    The arguments of 24 topics are compared; the test pairs are the real votes about the arguments of 8 other topics.
    The truth of the simulated annotators is one score per argument, learned from all votes.
``ranking``
    200 items without features: each has a score of its own. The truth is uniform, and all pairs are the test pairs.

Five annotators share the questions: scales .35-1.5, standard deviation of side biases .2, noise .05-.5, seven points.
All designs have the same items, annotators and test pairs. ``uncertain`` starts with half of the balanced questions;
then the model is fitted twice, and each time a quarter of the questions is about pairs of uncertain items.
Differences from balanced are paired over seeds, with 95 % t intervals. Needs the data sets (CONFDIFF_DATA).
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

from confdiff import ConfDiffBoosting, ConfDiffLogisticRegression, ItemFeatures, Pairs, use_threads
from confdiff.datasets import load
from confdiff.labelling.design.planning import plan_design
from confdiff.labelling.design.uncertain import uncertain_pairs
from confdiff.metrics import pairwise_accuracy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BUDGETS = (150, 400, 1000)
DESIGNS = ("balanced", "random", "uncertain")
N_ANNOTATORS = 5
POOL = 1000
N_RANKED = 200
TEST_TOPICS = 8
LEARNERS: dict[str, Callable[..., Any]] = {
    "boosting": ConfDiffBoosting,
    "linear": lambda **options: ConfDiffLogisticRegression(C="auto", standardise=True, **options),
}


@dataclass(frozen=True)
class Study:
    """Hold items to compare, and what measures a model of them."""

    items: Any
    truth: Floats
    prior: float | None
    measures: dict[str, Callable[[Any], float]]


class Annotators:
    """Judge pairs with own scales, side biases and noise."""

    def __init__(self, truth: Floats, rng: np.random.Generator) -> None:
        self.truth = truth
        self.rng = rng
        self.scale = rng.uniform(0.35, 1.5, N_ANNOTATORS)
        self.bias = rng.normal(0, 0.2, N_ANNOTATORS)
        self.noise = rng.uniform(0.05, 0.5, N_ANNOTATORS)

    def judge(self, pairs: Ints) -> Floats:
        """Return differences on seven points; the annotators take turns, and sides are tossed."""
        who = np.arange(len(pairs)) % N_ANNOTATORS
        side = self.rng.choice([-1, 1], len(pairs))
        d = self.truth[pairs[:, 1]] - self.truth[pairs[:, 0]]
        errors = self.rng.normal(0, self.noise[who])
        answers: Floats = np.round((self.scale[who] * d + side * self.bias[who] + errors).clip(-1, 1) * 3) / 3
        return answers


def spambase(seed: int) -> Study:
    data = load("spambase")
    items = data.items.astype(np.float64)
    positive = data.labels > 0
    trees = HistGradientBoostingClassifier(max_iter=100, learning_rate=0.05, random_state=0)
    posterior = cross_val_predict(trees, items, positive, method="predict_proba", cv=5)[:, 1]
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(items))
    train, test = rows[:POOL], rows[POOL:]
    ends = rng.choice(len(test), (20_000, 2))
    order = np.sign(posterior[test][ends[:, 1]] - posterior[test][ends[:, 0]])

    def pairwise(model: Any) -> float:
        scores = model.decision_function(items[test])
        return pairwise_accuracy(scores[ends[:, 1]] - scores[ends[:, 0]], order)

    def on_labels(model: Any) -> float:
        return float(np.mean((model.decision_function(items[test]) >= 0) == positive[test]))

    measures: dict[str, Callable[[Any], float]] = {"pairwise accuracy": pairwise, "accuracy": on_labels}
    return Study(items[train], posterior[train], float(positive.mean()), measures)


def ukpconvarg1(seed: int) -> Study:
    data = load("ukpconvarg1")
    assert data.texts is not None
    assert data.group is not None
    votes = Pairs(np.eye(len(data.ids)), data.left, data.right, data.difference)
    scores = ConfDiffLogisticRegression(link="score", C=1.0).fit(votes).decision_function(np.eye(len(data.ids)))
    truth = ((scores - scores.mean()) / (4 * scores.std()) + 0.5).clip(0, 1)
    topic = np.full(len(data.ids), -1)
    topic[data.left] = data.group
    topic[data.right] = data.group
    held_out = np.random.default_rng(seed).permutation(int(topic.max()) + 1)[:TEST_TOPICS]
    train = np.flatnonzero(~np.isin(topic, held_out) & (topic >= 0))
    texts = {"text": np.array(data.texts, dtype=object)}
    features = ItemFeatures().fit({"text": texts["text"][train]})
    test = np.isin(data.group, held_out)
    encoded = features.encode(texts)

    def pairwise(model: Any) -> float:
        predicted = model.decision_function(encoded)
        return pairwise_accuracy(predicted[data.right[test]] - predicted[data.left[test]], data.difference[test])

    return Study(encoded[train], truth[train], None, {"pairwise accuracy": pairwise})


def ranking(seed: int) -> Study:
    truth = np.random.default_rng(seed).uniform(0, 1, N_RANKED)
    items = np.eye(N_RANKED)
    left, right = np.triu_indices(N_RANKED, 1)

    def pairwise(model: Any) -> float:
        scores = model.decision_function(items)
        return pairwise_accuracy(scores[right] - scores[left], truth[right] - truth[left])

    return Study(items, truth, None, {"pairwise accuracy": pairwise})


STUDIES = {"spambase": spambase, "ukpconvarg1": ukpconvarg1, "ranking": ranking}


def fitted(study: Study, learner: str, pairs: Ints, c: Floats) -> Any:
    """Return a model without regard to who answered."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LEARNERS[learner](prior=study.prior)
        return model.fit(Pairs(study.items, pairs[:, 0], pairs[:, 1], c))


def planned(design: str, n_items: int, seed: int) -> Ints:
    """Return pairs in the order of asking; only the design and the triangles, which the balanced design has."""
    per_item = 2 * max(BUDGETS) / n_items
    plan = plan_design(
        n_items, pairs_per_item=per_item, design=design, repeats=0, reserve=0, shared=0, judges=1, seed=seed
    )
    return np.stack([plan.left, plan.right], axis=1)


def asked(study: Study, design: str, learner: str, budget: int, seed: int) -> tuple[Ints, Floats]:
    """Return the pairs that are asked within a budget, and the answers."""
    annotators = Annotators(study.truth, np.random.default_rng(seed))
    n_items = len(study.truth)
    if design != "uncertain":
        pairs = planned(design, n_items, seed)[:budget]
        return pairs, annotators.judge(pairs)
    pairs = planned("balanced", n_items, seed)[: budget // 2]
    c = annotators.judge(pairs)
    for end in (3 * budget // 4, budget):
        p = fitted(study, learner, pairs, c).predict_proba(study.items)[:, 1]
        added = uncertain_pairs(p * (1 - p), end - len(pairs), pairs, np.random.default_rng(seed))
        pairs = np.concatenate([pairs, added])
        c = np.concatenate([c, annotators.judge(added)])
    return pairs, c


def measured(name: str, learner: str, seeds: int) -> None:
    """Print one line per measure, budget and design."""
    values: dict[tuple[str, int, str], list[float]] = {}
    for seed in range(seeds):
        study = STUDIES[name](seed)
        for budget in BUDGETS:
            for design in DESIGNS:
                model = fitted(study, learner, *asked(study, design, learner, budget, seed))
                for measure, function in study.measures.items():
                    values.setdefault((measure, budget, design), []).append(function(model))
    for (measure, budget, design), column in values.items():
        gain = np.array(column) - values[measure, budget, "balanced"]
        width = stats.t.ppf(0.975, seeds - 1) * gain.std(ddof=1) / np.sqrt(seeds)
        compared = "" if design == "balanced" else f"{gain.mean():+9.3f} ± {width:.3f}"
        print(
            f"{name:12s} {learner:9s} {measure:18s} {budget:5d} {design:10s} {np.mean(column):.3f} {compared}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", default="spambase:linear,spambase:boosting,ukpconvarg1:linear,ranking:linear")
    arguments = parser.parse_args()
    use_threads(1)
    start = time.process_time()
    for run in arguments.runs.split(","):
        name, learner = run.split(":")
        measured(name, learner, arguments.seeds)
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
