"""The program ``confdiff``: its table of commands and its entry point."""

import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from confdiff.cli import (
    check,
    compare,
    convert,
    data,
    demo,
    evaluate,
    experiments,
    explain,
    fit,
    judge,
    label,
    label_demo,
    label_design,
    label_judge,
    label_new,
    label_serve,
    methods,
    model,
    pairs,
    predict,
    rank,
    recommend,
    theory,
)
from confdiff.cli.commands import (
    USER_ERRORS,
    Quiet,
    Threads,
    Verbose,
    as_command,
    help_text,
    set_threads,
    versions,
)
from confdiff.cli.console import complain, is_verbose, print_error, set_verbosity, visible
from confdiff.cli.messages import UserError
from confdiff.cli.options import switch
from confdiff.interruption import end_like_interrupts
from confdiff.threads import prepare_environment

_Commands = Mapping[str, Callable[..., None]]


def main() -> None:
    """Run the command line; a user error prints one line, without a traceback, and exits with status 2."""
    prepare_environment()
    end_like_interrupts()
    try:
        app()
    except (UserError, *USER_ERRORS) as error:
        if is_verbose():
            complain("".join(traceback.format_exception(error.__cause__ or error)))
        print_error(str(error))
        sys.exit(2)


def version_command() -> None:
    """Print the versions of confdiff, Python and the packages that affect the results.

    Example:
        confdiff version
    """
    for line in versions():
        typer.echo(line)


_PANELS: dict[str, _Commands] = {
    "Start here": {
        "demo": demo.demo_command,
        "methods": methods.methods_command,
        "version": version_command,
    },
    "Your comparisons": {
        "check": check.check_command,
        "fit": fit.fit_command,
        "predict": predict.predict_command,
        "evaluate": evaluate.evaluate_command,
        "explain": explain.explain_command,
        "rank": rank.rank_command,
        "judge": judge.judge_items_command,
        "show": model.show_model,
        "export": model.export_model,
        "convert": convert.convert_command,
    },
    "The paper's experiments": {
        "run": experiments.run,
        "reproduce": experiments.reproduce,
        "report": experiments.report,
        "compare": compare.compare_command,
        "theory": theory.theory_command,
    },
}
_DATA = "Data sets, pairs and recommenders"
_GROUPS: dict[str, tuple[str, str, _Commands]] = {
    "label": (
        "Collect judgements",
        "Collect judgements of pairs: studies, annotators, and data out.",
        {
            "demo": label_demo.demo_study_command,
            "design": label_design.design_command,
            "new": label_new.new_command,
            "serve": label_serve.serve_command,
            "invite": label.invite_command,
            "judge": label_judge.judge_command,
            "revoke": label.revoke_command,
            "owner": label.owner_command,
            "quota": label.quota_command,
            "status": label.status_command,
            "pause": label.pause_command,
            "resume": label.resume_command,
            "close": label.close_command,
            "delete": label.delete_command,
            "export": label.export_command,
            "backup": label.backup_command,
        },
    ),
    "data": (
        _DATA,
        "List, download, show and export data sets.",
        {
            "list": data.list_datasets,
            "fetch": data.fetch_datasets,
            "show": data.show_dataset,
            "export": data.export_dataset,
        },
    ),
    "pairs": (
        _DATA,
        "Make pairs with confidence differences from a data set, and describe pairs in files.",
        {"make": pairs.make_pairs, "describe": pairs.describe_file},
    ),
    "recommend": (
        _DATA,
        "Train a recommender on interactions, evaluate it, and recommend items.",
        {
            "train": recommend.train_command,
            "evaluate": recommend.evaluate_recommender,
            "topk": recommend.recommend_items,
        },
    ),
}


def _register(target: typer.Typer, commands: _Commands, panel: str | None = None) -> None:
    for name, function in commands.items():
        target.command(name, help=help_text(function), rich_help_panel=panel)(as_command(function))


class _Program(TyperGroup):
    """The group of all commands; messages about wrong arguments show control characters, too."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if hasattr(error, "format_message"):  # an error of arguments; versions of typer have different classes
                vars(error)["message"] = visible(str(vars(error).get("message", "")))
            raise


def _new_app() -> typer.Typer:
    """Return the program with all its commands."""
    program = typer.Typer(cls=_Program, no_args_is_help=True, pretty_exceptions_enable=False)
    program.callback(help="Learn a classifier with probabilities from graded comparisons of unlabelled pairs.")(
        _set_global_options
    )
    for panel, commands in _PANELS.items():
        _register(program, commands, panel)
    for name, (panel, help, commands) in _GROUPS.items():
        group = typer.Typer(no_args_is_help=True)
        _register(group, commands)
        program.add_typer(group, name=name, help=help, rich_help_panel=panel)
    return program


def _print_version(is_requested: bool) -> None:
    if is_requested:
        from confdiff import __version__

        typer.echo(f"confdiff {__version__}")
        raise typer.Exit


def _set_global_options(
    context: typer.Context,
    version: Annotated[
        bool, switch("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    threads: Threads = None,
) -> None:
    set_verbosity(quiet=quiet, verbose=verbose)
    set_threads(context, threads)


app = _new_app()
