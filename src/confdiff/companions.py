"""Companions: state that a method keeps next to the network during training, with hooks for epochs and steps."""

import copy
import math
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from confdiff.io.tensors import check_tensor, check_tensors
from confdiff.pairs.sparse import Items, SparseItems, dense_batches
from confdiff.reduction import current_reducer, part_of
from confdiff.risks.pcomp import mislabelled_fractions, noise_rates
from confdiff.validation import check_count


class Companion(Protocol):
    """The interface of a companion, as the training loop uses it."""

    model: nn.Module
    """The network that predicts; it may differ from the one that is trained."""

    def columns(self, epoch: int) -> list[Tensor]:
        """Return further targets of all pairs in an epoch, each (n,), which follow those of the pairs in the risk."""

    def targets(self, x: Tensor, n: int) -> tuple[Tensor | float, ...]:
        """Return further targets of a batch, the last ones of the risk; ``x`` holds n first, then n second items."""

    def after_step(self) -> None:
        """Update the state after a step of the optimiser."""

    def state(self) -> dict[str, Any]:
        """Return the state from which training can continue."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that :meth:`state` returned."""


class PcompTeacher:
    """The companion of Pcomp-Teacher (Feng et al. 2021): rank pruning and a mean teacher.

    First items count as noisy positives, second ones as noisy negatives. At the start of an epoch, the expected
    fraction of mislabelled items is pruned on each side. The items with the lowest confidence of the teacher are pruned
    first. The others have weight 1 / (1 - noise rate) (Northcutt et al. 2017). The teacher is the moving average of the
    weights of the network (Tarvainen and Valpola 2017). A consistency term draws the network's probabilities towards
    the teacher's. Predictions come from the teacher.

    Parameters
    ----------
    model : nn.Module
        The network that is trained.
    items : Tensor or SparseItems of shape (m, d)
        Features of the items.
    rows : Tensor of shape (2, n)
        Row numbers of the first and of the second items of the pairs.
    prior : float
        Class prior.
    strategy : str
        Strategy by which pairs were ordered by their labels: ``"reverse"`` or ``"discard"``.
    decay : float
        Decay of the moving average after the first steps.
    prune_from : int
        First epoch in which items are pruned.
    consistency : float
        Weight of consistency with the teacher.
    ramp : int
        Number of epochs over which the weight of consistency grows.
    """

    def __init__(
        self,
        model: nn.Module,
        items: Items,
        rows: Tensor,
        prior: float,
        *,
        strategy: str = "reverse",
        decay: float = 0.999,
        prune_from: int = 5,
        consistency: float = 10.0,
        ramp: int = 5,
    ) -> None:
        self.student = model
        self.items = items
        self.rows = rows
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.noise = noise_rates(prior, strategy)
        self.mislabelled = mislabelled_fractions(prior, strategy)
        self.decay = decay
        self.prune_from = prune_from
        self.consistency = consistency
        self.ramp = ramp
        self.steps = 0
        self.epoch = -1
        self.weights = [torch.ones(rows.shape[1], device=rows.device) for _ in range(2)]

    def columns(self, epoch: int) -> list[Tensor]:
        """Return the weights of first and second items, 0 if pruned; prune again when a new epoch starts."""
        if epoch != self.epoch and epoch >= self.prune_from:
            confidence = self._scores()
            self.weights = [
                _prune(confidence[self.rows[0]], self.mislabelled[0], self.noise[1]),
                _prune(-confidence[self.rows[1]], self.mislabelled[1], self.noise[0]),
            ]
        self.epoch = epoch
        return self.weights

    def targets(self, x: Tensor, n: int) -> tuple[Tensor, Tensor, float]:
        """Return the teacher's scores of the batch, and the current weight of consistency."""
        with torch.no_grad():
            t, t_prime = self.model.eval()(x).view(2, n)
        progress = min(1.0, (self.epoch + 1) / self.ramp)
        return t, t_prime, self.consistency * math.exp(-5 * (1 - progress) ** 2)

    @torch.no_grad()
    def after_step(self) -> None:
        """Move the teacher's weights towards the network's, faster at first so that the initial weights fade."""
        self.steps += 1
        rate = 1 - min(self.decay, self.steps / (self.steps + 10))
        torch._foreach_lerp_(list(self.model.parameters()), list(self.student.parameters()), rate)
        for mean, current in zip(self.model.buffers(), self.student.buffers(), strict=True):
            mean.copy_(current)

    def state(self) -> dict[str, Any]:
        """Return the teacher, the weights of the items, and the number of steps and epochs."""
        return {"model": self.model.state_dict(), "weights": self.weights, "steps": self.steps, "epoch": self.epoch}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from a state that :meth:`state` returned."""
        model = check_tensors("the weights of the teacher", state["model"], self.model.state_dict())
        first, second = state["weights"]
        weights = [check_tensor("the weights of the items", weight, self.weights[0]) for weight in (first, second)]
        self.steps = check_count("steps", state["steps"], least=0)
        self.epoch = check_count("epoch", state["epoch"], least=-1)
        self.weights = [weight.to(self.rows.device) for weight in weights]
        self.model.load_state_dict(model)

    @torch.no_grad()
    def _scores(self) -> Tensor:
        """Return the teacher's scores of all items; each worker computes a part of them."""
        reducer = current_reducer()
        if reducer is None:
            return self._scores_of(self.items)
        scores = torch.zeros(len(self.items), dtype=next(self.model.parameters()).dtype)
        part = part_of(len(self.items), reducer)
        if part.stop > part.start:
            scores[part] = self._scores_of(self.items[part])
        return reducer.sum(scores)

    def _scores_of(self, items: Items) -> Tensor:
        self.model.eval()
        batches = dense_batches(items, 1024)
        if isinstance(items, SparseItems):
            weight = next(self.model.parameters())
            batches = (batch.to(weight) for batch in batches)
        return torch.cat([self.model(batch).view(-1) for batch in batches])


def _prune(confidence: Tensor, fraction: float, noise_rate: float) -> Tensor:
    """Return weights: 0 for the least confident fraction and 1 / (1 - noise rate) for the others."""
    weight = torch.full_like(confidence, 1 / (1 - noise_rate))
    weight[torch.argsort(confidence, stable=True)[: int(fraction * len(confidence))]] = 0
    return weight
