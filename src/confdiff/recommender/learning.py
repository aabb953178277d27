"""Train a recommender: settings, training and validation pairs, and the training loop."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from confdiff.methods import BUILT_IN_METHODS, METHODS
from confdiff.metrics import pairwise_accuracy
from confdiff.models import RECOMMENDERS
from confdiff.pairs import Pairs, supervised_pairs
from confdiff.pairs.sparse import require_dense
from confdiff.randomness import derived_seed, seeded
from confdiff.recommender.confidence import Graded
from confdiff.recommender.protocol import user_pairs
from confdiff.training import History, Recipe, predict_scores, train
from confdiff.validation import check_choice, check_count

PATIENCE = 3
"""Epochs without improvement after which training usually stops."""

_PRIORS = ("global", "user")
_VALIDATION_FRACTION = 0.1  # of the interactions


@dataclass(frozen=True)
class Learning:
    """Settings of the training of a recommender. The defaults are the paper's.

    Parameters
    ----------
    method : str
        Name of a method, such as ``"confdiff-abs"``.
    seed : int
        Seed of the initial weights, the pairs and the batches.
    epochs : int
        Maximum number of passes over the pairs.
    model : str
        Name of a network from :data:`confdiff.models.RECOMMENDERS`.
    prior : {"global", "user"}
        Class prior of methods that need one: the mean confidence of all interactions, or of each user's. The latter
        needs a method that accepts one prior per pair.
    partners : int
        Number of pairs per interaction.
    n_negatives : int
        Number of candidates that each held-out positive is ranked with.
    patience : int or None
        If given, a tenth of the interactions is the validation set. The weights of the epoch with the best pairwise
        accuracy on it are kept, and training stops after this many epochs without a better one.
    """

    methods: ClassVar[tuple[str, ...]] = BUILT_IN_METHODS

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
        check_choice("prior", self.prior, _PRIORS)
        check_count("seed", self.seed, least=0)
        for name in ("epochs", "partners", "n_negatives"):
            check_count(name, getattr(self, name))
        if self.patience is not None:
            check_count("patience", self.patience)

    @property
    def recipe(self) -> Recipe:
        """The paper's recipe: Adam with learning rate 1e-3, batches of 256."""
        return Recipe(epochs=self.epochs, batch_size=256, learning_rate=1e-3, weight_decay=0.0, seed=self.seed)


_PAIRS_PER_EPOCH = 25_600  # 100 steps: with fewer, early stopping after a few epochs comes too soon
_MOST_PARTNERS = 16


def partners_for(graded: Graded) -> int:
    """Return the default number of pairs per interaction: more for few interactions.

    An epoch should have at least 100 steps of 256 pairs. There are at most 16 pairs per interaction, and no more than
    the user with the most interactions can form.
    """
    interactions = graded.interactions
    wanted = -(-2 * _PAIRS_PER_EPOCH // len(interactions))
    most = int(np.bincount(interactions.users).max()) - 1
    return max(1, min(wanted, _MOST_PARTNERS, most))


def build_recommender(name: str, graded: Graded, seed: int) -> nn.Module:
    """Return a network for the users and items of interactions, with initial weights that the seed determines."""
    interactions = graded.interactions
    with seeded(seed, "model"):
        network = RECOMMENDERS[check_choice("model", name, RECOMMENDERS)]
        return network(len(interactions.user_ids), len(interactions.item_ids))


def training_pairs(graded: Graded, rows: NDArray[np.int64], learning: Learning) -> tuple[Pairs, Pairs | None]:
    """Make the training pairs, and the validation pairs if training stops early.

    Parameters
    ----------
    graded : Graded
        Interactions with confidences.
    rows : ndarray of int
        Rows of the interactions to learn from.
    learning : Learning
        Settings.

    Returns
    -------
    training : Pairs
    validation : Pairs or None
        Pairs of a tenth of the interactions; None if ``learning.patience`` is None.

    Raises
    ------
    ValueError
        If there are too few interactions for a validation set.
    """
    if learning.patience is None:
        return user_pairs(graded, rows, partners=learning.partners, seed=learning.seed), None
    rng = np.random.default_rng(derived_seed(learning.seed, "keep back"))
    in_validation = rng.random(len(rows)) < _VALIDATION_FRACTION
    if np.bincount(graded.interactions.users[rows[in_validation]], minlength=1).max() < 2:
        raise ValueError(
            f"a tenth of {len(rows):,} interactions is too small for a validation set: no user has two of them. "
            "Train for a fixed number of epochs instead, without patience."
        )
    training = user_pairs(graded, rows[~in_validation], partners=learning.partners, seed=learning.seed)
    validation = user_pairs(graded, rows[in_validation], partners=learning.partners, seed=learning.seed)
    return training, validation


def train_recommender(
    model: nn.Module,
    pairs: Pairs,
    learning: Learning,
    *,
    validation: Pairs | None = None,
    device: str = "auto",
    progress: bool = False,
) -> History:
    """Train a network of users and items; pairs are ordered by their labels for methods that learn from the order.

    Parameters
    ----------
    model : torch.nn.Module
        Network, trained in place.
    pairs : Pairs
        Training pairs.
    learning : Learning
        Settings.
    validation : Pairs or None, default=None
        Validation pairs for early stopping.
    device : str, default="auto"
        As in :class:`~confdiff.Recipe`.
    progress : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    list of dict
        Measures of each epoch.
    """
    pairs = supervised_pairs(pairs, METHODS[learning.method].learns_from, seed=learning.seed)
    stopping = {} if validation is None else _early_stopping(validation, learning.patience)
    return train(
        model,
        pairs,
        learning.method,
        prior=recommender_prior(pairs, learning),
        recipe=replace(learning.recipe, device=device),
        progress=progress,
        **stopping,
    )


def _early_stopping(pairs: Pairs, patience: int | None) -> dict[str, Any]:
    """Return the arguments of ``train`` that keep the weights with the best pairwise accuracy on these pairs."""
    difference = pairs.difference
    assert difference is not None
    cells = require_dense(pairs.items, "a recommender")

    def evaluate(model: nn.Module) -> dict[str, float]:
        scores = scores_of(model, cells)
        return {"pairwise_accuracy": pairwise_accuracy(scores[pairs.right] - scores[pairs.left], difference)}

    return {"evaluate": evaluate, "keep_best": "pairwise_accuracy", "patience": patience}


def recommender_prior(pairs: Pairs, learning: Learning) -> float | Tensor:
    """Return the class prior that a method is given: one number, or one per pair.

    It is the mean of the confidences, or of the labels for methods that learn from the order.
    """
    method = METHODS[learning.method]
    targets = pairs.labels if method.learns_from.startswith("order") else pairs.posteriors
    assert targets is not None
    if learning.prior == "global" or method.companion is not None or method.takes_one_prior:
        return float(targets.mean().clamp(0.001, 0.999))
    users = require_dense(pairs.items, "a recommender")[:, 0]
    sums = torch.zeros(int(users.max()) + 1).index_add(0, users, targets)
    means = sums / torch.bincount(users).clamp(min=1)
    return means.clamp(0.001, 0.999)[users[pairs.left]]


def scores_of(model: nn.Module, cells: Tensor) -> Tensor:
    """Return the scores of (user, item) rows, computed in large batches. Shapes: (m, 2) -> (m,)."""
    return predict_scores(model, cells, batch_size=65_536)
