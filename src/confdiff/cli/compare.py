"""confdiff compare: methods x data sets x priors x noise, with statistics and a page."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confdiff.cli.console import say, say_files, status
from confdiff.cli.grids import (
    JobsOption,
    ResultsOption,
    end_with,
    finish_trials,
    numbers,
    print_table,
    records_of,
    words,
)
from confdiff.cli.options import (
    AddressOption,
    EngineOption,
    EscapeOption,
    FolderOption,
    OverwritePageOption,
    argument,
    option,
    output_option,
    switch,
)
from confdiff.cli.plugins import takes_plugins

if TYPE_CHECKING:
    from confdiff.experiments.comparing.plan import ComparisonPlan

_PLAN = "The plan (flags or keys of the file)"


@takes_plugins
def compare_command(
    plan: Annotated[
        Path | None,
        argument(metavar="PLAN", help="TOML file whose keys are the flags of the plan, such as n_pairs = 500."),
    ] = None,
    methods: Annotated[
        str | None,
        option(metavar="NAMES", panel=_PLAN, help="At least two methods of `confdiff methods`, separated by commas."),
    ] = None,
    datasets: Annotated[
        str | None,
        option(metavar="NAMES", panel=_PLAN, help="Labelled data sets of `confdiff data list`, separated by commas."),
    ] = None,
    priors: Annotated[
        str | None, option(metavar="NUMBERS", panel=_PLAN, help="Class priors, such as .2,.5. If omitted, .5.")
    ] = None,
    noise: Annotated[
        str | None,
        option(
            metavar="KINDS",
            panel=_PLAN,
            help="Noise on the differences: `exact`, `labels`, or a kind and its amount, `additive:0.3`, "
            "`multiplicative:0.5`, `likert:5`; separated by commas. If omitted, `exact`.",
        ),
    ] = None,
    trials: Annotated[
        int | None, option(min=1, metavar="N", panel=_PLAN, help="Trials per cell, with seeds 0, 1, ... If omitted, 5.")
    ] = None,
    epochs: Annotated[
        int | None,
        option(
            min=1,
            metavar="N",
            panel=_PLAN,
            help="Passes over the pairs. If omitted, the number of each data set: 200, or that of a plug-in.",
        ),
    ] = None,
    protocol: Annotated[
        str | None, option(metavar="NAME", panel=_PLAN, help="`authors` or `paper`. If omitted, `authors`.")
    ] = None,
    n_pairs: Annotated[
        int | None,
        option(min=1, metavar="N", panel=_PLAN, help="Number of pairs. If omitted, the number of each data set."),
    ] = None,
    model: Annotated[
        str | None,
        option(metavar="NAME", panel=_PLAN, help="Network, such as `linear`. If omitted, the one of the protocol."),
    ] = None,
    reference: Annotated[
        str | None,
        option(
            metavar="NAME",
            panel=_PLAN,
            help="Method that all others are compared with in each setting. If omitted, the first.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, switch("--dry-run", help="List the trials and an estimate of their time, and run none.")
    ] = False,
    output: Annotated[Path, output_option("Folder for the page, Markdown, JSON and CSV.")] = Path("comparison"),
    overwrite: OverwritePageOption = False,
    escape: EscapeOption = True,
    jobs: JobsOption = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    results: ResultsOption = Path("results"),
    folder: FolderOption = None,
) -> None:
    """Compare methods on data sets, at class priors, under noise: run the trials, test, and write a page.

    All methods of a seed get the same pairs, and are compared by paired tests with a correction for their number. The
    page begins with a headline and a chart; its tables sort and filter. Finished trials are stored, shared with `run`
    and `reproduce`, and not run again: you can stop at any time, and the same command continues.

    Examples:
        confdiff compare --methods confdiff-abs,confdiff-regression --datasets digits --epochs 20
        confdiff compare plan.toml --dry-run
        confdiff compare plan.toml --jobs 2 -o page
        confdiff compare --methods my-squares,confdiff-abs --datasets digits --plugin my_squares.py
    """
    with status("loading PyTorch"):
        from confdiff.experiments.comparing.plan import make_plan
        from confdiff.experiments.comparing.writing import comparison_files
        from confdiff.experiments.trials.runner import run_trials
        from confdiff.io.outputs import check_new_report

    chosen = make_plan(
        plan,
        methods=_given(words(methods)),
        datasets=_given(words(datasets)),
        priors=_given(numbers("--priors", priors)),
        noise=_given(words(noise)),
        trials=trials,
        epochs=epochs,
        protocol=protocol,
        n_pairs=n_pairs,
        model=model,
        reference=reference,
    )
    if dry_run:
        _print_plan(chosen, results)
        return
    check_new_report(comparison_files(output), overwrite=overwrite)  # before the trials are run
    if jobs is None and engine is None:
        engine = "processes"
    where: dict[str, Any] = {"jobs": jobs, "engine": engine, "address": address, "folder": folder}
    specs = chosen.grid()
    failures = finish_trials(specs, results, lambda **more: run_trials(specs, **where, **more), engine)
    _write(chosen, results, output, overwrite=overwrite, escape=escape, failures=failures)
    end_with(failures)


def _given(values: Sequence[Any]) -> tuple[Any, ...] | None:
    return tuple(values) or None


def _print_plan(plan: "ComparisonPlan", folder: Path) -> None:
    """Print the number of trials of each setting and method, and the time of those that are not finished."""
    with status("looking up finished trials"):
        from confdiff.experiments.comparing.estimate import estimated_seconds
        from confdiff.experiments.report.blocks import Table
        from confdiff.experiments.trials.store import Store

        records = Store(folder).records()
    finished = {record.key for record in records}
    rows = []
    missing = []
    for setting in plan.settings:
        for method in plan.methods:
            specs = [plan.spec(setting, method, seed) for seed in range(plan.trials)]
            to_run = [spec for spec in specs if spec.key not in finished]
            missing += to_run
            place = [setting.dataset, f"{setting.prior:g}", setting.noise, method]
            counts = [str(len(specs) - len(to_run)), str(len(to_run))]
            rows.append([*place, *counts, _time_text(estimated_seconds(to_run, records))])
    print_table(Table(["data set", "prior", "noise", "method", "finished", "to run", "processor time"], rows))
    total = estimated_seconds(missing, records)
    say(f"{len(missing)} of {len(plan.grid())} trials are to be run.")
    if total is None:
        say(f"The time is unknown, as {folder} has no finished trials of this network: run one, with --trials 1.")
    else:
        say(f"Estimated processor time, without teachers: {_time_text(total)}; divide it by the number of jobs.")


def _time_text(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return f"{seconds:.1f} s" if seconds < 60 else str(timedelta(seconds=round(seconds)))


def _write(
    plan: "ComparisonPlan", folder: Path, output: Path, *, overwrite: bool, escape: bool, failures: Sequence[Any]
) -> None:
    """Write the page and print the headline; if trials failed and no setting is whole, only the failures matter."""
    from confdiff.experiments.comparing.results import ComparisonResults
    from confdiff.experiments.comparing.wording import headline
    from confdiff.experiments.comparing.writing import write_comparison

    try:
        found = ComparisonResults.of(plan, records_of(plan.grid(), folder))
    except ValueError:
        if failures:
            end_with(failures)
        raise
    with status("writing the page"):
        files = write_comparison(found, output, overwrite=overwrite, escape=escape)
    for sentence in headline(found):
        say(sentence)
    say_files(files)
