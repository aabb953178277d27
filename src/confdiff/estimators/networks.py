"""The network of a classifier: its architecture, and the training of one or several such networks."""

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from numpy.typing import ArrayLike
from torch import nn

from confdiff.methods import Method
from confdiff.models import ModelLike, build_model, mlp
from confdiff.models.composite import MeanOfNetworks, Standardised
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.pairs.sparse import SparseItems, as_matrix
from confdiff.prior import PriorEstimate, estimate_prior
from confdiff.randomness import derived_seed
from confdiff.standardisation import Scaling, fit_scaling
from confdiff.training import History, Recipe, train
from confdiff.validation import check_count, check_number

PICTURE_MODELS = frozenset({"resnet32", "resnet34"})
"""Networks whose features are the pixels of a picture, which are never standardised one by one."""


@dataclass(frozen=True)
class Architecture:
    """All that determines a network except its weights.

    Attributes
    ----------
    hidden : tuple of int or None
        Widths of the hidden layers of ``model="mlp"``; None for those of the paper.
    dropout : float
        Fraction of the outputs of hidden layers that are set to 0 in training.
    n_networks : int
        Number of networks whose scores are averaged.
    standardised : bool
        Whether features are standardised before the network.
    """

    hidden: tuple[int, ...] | None = None
    dropout: float = 0.0
    n_networks: int = 1
    standardised: bool = False

    def __post_init__(self) -> None:
        if self.hidden is not None and not self.hidden:
            raise ValueError("hidden must have at least one layer; got none. Use model='linear' for a linear model.")
        for width in self.hidden or ():
            check_count("hidden", width)
        if not check_number("dropout", self.dropout, least=0) < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {self.dropout!r}.")
        check_count("n_networks", self.n_networks)

    def factory(self, model: ModelLike) -> ModelLike:
        """Return the network or its factory, with the hidden layers and the dropout."""
        options: dict[str, Any] = {"hidden": self.hidden, "dropout": self.dropout}
        options = {name: value for name, value in options.items() if value}
        if not options:
            return model
        if model != "mlp":
            names = " and ".join(options)
            raise ValueError(f"{names} need model='mlp'; got model={model!r}.")
        return partial(mlp, **options)

    def build(self, model: ModelLike, n_features: int, n_scores: int = 1, *, seed: int = 0) -> nn.Module:
        """Return one new network, with features that are standardised once its scaling is set."""
        factory = self.factory(model)
        if isinstance(factory, partial):
            factory = partial(factory, n_scores=n_scores)
        network = build_model(factory, n_features, n_scores, seed=seed)
        return Standardised(network, n_features) if self.standardised else network

    def build_all(self, model: str, n_features: int, n_scores: int = 1) -> nn.Module:
        """Return the network with all its members, without weights that mean anything."""
        return combined([self.build(model, n_features, n_scores) for _ in range(self.n_networks)])


def combined(networks: list[nn.Module]) -> nn.Module:
    """Return the only network, or the mean of several."""
    return networks[0] if len(networks) == 1 else MeanOfNetworks(networks)


def takes_standardised(model: ModelLike, pairs: Pairs | StreamedPairs) -> bool:
    """Return whether features can be standardised: floats, and not the pixels of a network for pictures."""
    is_float = isinstance(pairs.items, SparseItems) or pairs.items.is_floating_point()
    return is_float and not (isinstance(model, str) and model in PICTURE_MODELS)


def scaling_of(data: Pairs) -> Scaling:
    """Return the scaling of the features of the items of pairs; items count as often as they occur."""
    return fit_scaling(as_matrix(data.items), torch.cat([data.left, data.right]).numpy())


@dataclass(frozen=True)
class NetworkTraining:
    """A network to be trained, with the arguments of :func:`confdiff.train` that all its members share.

    Attributes
    ----------
    architecture : Architecture
        The architecture.
    model : str, nn.Module or callable
        The network of each member, as in :func:`confdiff.models.build_model`.
    n_scores : int
        Scores per item.
    scaling : Scaling or None
        The scaling of the features; None if they are not standardised.
    recipe : Recipe
        The recipe of the first member. The seeds of the others are derived from its seed.
    checkpoint : path or None
        The checkpoint of the first member; those of others have the number of the member appended.
    verbose : bool
        Whether to show a progress bar.
    """

    architecture: Architecture
    model: ModelLike
    n_scores: int
    scaling: Scaling | None
    recipe: Recipe
    checkpoint: str | os.PathLike[str] | None
    verbose: bool

    def run(
        self, pairs: Pairs | StreamedPairs, method: Method, options: Mapping[str, Any]
    ) -> tuple[nn.Module, History]:
        """Train the members one after the other; return the network and the records of all epochs.

        The checkpoint of a finished member makes its training end at once, so that a run can be resumed in any member.
        At the end, only the checkpoint of the first member is left.

        Parameters
        ----------
        pairs : Pairs or StreamedPairs
            The training pairs.
        method : Method
            The method.
        options : mapping
            More arguments of :func:`confdiff.train`.
        """
        count = self.architecture.n_networks
        networks: list[nn.Module] = []
        history: History = []
        for number in range(count):
            network = self._member(pairs.items.shape[1], number)
            records = train(
                network,
                pairs,
                method,
                recipe=replace(self.recipe, seed=self._seed(number)),
                checkpoint=self._checkpoint(number),
                progress=f"network {number + 1} of {count}" if self.verbose and count > 1 else self.verbose,
                **options,
            )
            networks.append(network)
            history += records if count == 1 else [{"network": number, **record} for record in records]
        for number in range(1, count if self.checkpoint is not None else 1):
            Path(str(self._checkpoint(number))).unlink(missing_ok=True)
        return combined(networks), history

    def estimate_prior(
        self, data: Pairs, labelled: tuple[Any, ArrayLike] | None, *, differences: str, positives: str | None
    ) -> PriorEstimate:
        """Estimate the class prior from differences and labelled items, with this network and recipe."""

        def network(n_features: int) -> nn.Module:
            seed = int(torch.randint(2**31, (1,)))  # each fold seeds this draw, and so its first weights
            return self._scaled(self.architecture.build(self.model, n_features, seed=seed))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the classifier says what the data leave open
            return estimate_prior(
                data,
                labelled=labelled,
                model=network,
                recipe=self.recipe,
                differences=differences,
                positives=positives,
            )

    def _seed(self, number: int) -> int:
        seed = self.recipe.seed
        return seed if number == 0 else derived_seed(seed, "network", number)

    def _member(self, n_features: int, number: int) -> nn.Module:
        return self._scaled(self.architecture.build(self.model, n_features, self.n_scores, seed=self._seed(number)))

    def _scaled(self, network: nn.Module) -> nn.Module:
        return network.set_scaling(self.scaling) if self.scaling and isinstance(network, Standardised) else network

    def _checkpoint(self, number: int) -> str | None:
        if self.checkpoint is None:
            return None
        path = os.fspath(self.checkpoint)
        return path if number == 0 else f"{path}.{number + 1}"
