"""Networks that give one score an item: plain ``nn.Module``, and the table of those with a name."""

import copy
from collections.abc import Callable

from torch import nn

from confdiff.models.mlp import authors_mlp, linear, mlp
from confdiff.models.ncf import RECOMMENDERS
from confdiff.models.resnet import resnet32, resnet34
from confdiff.randomness import seeded
from confdiff.validation import check_choice

__all__ = ["MODELS", "RECOMMENDERS", "ModelLike", "authors_mlp", "build_model", "linear", "mlp", "resnet32", "resnet34"]

ModelLike = str | nn.Module | Callable[[int], nn.Module]
"""A name from :data:`MODELS`, a network, or a factory that is called with the number of features."""

MODELS: dict[str, Callable[..., nn.Module]] = {
    "linear": linear,
    "mlp": mlp,
    "authors-mlp": authors_mlp,
    "resnet34": resnet34,
    "resnet32": resnet32,
}
"""Name -> factory, called with the number of features and that of the scores, 1 if not given."""


def build_model(model: ModelLike, n_features: int, n_scores: int = 1, *, seed: int = 0) -> nn.Module:
    """A network of its own for one training run.

    A name or a factory gives a network whose first weights the seed decides; a network is copied with the weights
    that it has, so that the one handed in stays as it is. A network by name has as many scores as are asked for;
    a factory of your own knows how many it gives.

    >>> build_model("linear", 3)
    Linear(in_features=3, out_features=1, bias=True)
    """
    if isinstance(model, nn.Module):
        return copy.deepcopy(model)
    sizes = (n_features,) if callable(model) else (n_features, n_scores)
    factory = model if callable(model) else MODELS[check_choice("model", model, MODELS)]
    with seeded(seed, "model"):
        built = factory(*sizes)
    if not isinstance(built, nn.Module):
        raise ValueError(f"model must be a name, a torch.nn.Module or a factory of one; it gave {built!r}.")
    return built
