"""confdiff evaluate: measure a model by labels or by judged pairs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from confdiff.cli.configuration import used_config
from confdiff.cli.console import name_column, number_column, results, say, say_files, status
from confdiff.cli.model import as_digits, load_on
from confdiff.cli.options import (
    AnnotatorOption,
    ConfigOption,
    DeviceOption,
    DifferenceOption,
    EncodingOption,
    IdOption,
    ItemsArgument,
    JsonOption,
    LeftOption,
    ModelArgument,
    OverwritePageOption,
    RightOption,
    ScaleOption,
    ShownFirstOption,
    TextEncoderOption,
    TieOption,
    WinnerOption,
    option,
    output_option,
)
from confdiff.cli.plugins import takes_plugins
from confdiff.config import optional_config
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.tabular.model.agreement import Agreement
    from confdiff.tabular.model.label_measures import Evaluation, RankEvaluation


@takes_plugins
@takes_encoding
def evaluate_command(
    model: ModelArgument,
    items: ItemsArgument,
    labels: Annotated[str | None, option(metavar="COLUMN", help="Column of the items with their labels.")] = None,
    pairs: Annotated[
        Path | None, option(metavar="FILE", help="Table of judged pairs of these items, instead of labels.")
    ] = None,
    output: Annotated[Path | None, output_option("Folder for a page and a JSON file; only with --labels.")] = None,
    id: IdOption = None,
    left: LeftOption = None,
    right: RightOption = None,
    difference: DifferenceOption = None,
    winner: WinnerOption = None,
    tie: TieOption = None,
    annotator: AnnotatorOption = None,
    shown_first: ShownFirstOption = None,
    scale: ScaleOption = None,
    encoding: EncodingOption = None,
    config: ConfigOption = None,
    text_encoder: TextEncoderOption = None,
    device: DeviceOption = "cpu",
    as_json: JsonOption = False,
    overwrite: OverwritePageOption = False,
) -> None:
    """Measure a model by labels (accuracy, AUC, Brier score, calibration) or by judged pairs.

    A model that was asked for preferences or scores has no classes. Labels may then be any numbers, and measure the
    order of the items (AUC, rank correlation).

    Predicted differences are those of an average annotator, whoever judged the pairs.

    The items and pairs should be new to the model, so that the measures hold for new data.

    Examples:
        confdiff evaluate model items.csv --labels ill -o evaluation
        confdiff evaluate model items.csv --pairs new-pairs.csv
    """
    if (labels is None) == (pairs is None):
        raise ValueError("evaluate needs either --labels COLUMN or --pairs FILE, and not both.")
    if pairs is not None and output is not None:
        raise ValueError("-o writes a page about labels; for judged pairs leave it out, or pass --json.")
    of_pairs = {
        "--left": left,
        "--right": right,
        "--difference": difference,
        "--winner": winner,
        "--tie": tie,
        "--annotator": annotator,
        "--shown-first": shown_first,
        "--scale": scale,
    }
    unused = [f"{flag} {value}" for flag, value in of_pairs.items() if value is not None]
    if pairs is None and unused:
        raise ValueError(f"{unused[0]} is about judged pairs: pass --pairs FILE, or leave it out.")
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_report
        from confdiff.tabular.model.evaluation import (
            evaluate_labels,
            evaluate_pairs,
            evaluation_files,
            write_evaluation,
        )
        from confdiff.tabular.scales import parse_scale
    if output is not None:
        check_new_report(evaluation_files(output), inputs=[items], overwrite=overwrite)
    config = used_config(items, config)
    fitted = load_on(device, model, text_encoder)
    measures: Evaluation | RankEvaluation | Agreement
    files: dict[str, Path] = {}
    with status("scoring"):
        if pairs is not None:
            columns = {"left": left, "right": right, "difference": difference, "winner": winner, "tie": tie}
            columns |= {"annotator": annotator, "shown_first": shown_first}
            scale_ends = None if scale is None else parse_scale(scale)
            measures = evaluate_pairs(
                fitted, items, pairs, id=id, scale=scale_ends, encoding=encoding, config=config, **columns
            )
        else:
            assert labels is not None
            settings = optional_config(config)
            measures = by_labels = evaluate_labels(
                fitted,
                items,
                labels,
                id=id or settings.id,
                encoding=encoding or settings.encoding,
            )
            if output is not None:
                files = write_evaluation(by_labels, output, f"{model.name} on {items.name}", overwrite=overwrite)
    if as_json:
        typer.echo(json.dumps(measures.to_json(), indent=1))
        return
    _print_measures(measures.to_json())
    if fitted.link.has_classes and not fitted.makes_decisions and labels is not None:
        say("note: the judgements left the offset open, so that measures at a threshold of 0.5 depend on chance")
    say_files(files)


_TITLES = {"auc": "AUC", "brier": "Brier score", "r2": "R²", "rmse": "RMSE"}
"""Titles of measures that are not their names in JSON."""


def _print_measures(measures: dict[str, Any]) -> None:
    table = Table(name_column("measure"), number_column("value"))
    for name, value in measures.items():
        if isinstance(value, int | float) or value is None:
            title = _TITLES.get(name, name.replace("_", " "))
            table.add_row(title, f"{value:,}" if isinstance(value, int) else as_digits(value))
    if "interval" in measures:
        table.add_row("95 % interval of the pairwise accuracy", " to ".join(map(as_digits, measures["interval"])))
    results.print(table)
    if "confusion" in measures:
        (true_negatives, false_positives), (false_negatives, true_positives) = measures["confusion"]
        say(
            f"at threshold 0.5: {true_positives:,} true and {false_positives:,} false positives, "
            f"{true_negatives:,} true and {false_negatives:,} false negatives"
        )
