"""confdiff run, reproduce, report: trials, grids of trials, and what came out of them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table

from confdiff.cli.console import check_folder_name, complain, messages, results, say, say_files
from confdiff.cli.options import FolderOption

if TYPE_CHECKING:
    from confdiff.experiments.trials.run import Record
    from confdiff.experiments.trials.runner import Spec
    from confdiff.experiments.trials.spec import TrialSpec
    from confdiff.experiments.trials.store import Store

Results = Annotated[Path, typer.Option("--results", help="Folder in which finished trials are kept and looked up.")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes, of one thread each.")]
Epochs = Annotated[int, typer.Option(min=1, help="Passes over the pairs.")]
Trials = Annotated[int, typer.Option(min=1, help="Trials a cell: seeds 0, 1, ...")]
Protocol = Annotated[str, typer.Option(help="`paper`: as the text says; `authors`: as their program does.")]


def run(
    dataset: Annotated[str, typer.Argument(help="A data set of `confdiff data list`.")] = "digits",
    method: Annotated[str, typer.Option(help="Methods of `confdiff methods`, separated by commas.")] = "confdiff-abs",
    prior: Annotated[str, typer.Option(help="Class priors, separated by commas.")] = "0.5",
    trials: Trials = 1,
    epochs: Epochs = 200,
    protocol: Protocol = "paper",
    n_pairs: Annotated[int | None, typer.Option(help="How many pairs; the paper's number if not given.")] = None,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="CIFAR-10: go with the batches that are here.")
    ] = False,
    jobs: Jobs = 1,
    keep: Results = Path("results"),
    folder: FolderOption = None,
) -> None:
    """Train and test one or more methods on a data set; finished trials are kept and not done again."""
    with messages.status("loading PyTorch"):
        from confdiff.datasets import DATASETS
        from confdiff.experiments.trials.spec import TrialSpec
        from confdiff.tasks import TaskSpec

    names, priors = _words(method), _numbers("--prior", prior)
    if not (names and priors):
        raise ValueError(f"{'--prior' if names else '--method'} names nothing: there is nothing to run.")
    if incomplete and dataset in DATASETS and not DATASETS[dataset].optional_files:
        raise ValueError(f"--incomplete is for CIFAR-10, which comes in batches; {dataset} does not.")
    specs = [
        TrialSpec(TaskSpec(dataset, each, protocol, seed, n_pairs=n_pairs, incomplete=incomplete), name, epochs)
        for seed in range(trials)
        for each in priors
        for name in names
    ]
    _run(specs, keep, jobs, folder)


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="`table1` (images), `table2` (UCI sets), `table3` (recommenders), `figure1` to `figure3`, "
            "or `study` (our methods and ABS under noise).",
            show_default=False,
        ),
    ],
    datasets: Annotated[str | None, typer.Option(help="Only these data sets, such as usps,letter.")] = None,
    methods: Annotated[str | None, typer.Option(help="Only these methods, such as confdiff-abs,oracle-soft.")] = None,
    priors: Annotated[str | None, typer.Option(help="Only these priors, such as .2,.8.")] = None,
    points: Annotated[
        str | None, typer.Option(help="Figures: only these places on their axes, such as .8,1.2 for figure3.")
    ] = None,
    trials: Trials = 5,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the pairs; 200 as in the paper, 50 for table3 and the study.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(help="`authors` (the default): as their program does; `paper`: as the text says. Not for table3."),
    ] = None,
    without_prior: Annotated[
        bool, typer.Option("--without-prior", help="Do not tell the learner the class prior (methods that can).")
    ] = False,
    user_prior: Annotated[
        bool, typer.Option("--user-prior", help="table3: tell each user's own prior in place of the global one.")
    ] = False,
    early_stopping: Annotated[
        bool,
        typer.Option("--early-stopping", help="table3: stop by interactions that are kept back; the paper does not."),
    ] = False,
    jobs: Jobs = 2,
    keep: Results = Path("results"),
    folder: FolderOption = None,
) -> None:
    """Run the trials of a table or figure of the paper, or of a study.

    Stop it at will: the same command does what is missing.
    """
    with messages.status("loading PyTorch"):
        from confdiff.experiments.figures import FIGURES, figure_grid
        from confdiff.experiments.paper import TABLES, table_grid
        from confdiff.experiments.study import study_grid
        from confdiff.validation import check_choice

    check_choice("table, figure or study", name, [*TABLES, "table3", *FIGURES, "study"])
    for flag, value, names in (
        ("--points", points, [*FIGURES]),
        ("--priors", priors, [*TABLES, *FIGURES, "study"]),
        ("--protocol", protocol, [*TABLES, *FIGURES, "study"]),
        ("--without-prior", without_prior, [*TABLES]),
        ("--user-prior", user_prior, ["table3"]),
        ("--early-stopping", early_stopping, ["table3"]),
    ):
        if value and name not in names:
            raise ValueError(f"{flag} is not for {name}, but for {', '.join(names)}.")
    options: dict[str, Any] = {"datasets": _words(datasets), "methods": _words(methods), "trials": trials}
    options |= {} if epochs is None else {"epochs": epochs}
    if name == "table3":
        options |= {"prior": "user" if user_prior else "global", "early_stopping": early_stopping}
        _reproduce_table3(options, keep, jobs, folder)
        return
    options |= {"priors": _numbers("--priors", priors), "protocol": protocol or "authors"}
    if name == "study":
        _run(study_grid(**options), keep, jobs, folder)
        return
    if name in FIGURES:
        _run(figure_grid(name, **options, points=_numbers("--points", points)), keep, jobs, folder)
        return
    _run(table_grid(name, **options, prior_is_told=not without_prior), keep, jobs, folder)


def _reproduce_table3(options: dict[str, Any], keep: Path, jobs: int, folder: Path | None) -> None:
    from confdiff.experiments.plans.recommender_trial import run_recommender_trial
    from confdiff.experiments.plans.table3 import table3_grid
    from confdiff.experiments.rankings import METRICS, ranking_rows
    from confdiff.experiments.trials.runner import run_missing
    from confdiff.experiments.wording import number

    specs = table3_grid(**options, folder=folder)
    wanted = {spec.key for spec in specs}

    def run(**told: Any) -> Any:
        return run_missing(specs, run_recommender_trial, jobs=jobs, folder=folder, **told)

    def show(store: "Store") -> None:
        table = Table("data set", Column("method", no_wrap=True), *METRICS, Column("trials", justify="right"))
        for row in ranking_rows(record for record in store.records() if record["key"] in wanted):
            cells = (number(row.mean(metric), row.std(metric)) for metric in METRICS)
            table.add_row(row.dataset, row.method, *cells, str(row.trials))
        results.print(table)

    _carry_out(specs, keep, run, show)


def _words(text: str | None) -> list[str]:
    return [word for word in (text or "").replace(",", " ").split() if word]


def _numbers(flag: str, text: str | None) -> list[float]:
    try:
        return [float(word) for word in _words(text)]
    except ValueError as error:
        raise ValueError(f"{flag} must be numbers separated by commas, such as .2,.8; got {text!r}.") from error


def report(
    keep: Results = Path("results"),
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the files.")] = Path("report"),
) -> None:
    """Write what the trials gave beside the paper's numbers, as Markdown, CSV and one HTML page."""
    check_folder_name("--output", output)
    with messages.status("reading the trials"):
        from confdiff.experiments.report import write_report
        from confdiff.experiments.trials.store import Store

        files = write_report(Store(keep), output)
    say_files(files)


def _run(specs: "Sequence[TrialSpec]", keep: Path, jobs: int, folder: Path | None) -> None:
    """Run trials, pack the results, and show them."""
    from confdiff.experiments.trials.runner import run_trials

    def run(**told: Any) -> Any:
        return run_trials(specs, jobs=jobs, folder=folder, **told)

    _carry_out(specs, keep, run, lambda store: _show(specs, store))


def _carry_out(
    specs: "Sequence[Spec]",
    keep: Path,
    run: "Callable[..., Sequence[tuple[Spec, str]]]",
    show: "Callable[[Store], None]",
) -> None:
    """Run trials with a progress bar, pack the results, and show them."""
    from concurrent.futures.process import BrokenProcessPool

    from confdiff.cli.grid_bar import GridBar
    from confdiff.experiments.grouping import grouped
    from confdiff.experiments.trials.store import Store

    store = Store(keep)
    store.make_room()
    wanted = {spec.key for spec in specs}
    with GridBar() as bar:
        try:
            failures = run(store=store, progress=bar.show)
        except (KeyboardInterrupt, BrokenProcessPool) as stop:
            kept = f"{len(wanted & store.keys())} of {len(wanted)} trials are kept in {keep}"
            by_hand = isinstance(stop, KeyboardInterrupt)
            complain(
                ("stopped" if by_hand else "a worker process was killed, perhaps as memory ran out (fewer --jobs help)")
                + f": {kept}; the same command goes on from there"
            )
            raise typer.Exit(130 if by_hand else 1) from None
    store.compact()
    show(store)
    for group in grouped(failures, lambda failure: failure[1]):
        (spec, why), more = group[0], len(group) - 1
        complain(f"failed: {spec}{f' (and {more} more)' if more else ''}: {why}")
    if failures:
        raise typer.Exit(1)


def _show(specs: "Sequence[TrialSpec]", store: "Store") -> None:
    from confdiff.experiments.cells import PLAIN
    from confdiff.experiments.grouping import grouped
    from confdiff.experiments.wording import mean_of

    def options(record: "Record") -> str:
        return ", ".join(f"{name} {value}" for name, value in record.items() if name not in PLAIN)

    wanted = {spec.key for spec in specs}
    records = [record for record in store.records() if record["key"] in wanted]
    if not records:
        return
    table = Table("data set", Column("prior", justify="right"), "method", "options", "accuracy (trials)")
    for group in grouped(
        records, lambda record: (record["dataset"], record["prior"], record["method"], options(record))
    ):
        first, trials = group[0], {record["seed"]: record["accuracy"] for record in group}
        table.add_row(first["dataset"], f"{first['prior']:g}", first["method"], options(first), mean_of(trials))
    results.print(table)
    say(f"kept in {store.folder}; confdiff report --results {store.folder} makes a page of them")
