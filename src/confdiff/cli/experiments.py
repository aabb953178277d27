"""confdiff run, reproduce, report: trials, the paper's experiments, and their report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from confdiff.cli.console import print_message, say_files, status
from confdiff.cli.grids import JobsOption, ResultsOption, carry_out, numbers, warn_of_unreadable, words
from confdiff.cli.options import (
    AddressOption,
    EngineOption,
    EscapeOption,
    FolderOption,
    IncompleteOption,
    OverwritePageOption,
    argument,
    option,
    output_option,
    switch,
)
from confdiff.cli.plugins import takes_plugins
from confdiff.experiments.plans import EXPERIMENTS, REPRODUCIBLE

if TYPE_CHECKING:
    from confdiff.experiments.trials.store import Store

_LISTED = "; ".join(f"`{name}` ({EXPERIMENTS[name].description})" for name in REPRODUCIBLE)
_SELECTION = "Select trials"


@takes_plugins
def run(
    dataset: Annotated[str, argument(metavar="DATASET", help="Data set, as `confdiff data list` names it.")] = "digits",
    methods: Annotated[
        str, option(metavar="NAMES", help="Methods of `confdiff methods`, separated by commas.")
    ] = "confdiff-abs",
    priors: Annotated[
        str | None,
        option(metavar="NUMBERS", help="Class priors, separated by commas. If omitted, 0.5, or those of a plug-in."),
    ] = None,
    trials: Annotated[int, option(min=1, metavar="N", help="Trials per cell, with seeds 0, 1, ...")] = 1,
    epochs: Annotated[
        int | None,
        option(min=1, metavar="N", help="Passes over the pairs. If omitted, 200, or the number of a plug-in."),
    ] = None,
    protocol: Annotated[
        str, option(metavar="NAME", help="`paper`: as the text describes; `authors`: as their program does.")
    ] = "paper",
    n_pairs: Annotated[
        int | None, option(metavar="N", help="Number of pairs. If omitted, the paper's number for the data set.")
    ] = None,
    model: Annotated[
        str | None,
        option(metavar="NAME", help="Network of teacher and learner. If omitted, that of the protocol."),
    ] = None,
    incomplete: IncompleteOption = False,
    jobs: JobsOption = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    results: ResultsOption = Path("results"),
    folder: FolderOption = None,
) -> None:
    """Train and test methods on a data set. Finished trials are stored and not run again.

    Examples:
        confdiff run digits --methods confdiff-abs,oracle-soft --trials 3
        confdiff run pendigits --priors .2,.5 --protocol authors --jobs 2
        confdiff run mnist --trials 5 --engine ray --address auto
        confdiff run digits --methods my-squares --plugin my_squares.py
    """
    with status("loading PyTorch"):
        from confdiff.datasets import DATASETS
        from confdiff.experiments.plans.experiment import accuracy_table
        from confdiff.experiments.trials.runner import run_trials
        from confdiff.experiments.trials.spec import TrialSpec
        from confdiff.tasks import TaskSpec

    names = words(methods)
    setting = TaskSpec(dataset).setting
    values = list(setting.priors) if priors is None else numbers("--priors", priors)
    if not names:
        raise ValueError("--methods names no method: there is nothing to run.")
    if not values:
        raise ValueError("--priors names no prior: there is nothing to run.")
    if incomplete and not DATASETS[dataset].optional_files:
        in_batches = ", ".join(entry.label for entry in DATASETS.values() if entry.optional_files)
        raise ValueError(f"--incomplete is for data that come in batches ({in_batches}); {dataset} does not.")
    options: dict[str, Any] = {"n_pairs": n_pairs, "model": model, "incomplete": incomplete}
    specs = [
        TrialSpec(TaskSpec(dataset, prior, protocol, seed, **options), name, epochs or setting.epochs)
        for seed in range(trials)
        for prior in values
        for name in names
    ]
    where: dict[str, Any] = {"jobs": jobs, "engine": engine, "address": address, "folder": folder}
    carry_out(specs, results, lambda **more: run_trials(specs, **where, **more), accuracy_table, engine)


@takes_plugins
def reproduce(
    name: Annotated[str, argument(metavar="NAME", help=f"Experiment: {_LISTED}.")],
    datasets: Annotated[
        str | None, option(metavar="NAMES", panel=_SELECTION, help="Only these data sets, such as usps,letter.")
    ] = None,
    methods: Annotated[
        str | None,
        option(metavar="NAMES", panel=_SELECTION, help="Only these methods, such as confdiff-abs,oracle-soft."),
    ] = None,
    priors: Annotated[
        str | None, option(metavar="NUMBERS", panel=_SELECTION, help="Only these priors, such as .2,.8.")
    ] = None,
    points: Annotated[
        str | None,
        option(
            metavar="NUMBERS",
            panel=_SELECTION,
            help="Figures: only these positions on their axes, such as .8,1.2 for figure3. "
            "real_tables: only these numbers of pairs.",
        ),
    ] = None,
    trials: Annotated[
        int | None,
        option(
            min=1,
            metavar="N",
            help="Trials per cell, with seeds 0, 1, ... If omitted, the experiment decides: 5 as in the paper.",
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        option(
            min=1,
            metavar="N",
            help="Passes over the pairs. "
            "If omitted, the experiment decides: 200 as in the paper, 50 in table3 and study.",
        ),
    ] = None,
    protocol: Annotated[
        str | None,
        option(
            metavar="NAME",
            help="`authors`: as their program does; `paper`: as the text describes. "
            "If omitted, the experiment decides: `authors`.",
        ),
    ] = None,
    without_prior: Annotated[
        bool, switch("--without-prior", help="table1, table2: do not give the learner the class prior.")
    ] = False,
    user_prior: Annotated[
        bool, switch("--user-prior", help="table3: give each user's own prior instead of the global one.")
    ] = False,
    early_stopping: Annotated[
        bool, switch("--early-stopping", help="table3: early stopping on held-out interactions, unlike the paper.")
    ] = False,
    jobs: JobsOption = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    results: ResultsOption = Path("results"),
    folder: FolderOption = None,
) -> None:
    """Run the trials of a table or figure of the paper, or of a study.

    You can stop it at any time: the same command continues with the missing trials.

    Examples:
        confdiff reproduce table2
        confdiff reproduce figure3 --datasets pendigits --trials 3
        confdiff reproduce table2 --methods confdiff-regression --without-prior
    """
    with status("loading PyTorch"):
        from confdiff.experiments.plans import find_experiment
        from confdiff.validation import check_choice

        experiment = find_experiment(check_choice("experiment", name, REPRODUCIBLE))
    flags = {
        "datasets": ("--datasets", words(datasets)),
        "methods": ("--methods", words(methods)),
        "priors": ("--priors", numbers("--priors", priors)),
        "points": ("--points", numbers("--points", points)),
        "trials": ("--trials", trials),
        "epochs": ("--epochs", epochs),
        "protocol": ("--protocol", protocol),
        "prior_given": ("--without-prior", False if without_prior else None),
        "prior": ("--user-prior", "user" if user_prior else None),
        "early_stopping": ("--early-stopping", early_stopping or None),
    }
    options = _grid_options(name, flags)
    if "folder" in experiment.options:
        options["folder"] = folder
    assert experiment.grid is not None
    specs = experiment.grid(**options)
    if jobs is None and engine is None:
        engine = "processes"
    where: dict[str, Any] = {"jobs": jobs, "engine": engine, "address": address, "folder": folder}
    carry_out(specs, results, lambda **more: experiment.run(specs, **where, **more), experiment.summary, engine)


def _grid_options(name: str, flags: dict[str, tuple[str, Any]]) -> dict[str, Any]:
    """Return the options that were passed, and check that the grid of the experiment takes them.

    ``flags`` has the flag and the value of each option of a grid; None or an empty list if it was not passed.
    """
    from confdiff.experiments.plans import find_experiment

    options = {}
    for option_name, (flag, value) in flags.items():
        if value is None or value == []:
            continue
        takers = [taker for taker in REPRODUCIBLE if option_name in find_experiment(taker).options]
        if name not in takers:
            raise ValueError(f"{flag} does not apply to {name}; it applies to {', '.join(takers)}.")
        options[option_name] = value
    return options


@takes_plugins
def report(
    results: ResultsOption = Path("results"),
    output: Annotated[Path, output_option("Folder for the files.")] = Path("report"),
    escape: EscapeOption = True,
    overwrite: OverwritePageOption = False,
) -> None:
    """Write a report of the finished trials, with the paper's numbers: Markdown, CSV, and one HTML page.

    Examples:
        confdiff report
        confdiff report --results elsewhere -o page
        confdiff report --plugin my_squares.py
    """
    with status("reading the trials"):
        from confdiff.experiments.report.writing import write_report
        from confdiff.experiments.trials.store import Store

        store = Store(results)
        files = write_report(store, output, overwrite=overwrite, escape=escape)
    warn_of_unreadable(store)
    _warn_of_missing_plugins(store)
    say_files(files)


def _warn_of_missing_plugins(store: "Store") -> None:
    from confdiff.display.text import listed, plural
    from confdiff.experiments.trials.foreign_record import ForeignRecord

    foreign = [record for record in store.records() if isinstance(record, ForeignRecord)]
    plugins = {f"{name} {version}" for record in foreign for name, version in record.plugins.items()}
    if foreign:
        text = f"{plural(len(foreign), 'trial')} come from plug-ins that are not loaded: {listed(sorted(plugins))}"
        print_message(f"{text}. Pass --plugin FILE to compare them.", label="warning:", style="bold yellow")
