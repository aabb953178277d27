"""Arguments and options that several commands share, with their help."""

from pathlib import Path
from typing import Annotated, Any

import typer

from confdiff.io.table_formats.registry import READ_FORMATS, TABLE_FORMATS


def option(*names: str, metavar: str, help: str, panel: str | None = None, **settings: Any) -> Any:
    """Return an option with a value, which the help calls ``metavar``."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **settings)


def switch(*names: str, help: str, panel: str | None = None, **settings: Any) -> Any:
    """Return an option without a value."""
    return typer.Option(*names, metavar="", help=help, rich_help_panel=panel, **settings)


def argument(*, metavar: str, help: str, **settings: Any) -> Any:
    """Return a positional argument, without a default in the help."""
    return typer.Argument(metavar=metavar, help=help, **{"show_default": False, **settings})


def output_option(help: str, *names: str, metavar: str = "FOLDER", **settings: Any) -> Any:
    """Return the option ``-o/--output``."""
    return option("-o", "--output", *names, metavar=metavar, help=help, **settings)


TABLE_ENDINGS = ", ".join(TABLE_FORMATS)
"""The endings of tables, for help."""

COLUMNS = "Columns of the tables"
"""The title under which help lists the options that name columns."""

ItemsArgument = Annotated[
    Path,
    argument(
        metavar="ITEMS",
        help=f"Table of items ({', '.join(READ_FORMATS)}): one row per item, with an id and features.",
    ),
]
PairsArgument = Annotated[
    Path,
    argument(metavar="PAIRS", help="Table of judged pairs: one row per pair, with columns left, right, difference."),
]
ModelArgument = Annotated[Path, argument(metavar="MODEL", help="Model folder that `confdiff fit` wrote.")]
DatasetArgument = Annotated[str, argument(metavar="NAME", help="Data set, as `confdiff data list` names it.")]

IdOption = Annotated[
    str | None,
    option(metavar="COLUMN", panel=COLUMNS, help="Ids of the items. Recognised if omitted."),
]
LeftOption = Annotated[
    str | None, option(metavar="COLUMN", panel=COLUMNS, help="First item of a pair. Recognised if omitted.")
]
RightOption = Annotated[
    str | None, option(metavar="COLUMN", panel=COLUMNS, help="Second item of a pair. Recognised if omitted.")
]
DifferenceOption = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        panel=COLUMNS,
        help="Difference of the two items, second minus first. Recognised if omitted.",
    ),
]
SameOption = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        panel=COLUMNS,
        help="Whether both items are of the same class: 1 or yes, 0 or no, or a probability. Recognised if omitted.",
    ),
]
WeightOption = Annotated[
    str | None, option(metavar="COLUMN", panel=COLUMNS, help="Weight of a pair. Recognised if omitted.")
]
GroupOption = Annotated[
    str | None,
    option(metavar="COLUMN", panel=COLUMNS, help="Group of a pair, such as a topic or a user. Recognised if omitted."),
]
WinnerOption = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        panel=COLUMNS,
        help="Favoured item of a pair: its id, `left`, `right` or `tie`. Recognised in tables without a difference. "
        "With a difference, that is the size.",
    ),
]
TieOption = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        panel=COLUMNS,
        help="Whether a pair with a winner is a tie. Recognised in tables without a difference.",
    ),
]
AnnotatorOption = Annotated[
    str | None, option(metavar="COLUMN", panel=COLUMNS, help="Annotator who judged a pair. Recognised if omitted.")
]
ShownFirstOption = Annotated[
    str | None,
    option(
        metavar="COLUMN",
        panel=COLUMNS,
        help="Item of the pair that was shown first: its id, `left` or `right`, empty if not known. Declares a side "
        "bias. Recognised if omitted.",
    ),
]
AnnotatorModelOption = Annotated[
    str,
    option(
        metavar="NAME",
        help="How annotators differ: `pooled` (not at all), `scale`, `full` (scale, side bias and noise), or `auto` to "
        "choose by held-out answers.",
    ),
]
IgnoreOption = Annotated[
    list[str] | None,
    option(metavar="COLUMN", panel=COLUMNS, help="Column of the items to ignore. May be repeated."),
]
NumberOption = Annotated[
    list[str] | None, option(metavar="COLUMN", panel=COLUMNS, help="Column to read as numbers. May be repeated.")
]
CategoryOption = Annotated[
    list[str] | None, option(metavar="COLUMN", panel=COLUMNS, help="Column to read as a category. May be repeated.")
]
TextOption = Annotated[
    list[str] | None, option(metavar="COLUMN", panel=COLUMNS, help="Column to read as text. May be repeated.")
]
TextEncoderOption = Annotated[
    str | None,
    option(
        metavar="FOLDER",
        help="Text encoder of the training, if it is at another place now.",
    ),
]
ScaleOption = Annotated[
    str | None,
    option(
        metavar="LOW,HIGH",
        help="Ends of the scale of the differences, such as 1,7, or `saaty` for ratios, or its words in their order, "
        "such as 'worse,same,better'. With `,reversed` after it, high values favour the first item. Recognised if "
        "omitted.",
    ),
]
SpacingOption = Annotated[
    str,
    option(
        metavar="NAME",
        help="Values of ordered grades, such as the points of a scale: `equal`, `learned`, or `auto` to choose by "
        "held-out answers.",
    ),
]
LinkOption = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="What was asked: `probability` (of a class), `preference` (which is better, and how clearly) or `score` "
        "(points). If omitted, held-out pairs decide.",
    ),
]
ConfigOption = Annotated[
    Path | None,
    option(
        metavar="FILE",
        panel=COLUMNS,
        help="File with columns and options. If omitted, confdiff.toml in the folder of the items, if it exists.",
    ),
]
FolderOption = Annotated[
    Path | None,
    option(
        "--folder",
        "--data",
        metavar="FOLDER",
        help="Folder with data sets, searched before the one in CONFDIFF_DATA and the cache.",
    ),
]
SeedOption = Annotated[int, option(min=0, metavar="N", help="Seed of all random draws.")]
IncompleteOption = Annotated[
    bool, switch("--incomplete", help="CIFAR-10 only: use the training batches that are available.")
]
DeviceOption = Annotated[
    str,
    option(metavar="NAME", help="Device of PyTorch: `cpu`, `cuda`, `mps`, or `auto` for a GPU if one is available."),
]
EncodingOption = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="Encoding of text files, such as `cp1252`. If omitted, UTF-8, or what a byte order mark states.",
    ),
]
EscapeOption = Annotated[
    bool,
    switch(
        "--escape/--no-escape",
        help="Put an apostrophe before texts in CSV and TSV that a spreadsheet program would run as formulas.",
    ),
]
OverwriteOption = Annotated[bool, switch("--overwrite", help="Replace an output that already exists.")]
OverwritePageOption = Annotated[
    bool,
    switch(
        "--overwrite", help="Replace files of the same name that confdiff did not write. Its own are always replaced."
    ),
]
JsonOption = Annotated[bool, switch("--json", help="Print JSON instead of text.")]


def kinds_of(**columns: list[str] | None) -> dict[str, str]:
    """Return the kinds of columns that the user specified."""
    kinds: dict[str, str] = {}
    for kind, names in columns.items():
        for name in names or ():
            if kinds.setdefault(name, kind) != kind:
                raise ValueError(f"a column has one kind; got --{kinds[name]} {name} and --{kind} {name}.")
    return kinds


EngineOption = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="Where the work is done: `serial`, `processes`, `ray`, or `joblib:BACKEND`, such as `joblib:dask`. "
        "If omitted, chosen by the number of jobs.",
    ),
]
AddressOption = Annotated[
    str | None,
    option(
        metavar="ADDRESS",
        help="Ray cluster: `auto` on one of its machines, or HOST:PORT of its head node. If omitted, RAY_ADDRESS; "
        "without that, --engine ray starts Ray on this machine. With joblib:dask, HOST:PORT of the scheduler.",
    ),
]
