"""Start a training run: in this process, or in a gang of workers that each have a part of every batch."""

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from torch import Tensor, nn

from confdiff.engines import GANGS, Member, start_gang
from confdiff.interruption import interrupts_held_back
from confdiff.io.atomic import atomic_file
from confdiff.losses import MarginLoss
from confdiff.methods import Method, find_method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.threads import follow_policy
from confdiff.training.distributed import Workers
from confdiff.training.loop import Job, run_loop
from confdiff.training.progress import RunReport, progress_bar, report_of
from confdiff.training.recipe import Recipe, find_device
from confdiff.training.run import Evaluator, History, Run
from confdiff.validation import check_choice, check_count

_REPORT_SECONDS = 0.2  # between two reports of progress to the caller


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
    workers: int = 1,
    engine: str = "local",
    address: str | None = None,
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
    workers : int, default=1
        Number of processes that train together, with one thread each. Each has a part of every batch. The result is
        that of one process up to rounding, except for random numbers of the network such as those of dropout.
    engine : str, default="local"
        Where the workers run: a name in :data:`confdiff.engines.GANGS`.
    address : str, default=None
        The address of the cluster, for ``engine="ray"``.

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
    check_workers(workers, engine, address)
    pairs, prior = _carrying(pairs, method, prior)
    job = Job(
        model=model,
        pairs=pairs,
        method=method,
        prior=prior,
        loss=loss,
        recipe=recipe,
        evaluate=evaluate,
        evaluate_at=evaluate_at,
        keep_best=keep_best,
        patience=patience,
        checkpoint=checkpoint,
        checkpoint_seconds=checkpoint_seconds,
    )
    with progress_bar(progress, method.name) as show:
        if workers > 1:
            return _train_in_gang(job, workers, engine, address, show)
        with interrupts_held_back() as interrupted:
            return run_loop(job, show=lambda run: show(report_of(run)), is_interrupted=interrupted)


def check_workers(workers: int, engine: str, address: str | None) -> None:
    """Check the options of workers, which must be used."""
    check_count("workers", workers)
    check_choice("engine", engine, GANGS)
    if address is not None and (workers == 1 or engine == "local"):
        raise ValueError(f"address={address!r} would not be used: pass workers=2 or more and engine='ray', or omit it.")


@dataclass(frozen=True)
class _Trained:
    """The result of rank 0."""

    weights: dict[str, Tensor]
    history: History
    warnings: list[tuple[str, type[Warning]]]


def _train_in_gang(
    job: Job, workers: int, engine: str, address: str | None, show: Callable[[RunReport], None]
) -> History:
    """Train in a gang, and load the weights into the model of the caller."""
    job = replace(job, recipe=_on_cpu(job.recipe))
    saved = _read_if_exists(job.checkpoint)

    def receive(message: RunReport | bytes) -> None:
        if isinstance(message, RunReport):
            show(message)
        elif job.checkpoint is not None:
            with atomic_file(job.checkpoint) as file:
                file.write_bytes(message)

    trained = start_gang(_train_as_member, (job, saved), workers, engine=engine, address=address, on_message=receive)
    for text, category in trained.warnings:
        warnings.warn(text, category, stacklevel=2)
    job.model.load_state_dict(trained.weights)
    job.model.eval()
    history: History = trained.history
    return history


def _on_cpu(recipe: Recipe) -> Recipe:
    if recipe.device != "auto" and find_device(recipe.device).type != "cpu":
        raise ValueError(f"several workers train on the CPU; got device={recipe.device!r}. Pass 'cpu', or workers=1.")
    return replace(recipe, device="cpu")


def _read_if_exists(path: str | os.PathLike[str] | None) -> bytes | None:
    return Path(path).read_bytes() if path is not None and Path(path).is_file() else None


def _train_as_member(member: Member, job: Job, saved: bytes | None) -> _Trained | None:
    """Train as one of the workers; rank 0 reports to the caller and returns the weights."""
    workers = Workers(member)
    is_first = member.rank == 0
    with warnings.catch_warnings(record=True) as caught, _checkpoint_for(member, job, saved) as path:

        def send_checkpoint() -> None:
            if path is not None and not member.shares_disk:
                member.send(Path(path).read_bytes())

        history = run_loop(
            replace(job, checkpoint=path),
            show=_reporting(member) if is_first else lambda run: None,
            is_interrupted=lambda: workers.is_stopping,
            workers=workers,
            on_save=send_checkpoint,
        )
    if not is_first:
        return None
    texts = [(str(warning.message), warning.category) for warning in caught]
    return _Trained(weights=job.model.state_dict(), history=history, warnings=texts)


@contextmanager
def _checkpoint_for(member: Member, job: Job, saved: bytes | None) -> Iterator[str | os.PathLike[str] | None]:
    """Yield the path of the checkpoint, or of a copy if this process cannot see the files of the caller."""
    if job.checkpoint is None or member.shares_disk:
        yield job.checkpoint
        return
    with tempfile.TemporaryDirectory(prefix="confdiff-checkpoint-") as folder:
        path = Path(folder, Path(job.checkpoint).name)
        if saved is not None:
            path.write_bytes(saved)
        try:
            yield path
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), os.fspath(job.checkpoint))) from error


def _reporting(member: Member) -> Callable[[Run], None]:
    """Return a function that sends the progress of a run to the caller, now and then."""
    last = 0.0

    def report(run: Run) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _REPORT_SECONDS or run.step == run.total_steps:
            last = now
            member.send(report_of(run))

    return report


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
