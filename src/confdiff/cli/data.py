"""confdiff data: list, download, show and export data sets."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column, Table
from rich.text import Text

from confdiff.cli.console import (
    name_column,
    number_column,
    results,
    say,
    say_files,
    status,
)
from confdiff.cli.options import (
    DatasetArgument,
    EscapeOption,
    FolderOption,
    IncompleteOption,
    JsonOption,
    OverwriteOption,
    OverwritePageOption,
    SeedOption,
    argument,
    output_option,
)
from confdiff.cli.plugins import takes_plugins

if TYPE_CHECKING:
    from confdiff.datasets import ComparisonDataset, Dataset


@takes_plugins
def list_datasets(folder: FolderOption = None, as_json: JsonOption = False) -> None:
    """List every data set with its size, classes, availability, licence and source.

    Examples:
        confdiff data list
        confdiff data list --json
    """
    from confdiff.datasets import DATASETS

    rows = [_dataset_row(name, folder) for name in DATASETS]
    if as_json:
        typer.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    columns = {
        "name": name_column("name"),
        "items": Column("items", justify="right", no_wrap=True),
        "features": number_column("features"),
        "classes": number_column("classes"),
        "here": name_column("here"),
    }
    table = Table(*columns.values())
    for row in rows:
        table.add_row(*(str(row[name] or "-") for name in columns))
    results.print(table)
    say("items: training + test where both are published; otherwise the paper uses a random 80 % for training")
    for row in rows:
        positive = f"; positive: {row['positive']}" if row["positive"] else ""
        location = f"; in {row['folder']}" if row["folder"] else ""
        say(f"{row['name']}: {row['what']}{positive}; licence: {row['licence']}; {row['source']}{location}")


def _dataset_row(name: str, folder: Path | None) -> dict[str, Any]:
    from confdiff.datasets import DATASETS

    entry = DATASETS[name]
    return {
        "name": name,
        "what": entry.title,
        "items": entry.size,
        "features": entry.n_features,
        "classes": len(entry.class_names),
        "positive": entry.positive_names,
        **_availability(name, folder),
        "licence": entry.licence,
        "source": entry.home,
    }


def _availability(name: str, folder: Path | None) -> dict[str, Any]:
    """Return whether a data set is available, completely or in part, and in which folder."""
    from confdiff.datasets import DATASETS, whereabouts

    complete = whereabouts(name, folder=folder)
    files = complete or whereabouts(name, folder=folder, incomplete=True)
    is_complete = bool(complete) or not DATASETS[name].forms
    here = "yes" if is_complete else "in part" if files else "no"
    return {"here": here, "folder": str(files[0].parent) if files else None}


def fetch_datasets(
    names: Annotated[list[str], argument(metavar="NAME", help="Data sets, as `confdiff data list` names them.")],
    folder: FolderOption = None,
) -> None:
    """Download data sets to the cache, unless they are available, and check every file.

    Example:
        confdiff data fetch letter pendigits
    """
    from confdiff.datasets import DATASETS, fetch
    from confdiff.display.text import plural
    from confdiff.validation import check_choice

    for name in names:
        check_choice("data set", name, DATASETS)
    for name in names:
        files = fetch(name, folder=folder)
        location = f"{plural(len(files), 'file')} in {files[0].parent}, checked" if files else DATASETS[name].home
        say(f"{name}: {location}")


@takes_plugins
def show_dataset(
    name: DatasetArgument,
    output: Annotated[
        Path | None, output_option("Picture to write (.png, .svg or .pdf). If omitted, NAME.png.", metavar="FILE")
    ] = None,
    seed: SeedOption = 0,
    folder: FolderOption = None,
    incomplete: IncompleteOption = False,
    overwrite: OverwritePageOption = False,
) -> None:
    """Draw samples or features of the two binary classes, and count the items of each class.

    Example:
        confdiff data show digits -o digits.png
    """
    with status("loading PyTorch"):
        from confdiff.datasets import ComparisonDataset, Interactions, load, whereabouts
        from confdiff.datasets.figures import comparisons_figure, dataset_figure
        from confdiff.display.figures import check_figure_path, save_figure
        from confdiff.io.outputs import check_new_report
    path = check_figure_path(output or Path(f"{name}.png"))
    inputs = whereabouts(name, folder=folder, incomplete=incomplete)
    check_new_report({"picture": path}, inputs=inputs, overwrite=overwrite)
    dataset = load(name, folder=folder, incomplete=incomplete)
    if isinstance(dataset, Interactions):
        say(f"{name}: {dataset}")  # numbers only: interactions have no figure
        return
    if isinstance(dataset, ComparisonDataset):
        save_figure(comparisons_figure(dataset), path)
        _print_comparisons(dataset)
    else:
        save_figure(dataset_figure(dataset, seed=seed), path)
        _print_classes(dataset)
    say(f"picture: {path}")


def export_dataset(
    name: DatasetArgument,
    output: Annotated[Path, output_option("Folder for items.csv and pairs.csv.", show_default=False)],
    folder: FolderOption = None,
    escape: EscapeOption = True,
    overwrite: OverwriteOption = False,
) -> None:
    """Write a data set of human comparisons as items.csv and pairs.csv, for `check` and `fit`.

    Examples:
        confdiff data export ukpconvarg1 -o arguments
        confdiff data export voice-likability-crowd -o voices
    """
    with status("loading PyTorch"):
        from confdiff.datasets import load, whereabouts
        from confdiff.io.outputs import check_new_files
        from confdiff.tasks import export_comparisons, exported_files
    check_new_files(exported_files(output), inputs=whereabouts(name, folder=folder), overwrite=overwrite)
    say_files(export_comparisons(load(name, folder=folder), output, overwrite=overwrite, escape=escape))


def _print_classes(dataset: "Dataset") -> None:
    table = Table(name_column("class"), "binary class", number_column("items"), title=repr(dataset))
    for label, class_name in enumerate(dataset.class_names):
        binary_class = "positive" if label in dataset.positive else "negative"
        count = int((dataset.classes == label).sum())
        table.add_row(class_name, binary_class, f"{count:,}")
    results.print(table)


def _print_comparisons(dataset: "ComparisonDataset") -> None:
    """Print three pairs (first, middle, last) with the votes for the first, the second and neither."""
    results.print(repr(dataset), highlight=False)
    table = Table("first", "second", name_column("votes"), number_column("c"), show_lines=True)
    names = dataset.ids if dataset.texts is None else dataset.texts
    for row in (0, len(dataset) // 2, len(dataset) - 1):
        texts = [names[int(side[row])] for side in (dataset.left, dataset.right)]
        votes = "-" if dataset.votes is None else " : ".join(map(str, dataset.votes[row].tolist()))
        table.add_row(*(Text(text[:160]) for text in texts), votes, f"{float(dataset.difference[row]):+.2f}")
    results.print(table)
    say(f"licence: {dataset.licence}; cite {dataset.citation}")
