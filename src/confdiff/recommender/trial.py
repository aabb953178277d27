"""The recommender experiment of the paper: a specification in, a record out."""

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from time import process_time

import torch
from torch import Tensor, nn

from confdiff import __version__
from confdiff.experiments.trial import Record
from confdiff.methods import METHODS
from confdiff.models import RECOMMENDERS
from confdiff.pairs import Pairs, order_by_labels
from confdiff.randomness import seeded
from confdiff.recommender.confidence import Graded, grade_interactions
from confdiff.recommender.interactions import SOURCES, find_interactions, load_interactions
from confdiff.recommender.protocol import Split, evaluate, hold_out, user_pairs
from confdiff.training import Recipe, predict_scores, train
from confdiff.validation import check_choice, check_count

PRIORS = ("global", "user")


@dataclass(frozen=True)
class Setting:
    """What is made of a data set of interactions."""

    confidence: str
    threshold: float | None
    negatives: str
    n_users: int | None = None


SETTINGS: dict[str, Setting] = {
    "kuairec": Setting("watch-ratio", None, "auto"),
    "jester": Setting("min-max", 5.0, "observed", n_users=2_000),
}
"""Data set -> setting. Jester: ratings from -10 to 10; the 2,000 users with the most; positive above 5."""


@dataclass(frozen=True)
class Learning:
    """How a recommender is learned and what is held out for it.

    prior: what the methods that need one are told: the mean confidence of all interactions, or that of each user, for
        those that can take one for each pair.
    partners: in how many pairs each interaction stands.
    The defaults are the paper's.
    """

    method: str
    seed: int = 0
    epochs: int = 50
    model: str = "neumf"
    prior: str = "global"
    partners: int = 1
    n_negatives: int = 49

    def __post_init__(self) -> None:
        check_choice("method", self.method, METHODS)
        check_choice("model", self.model, RECOMMENDERS)
        check_choice("prior", self.prior, PRIORS)
        check_count("seed", self.seed, least=0)
        for name in ("epochs", "partners", "n_negatives"):
            check_count(name, getattr(self, name))

    @property
    def recipe(self) -> Recipe:
        """The paper's: Adam at 1e-3, batches of 256."""
        return Recipe(epochs=self.epochs, batch_size=256, learning_rate=1e-3, weight_decay=0.0, seed=self.seed)


@dataclass(frozen=True, kw_only=True)
class RecommenderSpec(Learning):
    """Everything that decides a trial. source: the file of the data set, as there may be a part of it or all."""

    dataset: str
    source: str

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("data set of interactions", self.dataset, SETTINGS)
        check_choice(f"file of {self.dataset}", self.source, SOURCES[self.dataset])

    @property
    def key(self) -> str:
        """A name for the trial."""
        says = {"version": 1, "kind": "recommender", **asdict(self)}
        return hashlib.sha256(json.dumps(says, sort_keys=True).encode()).hexdigest()[:20]


def run_recommender_trial(spec: RecommenderSpec, *, folder: Path | None = None) -> Record:
    """Hold out, pair, train, rank. The same specification gives the same numbers."""
    if (found := find_interactions(spec.dataset, folder)).name != spec.source:
        raise ValueError(f"the trial is to learn from {spec.source}; {found} would be read in its place.")
    graded, split = _task(spec.dataset, spec.seed, spec.n_negatives, folder)
    pairs = user_pairs(graded, split.train, partners=spec.partners, seed=spec.seed)
    model = build_recommender(spec.model, graded, spec.seed)
    start = process_time()
    history = train_recommender(model, pairs, spec)
    seconds = process_time() - start
    measured = evaluate(lambda cells: scores_of(model, cells), split)
    return {
        "key": spec.key,
        "dataset": spec.dataset,
        "source": spec.source,
        "protocol": "paper",
        "method": spec.method,
        "prior": spec.prior,
        "seed": spec.seed,
        "epochs": spec.epochs,
        "model": spec.model,
        "partners": spec.partners,
        **{name: round(value, 6) for name, value in measured.items()},
        "evaluated": len(split.users),
        "candidates": int(split.candidates.shape[1]),
        "pairs": len(pairs),
        "seconds": round(history[-1]["seconds"], 2),
        "processor_seconds": round(seconds, 2),
        "versions": {"confdiff": __version__, "torch": torch.__version__},
    }


@lru_cache(maxsize=1)
def _task(dataset: str, seed: int, n_negatives: int, folder: Path | None) -> tuple[Graded, Split]:
    setting = SETTINGS[dataset]
    interactions = load_interactions(dataset, folder=folder, n_users=setting.n_users)
    graded = grade_interactions(interactions, setting.confidence, setting.threshold)
    return graded, hold_out(graded, n_negatives=n_negatives, negatives=setting.negatives, seed=seed)


def build_recommender(name: str, graded: Graded, seed: int) -> nn.Module:
    """A network for these users and items, whose first weights the seed decides."""
    with seeded(seed, "model"):
        return RECOMMENDERS[check_choice("model", name, RECOMMENDERS)](
            len(graded.interactions.user_ids), len(graded.interactions.item_ids)
        )


def train_recommender(
    model: nn.Module, pairs: Pairs, told: Learning, *, progress: bool = False
) -> list[dict[str, float]]:
    """Train by the one loop; pairs are ordered by their labels for the methods that learn from the order."""
    if METHODS[told.method].learns_from == "order":
        pairs = order_by_labels(pairs, seed=told.seed)
    return train(model, pairs, told.method, prior=told_prior(pairs, told), recipe=told.recipe, progress=progress)


def told_prior(pairs: Pairs, told: Learning) -> float | Tensor:
    """The mean of what a method's scores stand for: confidences, or for methods that learn from the order, labels."""
    method = METHODS[told.method]
    known = pairs.labels if method.learns_from == "order" else pairs.posteriors
    assert known is not None
    if told.prior == "global" or method.companion is not None or method.prior == "optional":
        return float(known.mean().clamp(0.001, 0.999))
    users = pairs.items[:, 0]
    means = torch.zeros(int(users.max()) + 1).index_add(0, users, known) / torch.bincount(users).clamp(min=1)
    return means.clamp(0.001, 0.999)[users[pairs.left]]


def scores_of(model: nn.Module, cells: Tensor) -> Tensor:
    """The scores of users and items, many at a time."""
    return predict_scores(model, cells, batch_size=65_536)
