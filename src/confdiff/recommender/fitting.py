"""Fit a recommender on a table of interactions, and evaluate it on held-out interactions of the same table."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.datasets.interactions import Interactions, read_interactions
from confdiff.display.text import listed
from confdiff.io.batches import read_column_names
from confdiff.io.typed_table import read_typed_table
from confdiff.metrics import pairwise_accuracy
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import require_dense
from confdiff.recommender.columns import recognise_columns
from confdiff.recommender.confidence import CONFIDENCES, Graded, grade_interactions, recognise_confidence
from confdiff.recommender.learning import Learning, build_recommender, scores_of, train_recommender, training_pairs
from confdiff.recommender.protocol import CUTOFF, evaluate, item_means, leave_one_out, popularity, shrunken_means
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
    item_means : float or None
        Pairwise accuracy of the mean confidence of each item on the validation pairs; None without a validation set.
    """

    recommender: Recommender
    n_pairs: int
    history: History
    best: dict[str, float] | None
    item_means: float | None = None

    @property
    def warning(self) -> str | None:
        """A sentence if the model does not predict better than the item means, which ignore the users."""
        if self.best is None or self.item_means is None or self.best["pairwise_accuracy"] > self.item_means:
            return None
        return (
            f"the model does not beat the item means on the validation pairs: pairwise accuracy "
            f"{self.best['pairwise_accuracy']:.1%} and {self.item_means:.1%}. More pairs per interaction "
            "(partners=...) or another model may help."
        )


@dataclass(frozen=True)
class HeldOutRanking:
    """Ranking measures of held-out positives.

    Attributes
    ----------
    model, item_means, popularity : dict
        Hit rate and NDCG of the model, of the mean confidence of each item, and of its number of positives.
    n_users, n_candidates : int
        Number of evaluated users, and of candidates per user.
    chance : float
        Hit rate of random scores among the candidates.
    """

    model: dict[str, float]
    item_means: dict[str, float]
    popularity: dict[str, float]
    n_users: int
    n_candidates: int
    chance: float

    @property
    def losses(self) -> tuple[str, ...]:
        """Sentences about random scores and simple rankings that are better than the model; empty if none is."""
        sentences = []
        if self.model[f"hr@{CUTOFF}"] < self.chance:
            sentences.append(
                f"The model is worse than random scores: HR@{CUTOFF} {self.model[f'hr@{CUTOFF}']:.3f} and "
                f"{self.chance:.3f}."
            )
        for name, measures in (("the item means", self.item_means), ("the popularity of items", self.popularity)):
            for metric, place in ((f"ndcg@{CUTOFF}", "the candidates"), (f"full ndcg@{CUTOFF}", "all items")):
                if self.model[metric] < measures[metric]:
                    sentences.append(
                        f"The model is worse than {name} among {place}: NDCG@{CUTOFF} {self.model[metric]:.3f} and "
                        f"{measures[metric]:.3f}."
                    )
        return tuple(sentences)

    @property
    def verdict(self) -> str:
        """The comparison with random scores, item means and popularity, in words."""
        return " ".join(self.losses) or "The model is as good as random scores, item means and popularity, or better."


@dataclass(frozen=True, eq=False)
class GradedFile:
    """The interactions of a table, with everything that was recognised.

    Attributes
    ----------
    graded : Graded
        Interactions with confidences.
    columns : dict of str to str or None
        Role -> column.
    confidence : str
        Name of the conversion of strengths to confidences.
    notes : tuple of str
        What was recognised and what is ignored, in words.
    """

    graded: Graded
    columns: dict[str, str | None]
    confidence: str
    notes: tuple[str, ...]


def grade_file(
    file: Path,
    *,
    columns: Mapping[str, str | None] | None = None,
    confidence: str | None = None,
    threshold: float | None = None,
) -> GradedFile:
    """Read a table of interactions and turn strengths into confidences.

    Parameters
    ----------
    file : Path
        The table.
    columns : mapping of str to str or None, optional
        Role (``user``, ``item``, ``strength`` or ``time``) -> column; those not given are recognised by their names.
    confidence : str, optional
        Name of a formula; recognised by the values and the name of their column if not given.
    threshold : float, optional
        Strengths above it are positive.
    """
    names = read_column_names(file)
    chosen = dict(columns or {})
    roles = recognise_columns(file, names, chosen)
    interactions, notes = _read(file, roles, time_chosen=chosen.get("time") is not None)
    if confidence is None:
        confidence = recognise_confidence(interactions.strength.astype(np.float64), str(roles["strength"]))
        notes.append(f"strengths were recognised as {confidence!r}: {CONFIDENCES[confidence][1]}")
    ignored = [name for name in names if name not in roles.values()]
    if ignored:
        notes.append(f"columns that are not used: {listed(ignored)}")
    return GradedFile(
        graded=grade_interactions(interactions, confidence, threshold),
        columns=roles,
        confidence=confidence,
        notes=tuple(notes),
    )


def _read(file: Path, roles: dict[str, Any], *, time_chosen: bool) -> tuple[Interactions, list[str]]:
    """Read interactions; a recognised time that is not a number is ignored, and roles are changed accordingly."""
    time = roles["time"]
    note = ", ".join(f"{role}: {name}" for role, name in roles.items() if name is not None)
    if time is not None and not time_chosen and not _is_ordered(file, time):
        roles["time"] = None
        note += " (ignored, because it is neither a number nor a time)"
    return read_interactions(file, **roles), [note]


def _is_ordered(file: Path, column: str) -> bool:
    """Return whether a column of a table holds numbers or times."""
    return read_typed_table(file, [column]).values(column).dtype.kind in "iufM"


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
    _check_partners(graded, learning.partners)
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
    return FittedRecommender(
        recommender=recommender,
        n_pairs=len(pairs),
        history=history,
        best=None if validation is None else max(history, key=lambda epoch: epoch["pairwise_accuracy"]),
        item_means=None if validation is None else _accuracy_of_means(pairs, validation),
    )


def _check_partners(graded: Graded, partners: int) -> None:
    most = int(np.bincount(graded.interactions.users).max()) - 1
    if partners > max(1, most):
        raise ValueError(
            f"partners must be at most {most}, because no user has more than {most + 1} interactions; got {partners:,}."
        )


def _accuracy_of_means(training: Pairs, validation: Pairs) -> float:
    """Return the pairwise accuracy of the mean confidence of each item in training on the validation pairs."""
    assert training.posteriors is not None
    assert validation.difference is not None
    items = require_dense(training.items, "a recommender")[:, 1]
    validation_items = require_dense(validation.items, "a recommender")[:, 1]
    score = shrunken_means(items.numpy(), training.posteriors.numpy(), int(validation_items.max()) + 1)
    means = score[validation_items]
    return pairwise_accuracy(means[validation.right] - means[validation.left], validation.difference)


@follow_policy
def evaluate_held_out(recommender: Recommender, file: Path) -> HeldOutRanking:
    """Rank the positives that were held out of the table on which a recommender was trained."""
    options = recommender.table_options
    interactions = read_interactions(file, **options["columns"])
    graded = grade_interactions(interactions, options["confidence"], options["threshold"])
    if (
        interactions.user_ids.tolist() != recommender.user_ids.tolist()
        or interactions.item_ids.tolist() != recommender.item_ids.tolist()
    ):
        raise ValueError(f"{file} has other users or items than the training table of the model; pass that table.")
    split = leave_one_out(graded, n_negatives=options["n_negatives"], seed=options["seed"])
    return HeldOutRanking(
        model=evaluate(lambda cells: scores_of(recommender.network, cells), split),
        item_means=evaluate(item_means(graded, split.train), split),
        popularity=evaluate(popularity(graded, split.train), split),
        n_users=len(split.users),
        n_candidates=int(split.candidates.shape[1]),
        chance=split.chance,
    )
