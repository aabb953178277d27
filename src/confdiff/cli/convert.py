"""confdiff convert: files of other tools as items and judged pairs, and back."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from confdiff.cli.console import name_column, results, say, say_files, status
from confdiff.cli.options import (
    DifferenceOption,
    EncodingOption,
    EscapeOption,
    IdOption,
    JsonOption,
    LeftOption,
    OverwriteOption,
    RightOption,
    ScaleOption,
    SeedOption,
    argument,
    option,
    output_option,
    switch,
)
from confdiff.cli.study_tables import JudgedTables, read_item_tables
from confdiff.config import CONFIG_NAME, optional_config
from confdiff.display.text import listed, plural
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.io.table_formats.registry import table_format_of

if TYPE_CHECKING:
    from confdiff.tabular.formats.exporting import ExportedJudgements
    from confdiff.tabular.formats.importing import ImportedJudgements

_INTO = "From another tool's file"
_OUT = "To another tool's file"
_FOLDER = Path("converted")
_File = Annotated[
    str | None,
    argument(
        metavar="FILE",
        help="File of another tool. With --to: the items, or the pairs if these name models, or a study.",
    ),
]
_Pairs = Annotated[Path | None, argument(metavar="[PAIRS]", help="With --to: the judged pairs of the items.")]
_From = Annotated[
    str | None, option("--from", metavar="FORMAT", panel=_INTO, help="Format of FILE. Recognised if omitted.")
]
_To = Annotated[str | None, option("--to", metavar="FORMAT", panel=_OUT, help="Format to write.")]
_List = Annotated[bool, switch("--list", help="List the formats.")]
_Output = Annotated[
    Path | None,
    output_option(
        f"Folder for items.csv and pairs.csv, `{_FOLDER}` if omitted. With --to: the file (.jsonl or .json).",
        metavar="PATH",
    ),
]
_Prompt = Annotated[
    str,
    option(
        metavar="USE",
        panel=_INTO,
        help="The prompt is the `group` of a pair, a `feature` of its items, or `both`.",
    ),
]
_Items = Annotated[
    str | None,
    option(
        "--items",
        metavar="KIND",
        panel=_INTO,
        help="What the items are: `answers` (texts), `models`, or `ids` of items that you have. Answers if omitted, or "
        "models in files without texts.",
    ),
]
_Individual = Annotated[
    bool,
    switch("--individual", panel=_INTO, help="HelpSteer3: a pair per annotator instead of the overall preference."),
]
_MaxMargin = Annotated[
    float | None,
    option(metavar="NUMBER", panel=_INTO, help="TRL: margin that means certainty. Recognised if omitted."),
]
_Chat = Annotated[bool, switch("--chat", panel=_OUT, help="TRL: write lists of messages instead of texts.")]
_Question = Annotated[
    str | None, option(metavar="TEXT", panel=_OUT, help="Label Studio: the question above the items.")
]


@takes_encoding
def convert_command(
    file: _File = None,
    pairs: _Pairs = None,
    output: _Output = None,
    list_formats: _List = False,
    as_json: JsonOption = False,
    format: _From = None,
    prompt: _Prompt = "group",
    item_kind: _Items = None,
    individual: _Individual = False,
    max_margin: _MaxMargin = None,
    seed: SeedOption = 0,
    to: _To = None,
    chat: _Chat = False,
    question: _Question = None,
    id: IdOption = None,
    left: LeftOption = None,
    right: RightOption = None,
    difference: DifferenceOption = None,
    scale: ScaleOption = None,
    encoding: EncodingOption = None,
    escape: EscapeOption = True,
    overwrite: OverwriteOption = False,
) -> None:
    """Convert judged pairs of other tools to items.csv and pairs.csv for `check`, `fit` and `rank`, and back.

    Formats: TRL and LLM judges, HelpSteer3, AlpacaEval, arena verdicts, Label Studio; see --list. With --to, items
    and pairs, or a study, become a file of that format.

    Examples:
        confdiff convert judged.jsonl -o preferences
        confdiff convert items.csv pairs.csv --to trl -o train.jsonl
    """
    if list_formats:
        _print_formats()
        return
    if file is None:
        raise ValueError("a FILE must be given, or --list.")
    if format is not None and to is not None:
        raise ValueError("--from reads and --to writes files of other tools: pass one of them.")
    options = {
        "item_kind": item_kind,
        "individual": individual,
        "max_margin": max_margin,
        "seed": seed,
        "chat": chat,
        "question": question,
    }
    columns = {"left": left, "right": right, "difference": difference, "scale": scale}
    if to is not None:
        if not escape:
            raise ValueError("--no-escape is for tables, and files of other tools are JSON. Omit it.")
        if prompt != "group":
            raise ValueError(f"prompt={prompt!r} would not be used to write files of {to}. Omit it.")
        _export(file, pairs, output, as_json=as_json, format=to, id=id, overwrite=overwrite, **columns, **options)
        return
    for name, value in (("PAIRS", pairs), ("--id", id)):
        if value is not None:
            raise ValueError(f"{name} is for writing files of other tools: pass --to FORMAT, or omit it.")
    folder = _FOLDER if output is None else output
    _import(
        Path(file),
        folder,
        as_json=as_json,
        escape=escape,
        overwrite=overwrite,
        format=format,
        prompt=prompt,
        **columns,
        **options,
    )


def _import(file: Path, folder: Path, *, as_json: bool, escape: bool, overwrite: bool, **options: Any) -> None:
    """Write the tables of another tool's file, and print what was converted."""
    with status("loading PyTorch"):
        from confdiff.io.atomic import atomic_files
        from confdiff.io.outputs import check_new_files
        from confdiff.io.tables import write_table
        from confdiff.tabular.formats.importing import import_judgements
    names = ("pairs",) if options["item_kind"] in ("models", "ids") else ("items", "pairs")
    possible = {name: folder / f"{name}.csv" for name in names}
    check_new_files(possible, inputs=[file], overwrite=overwrite)
    with status(f"reading {file.name}"):
        imported = import_judgements(file, **options)
    files = {name: possible[name] for name in imported.tables}
    if imported.config is not None:
        files["configuration"] = folder / CONFIG_NAME
        check_new_files(files, inputs=[file], overwrite=overwrite)
    with status("writing"), atomic_files(files) as temporaries:
        for name, table in imported.tables.items():
            write_table(temporaries[name], table, escape=escape)
        if imported.config is not None:
            temporaries["configuration"].write_text(imported.config.to_toml(), encoding="utf-8")
    if as_json:
        _print_json(_import_summary(imported), files)
        return
    _print_imported(imported)
    say_files(files)


def _print_json(summary: dict[str, Any], files: dict[str, Path]) -> None:
    typer.echo(json.dumps(summary | {"files": {kind: str(path) for kind, path in files.items()}}))


def _import_summary(imported: "ImportedJudgements") -> dict[str, Any]:
    return {
        "format": imported.format,
        "records": imported.rows,
        "pairs": len(imported.pairs["left"]),
        "items": len(imported.items["id"]),
        "skipped": imported.skipped,
        "left_out": list(imported.left_out),
        "note": imported.note,
    }


def _print_imported(imported: "ImportedJudgements") -> None:
    n_pairs = plural(len(imported.pairs["left"]), "judged pair")
    n_items = plural(len(imported.items["id"]), "item")
    say(f"{plural(imported.rows, 'record')} of {imported.format}: {n_pairs} of {n_items}")
    differences = imported.pairs["difference"]
    ties = (differences == 0).mean()
    say(f"differences from {differences.min():+.2f} to {differences.max():+.2f}; ties {ties:.1%}")
    if imported.note:
        say(imported.note)
    for what, count in imported.skipped.items():
        say(f"skipped: {what}: {count:,}")
    if imported.left_out:
        say(f"left out, because tables cannot hold lists and objects: {listed(imported.left_out)}")
    if not imported.has_features:
        say("the items have no features: use `confdiff rank`, or `fit` with a table of them")


def _export(file: str, pairs: Path | None, output: Path | None, *, as_json: bool, **options: Any) -> None:
    """Write tables or a study as another tool's file, and print what was converted."""
    if output is None:
        raise ValueError("pass -o FILE with --to: the file to write, which ends in .jsonl or .json.")
    with status("loading PyTorch"):
        from confdiff.tabular.formats.exporting import export_judgements
    if pairs is None and table_format_of(Path(file)) is not None:
        tables = JudgedTables(items=None, pairs=Path(file), inputs=[Path(file)])
    else:
        tables = read_item_tables(file, pairs, keeps_media=True)
    options["scale"] = tables.scale(options["scale"])
    config = optional_config(tables.config(None))
    for name in ("id", "left", "right", "difference", "scale"):
        options[name] = getattr(config, name) if options[name] is None else options[name]
    with status(f"writing {output.name}"):
        exported = export_judgements(output, tables.items, tables.pairs, inputs=tables.inputs, **options)
    if as_json:
        counts = {name: value for name, value in asdict(exported).items() if name != "files"}
        _print_json({"format": options["format"], **counts}, exported.files)
        return
    _print_exported(exported, options["format"])
    say_files(exported.files)


def _print_exported(exported: "ExportedJudgements", format: str) -> None:
    say(f"{plural(exported.pairs, 'pair')}: {plural(exported.records, 'record')} of {format}")
    if exported.without_difference:
        say(f"left out: {plural(exported.without_difference, 'pair')} without a difference")
    if exported.rounded:
        say(f"rounded to the points of the format: {plural(exported.rounded, 'judgement')}")


def _print_formats() -> None:
    from confdiff.tabular.formats.registry import COMPARISON_FORMATS

    table = Table(name_column("format"), "files")
    for known in COMPARISON_FORMATS.values():
        table.add_row(known.name, Text(known.summary))
    results.print(table)
