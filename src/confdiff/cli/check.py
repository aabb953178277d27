"""confdiff check: items and judged pairs, looked at before anything is learned from them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from confdiff.cli.console import check_folder_name, messages, results, say, say_files
from confdiff.cli.own import AsJson, Difference, Group, Id, Items, Left, PairsFile, Right, ScaleText, Weight

if TYPE_CHECKING:
    from confdiff.tabular.checks.findings import Finding
    from confdiff.tabular.checks.report import CheckReport

STYLES = {"stop": "bold red", "mind": "bold blue"}


def check(
    items: Items,
    pairs: PairsFile,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the page and the JSON.")] = Path("check"),
    as_json: AsJson = False,
    id: Id = None,
    left: Left = None,
    right: Right = None,
    difference: Difference = None,
    weight: Weight = None,
    annotator: Annotated[str | None, typer.Option(help="Column that says who judged a pair.")] = None,
    time: Annotated[str | None, typer.Option(help="Column that says when a pair was judged.")] = None,
    group: Group = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Column of the items to leave out; may be repeated.")] = None,
    scale: ScaleText = None,
) -> None:
    """Look at items and judged pairs before learning from them: what is wrong, and how far judgements agree.

    Writes a page and JSON. Whatever `confdiff fit` would refuse is listed, and the exit status is then 2.
    """
    check_folder_name("--output", output)
    with messages.status("loading PyTorch"):
        from confdiff.tabular.checks.page import check_json, write_check
        from confdiff.tabular.checks.report import check_comparisons
    with messages.status("checking"):
        report = check_comparisons(
            items, pairs, scale=scale, id=id, ignore=ignore, left=left, right=right, difference=difference,
            weight=weight, annotator=annotator, time=time, group=group,
        )  # fmt: skip
        files = write_check(report, output)
    if as_json:
        typer.echo(check_json(report))
    else:
        _print(report)
        say_files(files)
    if report.stops:
        raise ValueError(f"{report.verdict} See {files['page']}.")


def _print(report: "CheckReport") -> None:
    table = Table("", "found", "what happens, what to do", show_lines=True)
    shown = [finding for finding in report.findings if finding.severity != "note"]
    for finding in shown:
        table.add_row(Text(finding.severity, STYLES[finding.severity]), Text(_found(finding)), Text(finding.action))
    if shown:
        results.print(table)
    say(f"{report.pairs.rows:,} pairs ({report.used:,} can be used) of {report.items.rows:,} items; "
        f"connected parts: {report.parts.number:,}")  # fmt: skip
    say("columns: " + ", ".join(f"{column.name} ({column.taken_for})" for column in report.pairs.columns))
    _print_measures(report)
    notes = len(report.findings) - len(shown)
    if notes:
        say(f"notes: {notes}, on the page")
    if not report.stops:
        say(report.verdict)


def _found(finding: "Finding") -> str:
    more = " ..." if finding.count > len(finding.rows) else ""
    return finding.text + (f" Rows {', '.join(map(str, finding.rows))}{more}" if finding.rows else "")


def _print_measures(report: "CheckReport") -> None:
    measures = report.measures
    if measures is None or report.scale is None:
        return
    c, triangles, score = measures.differences, measures.triangles, measures.one_score
    say(f"scale: {report.scale.name}; near ties {c.near_ties:.1%}, at the ends {measures.at_ends:.1%}; "
        f"mean difference {c.mean:+.3f} +- {measures.bias_error:.3f}")  # fmt: skip
    if triangles is not None:
        say(f"triangles: {triangles.number:,}, |c(a, b) + c(b, c) - c(a, c)| {triangles.mean:.3f} on average "
            f"({triangles.random_mean:.3f} with random signs)")  # fmt: skip
    if score is not None:
        chance = "" if score.adjusted is None else f", {score.adjusted:.1%} allowing for chance"
        say(f"one score per item explains {score.r_squared:.1%} of the differences{chance}")
