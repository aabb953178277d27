"""A training run at some step: what a step is, and what an epoch leaves behind."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from confdiff.companions import Companion
from confdiff.losses import MarginLoss, logistic
from confdiff.methods import Method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.risks import cross_entropy
from confdiff.training.batches import Batch, InMemory
from confdiff.training.recipe import OPTIMIZERS, SCHEDULES, Recipe, find_device
from confdiff.training.stream import source_of
from confdiff.validation import (
    as_float32,
    as_tensor,
    check_class_priors,
    check_prior,
    check_scores,
    check_vector,
    non_finite_risk,
    one_prior_only,
    prior_missing,
)

History = list[dict[str, float]]
"""One record an epoch: epoch, risk, seconds so far, and whatever the evaluation gave."""

Evaluation = Callable[[nn.Module], Mapping[str, float]]


def for_network(items: Tensor, model: nn.Module) -> Tensor:
    """The items as a network takes them: floats and bytes (pixels) in its own precision, ids to look up as they are."""
    if not (items.is_floating_point() or items.dtype == torch.uint8):
        return items
    precision = next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)
    if precision == torch.float32 and items.dtype == torch.float64:
        return as_tensor(as_float32("items", items.cpu().numpy()))
    return items.to(precision)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode inside the block; after it every module has the mode it had, also one that was frozen."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


class Run:
    """A run at some step: the data on the device, the optimiser, and the running sums of the epoch."""

    def __init__(
        self,
        model: nn.Module,
        pairs: Pairs | StreamedPairs,
        method: Method,
        prior: float | Tensor | None,
        loss: MarginLoss | None,
        recipe: Recipe,
        keep_best: str | None = None,
    ) -> None:
        self.model, self.method, self.recipe, self.keep_best = model, method, recipe, keep_best
        self.n_classes = pairs.n_classes if pairs.has_vectors else None
        self.loss = loss or (logistic if self.n_classes is None else cross_entropy)
        self.device = find_device(recipe.device)
        model.to(self.device)
        self.prior = _checked_prior(prior, method, pairs)
        self.source = source_of(pairs, method, self.prior, recipe)
        self.items = for_network(pairs.items, model).to(self.source.place)
        self.buffer = self._buffer()
        self.companion = self._companion(pairs)
        self.parameters = list(model.parameters())
        self.optimizer, self.peak_rates = self._optimizer()
        self.step, self.risk_sum, self.seconds = 0, 0.0, 0.0
        self.history: History = []
        self.best: dict[str, Any] | None = None  # the value of what is kept best, since when, and the weights
        self._tables: dict[int, Tensor] = {}  # place of a parameter -> its gradient, where that comes sparse
        self._drawn = -1  # the epoch that the batches are drawn from
        self._clock = time.perf_counter()

    def _companion(self, pairs: Pairs | StreamedPairs) -> Companion | None:
        if self.method.companion is None:
            return None
        if isinstance(self.prior, Tensor):
            raise one_prior_only(self.method.name)
        assert isinstance(pairs, Pairs)  # a stream has refused such methods by now
        assert isinstance(self.source, InMemory)
        strategy = pairs.ordering or "reverse"  # what people said is the order of their pairs: none was discarded
        return self.method.companion(self.model, self.items, self.source.rows, self.prior, strategy=strategy)

    @property
    def predictor(self) -> nn.Module:
        """The network that predicts: the one that is trained, or what a companion makes of it."""
        return self.model if self.companion is None else self.companion.model

    def _buffer(self) -> Tensor:
        if self.recipe.forward_passes == 2 and self.source.n == 1:
            raise ValueError("two forward passes need at least two pairs; got one.")
        return self.items.new_empty((2 * max(self.source.sizes), *self.items.shape[1:]))

    def _optimizer(self) -> tuple[Optimizer, list[float]]:
        chosen = self.recipe.optimizer
        factory = chosen if callable(chosen) else OPTIMIZERS[chosen]
        optimizer = factory(self.parameters, lr=self.recipe.learning_rate, weight_decay=self.recipe.weight_decay)
        return optimizer, [group["lr"] for group in optimizer.param_groups]

    @property
    def steps_per_epoch(self) -> int:
        """Batches in an epoch."""
        return len(self.source.sizes)

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.recipe.epochs * self.steps_per_epoch

    @property
    def epoch(self) -> int:
        """Epochs that are done."""
        return self.step // self.steps_per_epoch

    def take_step(self) -> None:
        """One batch: gather, score, risk, step."""
        rows, (*targets, weight, prior) = self._next_batch()
        x = self._gather(rows)
        g, g_prime = self._scores(x)
        if self.companion is not None:
            targets += self.companion.targets(x, len(g))
        terms = self.method.partial_risks(g, g_prime, *targets, prior=prior, weight=weight, loss=self.loss)
        risk = self.method.correction(terms).sum()
        value = risk.item()
        if not math.isfinite(value):
            raise non_finite_risk(
                terms, self.method.names_of(terms, many=self.n_classes is not None), self.epoch, self.step
            )
        self._set_learning_rate()
        for parameter in self.parameters:  # what optimizer.zero_grad() does, without its bookkeeping
            parameter.grad = None
        torch.autograd.backward(risk)
        self._fill_tables()
        self.optimizer.step()
        if self.companion is not None:
            self.companion.after_step()
        self.risk_sum += value * len(g)
        self.step += 1

    def _fill_tables(self) -> None:
        """Sparse gradients, as of embeddings, in whole tables, which are kept: new ones cost a third of a step."""
        for place, parameter in enumerate(self.parameters):
            if parameter.grad is not None and parameter.grad.is_sparse:
                if place not in self._tables:
                    self._tables[place] = torch.empty_like(parameter.detach())
                parameter.grad = self._tables[place].zero_().add_(parameter.grad)

    def _next_batch(self) -> Batch:
        """The batch of this step; a run that is resumed begins an epoch in the midst of it."""
        if self._drawn != self.epoch:
            extra = [] if self.companion is None else self.companion.columns(self.epoch)
            self._batches = self.source.epoch(self.epoch, self.step % self.steps_per_epoch, extra)
            self._drawn = self.epoch
        return next(self._batches)

    def _gather(self, rows: Tensor) -> Tensor:
        """The first items of the pairs, then the second ones."""
        x = torch.index_select(self.items, 0, rows.reshape(-1), out=self.buffer[: rows.numel()])
        return x.to(self.device)

    def _scores(self, x: Tensor) -> tuple[Tensor, Tensor]:
        n = len(x) // 2
        if self.recipe.forward_passes == 2:
            return self._checked(self.model(x[:n]), n), self._checked(self.model(x[n:]), n)
        scores = self._checked(self.model(x), 2 * n)
        g, g_prime = scores.view(2, n, *scores.shape[1:])
        return g, g_prime

    def _checked(self, output: Tensor, n: int) -> Tensor:
        return check_scores(output, n, self.n_classes)

    def _set_learning_rate(self) -> None:
        if self.recipe.schedule == "constant":
            return
        share = SCHEDULES[self.recipe.schedule](self.step / self.total_steps)
        for group, peak in zip(self.optimizer.param_groups, self.peak_rates, strict=True):
            group["lr"] = peak * share

    def count_time(self) -> None:
        """Add the time since the last call to the seconds of training."""
        now = time.perf_counter()
        self.seconds, self._clock = self.seconds + now - self._clock, now

    def end_epoch(self, evaluate: Evaluation | None) -> None:
        """Close the epoch's record, with an evaluation if one is asked for."""
        self.count_time()
        record = {"epoch": self.epoch, "risk": self.risk_sum / self.source.n, "seconds": self.seconds}
        self.risk_sum = 0.0
        if evaluate is not None:
            with evaluating(self.predictor):
                record |= {name: float(value) for name, value in evaluate(self.predictor).items()}
            self._keep_if_best(record)
            self._clock = time.perf_counter()  # seconds are those of training
        self.history.append(record)

    def _keep_if_best(self, record: Mapping[str, float]) -> None:
        """Keep the weights of the best value so far, and count the evaluations since."""
        if self.keep_best is None:
            return
        if self.keep_best not in record:
            raise ValueError(f"keep_best must name what evaluate gives: {', '.join(record)}; got {self.keep_best!r}.")
        now = record[self.keep_best]
        if self.best is not None and not now > self.best["value"] and not math.isnan(self.best["value"]):
            self.best["since"] += 1
            return
        weights = {name: value.clone() for name, value in self.predictor.state_dict().items()}
        self.best = {"value": now, "since": 0, "model": weights}

    def is_stuck(self, patience: int | None) -> bool:
        """Whether the best value was not bettered in so many evaluations."""
        return patience is not None and self.best is not None and self.best["since"] >= patience


def _checked_prior(prior: Any, method: Method, pairs: Pairs | StreamedPairs) -> float | Tensor | None:
    """No prior where none is needed, one for all, or one for each pair: (n,), or with K classes (n, K)."""
    if method.needs_prior and prior is None:
        raise prior_missing(method.name)
    if prior is None or method.prior == "unused":
        return None
    if pairs.has_vectors:
        priors = check_class_priors(prior, pairs.n_classes)
        return torch.from_numpy(priors.astype(np.float32)).expand(len(pairs), -1)
    if not hasattr(prior, "shape") or prior.shape == ():
        return check_prior(prior)
    if method.prior == "optional":
        raise one_prior_only(method.name)
    priors = check_vector("prior", prior, len(pairs))
    check_prior(float(priors.min()))
    check_prior(float(priors.max()))
    return torch.from_numpy(priors.astype(np.float32))
