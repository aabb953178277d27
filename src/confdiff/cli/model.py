"""confdiff show, export: describe a model, and write it as ONNX."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from confdiff.cli.console import check_file_name, name_column, number_column, results, say, say_files, status
from confdiff.cli.messages import translated
from confdiff.cli.options import JsonOption, ModelArgument, option
from confdiff.display.text import listed

if TYPE_CHECKING:
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
        typer.echo(json.dumps(fitted.about | {"prior": fitted.classifier.prior_}, indent=1))
        return
    print_model(fitted)
    say_files({"card": model / "card.html"})


def export_model(
    model: ModelArgument,
    onnx: Annotated[Path, option(metavar="FILE", help="File to write, such as model.onnx.", show_default=False)],
) -> None:
    """Write a model as ONNX.

    If all columns are numbers, the file takes them as they are. Otherwise it takes the encoded features, as
    ItemFeatures returns them.

    Example:
        confdiff export model --onnx model.onnx
    """
    with status("loading PyTorch"):
        from confdiff.tabular.model.model import load_model
        from confdiff.tabular.model.onnx import export_onnx, input_columns, is_numeric
    check_file_name(onnx, "file")
    fitted = load_model(model)
    with status("exporting"):
        export_onnx(fitted, onnx)
    columns = input_columns(fitted)
    kind = "raw numbers" if is_numeric(fitted) else "encoded features, as ItemFeatures returns them"
    say(f"input `items`: {len(columns):,} columns, {kind}; output `probability`")
    say_files({"onnx": onnx})


def print_model(model: "ComparisonModel") -> None:
    """Print the data, the options, the warnings and the validation of a model."""
    about = model.about
    data = about["data"]
    fitted = model.classifier
    say(f"{data['pairs']:,} pairs of {data['compared items']:,} items, {data['features']:,} features; {data['scale']}")
    say("columns: " + listed(f"{name} ({kind})" for name, kind in data["columns"].items()))
    say(f"{fitted.method}, {fitted.model}, {fitted.n_iter_} epochs, prior {fitted.prior_:.3f}")
    if about.get("weight decays"):
        _print_weight_decays(about)
    for warning in dict.fromkeys(about["warnings"]):
        say(f"warning: {translated(warning)}")
    if about["validation"] is None:
        say("no pairs were held out, so there are no measures of its quality")
        return
    _print_validation(about)


def _print_validation(about: dict[str, Any]) -> None:
    table = Table(
        name_column("held-out pairs"),
        *map(number_column, ("pairs", "pairwise accuracy", "R²", "RMSE")),
    )
    test = "with a new item" if about["data"].get("id") is None else "of items known by their id"
    for name, title in (("judged", test), ("both items new", "both items new")):
        if name in about["validation"]:
            row = about["validation"][name]
            measures = (as_digits(row[key]) for key in ("order", "explained", "error"))
            table.add_row(title, f"{row['pairs']:,}", *measures)
    results.print(table)


def _print_weight_decays(about: dict[str, Any]) -> None:
    scores = ", ".join(f"{decay:g} {value:.3f}" for decay, value in about["weight decays"])
    say(f"weight decay {about['options']['weight_decay']:g}, chosen by {about['weight decay by']}: {scores}")


def as_digits(value: float | None) -> str:
    """Return a measure with three digits, or a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"
