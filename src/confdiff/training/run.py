"""The state of a training run: its steps, its records of epochs and its best weights."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from confdiff.companions import Companion
from confdiff.losses import MarginLoss, logistic
from confdiff.methods import Method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.pairs.sparse import Items, SparseItems
from confdiff.risks import cross_entropy
from confdiff.training.cost import largest_product
from confdiff.training.distributed import Workers
from confdiff.training.recipe import OPTIMIZERS, SCHEDULES, Recipe, find_device
from confdiff.training.scoring import evaluating, for_network
from confdiff.training.sources import Batch, InMemorySource, make_source
from confdiff.validation import (
    check_class_priors,
    check_prior,
    check_scores,
    check_vector,
    non_finite_risk,
    one_prior_only,
    prior_missing,
)

History = list[dict[str, float]]
"""One record per epoch: epoch, risk, seconds since the start, and the numbers of the evaluation."""

Evaluator = Callable[[nn.Module], Mapping[str, float]]
"""A function that is called with a network and returns named numbers, such as accuracies."""


class Run:
    """A training run at some step: the data on the device, the optimiser, and the running sums of the epoch.

    The parameters are those of :func:`confdiff.train`.

    Attributes
    ----------
    step : int
        Steps done.
    risk_sum : float
        Sum of the risks of the pairs in the current epoch.
    seconds : float
        Training time, without evaluations.
    history : list of dict
        One record per epoch.
    best : dict or None
        The highest value of ``keep_best``, the evaluations since, and the weights.
    """

    def __init__(
        self,
        model: nn.Module,
        pairs: Pairs | StreamedPairs,
        method: Method,
        prior: float | Tensor | None,
        loss: MarginLoss | None,
        recipe: Recipe,
        keep_best: str | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.model = model
        self.workers = workers
        self.method = method
        self.recipe = recipe
        self.keep_best = keep_best
        self.n_classes = pairs.n_classes if pairs.has_vectors else None
        self.loss = loss or (logistic if self.n_classes is None else cross_entropy)
        self.device = find_device(recipe.device)
        model.to(self.device)
        self.prior = _checked_prior(prior, method, pairs)
        self.source = make_source(pairs, method, self.prior, recipe, workers)
        if isinstance(pairs, Pairs):
            pairs.require_complete()
        self.items = self._stored(pairs.items)
        self.buffer = self._buffer()
        self.companion = self._companion(pairs)
        self.parameters = list(model.parameters())
        self.optimizer, self.peak_rates = self._optimizer()
        self.step = 0
        self.risk_sum = 0.0
        self.seconds = 0.0
        self.history: History = []
        self.best: dict[str, Any] | None = None
        self._dense_gradients: dict[int, Tensor] = {}  # index of a parameter with sparse gradients -> its buffer
        self._has_stepped = False
        self._batches_epoch = -1  # the epoch that the batches are drawn from
        self._clock = time.perf_counter()

    def _stored(self, items: Items) -> Items:
        """Return dense items as the network takes them, on the device; leave sparse ones as they are."""
        if isinstance(items, SparseItems):
            return items
        return for_network(items, self.model).to(self.source.item_device)

    def _companion(self, pairs: Pairs | StreamedPairs) -> Companion | None:
        if self.method.companion is None:
            return None
        if isinstance(self.prior, Tensor):
            raise one_prior_only(self.method.name)
        assert isinstance(pairs, Pairs)  # the streamed source rejects such methods
        assert isinstance(self.source, InMemorySource)
        strategy = pairs.ordering or "reverse"  # the order of pairs from people: no pair was discarded
        return self.method.companion(self.model, self.items, self.source.rows, self.prior, strategy=strategy)

    @property
    def predictor(self) -> nn.Module:
        """The network that predicts: the trained one, or the one that a companion derives from it."""
        return self.model if self.companion is None else self.companion.model

    def _buffer(self) -> Tensor:
        if self.recipe.forward_passes == 2 and self.source.n == 1:
            raise ValueError("forward_passes=2 needs at least two pairs; got one.")
        shape = (2 * max(1, self.source.largest), *self.items.shape[1:])
        return torch.empty(shape, dtype=self.items.dtype, device=self.items.device)

    def _optimizer(self) -> tuple[Optimizer, list[float]]:
        optimizer = self.new_optimizer(self.parameters)
        return optimizer, [group["lr"] for group in optimizer.param_groups]

    def new_optimizer(self, parameters: Sequence[Tensor]) -> Optimizer:
        """Return an optimiser of some parameters, with the settings of the recipe."""
        optimizer_or_name = self.recipe.optimizer
        factory = optimizer_or_name if callable(optimizer_or_name) else OPTIMIZERS[optimizer_or_name]
        return factory(parameters, lr=self.recipe.learning_rate, weight_decay=self.recipe.weight_decay)

    @property
    def work(self) -> float:
        """Multiply-adds of the largest matrix product of a forward pass."""
        with evaluating(self.model):
            first = self._gather(torch.zeros(1, dtype=torch.int64, device=self.items.device))
            return largest_product(self.model, first, len(self.buffer) // self.recipe.forward_passes)

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches per epoch."""
        return len(self.source.sizes)

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.recipe.epochs * self.steps_per_epoch

    @property
    def epoch(self) -> int:
        """Completed epochs."""
        return self.step // self.steps_per_epoch

    def take_step(self) -> None:
        """Train on one batch: gather the items, score them, compute the risk, update the weights."""
        n_pairs = self.source.sizes[self.step % self.steps_per_epoch]
        if self.workers is not None:
            self.workers.n_pairs = n_pairs
            self.workers.seed_step(self.recipe.seed, self.step)
        rows, (*targets, weight, prior) = self._next_batch()
        x = self._gather(rows)
        g, g_prime = self._scores(x)
        if self.companion is not None:
            targets += self.companion.targets(x, len(g))
        terms = self.method.partial_risks(g, g_prime, *targets, prior=prior, weight=weight, loss=self.loss)
        if self.workers is not None and not self._has_stepped:
            self.workers.check_sums(terms, self.method.name)
        risk = self.method.correction(terms).sum()
        value = risk.item()
        if not math.isfinite(value):
            term_names = self.method.names_of(terms, many=self.n_classes is not None)
            raise non_finite_risk(terms, term_names, self.epoch, self.step)
        self._set_learning_rate()
        for parameter in self.parameters:  # as optimizer.zero_grad() does, without its bookkeeping
            parameter.grad = None
        torch.autograd.backward(risk)
        self._densify_gradients()
        if self.workers is not None:
            self.workers.add_gradients(self.parameters)
        self.optimizer.step()
        if self.companion is not None:
            self.companion.after_step()
        self.risk_sum += value * n_pairs
        self.step += 1
        self._has_stepped = True

    def _densify_gradients(self) -> None:
        """Convert sparse gradients to dense ones in reused buffers; new buffers would cost a third of a step."""
        for index, parameter in enumerate(self.parameters):
            if parameter.grad is not None and parameter.grad.is_sparse:
                if index not in self._dense_gradients:
                    self._dense_gradients[index] = torch.empty_like(parameter.detach())
                parameter.grad = self._dense_gradients[index].zero_().add_(parameter.grad)

    def _next_batch(self) -> Batch:
        """Return the batch of this step; a resumed run may start in the middle of an epoch."""
        if self._batches_epoch != self.epoch:
            extra = [] if self.companion is None else self.companion.columns(self.epoch)
            self._batches = self.source.epoch(self.epoch, self.step % self.steps_per_epoch, extra)
            self._batches_epoch = self.epoch
        return next(self._batches)

    def _gather(self, rows: Tensor) -> Tensor:
        """Return the first items of the pairs, then the second items."""
        buffer = self.buffer[: rows.numel()]
        if isinstance(self.items, SparseItems):
            return for_network(self.items.dense(rows.reshape(-1), out=buffer), self.model).to(self.device)
        return torch.index_select(self.items, 0, rows.reshape(-1), out=buffer).to(self.device)

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
        fraction = SCHEDULES[self.recipe.schedule](self.step / self.total_steps)
        for group, peak in zip(self.optimizer.param_groups, self.peak_rates, strict=True):
            group["lr"] = peak * fraction

    def count_time(self) -> None:
        """Add the time since the last call to the training time."""
        now = time.perf_counter()
        self.seconds = self.seconds + now - self._clock
        self._clock = now

    def end_epoch(self, evaluate: Evaluator | None) -> None:
        """Append the record of the epoch to the history, with the numbers of ``evaluate`` if it is given."""
        self.count_time()
        record = {"epoch": self.epoch, "risk": self.risk_sum / self.source.n, "seconds": self.seconds}
        self.risk_sum = 0.0
        if evaluate is not None:
            record |= self._evaluated(evaluate)
            self._keep_if_best(record)
            self._clock = time.perf_counter()  # evaluations do not count as training time
        self.history.append(record)

    def _evaluated(self, evaluate: Evaluator) -> dict[str, float]:
        """Return the numbers of an evaluation; of several workers, rank 0 evaluates."""
        if self.workers is not None and self.workers.rank:
            numbers: dict[str, float] = self.workers.broadcast(None)
            return numbers
        with evaluating(self.predictor):
            numbers = {name: float(value) for name, value in evaluate(self.predictor).items()}
        return numbers if self.workers is None else self.workers.broadcast(numbers)

    def _keep_if_best(self, record: Mapping[str, float]) -> None:
        """Copy the weights if the value is the best so far; otherwise count the evaluations since the best."""
        if self.keep_best is None:
            return
        if self.keep_best not in record:
            names = ", ".join(record)
            raise ValueError(f"keep_best must be a number that evaluate returns: {names}; got {self.keep_best!r}.")
        value = record[self.keep_best]
        if self._is_best(value):
            weights = {name: tensor.clone() for name, tensor in self.predictor.state_dict().items()}
            self.best = {"value": value, "since": 0, "model": weights}
        elif self.best is not None:
            self.best["since"] += 1

    def _is_best(self, value: float) -> bool:
        """Return whether a value is the first, greater than the best so far, or follows a NaN."""
        if self.best is None:
            return True
        best_value = self.best["value"]
        return bool(value > best_value or math.isnan(best_value))

    def is_stuck(self, patience: int | None) -> bool:
        """Return whether ``patience`` evaluations passed since the best value."""
        return patience is not None and self.best is not None and self.best["since"] >= patience

    def load_final_weights(self) -> None:
        """Load the best weights into the model, or those of the companion's network."""
        if self.best is not None:
            self.model.load_state_dict(self.best["model"])
        elif self.companion is not None:
            self.model.load_state_dict(self.predictor.state_dict())


def _checked_prior(prior: Any, method: Method, pairs: Pairs | StreamedPairs) -> float | Tensor | None:
    """Return None if no prior is needed, one prior for all pairs, or one per pair: (n,), or (n, K) for K classes."""
    if method.needs_prior and prior is None:
        raise prior_missing(method.name)
    if prior is None or method.prior == "unused":
        return None
    if pairs.has_vectors:
        priors = check_class_priors(prior, pairs.n_classes)
        return torch.from_numpy(priors.astype(np.float32)).expand(len(pairs), -1)
    if not hasattr(prior, "shape") or prior.shape == ():
        return check_prior(prior)
    if method.takes_one_prior:
        raise one_prior_only(method.name)
    priors = check_vector("prior", prior, len(pairs))
    check_prior(float(priors.min()))
    check_prior(float(priors.max()))
    return torch.from_numpy(priors.astype(np.float32))
