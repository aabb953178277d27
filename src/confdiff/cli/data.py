"""confdiff data: which data sets there are, getting them, looking at them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from confdiff.cli.console import messages, results, say, say_files

if TYPE_CHECKING:
    from confdiff.datasets import Comparisons

app = typer.Typer(help="Data sets: list them, get them, look at them.", no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Option("--folder", "--data", help="Look for the files here first; then in CONFDIFF_DATA and the cache."),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A data set of `confdiff data list`.", show_default=False)]


@app.command("list")
def list_(
    folder: Folder = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Show every data set: its size, classes, positive class, whether it is here, licence and source."""
    from confdiff.datasets import DATASETS

    rows = [
        {
            "name": name,
            "what": entry.title,
            "items": entry.size,
            "features": entry.n_features,
            "classes": len(entry.class_names),
            "positive": entry.positive_names,
            **_presence(name, folder),
            "licence": entry.licence,
            "source": entry.home,
        }
        for name, entry in DATASETS.items()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    shown = ("name", "items", "features", "classes", "here", "licence")
    numbers = ("items", "features", "classes")
    table = Table(*(Column(name, no_wrap=name in ("name", "items"), justify="right" if name in numbers else "left")
                    for name in shown))  # fmt: skip
    for row in rows:
        table.add_row(*(str(row[name] or "-") for name in shown))
    results.print(table)
    say("items: training + test where both are published; otherwise the paper splits at random, 80 % to train")
    for row in rows:
        positive = f"; positive: {row['positive']}" if row["positive"] else ""
        say(
            f"{row['name']}: {row['what']}{positive}; {row['source']}"
            + (f"; in {row['folder']}" if row["folder"] else "")
        )


def _presence(name: str, folder: Path | None) -> dict[str, Any]:
    """Whether a data set is here, whole or in part, and where."""
    from confdiff.datasets import DATASETS, whereabouts

    whole = whereabouts(name, folder=folder)
    files = whole or whereabouts(name, folder=folder, incomplete=True)
    here = "yes" if whole or not DATASETS[name].forms else "in part" if files else "no"
    return {"here": here, "folder": str(files[0].parent) if files else None}


@app.command()
def fetch(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Data sets of `confdiff data list`.", show_default=False)
    ],
    folder: Folder = None,
) -> None:
    """Get data sets into the cache, unless they are here already, and check every file."""
    from confdiff.datasets import DATASETS
    from confdiff.datasets import fetch as fetch_files
    from confdiff.validation import check_choice

    for name in names:
        check_choice("data set", name, DATASETS)
    for name in names:
        files = fetch_files(name, folder=folder)
        there = f"{len(files)} file{'s' * (len(files) != 1)} in {files[0].parent}, checked" if files else ""
        say(f"{name}: {there or 'ships with scikit-learn'}")


@app.command()
def show(
    name: Name,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The picture; NAME.png if not given.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides which samples are shown.")] = 0,
    folder: Folder = None,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="CIFAR-10: go with the batches that are here.")
    ] = False,
) -> None:
    """Draw samples by binary class, or the features of both classes, and count the classes."""
    with messages.status("loading PyTorch"):
        from confdiff.datasets import Comparisons, load
        from confdiff.datasets.figures import comparisons_figure, dataset_figure
        from confdiff.display.figures import check_figure_path, save_figure
    path = check_figure_path(output or Path(f"{name}.png"))
    data = load(name, folder=folder, incomplete=incomplete)
    if isinstance(data, Comparisons):
        save_figure(comparisons_figure(data), path)
        _show_comparisons(data)
    else:
        save_figure(dataset_figure(data, seed=seed), path)
        table = Table("class", "called", Column("items", justify="right"), title=repr(data))
        for k, class_name in enumerate(data.class_names):
            count = int((data.classes == k).sum())
            table.add_row(class_name, "positive" if k in data.positive else "negative", f"{count:,}")
        results.print(table)
    say(f"picture: {path}")


@app.command()
def export(
    name: Name,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for items.csv and pairs.csv.", show_default=False)
    ],
    folder: Folder = None,
) -> None:
    """Write what people compared as two ordinary files, for `confdiff check` and `confdiff fit`."""
    with messages.status("loading PyTorch"):
        from confdiff.datasets import load
        from confdiff.tasks import export_comparisons
    say_files(export_comparisons(load(name, folder=folder), output))


def _show_comparisons(data: "Comparisons") -> None:
    """Three pairs, the first, one from the middle and the last, with the votes for first, second and neither."""
    results.print(repr(data), highlight=False)
    table = Table("first", "second", Column("votes", no_wrap=True), Column("c", justify="right"), show_lines=True)
    assert data.pairs.difference is not None
    for row in (0, len(data.pairs) // 2, len(data.pairs) - 1):
        texts = (data.texts[int(side[row])] for side in (data.pairs.left, data.pairs.right))
        votes = " : ".join(map(str, data.votes[row].tolist()))
        table.add_row(*(Text(text[:160]) for text in texts), votes, f"{float(data.pairs.difference[row]):+.2f}")
    results.print(table)
