"""The one training loop. It depends on a method only through the method's row of the table.

A step gathers the rows of the batch into one buffer. It scores x and x' in one forward pass, or in two if the protocol
requires it. Then it computes the method's risk and updates the weights. The order of the pairs in each epoch depends on
the seed and the epoch alone, so a run can be resumed at any step. The loop is the same for pairs in memory and for a
stream of pairs.
"""

import os
from collections.abc import Container

import torch
from torch import Tensor, nn

from confdiff.interruption import interrupts_held_back
from confdiff.losses import MarginLoss
from confdiff.methods import Method, find_method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.randomness import seeded
from confdiff.threads import computing, follow_policy
from confdiff.training.checkpoint import Checkpoint
from confdiff.training.progress import progress_bar
from confdiff.training.recipe import Recipe
from confdiff.training.run import Evaluator, History, Run


@follow_policy
def train(
    model: nn.Module,
    pairs: Pairs | StreamedPairs,
    method: Method | str,
    *,
    prior: float | Tensor | None = None,
    loss: MarginLoss | None = None,
    recipe: Recipe | None = None,
    evaluate: Evaluator | None = None,
    evaluate_at: Container[int] | None = None,
    keep_best: str | None = None,
    patience: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30,
    progress: bool | str = False,
) -> History:
    """Train ``model`` in place and return the history.

    Parameters
    ----------
    model : torch.nn.Module
        The network, which maps (m, d) items to (m,) or (m, 1) scores, or to (m, K) scores of K classes.
    pairs : Pairs or StreamedPairs
        The training pairs.
    method : Method or str
        A row of the table of methods, or its name.
    prior : float, tensor of shape (n,) or (K,), or None, default=None
        The class prior, one prior per pair (if groups have different priors), or the priors of K classes.
    loss : callable, default=None
        The loss of a margin. By default the logistic loss; for K classes the cross-entropy.
    recipe : Recipe, default=None
        Optimiser, epochs, device and seed. By default ``Recipe()``.
    evaluate : callable, default=None
        Called with the model in evaluation mode after each epoch. Returns numbers that are added to the history.
    evaluate_at : container of int, default=None
        The epochs after which ``evaluate`` is called, counted from 1. By default after each epoch.
    keep_best : str, default=None
        Name of a number that ``evaluate`` returns. The model ends with the weights for which it was highest.
    patience : int, default=None
        Stop after this many evaluations without an improvement of ``keep_best``.
    checkpoint : path, default=None
        A file that is saved at most every ``checkpoint_seconds`` while training. If it already exists, training
        resumes from it and ends with the same weights as an uninterrupted run. Ctrl-C and SIGTERM wait for the current
        step and save the file; a second one stops at once.
    checkpoint_seconds : float, default=30
        Least time between two saves of the checkpoint.
    progress : bool or str, default=False
        Show a progress bar; a string is its title.

    Returns
    -------
    list of dict
        One record per epoch: ``epoch``, ``risk``, ``seconds``, and the numbers that ``evaluate`` returned.
    """
    method = method if isinstance(method, Method) else find_method(method)
    recipe = Recipe() if recipe is None else recipe
    _check_type("model", model, nn.Module)
    _check_type("pairs", pairs, Pairs, StreamedPairs)
    _check_type("recipe", recipe, Recipe)
    _check_stopping(evaluate, keep_best, patience)
    pairs, prior = _carrying(pairs, method, prior)
    run = Run(model, pairs, method, prior, loss, recipe, keep_best)
    saver = None
    if checkpoint is not None:
        evaluated = _describe_evaluation(evaluate, evaluate_at, keep_best, patience)
        saver = Checkpoint(checkpoint, every=checkpoint_seconds, run=run, evaluated=evaluated)
    with (
        computing(run.work),
        seeded(recipe.seed, "training"),
        torch.enable_grad(),
        progress_bar(progress, method.name, run.total_steps) as show,
        interrupts_held_back() as interrupted,
    ):
        if saver:
            saver.resume()
        try:
            model.train()
            while run.step < run.total_steps and not run.is_stuck(patience) and not interrupted():
                run.take_step()
                if run.step % run.steps_per_epoch == 0:
                    run.end_epoch(evaluate if evaluate_at is None or run.epoch in evaluate_at else None)
                show(run)
                if saver:
                    saver.save_if_due()
            if saver:
                saver.save()
        finally:
            model.eval()
    run.load_final_weights()
    return run.history


def _carrying(
    pairs: Pairs | StreamedPairs, method: Method, prior: float | Tensor | None
) -> tuple[Pairs | StreamedPairs, float | Tensor | None]:
    """Return the pairs that have the supervision of the method, and their priors if each pair has one."""
    has_priors = isinstance(prior, Tensor) and prior.shape == (len(pairs),) and not pairs.has_vectors
    if has_priors and isinstance(pairs, Pairs) and isinstance(prior, Tensor):
        prior = prior[pairs.carries(method.learns_from)]
    return pairs.carrying(method.learns_from), prior


def _check_type(name: str, value: object, *types: type) -> None:
    if not isinstance(value, types):
        raise ValueError(f"{name} must be a {types[0].__name__}; got {type(value).__name__}.")


def _check_stopping(evaluate: Evaluator | None, keep_best: str | None, patience: int | None) -> None:
    if keep_best is None and patience is not None:
        raise ValueError(f"patience={patience} needs a number to improve; name it with keep_best='...'.")
    if keep_best is not None and evaluate is None:
        raise ValueError(f"keep_best={keep_best!r} needs an evaluation that returns this number; pass evaluate=...")


def _describe_evaluation(
    evaluate: Evaluator | None, evaluate_at: Container[int] | None, keep_best: str | None, patience: int | None
) -> str:
    """Describe when a run is evaluated; the text is part of a checkpoint's fingerprint."""
    if evaluate is None:
        return "never"
    epochs = "after each epoch" if evaluate_at is None else f"after {evaluate_at}"
    return epochs if keep_best is None else f"{epochs}, for the best {keep_best}, patience {patience}"
