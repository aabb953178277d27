"""confdiff check: check items and judged pairs before fitting."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from confdiff.cli.configuration import config_to_write, offer_config, write_config
from confdiff.cli.console import name_column, results, say, say_files, status
from confdiff.cli.messages import Flag, translated, with_flags
from confdiff.cli.options import (
    COLUMNS,
    AnnotatorOption,
    CategoryOption,
    ConfigOption,
    DifferenceOption,
    EncodingOption,
    GroupOption,
    IdOption,
    IgnoreOption,
    JsonOption,
    LeftOption,
    LinkOption,
    NumberOption,
    OverwritePageOption,
    RightOption,
    SameOption,
    ScaleOption,
    ShownFirstOption,
    TextOption,
    TieOption,
    WeightOption,
    WinnerOption,
    kinds_of,
    option,
    output_option,
    switch,
)
from confdiff.cli.study_tables import ItemsOrStudyArgument, OptionalPairsArgument, read_item_tables
from confdiff.config import optional_config
from confdiff.display.text import listed
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.tabular.checks.columns import ColumnSummary
    from confdiff.tabular.checks.finding import Finding
    from confdiff.tabular.checks.report import CheckReport

_STYLES = {"error": "bold red", "warning": "bold blue"}
_FIT_FLAGS = {  # findings also name options of `fit`
    "validation_fraction": Flag("--validation-fraction"),
    "positives": Flag("--positives"),
}


@takes_encoding
def check_command(
    items: ItemsOrStudyArgument,
    pairs: OptionalPairsArgument = None,
    output: Annotated[Path, output_option("Folder for the HTML page and the JSON file.")] = Path("check"),
    as_json: JsonOption = False,
    id: IdOption = None,
    left: LeftOption = None,
    right: RightOption = None,
    difference: DifferenceOption = None,
    same: SameOption = None,
    weight: WeightOption = None,
    annotator: AnnotatorOption = None,
    shown_first: ShownFirstOption = None,
    time: Annotated[
        str | None, option(metavar="COLUMN", panel=COLUMNS, help="Time at which a pair was judged.")
    ] = None,
    group: GroupOption = None,
    winner: WinnerOption = None,
    tie: TieOption = None,
    ignore: IgnoreOption = None,
    number: NumberOption = None,
    category: CategoryOption = None,
    text: TextOption = None,
    scale: ScaleOption = None,
    link: LinkOption = None,
    encoding: EncodingOption = None,
    config: ConfigOption = None,
    store: Annotated[
        bool,
        switch(
            "--write-config",
            help="Write the columns that were found to confdiff.toml in the folder of the items, or to --config FILE. "
            "Other commands read them there.",
        ),
    ] = False,
    overwrite: OverwritePageOption = False,
) -> None:
    """Check items and judged pairs before fitting: errors in the tables, and agreement of the judgements.

    An HTML page and a JSON file are written. The exit status is 2 if `confdiff fit` would stop with an error.

    Examples:
        confdiff check items.csv pairs.csv -o check
        confdiff check jokes.db
    """
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_file, check_new_report
        from confdiff.tabular.checks.page import check_files, check_json, write_check
        from confdiff.tabular.checks.report import check_comparisons
    tables = read_item_tables(items, pairs, keeps_media=True)
    check_new_report(check_files(output), inputs=tables.inputs, overwrite=overwrite)
    if store and tables.study is not None:
        raise ValueError("--write-config is for tables; the columns of a study are known. Omit it.")
    new_config = config_to_write(Path(items), config) if store else None
    if new_config is not None:
        check_new_file(new_config, inputs=tables.inputs, overwrite=overwrite)
        config = config if config is not None and config.is_file() else None
    config = tables.config(config)
    kinds = kinds_of(number=number, category=category, text=text)
    with status("checking"):
        report = check_comparisons(
            tables.items,
            tables.pairs,
            scale=tables.scale(scale),
            kinds=kinds,
            link=link,
            id=id,
            ignore=ignore,
            left=left,
            right=right,
            difference=difference,
            same=same,
            weight=weight,
            annotator=annotator,
            shown_first=shown_first,
            time=time,
            group=group,
            winner=winner,
            tie=tie,
            encoding=encoding,
            config=config,
        )
        report = report.reworded(_with_flags)
        files = write_check(report, output, overwrite=overwrite)
    if new_config is not None:
        given = optional_config(config)
        write_config(
            new_config,
            report,
            replace(
                given,
                ignore=tuple(ignore or given.ignore),
                kinds={**given.kinds, **kinds},
                encoding=encoding or given.encoding,
                link=None if link == "auto" else link or given.link,
            ),
        )
        files["columns"] = new_config
    if as_json:
        typer.echo(check_json(report))
    else:
        _print(report)
        say_files(files)
    if new_config is None and config is None and tables.study is None and not report.errors and not as_json:
        offer_config()
    if report.errors:
        raise ValueError(f"{report.verdict} See {files['page']}.")


def _with_flags(text: str) -> str:
    return with_flags(translated(text), _FIT_FLAGS)


def _print(report: "CheckReport") -> None:
    table = Table(name_column("severity"), "finding", "consequence and remedy", show_lines=True)
    shown = [finding for finding in report.findings if finding.severity != "note"]
    for finding in shown:
        severity = Text(finding.severity, _STYLES[finding.severity])
        table.add_row(severity, Text(translated(_text_and_rows(finding, report))), Text(translated(finding.action)))
    if shown:
        results.print(table)
    components = report.measures["components"]
    say(
        f"{report.pairs.rows:,} pairs ({report.usable_pairs:,} usable) of {report.items.rows:,} items; "
        f"connected components: {components.count:,}"
    )
    ids = "id" if report.id_name == "id" else f"{report.id_name} (id)"
    say("columns: " + listed([ids, *map(_name_and_role, report.pairs.columns)]))
    _print_measures(report)
    notes = len(report.findings) - len(shown)
    if notes:
        say(f"notes: {notes}, on the page")
    if not report.errors:
        say(report.verdict)


def _name_and_role(column: "ColumnSummary") -> str:
    return column.name if column.name == column.role else f"{column.name} ({column.role})"


def _text_and_rows(finding: "Finding", report: "CheckReport") -> str:
    if not finding.rows:
        return finding.text
    table = report.items if finding.table == "items" else report.pairs
    more = " ..." if finding.count > len(finding.rows) else ""
    label = "Row" if len(finding.rows) == 1 else "Rows"
    return f"{finding.text} {label} {', '.join(map(str, finding.rows))}{more} ({table.row_numbering})"


def _print_measures(report: "CheckReport") -> None:
    if "differences" not in report.measures or report.scale is None:
        return
    differences = report.measures["differences"]
    triangles = report.measures["triangles"]
    score = report.measures["one_score"]
    summary = differences.summary
    say(
        f"scale: {report.scale.name}; near ties {summary.near_ties:.1%}, at the ends {differences.at_ends:.1%}; "
        f"mean difference {summary.mean:+.3f} ± {differences.mean_error:.3f}"
    )
    readings = report.measures["notation"]
    if readings.notation != "number":
        examples = ", ".join(f"{r.written!r:.30} as {r.difference_text} (row {r.row})" for r in readings.readings[:7])
        say(f"judgements written as {readings.notation}, read {examples}")
    if triangles is not None:
        say(
            f"triangles: {triangles.count:,}, |c(a, b) + c(b, c) - c(a, c)| {triangles.mean:.3f} on average "
            f"({triangles.random_mean:.3f} with random signs)"
        )
    if score is not None:
        adjusted = "" if score.adjusted_r2 is None else f" (adjusted {score.adjusted_r2:.3f})"
        say(f"R² of one score per item: {score.r2:.3f}{adjusted}")
    say(f"what was asked: {report.meaning_statement}")
    curve = report.measures["learning_curve"]
    if curve.projection:
        say(f"learning curve: {curve.text[:1].lower()}{curve.text[1:]}")
