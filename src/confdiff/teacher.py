"""The probabilistic classifier that grades sampled pairs: trained on labels, asked for posteriors."""

from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs
from confdiff.randomness import generator
from confdiff.training import Recipe, predict_scores, train
from confdiff.validation import as_float32, as_tensor, check_items

TEACHER_RECIPE = Recipe(epochs=10, batch_size=128)
"""The paper's: 10 epochs. 128 pairs a step are 256 items."""


def fit_teacher(
    items: Any,
    labels: ArrayLike,
    *,
    model: ModelLike = "mlp",
    recipe: Recipe = TEACHER_RECIPE,
    progress: bool = False,
) -> nn.Module:
    """Train a network on labelled items by the logistic loss.

    The items are paired off at random and trained on as Oracle-Hard, so that there is one training loop for all.
    """
    features = as_tensor(as_float32("items", check_items("items", items)))
    order = torch.randperm(len(features), generator=generator(recipe.seed, "teacher"))
    half = (len(order) + 1) // 2  # of an odd number of items, one stands in two pairs
    pairs = Pairs(features, order[:half], order[-half:], labels=labels)
    teacher = build_model(model, features.shape[1], seed=recipe.seed)
    train(teacher, pairs, "oracle-hard", recipe=recipe, progress=progress)
    return teacher


def grade(teacher: nn.Module, items: Any) -> Tensor:
    """The teacher's posteriors p(y = +1 | x) for each item. Returns: (m,)."""
    return torch.sigmoid(predict_scores(teacher, as_tensor(as_float32("items", check_items("items", items)))))
