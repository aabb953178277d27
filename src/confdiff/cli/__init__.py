"""The command line: commands, and no logic. Whatever is slow to import is imported by the command that needs it."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.table import Column, Table

from confdiff.cli import check, data, experiments, own, pairs, preferences, recommend, theory
from confdiff.cli.console import as_cell, check_folder_name, complain, messages, results, say, say_files

app = typer.Typer(
    help="Learn a classifier with probabilities from graded comparisons of unlabelled pairs.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Your own comparisons": (
        check.check,
        own.fit,
        own.predict,
        own.evaluate,
        own.show,
        own.export,
        preferences.preferences,
    ),
    "The paper's experiments": (experiments.run, experiments.reproduce, experiments.report, theory.theory),
}
for panel, commands in _PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.add_typer(data.app, name="data")
app.add_typer(pairs.app, name="pairs")
app.add_typer(recommend.app, name="recommend")


def main() -> None:
    """Run the command line; a user's mistake gives one line and exit status 2, not a traceback."""
    try:
        app()
    except (ValueError, FloatingPointError, OSError) as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    messages.print("error:", style="bold red", end=" ")
    complain(message)
    sys.exit(2)


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure and the numbers.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="Decides everything that is drawn by chance.")] = 0,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the pairs.")] = 60,
) -> None:
    """Show what it is about: digits, even or odd, learned from differences alone (about 15 s).

    A small teacher grades 600 pairs of scikit-learn's digits: how much more likely is the second one to be even?
    From these differences and nothing else, each ConfDiff method learns to tell even from odd. Two oracles, who see
    the labels or the teacher's probabilities of every digit, show what could be reached at best.
    """
    check_folder_name("--out", out)
    with messages.status("loading PyTorch"):
        from confdiff.experiments.demo import SHOWN, run_demo, save_demo
    with messages.status("training the teacher") as status:
        count = iter(range(1, len(SHOWN) + 1))
        result = run_demo(
            seed=seed,
            epochs=epochs,
            done=lambda outcome: status.update(f"{next(count)} of {len(SHOWN)} methods done ({outcome.method})"),
        )
    table = Table("method", "learns from", title=f"Even or odd: {result.pairs} pairs of digits, prior {result.prior:g}")
    for column in ("test accuracy", "calibration error", "seconds"):
        table.add_column(column, justify="right")
    for outcome in result.outcomes:
        numbers = (f"{outcome.accuracy:.3f}", f"{outcome.calibration_error:.3f}", f"{outcome.seconds:.1f}")
        table.add_row(outcome.method, outcome.learns_from, *numbers)
    results.print(table)
    results.print(
        f"Accuracy is the mean over the last {min(10, epochs)} of {epochs} epochs on {len(result.test_labels)} "
        f"held-out digits (seed {seed}); the teacher itself has {result.teacher_accuracy:.3f}."
    )
    say_files(save_demo(result, out))


@app.command()
def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """List the methods: what each learns from, if it needs the class prior, and where it comes from."""
    from confdiff.methods import METHODS, REFERENCES

    rows = [
        {
            "method": method.name,
            "learns_from": method.learns_from,
            "correction": method.correction.__name__,
            "prior": method.prior,
            "reference": method.reference,
        }
        for method in METHODS.values()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(Column("method", min_width=max(map(len, METHODS))), "learns from", "correction", "prior", "reference")
    for row in rows:
        table.add_row(*map(as_cell, row.values()))
    results.print(table)
    for name, paper in REFERENCES.items():
        say(f"{name}: {paper}")


@app.command()
def version() -> None:
    """Print the versions of confdiff and of what it stands on."""
    from importlib.metadata import version as installed

    from confdiff import __version__

    typer.echo(f"confdiff {__version__}")
    typer.echo(f"python {sys.version.split()[0]}")
    for package in ("torch", "scikit-learn", "numpy"):
        typer.echo(f"{package} {installed(package)}")
