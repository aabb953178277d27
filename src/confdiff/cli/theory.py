"""confdiff theory: the paper's theorems against simulations."""

from pathlib import Path
from typing import Annotated

from rich.table import Table

from confdiff.cli.console import number_column, progress, results, say_files, status
from confdiff.cli.options import SeedOption, option, output_option


def theory_command(
    output: Annotated[Path, output_option("Folder for the page and the table.")] = Path("theory"),
    repetitions: Annotated[int, option(min=20, metavar="N", help="Samples of each size.")] = 1000,
    seed: SeedOption = 0,
) -> None:
    """Compare every theorem of the paper with simulations, and write a page of measurements and bounds.

    Example:
        confdiff theory --repetitions 200 -o theory
    """
    with status("loading"):
        from confdiff.theory.measuring import Settings
        from confdiff.theory.monte_carlo import THEORY_CHECKS
        from confdiff.theory.page import write_theory
        from confdiff.theory.simulation import World
    settings = Settings(repetitions=repetitions, seed=seed)
    world = World.make()
    checks = []
    with progress("simulating", len(THEORY_CHECKS)) as update:
        for simulate in THEORY_CHECKS:
            checks.append(simulate(world, settings))
            update(len(checks))
    table = Table("result", "finding", number_column("bound / measured"), "holds")
    for check in checks:
        table.add_row(check.name, check.finding, check.looseness, "yes" if check.holds else "no")
    results.print(table)
    say_files(write_theory(checks, settings, output))
