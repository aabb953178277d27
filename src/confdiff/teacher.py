"""The probabilistic classifier that grades sampled pairs: trained on labels, asked for posteriors.

The paper's teacher grades the very items that it was trained on, at the class balance that these have. That makes its
posteriors overconfident, and wrong where pairs are drawn at another prior; three options mend that.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from confdiff.calibration import fit_temperature, log_odds
from confdiff.io.tensors import load_tree, save_tree
from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs
from confdiff.randomness import derived_seed, generator
from confdiff.threads import one_thread
from confdiff.training import Recipe, predict_scores, train
from confdiff.validation import as_float32, as_tensor, check_count, check_items, check_labels, check_rows, warn_user

TEACHER_RECIPE = Recipe(epochs=10, batch_size=128)
"""The paper's: 10 epochs. 128 pairs a step are 256 items."""

_VERSION = 1
"""Version of the code that decides the grades, part of every cache key.

Raise it with any change that alters the grades: ``test_grades_match_their_version`` fails on such a change.
"""

_HELD_OUT = 5  # a teacher that is calibrated without folds leaves one item in so many for that


@dataclass(frozen=True)
class Teaching:
    """How posteriors are made from labels. The defaults are the paper's.

    model, recipe: the network and how it is trained; the recipe's seed decides everything.
    folds: 1 lets the teacher grade items that it was trained on; k > 1 trains k teachers, each on all parts but one,
        so that no item is graded by a teacher that saw it.
    calibrated: divide the scores by the temperature that fits held-out labels best: those of a fifth of the items, on
        which the teacher is then not trained, or with folds those of all items, graded as said. That one number is
        all that an item's own label has to do with its grade in folds.
    """

    model: ModelLike = "mlp"
    recipe: Recipe = TEACHER_RECIPE
    folds: int = 1
    calibrated: bool = False

    def __post_init__(self) -> None:
        check_count("folds", self.folds)


@dataclass(frozen=True, eq=False)
class Grades:
    """What a teacher says of all items.

    scores: (N,) the log-odds of p(y = +1 | x), at the class balance of the labels that it was given.
    prior: that balance, the share of positives among them.
    temperature: what the network's scores were divided by.
    """

    scores: Tensor
    prior: float
    temperature: float

    @property
    def posteriors(self) -> Tensor:
        """(N,) p(y = +1 | x)."""
        return torch.sigmoid(self.scores)

    def at_prior(self, prior: float) -> Tensor:
        """(N,) the posteriors of the same items where the share of positives is another."""
        return torch.sigmoid(self.scores + log_odds(prior) - log_odds(self.prior))


def fit_teacher(
    items: Any,
    labels: ArrayLike,
    *,
    model: ModelLike = "mlp",
    recipe: Recipe = TEACHER_RECIPE,
    rows: ArrayLike | None = None,
    progress: bool = False,
) -> nn.Module:
    """Train a network on labelled items by the logistic loss.

    The items, or those in ``rows``, are paired off at random and trained on as Oracle-Hard, so that there is one
    training loop for all.
    """
    features = _features(items)
    chosen = torch.arange(len(features)) if rows is None else as_tensor(check_rows("rows", rows, len(features)))
    order = chosen[torch.randperm(len(chosen), generator=generator(recipe.seed, "teacher"))]
    half = (len(order) + 1) // 2  # of an odd number of items, one stands in two pairs
    pairs = Pairs(features, order[:half], order[-half:], labels=labels)
    teacher = build_model(model, features.shape[1], seed=recipe.seed)
    train(teacher, pairs, "oracle-hard", recipe=recipe, progress="teacher" if progress else False)
    return teacher


def grade(teacher: nn.Module, items: Any) -> Tensor:
    """The teacher's posteriors p(y = +1 | x) for each item. Returns: (m,)."""
    return torch.sigmoid(predict_scores(teacher, _features(items)))


def teach(
    items: Any,
    labels: ArrayLike,
    *,
    rows: ArrayLike | None = None,
    teaching: Teaching | None = None,
    cache_folder: Path | None = None,
    progress: bool = False,
) -> Grades:
    """Train on the items in ``rows`` (all, if none are given) and grade all items, those in ``rows`` and the others.

    cache_folder: where what a teacher said is kept and looked up, under a key of everything that decides it.

    It computes with one thread: more of them add up in another order, and the last digits would depend on how many.
    """
    teaching = Teaching() if teaching is None else teaching
    features = _features(items)
    y = as_tensor(check_labels(labels, len(features)))
    chosen = torch.arange(len(features)) if rows is None else as_tensor(check_rows("rows", rows, len(features)))
    file = None if cache_folder is None else cache_folder / f"{_key(features, y, chosen, teaching)}.safetensors"
    kept = None if file is None else _look_up(file, len(features))
    if kept is not None:
        return kept
    with one_thread():
        scores, held_out = _scores(features, y, chosen, teaching, progress)
    temperature = fit_temperature(scores[held_out], y[held_out]) if teaching.calibrated else 1.0
    grades = Grades(scores / temperature, float(y[chosen].mean()), temperature)
    if file is not None:
        _keep(file, grades)
    return grades


def _look_up(file: Path, n_items: int) -> Grades | None:
    """What was kept, if it is there and whole; the cache is a help, and never stands in the way."""
    if not file.exists():
        return None
    try:
        grades = Grades(**load_tree(file))
        if grades.scores.shape == (n_items,):
            return grades
        why = f"it grades {len(grades.scores)} items"
    except (ValueError, TypeError, OSError) as error:
        why = str(error)
    warn_user(f"cannot read the cached grades in {file} ({why}); training the teacher again.")
    return None


def _keep(file: Path, grades: Grades) -> None:
    try:
        save_tree(file, asdict(grades))
    except OSError as error:
        warn_user(f"cannot cache the grades in {file.parent} ({error}); the next call trains the teacher again.")


def _scores(features: Tensor, y: Tensor, rows: Tensor, teaching: Teaching, progress: bool) -> tuple[Tensor, Tensor]:
    """Scores of all items, and the rows of those that no teacher of theirs was trained on (to calibrate by)."""
    shuffled = rows[torch.randperm(len(rows), generator=generator(teaching.recipe.seed, "folds"))]
    if teaching.calibrated and len(rows) < 2 * _HELD_OUT:
        raise ValueError(f"{len(rows)} items are too few to calibrate a teacher; it takes at least {2 * _HELD_OUT}.")
    if teaching.folds == 1:
        kept = shuffled[len(rows) // _HELD_OUT :] if teaching.calibrated else rows
        teacher = _fit(features, y, kept, teaching, teaching.recipe.seed, progress)
        return predict_scores(teacher, features), shuffled[: len(rows) // _HELD_OUT]
    parts = torch.tensor_split(shuffled, teaching.folds)
    if len(rows) < 2 * teaching.folds:
        raise ValueError(f"{len(rows)} items cannot be cut into {teaching.folds} folds of at least two.")
    fold_scores = []
    for fold in range(teaching.folds):
        others = torch.cat([part for number, part in enumerate(parts) if number != fold])
        seed = derived_seed(teaching.recipe.seed, "fold", fold)
        fold_scores.append(predict_scores(_fit(features, y, others, teaching, seed, progress), features))
    scores = torch.stack(fold_scores).mean(dim=0)  # items outside of the rows were seen by none: all may speak
    for part, said in zip(parts, fold_scores, strict=True):
        scores[part] = said[part]
    return scores, rows


def _fit(features: Tensor, y: Tensor, rows: Tensor, teaching: Teaching, seed: int, progress: bool) -> nn.Module:
    recipe = replace(teaching.recipe, seed=seed)
    return fit_teacher(features, y, model=teaching.model, recipe=recipe, rows=rows, progress=progress)


def _features(items: Any) -> Tensor:
    """Items as networks take them: a tensor of bytes (pixels) as it is, anything else as 32-bit floats."""
    array = items.numpy() if isinstance(items, Tensor) else items
    if getattr(array, "dtype", None) == np.uint8 and array.ndim == 2:
        return as_tensor(array)
    return as_tensor(as_float32("items", check_items("items", array)))


def _key(features: Tensor, y: Tensor, rows: Tensor, teaching: Teaching) -> str:
    """A hash of everything that decides what a teacher says."""
    model, recipe = teaching.model, teaching.recipe
    if not isinstance(model, str) or not isinstance(recipe.optimizer, str):
        raise ValueError(
            "only a teacher whose model and optimizer have names can be kept; pass cache_folder=None for others."
        )
    decides = {
        "version": _VERSION,
        "torch": torch.__version__,
        "data": [hashlib.sha256(np.ascontiguousarray(part.numpy()).data).hexdigest() for part in (features, y, rows)],
        "teaching": asdict(teaching),
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:32]
