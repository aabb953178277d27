"""confdiff show, export: describe a model, and write it as ONNX."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from confdiff.cli.console import name_column, number_column, results, say, say_files, status
from confdiff.cli.messages import translated
from confdiff.cli.options import JsonOption, ModelArgument, OverwriteOption, option
from confdiff.cli.plugins import takes_plugins
from confdiff.display.text import listed

if TYPE_CHECKING:
    from confdiff.annotators import AnnotatorEstimates
    from confdiff.estimators.selection import Selection
    from confdiff.tabular.model.about import Validation
    from confdiff.tabular.model.importance import Importance
    from confdiff.tabular.model.model import ComparisonModel

_SHOWN_COLUMNS = 5  # of the importance of columns


@takes_plugins
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
        typer.echo(json.dumps(described(fitted), indent=1))
        return
    print_model(fitted)
    say_files({"card": model / "card.html"})


def described(model: "ComparisonModel") -> dict[str, Any]:
    """Return the description of a model as JSON values."""
    from confdiff.tabular.model.classifiers import classifier_kind

    description = model.about.to_json() | {"kind": classifier_kind(model.classifier)}
    if model.annotators_ is not None:
        description["annotators"] = {
            "model": model.annotators_.model,
            "common_scale": model.annotators_.common_scale,
            "table": model.annotators_.table(),
        }
    if not model.link.has_classes:
        return description
    return description | {
        "prior": model.classifier.prior_,
        "prior_interval": model.classifier.prior_interval_,
        "makes_decisions": model.makes_decisions,
    }


@takes_plugins
def export_model(
    model: ModelArgument,
    onnx: Annotated[Path, option(metavar="FILE", help="File to write, such as model.onnx.", show_default=False)],
    overwrite: OverwriteOption = False,
) -> None:
    """Write a model as ONNX.

    If all columns are numbers, or the only column holds vectors, the file takes the numbers as they are. Otherwise it
    takes the encoded features, as ItemFeatures returns them. The output is the probability, or the score if the model
    has no classes. A model of preferences also outputs the probability to be preferred to a random training item.

    Example:
        confdiff export model --onnx model.onnx
    """
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_file
        from confdiff.tabular.model.model import load_model
        from confdiff.tabular.model.onnx import export_onnx, input_bits, input_columns, is_numeric, output_names
    check_new_file(onnx, overwrite=overwrite)
    fitted = load_model(model)
    with status("exporting"):
        export_onnx(fitted, onnx, overwrite=overwrite)
    columns = input_columns(fitted)
    kind = "raw numbers" if is_numeric(fitted) else "encoded features, as ItemFeatures returns them"
    outputs = listed(f"`{name}`" for name in output_names(fitted))
    bits = input_bits(fitted)
    say(f"input `items`: {len(columns):,} columns of {bits}-bit floats, {kind}; output {outputs}")
    say_files({"onnx": onnx})


def load_on(device: str, folder: Path, text_encoder: str | None = None) -> "ComparisonModel":
    """Read a model folder and move the network to a device; other models run on the CPU.

    ``text_encoder`` is the place of its text encoder, if that has moved since the training.
    """
    from confdiff.tabular.model.classifiers import classifier_kind
    from confdiff.tabular.model.model import load_model
    from confdiff.training.recipe import find_device

    fitted = load_model(folder, text_encoder=text_encoder)
    kind = classifier_kind(fitted.classifier)
    if kind == "network":
        fitted.classifier.model_.to(find_device(device))
    elif device not in ("cpu", "auto"):
        raise ValueError(f"--device {device} would not be used: a {kind} model runs on the CPU. Leave it out.")
    return fitted


def print_model(model: "ComparisonModel") -> None:
    """Print the data, the options, the warnings and the validation of a model."""
    from confdiff.tabular.grades import spacing_words
    from confdiff.tabular.model.judged_pairs import training_scale
    from confdiff.tabular.model.wording import (
        learner_words,
        meaning_source,
        offset_sentence,
        prior_words,
        undecided_sentence,
    )

    about = model.about
    data = about.data
    say(f"{data.pairs:,} pairs of {data.compared_items:,} items, {data.features:,} features; {data.scale}")
    if about.spacing is not None:
        say(f"values of the grades: {spacing_words(about.spacing, training_scale(model))}")
    say("columns: " + listed(f"{name} ({kind})" for name, kind in data.columns.items()))
    question = "Are the two items of the same class?" if data.answers_only else model.link.question
    say(f"what was asked: {question} (link {model.link.name}, {meaning_source(model)})")
    undecided = undecided_sentence(model)
    if undecided is not None:
        say(undecided)
    prior = prior_words(model)
    say(learner_words(model) + ("" if prior is None else f"; class prior {prior}"))
    if about.data.study is not None:
        say(f"learned from the study {about.data.study}")
    if about.selection is not None:
        print_selection(about.selection)
    if model.annotators_ is not None:
        print_annotators(model.annotators_)
    offset = offset_sentence(model)
    if offset is not None:
        say(offset)
    for warning in about.warnings:
        say(f"warning: {translated(warning)}")
    if about.answers is not None:
        answers = about.answers
        say(
            f"same-class answers of {answers.pairs:,} held-out pairs: accuracy {answers.accuracy:.3f}, "
            f"RMSE {answers.rmse:.3f} ({answers.constant_rmse:.3f} if predicted by their mean)"
        )
        return
    if about.validation is None:
        say("no pairs were held out, so there are no measures of its quality")
        return
    if model.annotators_ is not None:
        say("the judgements of held-out pairs are measured as their annotators gave them")
    _print_validation(about.validation, "of items known by their id" if model.knows_ids else "with a new item")
    if about.importance is not None:
        print_importance(about.importance, _SHOWN_COLUMNS)


def print_selection(selection: "Selection") -> None:
    """Print the compared candidates, the chosen one in bold."""
    headings = ("R² of held-out pairs", "against the best", "pairwise accuracy", "seconds")
    table = Table(name_column("compared"), name_column("link"), *map(number_column, headings), name_column(""))
    for row in selection.rows:
        if row.r2 is None and not row.chosen:
            continue
        measures = (row.r2, row.gain, row.pairwise_accuracy)
        table.add_row(
            row.candidate,
            row.link,
            *("-" if measure is None else str(measure) for measure in measures),
            "-" if row.seconds is None else f"{row.seconds:.1f}",
            "chosen" if row.chosen else row.note,
            style="bold" if row.chosen else None,
        )
    results.print(table)


def print_annotators(estimates: "AnnotatorEstimates") -> None:
    """Print the parameters of annotators with 95 % intervals, and what determines their common scale."""
    from confdiff.tabular.model.annotator_parameters import ANNOTATOR_MEASURES, MOST_ANNOTATORS, annotator_parameters

    rows = annotator_parameters(estimates)
    table = Table(name_column("annotator"), *map(number_column, ANNOTATOR_MEASURES), name_column(""))
    for row in rows[:MOST_ANNOTATORS]:
        table.add_row(Text(row.name), *row.measures, row.remark)
    say(f"annotators: {len(rows):,}, model {estimates.model}; parameters with 95 % intervals")
    results.print(table)
    if len(rows) > MOST_ANNOTATORS:
        say(f"and {len(rows) - MOST_ANNOTATORS:,} more; `confdiff show --json` lists all")
    say(estimates.statement)


def print_importance(importance: "Importance", most: int) -> None:
    """Print the most important columns, and the strongest words of text columns."""
    table = Table(name_column("column"), *map(number_column, ("drop of R² if permuted", "drop of pairwise accuracy")))
    for row in importance.columns[:most]:
        table.add_row(
            row.column,
            _with_error(row.r2_drop, row.r2_error),
            _with_error(row.accuracy_drop, row.accuracy_error),
        )
    results.print(table)
    for column, words in importance.words.items():
        if words:
            say(f"words of {column}: " + listed(f"{effect.word} {effect.effect:+.2f}" for effect in words[:most]))


def _with_error(value: float | None, error: float | None) -> str:
    return "-" if value is None else f"{value:.3f} ± {error:.3f}"


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
