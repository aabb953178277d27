"""confdiff pairs: making pairs with confidence differences from a data set, and looking at pairs in files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column, Table

from confdiff.cli.console import messages, results, say, say_files
from confdiff.cli.data import Folder, Name

if TYPE_CHECKING:
    from confdiff.pairs.describe import PairsDescription

app = typer.Typer(help="Pairs with confidence differences: make them, look at them.", no_args_is_help=True)


@app.command()
def make(
    name: Name = "digits",
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The pairs, .parquet, .csv or .tsv; the rest is put beside it.")
    ] = Path("pairs.parquet"),
    prior: Annotated[float, typer.Option(help="Class prior at which pairs and test items are drawn.")] = 0.5,
    protocol: Annotated[
        str, typer.Option(help="`paper`: as the text says; `authors`: as their program does.")
    ] = "paper",
    seed: Annotated[int, typer.Option(min=0, help="Decides everything that is drawn by chance.")] = 0,
    n_pairs: Annotated[int | None, typer.Option(help="How many pairs; the paper's number if not given.")] = None,
    fraction: Annotated[float, typer.Option(help="Keep so much of the pairs, such as 0.1.")] = 1.0,
    partners: Annotated[int, typer.Option(min=1, help="In how many pairs each item stands.")] = 1,
    replacement: Annotated[bool, typer.Option("--replacement", help="Draw items more than once if need be.")] = False,
    noise: Annotated[
        str | None, typer.Option(help="`multiplicative`, `additive`, `likert`, or `labels` for y' - y in place of c.")
    ] = None,
    amount: Annotated[float | None, typer.Option(help="Sigma of the noise, or the points of the Likert scale.")] = None,
    clip: Annotated[
        bool | None,
        typer.Option(help="Keep noisy differences in [-1, 1]; if not said, all but multiplicative noise is."),
    ] = None,
    prior_factor: Annotated[float, typer.Option(help="The learner is told this times the prior.")] = 1.0,
    pcomp: Annotated[
        str | None, typer.Option(help="Order pairs by labels for Pcomp methods: `reverse` or `discard` (-, +) pairs.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The teacher's network; the protocol's if not given.")] = None,
    folds: Annotated[int, typer.Option(min=1, help="Above 1: no item is graded by a teacher that saw it.")] = 1,
    calibrated: Annotated[bool, typer.Option("--calibrated", help="Fit a temperature on held-out labels.")] = False,
    adjusted: Annotated[bool, typer.Option("--adjusted", help="Adjust the posteriors to the class prior.")] = False,
    folder: Folder = None,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="CIFAR-10: go with the batches that are here.")
    ] = False,
) -> None:
    """Train a teacher on a labelled data set, draw pairs at a class prior and grade them by the teacher.

    Writes the pairs (left, right, difference), the items (id, features) and the truth (label and posterior of each
    item, not for learners) as tables, and the specification with a description as JSON.
    """
    with messages.status("loading PyTorch"):
        from confdiff.io.tables import check_table_name
        from confdiff.pairs.describe import describe_pairs
        from confdiff.tasks import GRADED_BY_PEOPLE, TaskSpec, make_task, save_task

    spec = TaskSpec(
        dataset=name, prior=prior, protocol=protocol, seed=seed, n_pairs=n_pairs, fraction=fraction, partners=partners,
        replacement=replacement, noise=noise, noise_amount=amount, clip=clip, pcomp=pcomp, prior_factor=prior_factor,
        model=model, folds=folds, calibrated=calibrated, adjusted=adjusted, incomplete=incomplete,
    )  # fmt: skip
    check_table_name(output).parent.mkdir(parents=True, exist_ok=True)  # a mistake in it shows before the teacher works
    task = make_task(spec, folder=folder, progress=True)
    with messages.status("writing"):
        files = save_task(task, output)
    say(f"{name}: {len(task.pairs):,} pairs and {len(task.test_rows):,} test items at prior {prior:g}")
    teacher = "people" if name in GRADED_BY_PEOPLE else f"teacher ({spec.network})"
    say(f"graded by {teacher}: accuracy {task.teacher_accuracy:.4f} on the test items")
    _print(describe_pairs(task.pairs))
    say_files(files)


@app.command()
def describe(
    pairs: Annotated[Path, typer.Argument(help="A table with columns left, right, difference.", show_default=False)],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Draw the histogram into this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Show the histogram of the differences, the prior, near ties and the parts of the graph of pairs.

    The items are read from NAME-items beside the pairs; the prior from NAME-truth, where that is there.
    """
    with messages.status("reading"):
        from confdiff.pairs.describe import describe_pairs
        from confdiff.tasks import read_truth

        description = describe_pairs(read_truth(pairs))
    if output is not None:
        from confdiff.datasets.figures import pairs_figure
        from confdiff.display.figures import save_figure

        save_figure(pairs_figure(description, pairs.name), output)
    if as_json:
        typer.echo(json.dumps(description.as_dict(), indent=1))
        return
    _print(description)
    if output is not None:
        say(f"picture: {output}")


def _print(description: "PairsDescription") -> None:
    from confdiff.pairs.describe import CENTRES

    table = Table(Column("c", justify="right"), "", Column("pairs", justify="right"), show_header=True)
    most = max(description.histogram)
    for centre, count in zip(CENTRES, description.histogram, strict=True):
        table.add_row(f"{centre:+.1f}" if centre else "0", "█" * round(40 * count / most), f"{count:,}")
    results.print(table)
    say(
        f"{description.n_pairs:,} pairs of {description.n_items:,} items, in {description.components:,} connected parts"
    )
    say(f"c: mean {description.mean:+.3f}, mean size {description.mean_size:.3f}, from {description.least:+.3f} "
        f"to {description.greatest:+.3f}")  # fmt: skip
    say(f"near ties (|c| < .05): {description.near_ties:.1%}; near certain (|c| > .95): {description.near_certain:.1%}")
    if description.beyond:
        say(f"beyond [-1, 1]: {description.beyond:.1%}, as unclipped noise gives")
    if description.prior_interval is None:
        say("no class prior allows exact differences of independent items to be as large as these")
    else:
        low, high = description.prior_interval
        say(f"class prior, if the differences are exact and the items independent: {low:.3f} to {high:.3f} (95 %)")
    if description.prior is not None:
        say(f"share of positives: {description.prior:.4f}")
    if description.mean_posterior is not None:
        say(f"mean posterior: {description.mean_posterior:.4f}")
