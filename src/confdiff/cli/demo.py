"""confdiff demo: a demonstration that runs in seconds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.table import Table

from confdiff.cli.console import (
    name_column,
    number_column,
    progress,
    results,
    say,
    say_files,
    status,
)
from confdiff.cli.options import OverwritePageOption, SeedOption, option, output_option

if TYPE_CHECKING:
    from confdiff.experiments.demo import Demo


def demo_command(
    output: Annotated[Path, output_option("Folder for the figure and the numbers.", "--out")] = Path("demo"),
    seed: SeedOption = 0,
    epochs: Annotated[int, option(min=1, metavar="N", help="Passes over the pairs.")] = 60,
    overwrite: OverwritePageOption = False,
) -> None:
    """Learn even and odd digits from differences alone, with every ConfDiff method (about 15 s).

    A small teacher network grades 600 pairs of scikit-learn's digits: how much more likely is the second digit to be
    even than the first? Each ConfDiff method learns even and odd from these differences alone. Two oracles, which
    use the label or the teacher's probability of every digit, give an upper reference.

    Example:
        confdiff demo -o demo
    """
    with status("loading PyTorch"):
        from confdiff.experiments.demo import SHOWN, demo_files, run_demo, save_demo
        from confdiff.io.outputs import check_new_report
    check_new_report(demo_files(output), overwrite=overwrite)
    with progress("training", len(SHOWN), interval=0) as update:
        update(0, detail="teacher")
        finished: list[str] = []

        def report(method: str) -> None:
            finished.append(method)
            update(len(finished), detail=f"{len(finished)} of {len(SHOWN)} methods, {method} done")

        result = run_demo(seed=seed, epochs=epochs, done=lambda outcome: report(outcome.method))
    _print_demo(result)
    say_files(save_demo(result, output, overwrite=overwrite))


def _print_demo(demo: "Demo") -> None:
    table = Table(
        name_column("method"),
        name_column("learns from"),
        number_column("test accuracy"),
        number_column("calibration error"),
        number_column("seconds"),
        title=f"Even or odd: {demo.pairs} pairs of digits, prior {demo.prior:g}",
    )
    for outcome in demo.outcomes:
        table.add_row(
            outcome.method,
            outcome.learns_from,
            f"{outcome.accuracy:.3f}",
            f"{outcome.calibration_error:.3f}",
            f"{outcome.seconds:.1f}",
        )
    results.print(table)
    say(
        f"Test accuracy: mean of the last {min(10, demo.epochs)} of {demo.epochs} epochs on {len(demo.test_labels)} "
        f"held-out digits (seed {demo.seed}). Accuracy of the teacher: {demo.teacher_accuracy:.3f}."
    )
