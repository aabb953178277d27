"""confdiff theory: the paper's theorems, and those on difference regression, against simulations."""

from pathlib import Path
from typing import Annotated

from rich.table import Table

from confdiff.cli.console import number_column, print_message, progress, results, say_files, status
from confdiff.cli.options import OverwritePageOption, SeedOption, option, output_option
from confdiff.display.text import listed

_ENOUGH = 1000
"""Samples with which rare events are measured well enough."""


def theory_command(
    output: Annotated[Path, output_option("Folder for the page and the table.")] = Path("theory"),
    repetitions: Annotated[int, option(min=20, metavar="N", help="Samples of each size.")] = _ENOUGH,
    seed: SeedOption = 0,
    overwrite: OverwritePageOption = False,
) -> None:
    """Compare theorems with simulations, and write a page of measurements and bounds.

    They are those of the paper, and their counterparts for difference regression.

    Example:
        confdiff theory --repetitions 200 -o theory
    """
    with status("loading"):
        from confdiff.io.outputs import check_new_report
        from confdiff.theory.measuring import Settings
        from confdiff.theory.monte_carlo import THEORY_CHECKS
        from confdiff.theory.page import theory_files, write_theory
        from confdiff.theory.regression_checks import REGRESSION_CHECKS
        from confdiff.theory.simulation import World
    check_new_report(theory_files(output), overwrite=overwrite)
    settings = Settings(repetitions=repetitions, seed=seed)
    world = World.make()
    checks = []
    simulations = (*THEORY_CHECKS, *REGRESSION_CHECKS)
    with progress("simulating", len(simulations)) as update:
        for simulate in simulations:
            checks.append(simulate(world, settings))
            update(len(checks))
    table = Table("result", "finding", number_column("bound / measured"), "holds")
    for check in checks:
        table.add_row(check.name, check.finding, check.looseness, "yes" if check.holds else "no")
    results.print(table)
    failures = [check.name for check in checks if not check.holds]
    if failures and repetitions < _ENOUGH:
        print_message(
            f"{listed(failures)} may fail only because {repetitions} samples are few: try --repetitions {_ENOUGH}.",
            label="warning:",
            style="bold yellow",
        )
    say_files(write_theory(checks, settings, output, overwrite=overwrite))
