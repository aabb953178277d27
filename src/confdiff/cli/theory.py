"""confdiff theory: the paper's theorems, measured."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Column, Table

from confdiff.cli.console import messages, results, say_files


def theory(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the page and the table.")] = Path("theory"),
    repetitions: Annotated[int, typer.Option(min=20, help="Samples of each size.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Decides everything that is drawn by chance.")] = 0,
) -> None:
    """Hold every theorem of the paper against simulations, and write one page with what was measured and the bounds."""
    with messages.status("loading"):
        from rich.progress import track

        from confdiff.theory.measuring import Settings
        from confdiff.theory.monte_carlo import CHECKS
        from confdiff.theory.page import write_theory
        from confdiff.theory.simulation import World
    settings, world = Settings(repetitions=repetitions, seed=seed), World.make()
    checks = [check(world, settings) for check in track(CHECKS, "simulating", console=messages)]
    table = Table("result", "found", Column("bound / measured", justify="right"), "holds")
    for check in checks:
        table.add_row(check.name, check.finding, check.looseness, "yes" if check.holds else "no")
    results.print(table)
    say_files(write_theory(checks, settings, output))
