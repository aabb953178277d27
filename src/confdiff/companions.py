"""What some methods keep beside the network while it is trained: state with a hook for every epoch and every step."""

import copy
import math
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from confdiff.risks.pcomp import mislabelled_fractions, noise_rates


class Companion(Protocol):
    """What the training loop asks of a companion."""

    model: nn.Module
    """The network that predicts, which need not be the one that is trained."""

    def columns(self, epoch: int) -> list[Tensor]:
        """(n,) targets of every pair in an epoch, given to the risk after those of the pairs."""

    def targets(self, x: Tensor, n: int) -> tuple[Tensor | float, ...]:
        """Targets of a batch, given to the risk last; x are the n first and the n second items."""

    def after_step(self) -> None:
        """Called when the optimiser has made a step."""

    def state(self) -> dict[str, Any]:
        """Everything that decides how it goes on."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from such a state."""


class PcompTeacher:
    """The companion of Pcomp-Teacher (Feng et al. 2021): rank pruning and a mean teacher.

    First items are read as noisy positives, second ones as noisy negatives. At the start of an epoch the share of each
    side that must be mislabelled is pruned, those that the teacher is least confident of; the rest is weighted by one
    over one minus its noise rate (Northcutt et al. 2017). The teacher is the moving average of the weights of the
    network (Tarvainen and Valpola 2017); the network is drawn to its probabilities, and it predicts.

    decay: of the moving average, once the training is well under way.
    prune_from: the first epoch in which anything is pruned.
    consistency, ramp: the weight of consistency, and over how many epochs it grows to that.
    """

    def __init__(
        self,
        model: nn.Module,
        items: Tensor,
        rows: Tensor,
        prior: float,
        *,
        strategy: str = "reverse",
        decay: float = 0.999,
        prune_from: int = 5,
        consistency: float = 10.0,
        ramp: int = 5,
    ) -> None:
        self.student, self.items, self.rows = model, items, rows
        self.model = copy.deepcopy(model).requires_grad_(False)
        self.noise, self.mislabelled = noise_rates(prior, strategy), mislabelled_fractions(prior, strategy)
        self.decay, self.prune_from, self.consistency, self.ramp = decay, prune_from, consistency, ramp
        self.steps, self.epoch = 0, -1
        self.weights = [torch.ones(rows.shape[1], device=items.device) for _ in range(2)]

    def columns(self, epoch: int) -> list[Tensor]:
        """The weights of the first and of the second items; 0 for those that are pruned."""
        if epoch != self.epoch and epoch >= self.prune_from:
            confidence = self._scores()
            self.weights = [
                _prune(confidence[self.rows[0]], self.mislabelled[0], self.noise[1]),
                _prune(-confidence[self.rows[1]], self.mislabelled[1], self.noise[0]),
            ]
        self.epoch = epoch
        return self.weights

    def targets(self, x: Tensor, n: int) -> tuple[Tensor, Tensor, float]:
        """The teacher's scores of the batch, and the weight of consistency by now."""
        with torch.no_grad():
            t, t_prime = self.model.eval()(x).view(2, n)
        grown = min(1.0, (self.epoch + 1) / self.ramp)
        return t, t_prime, self.consistency * math.exp(-5 * (1 - grown) ** 2)

    @torch.no_grad()
    def after_step(self) -> None:
        """Move the teacher's weights towards the network's; at first fast, so that it forgets how it began."""
        self.steps += 1
        share = 1 - min(self.decay, self.steps / (self.steps + 10))
        torch._foreach_lerp_(list(self.model.parameters()), list(self.student.parameters()), share)
        for mean, now in zip(self.model.buffers(), self.student.buffers(), strict=True):
            mean.copy_(now)

    def state(self) -> dict[str, Any]:
        """The teacher, who is pruned, and how far it is."""
        return {"model": self.model.state_dict(), "weights": self.weights, "steps": self.steps, "epoch": self.epoch}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from such a state."""
        self.model.load_state_dict(state["model"])
        self.weights = [weight.to(self.items.device) for weight in state["weights"]]
        self.steps, self.epoch = state["steps"], state["epoch"]

    @torch.no_grad()
    def _scores(self) -> Tensor:
        self.model.eval()
        return torch.cat([self.model(part).view(-1) for part in torch.split(self.items, 1024)])


def _prune(confidence: Tensor, share: float, noise_rate: float) -> Tensor:
    """Weights that are 0 for the least confident share and 1 / (1 - noise rate) for the others."""
    weight = torch.full_like(confidence, 1 / (1 - noise_rate))
    weight[torch.argsort(confidence, stable=True)[: int(share * len(confidence))]] = 0
    return weight
