"""confdiff explain: divide the scores of items among the columns, and measure which columns matter."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from confdiff.cli.configuration import used_config
from confdiff.cli.console import progress, say, say_files, status
from confdiff.cli.model import load_on, print_importance
from confdiff.cli.options import (
    TABLE_ENDINGS,
    ConfigOption,
    DeviceOption,
    DifferenceOption,
    EncodingOption,
    EscapeOption,
    IdOption,
    ItemsArgument,
    JsonOption,
    LeftOption,
    ModelArgument,
    OverwriteOption,
    RightOption,
    ScaleOption,
    TextEncoderOption,
    TieOption,
    WinnerOption,
    option,
    output_option,
)
from confdiff.cli.plugins import takes_plugins
from confdiff.config import optional_config
from confdiff.io.table_formats.encodings import takes_encoding, text_encoding

if TYPE_CHECKING:
    from confdiff.tabular.model.explain import Explanation
    from confdiff.tabular.model.importance import Importance
    from confdiff.tabular.model.model import ComparisonModel

_PRINTED_ITEMS = 3
_PRINTED_COLUMNS = 4  # contributions per item
_IMPORTANT_COLUMNS = 10


@takes_plugins
@takes_encoding
def explain_command(
    model: ModelArgument,
    items: ItemsArgument,
    output: Annotated[
        Path, output_option(f"Table of contributions to write ({TABLE_ENDINGS}).", metavar="FILE")
    ] = Path("explanations.csv"),
    top: Annotated[
        int | None,
        option(min=1, metavar="N", help="Columns per item; the others are summed up. If omitted, all columns."),
    ] = None,
    page: Annotated[
        Path | None, option(metavar="FILE", help="HTML page to write, with pictures of the first items.")
    ] = None,
    first: Annotated[int, option(min=1, metavar="N", help="Number of items on the page and in the JSON.")] = 5,
    pairs: Annotated[
        Path | None,
        option(metavar="FILE", help="Judged pairs of these items, to measure which columns matter on them."),
    ] = None,
    id: IdOption = None,
    left: LeftOption = None,
    right: RightOption = None,
    difference: DifferenceOption = None,
    winner: WinnerOption = None,
    tie: TieOption = None,
    scale: ScaleOption = None,
    config: ConfigOption = None,
    encoding: EncodingOption = None,
    escape: EscapeOption = True,
    text_encoder: TextEncoderOption = None,
    device: DeviceOption = "cpu",
    as_json: JsonOption = False,
    overwrite: OverwriteOption = False,
) -> None:
    """Explain the scores of items by the columns of their table.

    The table has one row per item and column: id, column, value and contribution. The contributions of an item add
    up to its score. The importance of a column is the drop of R² if its values are permuted: on the held-out pairs of
    the fit, or on those of --pairs.

    Examples:
        confdiff explain model items.csv -o explanations.csv
        confdiff explain model items.csv --top 3 --page explanations.html
    """
    columns = {"left": left, "right": right, "difference": difference, "winner": winner, "tie": tie}
    _check_pair_flags(pairs, scale, columns)
    with status("loading PyTorch"):
        from confdiff.io.batches import count_rows
        from confdiff.io.outputs import check_new_file, check_new_report
        from confdiff.io.tables import check_table_name
        from confdiff.tabular.model.explain import explain_file
        from confdiff.tabular.model.explain_page import write_explanation_page
    inputs = [items] if pairs is None else [items, pairs]
    check_table_name(output)
    check_new_file(output, inputs=inputs, overwrite=overwrite)
    if page is not None:
        if page.resolve() == output.resolve():
            raise ValueError(f"--page and --output must be two files; got {page} for both.")
        check_new_report({"page": page}, inputs=inputs, overwrite=overwrite)
    fitted = load_on(device, model, text_encoder)
    config = used_config(items, config)
    importance = fitted.about.importance
    if pairs is not None:
        with status("measuring the importance of the columns"):
            importance = _measured(
                fitted, items, pairs, id=id, scale=scale, encoding=encoding, config=config, columns=columns
            )
    encoding = encoding or optional_config(config).encoding
    with progress("explaining", count_rows(items) if items.is_file() else None) as update:
        count, explanation = explain_file(
            fitted,
            items,
            output,
            id=id or _id_column(fitted, items, config, encoding),
            top=top,
            first=first,
            done=update,
            overwrite=overwrite,
            encoding=encoding,
            escape=escape,
        )
    files = {"contributions": output}
    if page is not None:
        title = f"Why {model.name} scores {items.name} as it does"
        write_explanation_page(page, fitted, explanation, importance, title, overwrite=overwrite)
        files["page"] = page
    if as_json:
        measured = None if importance is None else importance.to_json()
        typer.echo(json.dumps({"importance": measured, **explanation.to_json()}, indent=1))
        return
    _print_explanation(explanation, importance)
    say(f"{count:,} items explained")
    say_files(files)


def _check_pair_flags(pairs: Path | None, scale: str | None, columns: dict[str, str | None]) -> None:
    """Check that no flag about pairs is given without pairs."""
    flags = {f"--{role}": column for role, column in columns.items()} | {"--scale": scale}
    unused = [f"{flag} {value}" for flag, value in flags.items() if value is not None]
    if pairs is None and unused:
        raise ValueError(f"{unused[0]} is about judged pairs: pass --pairs FILE, or leave it out.")


def _id_column(fitted: "ComparisonModel", items: Path, config: Path | None, encoding: str | None) -> str | None:
    """Return the column of ids of the items, or None to number the rows."""
    from confdiff.io.batches import read_column_names
    from confdiff.tabular.model.scoring import find_id_column

    with text_encoding(encoding):
        names = read_column_names(items)
    return find_id_column(fitted, names, config=optional_config(config))


def _measured(
    fitted: "ComparisonModel",
    items: Path,
    pairs: Path,
    *,
    id: str | None,
    scale: str | None,
    encoding: str | None,
    config: Path | None,
    columns: dict[str, str | None],
) -> "Importance":
    """Measure the importance of the columns on judged pairs."""
    from confdiff.tabular.model.importance import measure_importance
    from confdiff.tabular.model.judged_pairs import read_judged_pairs

    judged = read_judged_pairs(fitted, items, pairs, id=id, scale=scale, encoding=encoding, config=config, **columns)
    return measure_importance(fitted.classifier, fitted.features, judged, seed=fitted.about.options.seed)


def _print_explanation(explanation: "Explanation", importance: "Importance | None") -> None:
    if importance is None:
        say("no pairs were held out, so the importance of the columns was not measured: pass --pairs FILE")
    else:
        print_importance(importance, _IMPORTANT_COLUMNS)
    shown = explanation.head(_PRINTED_ITEMS)
    rows = shown.to_long(_PRINTED_COLUMNS)
    for position, (id, score) in enumerate(zip(shown.ids, shown.scores, strict=True)):
        of_item = rows["row"] == position
        parts = zip(rows["column"][of_item], rows["contribution"][of_item], strict=True)
        say(f"{id}: score {score:.3f} = " + ", ".join(f"{column} {value:+.3f}" for column, value in parts))
