"""confdiff preferences: chosen and rejected texts, as items and judged pairs."""

from pathlib import Path
from typing import Annotated

from confdiff.cli.console import say, say_files, status
from confdiff.cli.options import (
    EncodingOption,
    EscapeOption,
    OverwriteOption,
    SeedOption,
    argument,
    option,
    output_option,
    switch,
)
from confdiff.io.table_formats.encodings import takes_encoding


@takes_encoding
def convert_preferences(
    file: Annotated[
        Path, argument(metavar="FILE", help="JSON lines with chosen, rejected and, optionally, margin, prompt, judge.")
    ],
    output: Annotated[Path, output_option("Folder for the tables.")] = Path("preferences"),
    ids: Annotated[
        bool, switch("--ids", help="Chosen and rejected are ids of items in a table that you have.")
    ] = False,
    max_margin: Annotated[
        float | None, option(metavar="NUMBER", help="Margin that means certainty. Recognised if omitted.")
    ] = None,
    encoding: EncodingOption = None,
    escape: EscapeOption = True,
    overwrite: OverwriteOption = False,
    seed: SeedOption = 0,
) -> None:
    """Convert preferences, such as those of an LLM judge, to items.csv and pairs.csv for `check` and `fit`.

    The prompt of a line becomes the group of its pair. The chosen text comes first in every line, so a random half
    of the pairs is swapped. With --ids only pairs.csv is written.

    Example:
        confdiff preferences judged.jsonl -o preferences
    """
    with status("loading PyTorch"):
        from confdiff.io.atomic import atomic_files
        from confdiff.io.outputs import check_new_files
        from confdiff.io.tables import write_table
        from confdiff.tabular.formats.preferences import read_preferences
    names = ("pairs",) if ids else ("items", "pairs")
    files = {name: output / f"{name}.csv" for name in names}
    check_new_files(files, inputs=[file], overwrite=overwrite)
    items, pairs = read_preferences(file, ids=ids, max_margin=max_margin, seed=seed)
    tables = {"items": items, "pairs": pairs}
    with atomic_files(files) as temporaries:
        for name, path in temporaries.items():
            write_table(path, tables[name], escape=escape)
    say(
        f"{len(pairs['left']):,} preferences among {len(items['id']):,} {'items' if ids else 'texts'}; "
        f"differences up to {abs(pairs['difference']).max():.2f}"
    )
    say_files(files)
