"""The one training loop. It knows nothing of methods but the row of the table that it is given.

A step: the rows of the batch are gathered into one buffer, one forward pass scores x and x' together (two passes,
where a protocol asks for that), the method's risk is taken and the optimiser makes a step. The order of the pairs
in each epoch depends on the seed and the epoch alone, so a run can go on from any step. Where the batches come from,
pairs in memory or a stream, the loop does not know.
"""

import os
from collections.abc import Container

import torch
from torch import Tensor, nn

from confdiff.losses import MarginLoss
from confdiff.methods import Method, find_method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.randomness import seeded
from confdiff.training.checkpoint import Checkpoint
from confdiff.training.interruption import interrupts_held_back
from confdiff.training.progress import progress_bar
from confdiff.training.recipe import Recipe
from confdiff.training.run import Evaluation, History, Run, evaluating, for_network
from confdiff.validation import check_scores


def train(
    model: nn.Module,
    pairs: Pairs | StreamedPairs,
    method: Method | str,
    *,
    prior: float | Tensor | None = None,
    loss: MarginLoss | None = None,
    recipe: Recipe | None = None,
    evaluate: Evaluation | None = None,
    evaluate_at: Container[int] | None = None,
    keep_best: str | None = None,
    patience: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30,
    progress: bool | str = False,
) -> History:
    """Train ``model`` in place and return the history.

    prior: the class prior, or (n,) one for each pair where groups have priors of their own; of K classes (K,).
    loss: the logistic one if none is given; for K classes the cross-entropy.
    evaluate: called with the model, in evaluation mode, after each epoch, or after those in ``evaluate_at``.
    keep_best: one of the numbers that ``evaluate`` gives: the model ends with the weights that had it highest.
    patience: stop when that number was not bettered in so many evaluations.
    checkpoint: a file that is kept while training, at most every ``checkpoint_seconds``. Where it is there already,
        training goes on from it and ends with the same weights as a run that was never stopped. Ctrl-C waits for the
        step under way and for the file to be saved; a second one does not.
    progress: show a progress bar; a text is its title.
    """
    row = method if isinstance(method, Method) else find_method(method)
    recipe = Recipe() if recipe is None else recipe
    _check_kind("model", model, nn.Module)
    _check_kind("pairs", pairs, Pairs, StreamedPairs)
    _check_kind("recipe", recipe, Recipe)
    if keep_best is None and patience is not None:
        raise ValueError("patience needs a number that is to be bettered: name it in keep_best.")
    if keep_best is not None and evaluate is None:
        raise ValueError(f"keep_best={keep_best!r} needs an evaluation that gives it: pass evaluate.")
    run = Run(model, pairs, row, prior, loss, recipe, keep_best)
    keeper = None
    if checkpoint is not None:
        evaluated = (
            "never" if evaluate is None else "after each epoch" if evaluate_at is None else f"after {evaluate_at}"
        )
        if keep_best is not None:
            evaluated += f", for the best {keep_best}, patience {patience}"
        keeper = Checkpoint(checkpoint, checkpoint_seconds, run, evaluated)
    showing, holding = progress_bar(progress, row.name, run.total_steps), interrupts_held_back()
    with seeded(run.recipe.seed, "training"), showing as show, holding as interrupted:
        if keeper:
            keeper.resume()
        try:
            model.train()
            while run.step < run.total_steps and not run.is_stuck(patience) and not interrupted():
                run.take_step()
                if run.step % run.steps_per_epoch == 0:
                    run.end_epoch(evaluate if evaluate_at is None or run.epoch in evaluate_at else None)
                show(run)
                if keeper:
                    keeper.save_if_due()
            if keeper:
                keeper.save()
        finally:
            model.eval()
    if run.best is not None:
        model.load_state_dict(run.best["model"])
    elif run.companion is not None:
        model.load_state_dict(run.predictor.state_dict())
    return run.history


def _check_kind(what: str, given: object, *kinds: type) -> None:
    if not isinstance(given, kinds):
        raise ValueError(f"{what} must be a {kinds[0].__name__}; got {type(given).__name__}.")


def predict_scores(model: nn.Module, items: Tensor, *, n_classes: int | None = None, batch_size: int = 1024) -> Tensor:
    """The model's scores for ``items``, in evaluation mode and without gradients.

    Returns: (m,), on the CPU; (m, K) where the number of classes is given.
    """
    device = _device_of(model)
    with evaluating(model), torch.inference_mode():
        parts = (for_network(part, model).to(device) for part in torch.split(items, batch_size))
        scores = [check_scores(model(x), len(x), n_classes).cpu() for x in parts]
    return torch.cat(scores)


def _device_of(model: nn.Module) -> torch.device:
    first = next(model.parameters(), None)
    return torch.device("cpu") if first is None else first.device
