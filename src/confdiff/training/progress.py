"""A progress bar for a training run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confdiff.display.progress import reporting_progress
from confdiff.training.run import Run


@dataclass(frozen=True)
class RunReport:
    """How far a run is, which a worker can report to another process.

    Attributes
    ----------
    step, total : int
        Steps done, and steps of the whole run.
    detail : str
        The epoch and the last risk.
    """

    step: int
    total: int
    detail: str


def report_of(run: Run) -> RunReport:
    """Return the progress of a run."""
    risk = f", risk {run.history[-1]['risk']:.4f}" if run.history else ""
    detail = f"epoch {run.epoch}/{run.recipe.epochs}{risk}"
    return RunReport(step=run.step, total=run.total_steps, detail=detail)


@contextmanager
def progress_bar(shown: bool | str, title: str) -> Iterator[Callable[[RunReport], None]]:
    """Show a progress bar, or lines if no terminal is attached, and yield a function that updates it.

    Parameters
    ----------
    shown : bool or str
        Whether to show a bar; a string replaces ``title``. Without a bar the yielded function does nothing.
    title : str
        The text before the bar.
    """
    with reporting_progress(shown if isinstance(shown, str) else title, keep=True, shown=bool(shown)) as update:

        def show(progress: RunReport) -> None:
            update(progress.step, total=progress.total, detail=progress.detail)

        yield show
