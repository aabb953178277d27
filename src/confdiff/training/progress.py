"""A progress bar for a training run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confdiff.training.run import Run


@contextmanager
def progress_bar(shown: bool | str, title: str, total: int) -> Iterator[Callable[[Run], None]]:
    """Show a progress bar inside the block, and yield a function that updates it.

    Parameters
    ----------
    shown : bool or str
        Whether to show a bar; a string replaces ``title``. Without a bar the yielded function does nothing.
    title : str
        The text before the bar.
    total : int
        Steps of the whole run.
    """
    if not shown:
        yield lambda run: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[status]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(shown if isinstance(shown, str) else title, total=total, status="")

        def show(run: Run) -> None:
            risk = f", risk {run.history[-1]['risk']:.4f}" if run.history else ""
            bar.update(task, completed=run.step, status=f"epoch {run.epoch}/{run.recipe.epochs}{risk}")

        yield show
