"""Grids of trials on the command line: shared options, lists in options, a progress bar, failures and summaries."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from confdiff.cli import console
from confdiff.cli.console import complain, name_column, print_message, say
from confdiff.cli.options import option
from confdiff.interruption import exit_status

if TYPE_CHECKING:
    from confdiff.experiments.report import blocks
    from confdiff.experiments.trials.record import Record
    from confdiff.experiments.trials.runner import Spec
    from confdiff.experiments.trials.store import Store

ResultsOption = Annotated[Path, option("--results", metavar="FOLDER", help="Folder that stores finished trials.")]
JobsOption = Annotated[
    int | None,
    option(
        min=1,
        metavar="N",
        help="Number of trials at a time, with one thread each. If omitted, one for `run`, and two for `reproduce` and "
        "`compare`; with Ray, as many as the cluster has processors.",
    ),
]


def words(text: str | None) -> list[str]:
    """Return the words of an option, separated by commas."""
    return (text or "").replace(",", " ").split()


def numbers(flag: str, text: str | None) -> list[float]:
    """Return the numbers of an option, separated by commas."""
    try:
        return [float(word) for word in words(text)]
    except ValueError as error:
        raise ValueError(f"{flag} must be numbers separated by commas, such as .2,.8; got {text!r}.") from error


def carry_out(
    specs: "Sequence[Spec]",
    folder: Path,
    run: "Callable[..., Sequence[tuple[Spec, str]]]",
    summary: "Callable[[Sequence[Record]], blocks.Table]",
    engine: str | None,
) -> None:
    """Run trials with a progress bar, pack the results, and print their summary."""
    from confdiff.experiments.plans.plugin_flags import plugin_flags_of

    failures = finish_trials(specs, folder, run, engine)
    records = records_of(specs, folder)
    if records:
        print_table(summary(records))
        say(
            f"The trials are kept in {folder}. Write a report with: confdiff report --results {folder}"
            f"{plugin_flags_of(records)}"
        )
    end_with(failures)


def finish_trials(
    specs: "Sequence[Spec]", folder: Path, run: "Callable[..., Sequence[tuple[Spec, str]]]", engine: str | None
) -> "Sequence[tuple[Spec, str]]":
    """Run trials with a progress bar, pack the results, and return the failures."""
    from confdiff.experiments.trials.store import Store

    store = Store(folder)
    store.make_room()
    failures = _run_until_stopped(
        specs, store, run, "starting Ray" if engine == "ray" else "looking up finished trials"
    )
    store.compact()
    warn_of_unreadable(store)
    return failures


def records_of(specs: "Sequence[Spec]", folder: Path) -> "list[Record]":
    """Return the records of those trials that are finished."""
    from confdiff.experiments.trials.store import Store

    keys = {spec.key for spec in specs}
    return [record for record in Store(folder).records() if record.key in keys]


def end_with(failures: "Sequence[tuple[Spec, str]]") -> None:
    """Print each reason of a failure once, with the first trial that failed for it; exit with status 1 if any did."""
    from confdiff.experiments.statistics import grouped

    for group in grouped(failures, lambda failure: failure[1]):
        spec, reason = group[0]
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        complain(f"failed: {spec}{more}: {reason}")
    if failures:
        raise typer.Exit(1)


def warn_of_unreadable(store: "Store") -> None:
    """Warn of each file or line of results that cannot be read."""
    for entry in store.unreadable():
        print_message(f"{entry}. It was left out.", label="warning:", style="bold yellow")


def _run_until_stopped(
    specs: "Sequence[Spec]", store: "Store", run: "Callable[..., Sequence[tuple[Spec, str]]]", beginning: str
) -> "Sequence[tuple[Spec, str]]":
    """Run trials; Ctrl-C or a killed worker ends the command with one line and an exit status."""
    from concurrent.futures.process import BrokenProcessPool

    from confdiff.cli.grid_bar import GridBar

    with GridBar(beginning) as bar:
        try:
            return run(store=store, progress=bar.show)
        except (KeyboardInterrupt, BrokenProcessPool) as stop:
            keys = {spec.key for spec in specs}
            cause = "a worker process was killed, perhaps for lack of memory (try fewer --jobs)"
            status = 1
            if isinstance(stop, KeyboardInterrupt):
                cause = "stopped"
                status = exit_status(stop)
            finished = f"{len(keys & store.keys())} of {len(keys)} trials are kept in {store.folder}"
            complain(f"{cause}: {finished}; the same command continues from there")
            raise typer.Exit(status) from None


def print_table(table: "blocks.Table") -> None:
    """Print a table of a report."""
    from confdiff.experiments.report.blocks import to_cell

    printed = Table(*(name_column(title) if title == "method" else title for title in table.head))
    for row in table.rows:
        printed.add_row(*(to_cell(value).text for value in row))
    console.results.print(printed)
