"""Networks that return one score per item: plain ``nn.Module``, and the table of named networks."""

import copy
from collections.abc import Callable

from torch import nn

from confdiff.models.mlp import authors_mlp, linear, mlp
from confdiff.models.ncf import RECOMMENDERS
from confdiff.models.resnet import resnet32, resnet34
from confdiff.plugins import look_up
from confdiff.randomness import seeded

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
"""Name -> factory, called with the number of features and the number of scores per item. Plug-ins add theirs by
:func:`confdiff.register_model`."""


def build_model(model: ModelLike, n_features: int, n_scores: int = 1, *, seed: int = 0) -> nn.Module:
    """Return a new network for one training run.

    Parameters
    ----------
    model : str, nn.Module or callable
        A name from :data:`MODELS`, or a factory that is called with ``n_features``: the seed determines the initial
        weights. A network is copied with its weights, so that the one passed in does not change.
    n_features : int
        Number of features of an item.
    n_scores : int
        Number of scores per item of a named network; a factory chooses its own.
    seed : int
        Seed of the initial weights.

    Returns
    -------
    nn.Module

    Raises
    ------
    ValueError
        If the name is unknown, or a factory does not return a network.

    Examples
    --------
    >>> build_model("linear", 3)
    Linear(in_features=3, out_features=1, bias=True)
    """
    if isinstance(model, nn.Module):
        return copy.deepcopy(model)
    sizes = (n_features,) if callable(model) else (n_features, n_scores)
    factory = model if callable(model) else look_up("model", MODELS, model)
    with seeded(seed, "model"):
        network = factory(*sizes)
    if not isinstance(network, nn.Module):
        raise ValueError(f"model must be a name, a torch.nn.Module or a factory of one; the factory gave {network!r}.")
    return network
