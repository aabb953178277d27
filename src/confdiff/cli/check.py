"""confdiff check: check items and judged pairs before fitting."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from confdiff.cli.console import check_folder_name, name_column, results, say, say_files, status
from confdiff.cli.messages import translated
from confdiff.cli.options import (
    COLUMNS,
    DifferenceOption,
    GroupOption,
    IdOption,
    IgnoreOption,
    ItemsArgument,
    JsonOption,
    LeftOption,
    PairsArgument,
    RightOption,
    ScaleOption,
    WeightOption,
    option,
    output_option,
)
from confdiff.display.text import listed

if TYPE_CHECKING:
    from confdiff.tabular.checks.findings import Finding
    from confdiff.tabular.checks.report import CheckReport

STYLES = {"stop": "bold red", "mind": "bold blue"}


def check_command(
    items: ItemsArgument,
    pairs: PairsArgument,
    output: Annotated[Path, output_option("Folder for the page and the JSON.")] = Path("check"),
    as_json: JsonOption = False,
    id: IdOption = None,
    left: LeftOption = None,
    right: RightOption = None,
    difference: DifferenceOption = None,
    weight: WeightOption = None,
    annotator: Annotated[
        str | None, option(metavar="COLUMN", panel=COLUMNS, help="Annotator who judged a pair.")
    ] = None,
    time: Annotated[
        str | None, option(metavar="COLUMN", panel=COLUMNS, help="Time at which a pair was judged.")
    ] = None,
    group: GroupOption = None,
    ignore: IgnoreOption = None,
    scale: ScaleOption = None,
) -> None:
    """Check items and judged pairs before fitting: errors in the tables, and agreement of the judgements.

    A page and JSON are written. The exit status is 2 if `confdiff fit` would refuse the tables.

    Example:
        confdiff check items.csv pairs.csv -o check
    """
    check_folder_name("--output", output)
    with status("loading PyTorch"):
        from confdiff.tabular.checks.page import check_json, write_check
        from confdiff.tabular.checks.report import check_comparisons
    with status("checking"):
        report = check_comparisons(
            items,
            pairs,
            scale=scale,
            id=id,
            ignore=ignore,
            left=left,
            right=right,
            difference=difference,
            weight=weight,
            annotator=annotator,
            time=time,
            group=group,
        )
        files = write_check(report, output)
    if as_json:
        typer.echo(check_json(report))
    else:
        _print(report)
        say_files(files)
    if report.stops:
        raise ValueError(f"{report.verdict} See {files['page']}.")


def _print(report: "CheckReport") -> None:
    table = Table(name_column(""), "finding", "what to do", show_lines=True)
    shown = [finding for finding in report.findings if finding.severity != "note"]
    for finding in shown:
        severity = Text(finding.severity, STYLES[finding.severity])
        table.add_row(severity, Text(_found(finding)), Text(translated(finding.action)))
    if shown:
        results.print(table)
    say(
        f"{report.pairs.rows:,} pairs ({report.used:,} can be used) of {report.items.rows:,} items; "
        f"connected components: {report.parts.number:,}"
    )
    say("columns: " + listed(f"{column.name} ({column.taken_for})" for column in report.pairs.columns))
    _print_measures(report)
    n_notes = len(report.findings) - len(shown)
    if n_notes:
        say(f"notes: {n_notes}, on the page")
    if not report.stops:
        say(report.verdict)


def _found(finding: "Finding") -> str:
    text = translated(finding.text)
    if not finding.rows:
        return text
    more = " ..." if finding.count > len(finding.rows) else ""
    return f"{text} Rows {', '.join(map(str, finding.rows))}{more}"


def _print_measures(report: "CheckReport") -> None:
    measures = report.measures
    if measures is None or report.scale is None:
        return
    differences = measures.differences
    triangles = measures.triangles
    score = measures.one_score
    say(
        f"scale: {report.scale.name}; near ties {differences.near_ties:.1%}, at the ends {measures.at_ends:.1%}; "
        f"mean difference {differences.mean:+.3f} +- {measures.bias_error:.3f}"
    )
    if triangles is not None:
        say(
            f"triangles: {triangles.number:,}, |c(a, b) + c(b, c) - c(a, c)| {triangles.mean:.3f} on average "
            f"({triangles.random_mean:.3f} with random signs)"
        )
    if score is not None:
        adjusted = "" if score.adjusted is None else f", adjusted R² {score.adjusted:.1%}"
        say(f"one score per item: R² {score.r_squared:.1%} of the differences{adjusted}")
