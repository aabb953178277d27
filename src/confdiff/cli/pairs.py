"""confdiff pairs: make pairs with confidence differences from a data set, and describe pairs in files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from confdiff.cli.console import is_quiet, number_column, results, say, say_files, status
from confdiff.cli.options import (
    TABLE_ENDINGS,
    DatasetArgument,
    EncodingOption,
    FolderOption,
    IncompleteOption,
    JsonOption,
    OverwriteOption,
    OverwritePageOption,
    SeedOption,
    argument,
    option,
    output_option,
    switch,
)
from confdiff.cli.plugins import takes_plugins
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.pairs.describe import PairsDescription

_NOISE = "Noise"
_TEACHER = "Teacher"
_Output = Annotated[
    Path,
    output_option(f"Table of pairs ({TABLE_ENDINGS}). The other files are written next to it.", metavar="FILE"),
]
_Prior = Annotated[float, option(metavar="FRACTION", help="Class prior of the pairs and the test items.")]
_Protocol = Annotated[
    str, option(metavar="NAME", help="`paper` follows the text of the paper, `authors` the authors' program.")
]
_NPairs = Annotated[int | None, option(metavar="N", help="Number of pairs. If omitted, as many as in the paper.")]
_Fraction = Annotated[float, option(metavar="FRACTION", help="Fraction of the pairs to keep, such as 0.1.")]
_Partners = Annotated[int, option(min=1, metavar="N", help="Number of pairs per item.")]
_Replacement = Annotated[bool, switch("--replacement", help="Draw items with replacement where needed.")]
_Noise = Annotated[
    str | None,
    option(
        metavar="NAME",
        panel=_NOISE,
        help="`multiplicative`, `additive`, `likert`, or `labels` (y' - y instead of c).",
    ),
]
_NoiseAmount = Annotated[
    float | None,
    option(
        "--noise-amount",
        "--amount",
        metavar="NUMBER",
        panel=_NOISE,
        help="Standard deviation of the noise, or number of points of the Likert scale.",
    ),
]
_Clip = Annotated[
    bool | None,
    option(
        metavar="",
        panel=_NOISE,
        help="Clip noisy differences to [-1, 1]. If omitted, done for all but multiplicative noise.",
    ),
]
_PriorFactor = Annotated[
    float, option(metavar="NUMBER", panel=_NOISE, help="Factor on the prior that is given to the learner.")
]
_Pcomp = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="Order pairs by their labels, for Pcomp methods: `reverse` or `discard` pairs labelled (-, +).",
    ),
]
_Model = Annotated[
    str | None,
    option(metavar="NAME", panel=_TEACHER, help="Network of the teacher. If omitted, that of the protocol."),
]
_Folds = Annotated[
    int,
    option(
        min=1,
        metavar="N",
        panel=_TEACHER,
        help="Above 1: cross-fitting, so that no item is graded by a teacher trained on it.",
    ),
]
_Calibrated = Annotated[bool, switch("--calibrated", panel=_TEACHER, help="Fit a temperature on held-out labels.")]
_Adjusted = Annotated[bool, switch("--adjusted", panel=_TEACHER, help="Adjust the posteriors to the class prior.")]


@takes_plugins
def make_pairs(
    name: DatasetArgument = "digits",
    output: _Output = Path("pairs.parquet"),
    prior: _Prior = 0.5,
    protocol: _Protocol = "paper",
    seed: SeedOption = 0,
    n_pairs: _NPairs = None,
    fraction: _Fraction = 1.0,
    partners: _Partners = 1,
    replacement: _Replacement = False,
    noise: _Noise = None,
    noise_amount: _NoiseAmount = None,
    clip: _Clip = None,
    prior_factor: _PriorFactor = 1.0,
    pcomp: _Pcomp = None,
    model: _Model = None,
    folds: _Folds = 1,
    calibrated: _Calibrated = False,
    adjusted: _Adjusted = False,
    folder: FolderOption = None,
    incomplete: IncompleteOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Train a teacher on a labelled data set, draw pairs at a class prior, and grade them with the teacher.

    Four files are written: the pairs (left, right, difference), the items (id, features), the truth (labels and
    posteriors), and the specification as JSON. Learners must not use the truth.

    Example:
        confdiff pairs make digits --prior 0.2 -o pairs.parquet
    """
    with status("loading PyTorch"):
        from confdiff.datasets import DATASETS, whereabouts
        from confdiff.io.outputs import check_new_files
        from confdiff.pairs.describe import describe_pairs
        from confdiff.tasks import TaskSpec, make_task, save_task, task_files

    spec = TaskSpec(
        dataset=name,
        prior=prior,
        protocol=protocol,
        seed=seed,
        n_pairs=n_pairs,
        fraction=fraction,
        partners=partners,
        replacement=replacement,
        noise=noise,
        noise_amount=noise_amount,
        clip=clip,
        pcomp=pcomp,
        prior_factor=prior_factor,
        model=model,
        folds=folds,
        calibrated=calibrated,
        adjusted=adjusted,
        incomplete=incomplete,
    )
    inputs = whereabouts(name, folder=folder, incomplete=incomplete)
    check_new_files(task_files(output), inputs=inputs, overwrite=overwrite)  # before the teacher is trained
    task = make_task(spec, folder=folder, progress=not is_quiet())
    with status("writing"):
        files = save_task(task, output, overwrite=overwrite)
    say(f"{name}: {len(task.pairs):,} pairs and {len(task.test_rows):,} test items at prior {prior:g}")
    teacher = "people" if DATASETS[name].graded_by_people else f"teacher ({spec.network})"
    say(f"graded by {teacher}: accuracy {task.teacher_accuracy:.4f} on the test items")
    _print_description(describe_pairs(task.pairs))
    say_files(files)


@takes_encoding
def describe_file(
    pairs: Annotated[Path, argument(metavar="PAIRS", help="Table with columns left, right, difference.")],
    output: Annotated[
        Path | None, output_option("Picture of the histogram (.png, .svg or .pdf).", metavar="FILE")
    ] = None,
    encoding: EncodingOption = None,
    as_json: JsonOption = False,
    overwrite: OverwritePageOption = False,
) -> None:
    """Show the histogram of the differences, near ties, the class prior, and connected components.

    Items are read from NAME-items in the folder of the pairs; labels and posteriors from NAME-truth, if that exists.

    Example:
        confdiff pairs describe pairs.parquet -o histogram.png
    """
    with status("reading"):
        from confdiff.display.figures import check_figure_path
        from confdiff.io.outputs import check_new_report
        from confdiff.pairs.describe import describe_pairs
        from confdiff.tasks import read_truth

        if output is not None:
            check_new_report({"picture": check_figure_path(output)}, inputs=[pairs], overwrite=overwrite)
        description = describe_pairs(read_truth(pairs))
    if output is not None:
        from confdiff.datasets.figures import pairs_figure
        from confdiff.display.figures import save_figure

        save_figure(pairs_figure(description, pairs.name), output)
    if as_json:
        typer.echo(json.dumps(description.as_dict(), indent=1))
        return
    _print_description(description)
    if output is not None:
        say(f"picture: {output}")


def _print_description(description: "PairsDescription") -> None:
    _print_histogram(description)
    say(
        f"{description.n_pairs:,} pairs of {description.n_items:,} items; "
        f"connected components: {description.components:,}"
    )
    say(
        f"c: mean {description.mean:+.3f}, mean size {description.mean_size:.3f}, from {description.least:+.3f} "
        f"to {description.greatest:+.3f}"
    )
    say(f"near ties (|c| < .05): {description.near_ties:.1%}; near certain (|c| > .95): {description.near_certain:.1%}")
    if description.beyond:
        say(f"beyond [-1, 1]: {description.beyond:.1%}, as with noise that is not clipped")
    if description.prior_interval is None:
        say("class prior: none allows exact differences of independent items to be as large as these")
    else:
        low, high = description.prior_interval
        say(f"class prior, if the differences are exact and the items independent: {low:.3f} to {high:.3f} (95 %)")
    if description.prior is not None:
        say(f"fraction of positives: {description.prior:.4f}")
    if description.mean_posterior is not None:
        say(f"mean posterior: {description.mean_posterior:.4f}")


def _print_histogram(description: "PairsDescription") -> None:
    from confdiff.pairs.describe import CENTRES

    table = Table(number_column("c"), "", number_column("pairs"))
    largest = max(description.histogram)
    for centre, count in zip(CENTRES, description.histogram, strict=True):
        table.add_row(f"{centre:+.1f}" if centre else "0", "█" * round(40 * count / largest), f"{count:,}")
    results.print(table)
