"""The teacher: a probabilistic classifier that is trained on labels and grades items by their posteriors.

The paper's teacher grades its own training items, at their class balance. Its posteriors are overconfident, and wrong
for pairs that are drawn at another prior. Folds, calibration and ``Grades.at_prior`` correct this.
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
from confdiff.io.damage import reporting_damage
from confdiff.io.documents import inside
from confdiff.io.tensors import check_tensor, load_tree, save_tree
from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs
from confdiff.plugins import versions_of
from confdiff.randomness import derived_seed, generator
from confdiff.threads import one_thread
from confdiff.training import Recipe, predict_scores, train
from confdiff.validation import (
    as_float32,
    as_tensor,
    check_count,
    check_items,
    check_labels,
    check_number,
    check_prior,
    check_rows,
    warn_user,
)

TEACHER_RECIPE = Recipe(epochs=10, batch_size=128)
"""The paper's recipe: 10 epochs. 128 pairs per step are 256 items."""

_VERSION = 1
"""Version of the code that computes the grades, part of every cache key.

Raise it with any change that alters the grades: ``test_grades_match_their_version`` fails on such a change.
"""

_REMEDY = "It is replaced."  # damaged grades in the cache
_HELD_OUT = 5  # without folds, one item in five is held out for calibration


@dataclass(frozen=True)
class Teaching:
    """Settings of a teacher, which makes posteriors from labels. The defaults are the paper's.

    Parameters
    ----------
    model : str, torch.nn.Module or callable, default="mlp"
        The network.
    recipe : Recipe, default=TEACHER_RECIPE
        The training recipe, with the seed of all random draws.
    folds : int, default=1
        With 1, the teacher grades its own training items. With k > 1, k teachers are trained, each without one fold,
        and no item is graded by a teacher that was trained on it.
    calibrated : bool, default=False
        Divide the scores by the temperature that fits held-out labels best. Without folds, a fifth of the items is held
        out for this and not trained on. With folds, the temperature fits the out-of-fold scores of all items. An item's
        own label then influences its grade only through this number.
    """

    model: ModelLike = "mlp"
    recipe: Recipe = TEACHER_RECIPE
    folds: int = 1
    calibrated: bool = False

    def __post_init__(self) -> None:
        check_count("folds", self.folds)


@dataclass(frozen=True, eq=False)
class Grades:
    """A teacher's grades of all items.

    Attributes
    ----------
    scores : tensor of shape (N,)
        The log-odds of p(y = +1 | x), at the class balance of the training labels.
    prior : float
        The fraction of positives among the training labels.
    temperature : float
        The number by which the network's scores were divided.
    """

    scores: Tensor
    prior: float
    temperature: float

    def __post_init__(self) -> None:
        if not 0 <= self.prior <= 1:
            raise ValueError(f"prior must be a fraction from 0 to 1; got {self.prior!r}.")

    @property
    def posteriors(self) -> Tensor:
        """The posteriors p(y = +1 | x), of shape (N,)."""
        return torch.sigmoid(self.scores)

    def at_prior(self, prior: float) -> Tensor:
        """Return the posteriors (N,) of the same items at another class prior."""
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
    """Train a network on labelled items with the logistic loss.

    The items are paired at random and trained on with the method ``oracle-hard``, so that there is one training loop.

    Parameters
    ----------
    items : array of shape (N, d)
        The items; bytes (pixels) are not copied.
    labels : array of shape (N,)
        Their labels, 0/1 or -1/+1.
    model : str, torch.nn.Module or callable, default="mlp"
        The network.
    recipe : Recipe, default=TEACHER_RECIPE
        The training recipe.
    rows : array of int, default=None
        The rows of the training items; by default all items.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    torch.nn.Module
        The trained network.
    """
    features = _features(items)
    train_rows = _rows(rows, len(features))
    order = train_rows[torch.randperm(len(train_rows), generator=generator(recipe.seed, "teacher"))]
    half = (len(order) + 1) // 2  # of an odd number of items, one is in two pairs
    pairs = Pairs(features, order[:half], order[-half:], labels=labels)
    teacher = build_model(model, features.shape[1], seed=recipe.seed)
    train(teacher, pairs, "oracle-hard", recipe=recipe, progress="teacher" if progress else False)
    return teacher


def grade(teacher: nn.Module, items: Any) -> Tensor:
    """Return the teacher's posteriors p(y = +1 | x) of items (m, d), of shape (m,)."""
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
    """Train a teacher on some items and grade all items.

    It computes with one thread, so that the grades do not depend on the number of threads.

    Parameters
    ----------
    items : array of shape (N, d)
        The items.
    labels : array of shape (N,)
        Their labels, 0/1 or -1/+1.
    rows : array of int, default=None
        The rows of the training items; by default all items.
    teaching : Teaching, default=None
        Settings of the teacher; by default the paper's.
    cache_folder : Path, default=None
        A folder of cached grades, one file per combination of data, settings and version.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    Grades
        The grades of all items, inside and outside of ``rows``.
    """
    teaching = Teaching() if teaching is None else teaching
    features = _features(items)
    y = as_tensor(check_labels(labels, len(features)))
    train_rows = _rows(rows, len(features))
    if cache_folder is None:
        return _train_and_grade(features, y, train_rows, teaching, progress)
    file = cache_folder / _file_name(features, y, train_rows, teaching)
    cached = _read_cached(file, len(features))
    if cached is not None:
        return cached
    grades = _train_and_grade(features, y, train_rows, teaching, progress)
    _cache(file, grades)
    return grades


def grades_file(items: Any, labels: ArrayLike, *, rows: ArrayLike, teaching: Teaching, cache_folder: Path) -> Path:
    """Return the file that :func:`teach` reads from or writes to a cache; the parameters are the same."""
    features = _features(items)
    y = as_tensor(check_labels(labels, len(features)))
    return cache_folder / _file_name(features, y, _rows(rows, len(features)), teaching)


def _train_and_grade(features: Tensor, y: Tensor, rows: Tensor, teaching: Teaching, progress: bool) -> Grades:
    with one_thread():
        scores, held_out = _scores(features, y, rows, teaching, progress)
    temperature = fit_temperature(scores[held_out], y[held_out]) if teaching.calibrated else 1.0
    return Grades(scores=scores / temperature, prior=float(y[rows].mean()), temperature=temperature)


def _read_cached(file: Path, n_items: int) -> Grades | None:
    """Read cached grades, or return None if they are missing or damaged."""
    if not file.exists():
        return None
    try:
        state = load_tree(file, remedy=_REMEDY)
        with reporting_damage(file, _REMEDY):
            return Grades(
                scores=check_tensor("scores", state["scores"], torch.empty(n_items)),
                prior=check_prior(state["prior"]),
                temperature=check_number("temperature", state["temperature"], above=0),
            )
    except (ValueError, OSError) as error:
        warn_user(f"training the teacher again, because its cached grades cannot be read: {error}")
    return None


def _cache(file: Path, grades: Grades) -> None:
    try:
        save_tree(inside(file.parent, file.name), asdict(grades))
    except (OSError, ValueError) as error:  # such as a link that leaves the folder
        warn_user(f"cannot cache the grades in {file.parent} ({error}); the next call trains the teacher again.")


def _scores(features: Tensor, y: Tensor, rows: Tensor, teaching: Teaching, progress: bool) -> tuple[Tensor, Tensor]:
    """Return the scores of all items, and the rows of items with held-out scores, which calibration uses."""
    shuffled = rows[torch.randperm(len(rows), generator=generator(teaching.recipe.seed, "folds"))]
    if teaching.calibrated and len(rows) < 2 * _HELD_OUT:
        raise ValueError(f"calibrated=True needs at least {2 * _HELD_OUT} items; got {len(rows)}.")
    if teaching.folds == 1:
        train_rows = shuffled[len(rows) // _HELD_OUT :] if teaching.calibrated else rows
        teacher = _fit(features, y, train_rows, teaching, teaching.recipe.seed, progress)
        return predict_scores(teacher, features), shuffled[: len(rows) // _HELD_OUT]
    if len(rows) < 2 * teaching.folds:
        raise ValueError(
            f"folds={teaching.folds} needs at least two items per fold, {2 * teaching.folds}; got {len(rows)}."
        )
    return _out_of_fold_scores(features, y, shuffled, teaching, progress), rows


def _out_of_fold_scores(features: Tensor, y: Tensor, shuffled: Tensor, teaching: Teaching, progress: bool) -> Tensor:
    """Score each item by the teacher that was not trained on its fold, and items outside the folds by all teachers."""
    folds = torch.tensor_split(shuffled, teaching.folds)
    fold_scores = []
    for fold in range(teaching.folds):
        train_rows = torch.cat([part for number, part in enumerate(folds) if number != fold])
        seed = derived_seed(teaching.recipe.seed, "fold", fold)
        teacher = _fit(features, y, train_rows, teaching, seed, progress)
        fold_scores.append(predict_scores(teacher, features))
    scores = torch.stack(fold_scores).mean(dim=0)
    for part, part_scores in zip(folds, fold_scores, strict=True):
        scores[part] = part_scores[part]
    return scores


def _fit(features: Tensor, y: Tensor, rows: Tensor, teaching: Teaching, seed: int, progress: bool) -> nn.Module:
    recipe = replace(teaching.recipe, seed=seed)
    return fit_teacher(features, y, model=teaching.model, recipe=recipe, rows=rows, progress=progress)


def _rows(rows: ArrayLike | None, n_items: int) -> Tensor:
    return torch.arange(n_items) if rows is None else as_tensor(check_rows("rows", rows, n_items))


def _features(items: Any) -> Tensor:
    """Return bytes (pixels) as they are, and anything else as 32-bit floats."""
    array = items.numpy() if isinstance(items, Tensor) else items
    if getattr(array, "dtype", None) == np.uint8 and array.ndim == 2:
        return as_tensor(array)
    return as_tensor(as_float32("items", check_items("items", array)))


def _file_name(features: Tensor, y: Tensor, rows: Tensor, teaching: Teaching) -> str:
    """Return the name of a file of grades: a hash of everything that determines them."""
    if not isinstance(teaching.model, str) or not isinstance(teaching.recipe.optimizer, str):
        raise ValueError(
            "a teacher can be cached only if its model and optimizer are names; pass cache_folder=None for others."
        )
    ingredients: dict[str, Any] = {
        "version": _VERSION,
        "torch": torch.__version__,
        "data": [hashlib.sha256(np.ascontiguousarray(part.numpy()).data).hexdigest() for part in (features, y, rows)],
        "teaching": asdict(teaching),
    }
    plugins = versions_of([("model", teaching.model)])
    if plugins:
        ingredients["plugins"] = plugins
    key = hashlib.sha256(json.dumps(ingredients, sort_keys=True).encode()).hexdigest()[:32]
    return f"{key}.safetensors"
