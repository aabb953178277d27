"""How a recommender learns: what it is told, the pairs it is given, and the one training loop."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from confdiff.methods import METHODS
from confdiff.metrics import pairwise_accuracy
from confdiff.models import RECOMMENDERS
from confdiff.pairs import Pairs, order_by_labels
from confdiff.randomness import derived_seed, seeded
from confdiff.recommender.confidence import Graded
from confdiff.recommender.protocol import user_pairs
from confdiff.training import History, Recipe, predict_scores, train
from confdiff.validation import check_choice, check_count

PRIORS = ("global", "user")
KEPT_BACK, PATIENCE = 0.1, 3  # of the interactions, where training is to stop by them; and after how many epochs


@dataclass(frozen=True)
class Learning:
    """How a recommender is learned and what is held out for it.

    prior: what the methods that need one are told: the mean confidence of all interactions, or that of each user, for
        those that can take one for each pair.
    partners: in how many pairs each interaction stands.
    patience: if given, a tenth of the interactions is kept back from training; the epoch that orders their pairs best
        counts, and training stops when so many epochs have not bettered it.
    The defaults are the paper's.
    """

    methods: ClassVar[tuple[str, ...]] = tuple(METHODS)

    method: str
    seed: int = 0
    epochs: int = 50
    model: str = "neumf"
    prior: str = "global"
    partners: int = 1
    n_negatives: int = 49
    patience: int | None = None

    def __post_init__(self) -> None:
        check_choice("method", self.method, self.methods)
        check_choice("model", self.model, RECOMMENDERS)
        check_choice("prior", self.prior, PRIORS)
        check_count("seed", self.seed, least=0)
        for name in ("epochs", "partners", "n_negatives", *([] if self.patience is None else ["patience"])):
            check_count(name, getattr(self, name))

    @property
    def recipe(self) -> Recipe:
        """The paper's: Adam at 1e-3, batches of 256."""
        return Recipe(epochs=self.epochs, batch_size=256, learning_rate=1e-3, weight_decay=0.0, seed=self.seed)


def build_recommender(name: str, graded: Graded, seed: int) -> nn.Module:
    """A network for these users and items, whose first weights the seed decides."""
    with seeded(seed, "model"):
        return RECOMMENDERS[check_choice("model", name, RECOMMENDERS)](
            len(graded.interactions.user_ids), len(graded.interactions.item_ids)
        )


def pairs_to_learn(graded: Graded, rows: NDArray[np.int64], told: Learning) -> tuple[Pairs, Pairs | None]:
    """Pairs of these interactions, and, where training is to stop by them, pairs of a tenth that is kept back."""
    if told.patience is None:
        return user_pairs(graded, rows, partners=told.partners, seed=told.seed), None
    kept = np.random.default_rng(derived_seed(told.seed, "keep back")).random(len(rows)) < KEPT_BACK
    if np.bincount(graded.interactions.users[rows[kept]], minlength=1).max() < 2:
        raise ValueError(
            f"of {len(rows):,} interactions a tenth is kept back to stop by, and no user has two of these: there are "
            "too few for that. Choose a number of epochs and no patience (--patience 0)."
        )
    learned, back = (
        user_pairs(graded, part, partners=told.partners, seed=told.seed) for part in (rows[~kept], rows[kept])
    )
    return learned, back


def train_recommender(
    model: nn.Module, pairs: Pairs, told: Learning, *, kept_back: Pairs | None = None, progress: bool = False
) -> History:
    """Train by the one loop; pairs are ordered by their labels for the methods that learn from the order."""
    if METHODS[told.method].learns_from == "order":
        pairs = order_by_labels(pairs, seed=told.seed)
    stopping = {} if kept_back is None else _stopping(kept_back, told.patience)
    return train(
        model, pairs, told.method, prior=told_prior(pairs, told), recipe=told.recipe, progress=progress, **stopping
    )


def _stopping(pairs: Pairs, patience: int | None) -> dict[str, Any]:
    """Keep the weights that order these pairs best."""
    given = pairs.difference
    assert given is not None

    def evaluate(model: nn.Module) -> dict[str, float]:
        scores = scores_of(model, pairs.items)
        return {"pairwise_accuracy": pairwise_accuracy(scores[pairs.right] - scores[pairs.left], given)}

    return {"evaluate": evaluate, "keep_best": "pairwise_accuracy", "patience": patience}


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
