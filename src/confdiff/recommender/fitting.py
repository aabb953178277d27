"""Fit a recommender on a table of interactions, and evaluate it on held-out interactions of the same table."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.datasets.interactions import read_interactions
from confdiff.recommender.confidence import Graded, grade_interactions
from confdiff.recommender.learning import Learning, build_recommender, scores_of, train_recommender, training_pairs
from confdiff.recommender.protocol import evaluate, item_means, leave_one_out
from confdiff.recommender.saved import Recommender
from confdiff.threads import follow_policy
from confdiff.training import History


@dataclass(frozen=True, eq=False)
class FittedRecommender:
    """A trained recommender, with the course of its training.

    Attributes
    ----------
    recommender : Recommender
        The model, ready to be saved.
    n_pairs : int
        Number of training pairs.
    history : list of dict
        Measures of each epoch.
    best : dict or None
        Measures of the epoch whose weights were kept; None without a validation set.
    """

    recommender: Recommender
    n_pairs: int
    history: History
    best: dict[str, float] | None


@dataclass(frozen=True)
class HeldOutRanking:
    """Ranking measures of held-out positives.

    Attributes
    ----------
    model, item_means : dict
        Hit rate and NDCG of the model, and of the mean confidence of each item.
    n_users, n_candidates : int
        Number of evaluated users, and of candidates per user.
    chance : float
        Hit rate of random scores among the candidates.
    """

    model: dict[str, float]
    item_means: dict[str, float]
    n_users: int
    n_candidates: int
    chance: float


def grade_file(file: Path, *, columns: dict[str, Any], confidence: str, threshold: float | None) -> Graded:
    """Read a table of interactions and turn strengths into confidences."""
    return grade_interactions(read_interactions(file, **columns), confidence, threshold)


@follow_policy
def fit_recommender(
    graded: Graded,
    learning: Learning,
    *,
    options: dict[str, Any],
    holdout: bool = True,
    device: str = "auto",
    progress: bool = False,
) -> FittedRecommender:
    """Train a recommender.

    Parameters
    ----------
    graded : Graded
        Interactions with confidences.
    learning : Learning
        Settings of the training.
    options : dict
        Description of the table that the model stores: columns, confidence and threshold.
    holdout : bool
        Hold out the latest positive of each user for :func:`evaluate_held_out`.
    device : str
        ``"cpu"``, ``"cuda"``, ``"mps"``, or ``"auto"`` for a GPU if one is available.
    progress : bool
        Show a progress bar.
    """
    rows = np.arange(len(graded.interactions))
    if holdout:
        rows = leave_one_out(graded, n_negatives=learning.n_negatives, seed=learning.seed).train
    pairs, validation = training_pairs(graded, rows, learning)
    network = build_recommender(learning.model, graded, learning.seed)
    history = train_recommender(network, pairs, learning, validation=validation, device=device, progress=progress)
    interactions = graded.interactions
    recommender = Recommender(
        network=network,
        model=learning.model,
        user_ids=interactions.user_ids,
        item_ids=interactions.item_ids,
        options=options | asdict(learning),
    )
    best = None if validation is None else max(history, key=lambda epoch: epoch["pairwise_accuracy"])
    return FittedRecommender(recommender=recommender, n_pairs=len(pairs), history=history, best=best)


@follow_policy
def evaluate_held_out(recommender: Recommender, file: Path) -> HeldOutRanking:
    """Rank the positives that were held out of the table on which a recommender was trained."""
    options = recommender.table_options
    graded = grade_file(
        file, columns=options["columns"], confidence=options["confidence"], threshold=options["threshold"]
    )
    interactions = graded.interactions
    if (
        interactions.user_ids.tolist() != recommender.user_ids.tolist()
        or interactions.item_ids.tolist() != recommender.item_ids.tolist()
    ):
        raise ValueError(f"{file} has other users or items than the training table of the model; pass that table.")
    split = leave_one_out(graded, n_negatives=options["n_negatives"], seed=options["seed"])
    return HeldOutRanking(
        model=evaluate(lambda cells: scores_of(recommender.network, cells), split),
        item_means=evaluate(item_means(graded, split.train), split),
        n_users=len(split.users),
        n_candidates=int(split.candidates.shape[1]),
        chance=split.chance,
    )
