"""confdiff show, export: describe a model, and write it as ONNX."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from confdiff.cli.console import name_column, number_column, results, say, say_files, status
from confdiff.cli.messages import translated
from confdiff.cli.options import JsonOption, ModelArgument, OverwriteOption, option
from confdiff.display.text import listed, plural

if TYPE_CHECKING:
    from confdiff.tabular.model.about import Validation
    from confdiff.tabular.model.model import ComparisonModel


def show_model(model: ModelArgument, as_json: JsonOption = False) -> None:
    """Show the data and options of a model, and its measures on held-out pairs.

    Examples:
        confdiff show model
        confdiff show model --json
    """
    with status("loading PyTorch"):
        from confdiff.tabular.model.model import load_model
    fitted = load_model(model)
    if as_json:
        typer.echo(json.dumps(fitted.about.to_json() | {"prior": fitted.classifier.prior_}, indent=1))
        return
    print_model(fitted)
    say_files({"card": model / "card.html"})


def export_model(
    model: ModelArgument,
    onnx: Annotated[Path, option(metavar="FILE", help="File to write, such as model.onnx.", show_default=False)],
    overwrite: OverwriteOption = False,
) -> None:
    """Write a model as ONNX.

    If all columns are numbers, the file takes them as they are. Otherwise it takes the encoded features, as
    ItemFeatures returns them.

    Example:
        confdiff export model --onnx model.onnx
    """
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_file
        from confdiff.tabular.model.model import load_model
        from confdiff.tabular.model.onnx import export_onnx, input_columns, is_numeric
    check_new_file(onnx, overwrite=overwrite)
    fitted = load_model(model)
    with status("exporting"):
        export_onnx(fitted, onnx, overwrite=overwrite)
    columns = input_columns(fitted)
    kind = "raw numbers" if is_numeric(fitted) else "encoded features, as ItemFeatures returns them"
    say(f"input `items`: {len(columns):,} columns, {kind}; output `probability`")
    say_files({"onnx": onnx})


def load_on(device: str, folder: Path) -> "ComparisonModel":
    """Read a model folder and move the network to a device."""
    from confdiff.tabular.model.model import load_model
    from confdiff.training.recipe import find_device

    fitted = load_model(folder)
    fitted.classifier.model_.to(find_device(device))
    return fitted


def print_model(model: "ComparisonModel") -> None:
    """Print the data, the options, the warnings and the validation of a model."""
    about = model.about
    data = about.data
    fitted = model.classifier
    say(f"{data.pairs:,} pairs of {data.compared_items:,} items, {data.features:,} features; {data.scale}")
    say("columns: " + listed(f"{name} ({kind})" for name, kind in data.columns.items()))
    say(f"{fitted.method}, {fitted.model}, {plural(fitted.n_iter_, 'epoch')}, prior {fitted.prior_:.3f}")
    search = about.weight_decay_search
    if search is not None:
        scores = ", ".join(f"{decay:g} {mean:.3f}" for decay, mean in search.tried)
        say(f"weight decay {search.best:g}, chosen by {search.criterion}: {scores}")
    for warning in about.warnings:
        say(f"warning: {translated(warning)}")
    if about.validation is None:
        say("no pairs were held out, so there are no measures of its quality")
        return
    _print_validation(about.validation, "of items known by their id" if model.knows_ids else "with a new item")


def _print_validation(validation: "Validation", title: str) -> None:
    table = Table(
        name_column("held-out pairs"),
        *map(number_column, ("pairs", "pairwise accuracy", "R²", "RMSE")),
    )
    for name, row in ((title, validation.test), ("both items new", validation.new_items)):
        if row is not None:
            measures = (row.pairwise_accuracy, row.r2, row.rmse)
            table.add_row(name, f"{row.pairs:,}", *map(as_digits, measures))
    results.print(table)


def as_digits(value: float | None) -> str:
    """Return a measure with three digits, or a dash if there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.3f}"
