"""confdiff preferences: chosen and rejected texts, as items and judged pairs."""

from pathlib import Path
from typing import Annotated

import typer

from confdiff.cli.console import messages, say, say_files


def preferences(
    file: Annotated[
        Path, typer.Argument(help="JSON lines with chosen, rejected and, if known, margin.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the tables.")] = Path("preferences"),
    ids: Annotated[bool, typer.Option("--ids", help="Chosen and rejected are ids of items that you have.")] = False,
    most: Annotated[
        float | None, typer.Option(help="The margin that stands for certainty; recognised if not given.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace tables that are there already.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Decides which of the two stands first.")] = 0,
) -> None:
    """Turn preferences, such as those of an LLM judge, into items.csv and pairs.csv for `check` and `fit`.

    A line may also have a prompt, which becomes the group of the pair, and a judge. As the better one always stands
    first in such a file, a coin turns the pairs round. With --ids only pairs.csv is written.
    """
    with messages.status("loading PyTorch"):
        from confdiff.io.tables import write_table
        from confdiff.tabular.formats.preferences import read_preferences
    files = {name: output / f"{name}.csv" for name in (("pairs",) if ids else ("items", "pairs"))}
    for path in files.values():
        if path.exists() and not overwrite:
            raise FileExistsError(f"{path} is there already. Choose another folder, or pass --overwrite to replace it.")
    items, pairs = read_preferences(file, ids=ids, most=most, seed=seed)
    for name, path in files.items():
        write_table(path, {"items": items, "pairs": pairs}[name])
    say(f"{len(pairs['left']):,} preferences among {len(items['id']):,} {'items' if ids else 'texts'}; "
        f"differences up to {abs(pairs['difference']).max():.2f}")  # fmt: skip
    say_files(files)
