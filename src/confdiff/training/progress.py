"""A progress bar for a training run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confdiff.display.progress import reporting_progress
from confdiff.training.run import Run


@contextmanager
def progress_bar(shown: bool | str, title: str, total: int) -> Iterator[Callable[[Run], None]]:
    """Show a progress bar, or lines if no terminal is attached, and yield a function that updates it.

    Parameters
    ----------
    shown : bool or str
        Whether to show a bar; a string replaces ``title``. Without a bar the yielded function does nothing.
    title : str
        The text before the bar.
    total : int
        Steps of the whole run.
    """
    with reporting_progress(shown if isinstance(shown, str) else title, total, keep=True, shown=bool(shown)) as update:

        def show(run: Run) -> None:
            risk = f", risk {run.history[-1]['risk']:.4f}" if run.history else ""
            update(run.step, detail=f"epoch {run.epoch}/{run.recipe.epochs}{risk}")

        yield show
