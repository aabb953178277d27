"""The one training loop. It depends on a method only through the method's row of the table.

A step gathers the rows of the batch into one buffer. It scores x and x' in one forward pass, or in two if the protocol
requires it. Then it computes the method's risk and updates the weights. The order of the pairs in each epoch depends on
the seed and the epoch alone, so a run can be resumed at any step. The loop is the same for pairs in memory and for a
stream of pairs, and for one process and several workers.
"""

import os
from collections.abc import Callable, Container
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from confdiff.losses import MarginLoss
from confdiff.methods import Method
from confdiff.models.batch_norm import batch_norm_over_workers
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.randomness import seeded
from confdiff.reduction import reducing
from confdiff.threads import computing
from confdiff.training.checkpoint import Checkpoint
from confdiff.training.distributed import Workers
from confdiff.training.recipe import Recipe
from confdiff.training.run import Evaluator, History, Run


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be trained, with the arguments of :func:`confdiff.train`."""

    model: nn.Module
    pairs: Pairs | StreamedPairs
    method: Method
    prior: float | Tensor | None
    loss: MarginLoss | None
    recipe: Recipe
    evaluate: Evaluator | None
    evaluate_at: Container[int] | None
    keep_best: str | None
    patience: int | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_seconds: float

    def is_evaluated(self, epoch: int) -> bool:
        """Return whether the model is evaluated after an epoch, counted from 1."""
        return self.evaluate is not None and (self.evaluate_at is None or epoch in self.evaluate_at)

    @property
    def evaluated(self) -> str:
        """Description of when the run is evaluated; it is part of a checkpoint's fingerprint."""
        if self.evaluate is None:
            return "never"
        epochs = "after each epoch" if self.evaluate_at is None else f"after {self.evaluate_at}"
        if self.keep_best is None:
            return epochs
        return f"{epochs}, for the best {self.keep_best}, patience {self.patience}"


def run_loop(
    job: Job,
    *,
    show: Callable[[Run], None],
    is_interrupted: Callable[[], bool],
    workers: Workers | None = None,
    on_save: Callable[[], Any] = lambda: None,
) -> History:
    """Train the model of a job in place and return the history.

    Parameters
    ----------
    job : Job
        The job.
    show : callable
        Called after each step with the run.
    is_interrupted : callable
        Returns whether to stop after the current step. It must be the same in all workers.
    workers : Workers, optional
        The workers, of which this process is one. By default it is the only one.
    on_save : callable
        Called after the checkpoint was saved.
    """
    run = Run(job.model, job.pairs, job.method, job.prior, job.loss, job.recipe, job.keep_best, workers)
    saver = None
    if job.checkpoint is not None:
        saver = Checkpoint(job.checkpoint, every=job.checkpoint_seconds, run=run, evaluated=job.evaluated)
    saves = saver is not None and (workers is None or workers.rank == 0)
    with ExitStack() as stack:
        stack.enter_context(computing(run.work))
        stack.enter_context(seeded(job.recipe.seed, "training"))
        stack.enter_context(torch.enable_grad())
        stack.enter_context(reducing(workers))
        if workers is not None:
            stack.enter_context(batch_norm_over_workers())
        if saver:
            saver.resume()
        try:
            job.model.train()
            while run.step < run.total_steps and not run.is_stuck(job.patience) and not is_interrupted():
                run.take_step()
                if run.step % run.steps_per_epoch == 0:
                    run.end_epoch(job.evaluate if job.is_evaluated(run.epoch) else None)
                show(run)
                if saver and saves and saver.save_if_due():
                    on_save()
            if saver and saves and saver.save():
                on_save()
            if workers is not None:
                workers.wait()  # for the checkpoint
        finally:
            job.model.eval()
    run.load_final_weights()
    return run.history
