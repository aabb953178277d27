"""confdiff label design: plan which pairs to ask, without a server."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np

from confdiff.cli.console import say, say_files, status
from confdiff.cli.label_options import expected_pairs, fraction
from confdiff.cli.options import (
    TABLE_ENDINGS,
    EncodingOption,
    EscapeOption,
    IdOption,
    OverwriteOption,
    SeedOption,
    argument,
    option,
    output_option,
)
from confdiff.display.text import plural
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.labelling.design import PairDesign
    from confdiff.tabular.tables import ItemTable

_Items = Annotated[
    Path, argument(metavar="ITEMS", help=f"Table of items ({TABLE_ENDINGS}): one row per item, with an id.")
]
_Output = Annotated[Path, output_option(f"Table of questions to write ({TABLE_ENDINGS}).", metavar="FILE")]
_PairsPerItem = Annotated[float, option(metavar="NUMBER", help="Questions per item.")]
_Judges = Annotated[int, option(min=1, metavar="N", help="Annotators over whom the questions are spread.")]
_Design = Annotated[str, option(metavar="NAME", help="`balanced` or `random`.")]
_Groups = Annotated[
    str | None, option(metavar="COLUMN", help="Column of groups, such as topics: most pairs are within a group.")
]
_Repeats = Annotated[str, option(metavar="FRACTION", help="Questions repeated with swapped sides.")]
_Reserve = Annotated[str, option(metavar="FRACTION", help="Questions about random pairs, to report quality on.")]
_Triangles = Annotated[str, option(metavar="FRACTION", help="Questions that close triangles.")]
_SameClass = Annotated[str, option(metavar="FRACTION", help="Questions whether two items are of the same class.")]
_Shared = Annotated[str, option(metavar="FRACTION", help="Questions about pairs that another annotator is asked too.")]
_Gold = Annotated[
    Path | None,
    option(metavar="FILE", help="Table of pairs (left, right, difference from -1 to 1) that everybody is asked."),
]


@takes_encoding
def design_command(
    items: _Items,
    output: _Output = Path("pairs.csv"),
    pairs_per_item: _PairsPerItem = 10.0,
    judges: _Judges = 5,
    design: _Design = "balanced",
    groups: _Groups = None,
    repeats: _Repeats = "8%",
    reserve: _Reserve = "12%",
    triangles: _Triangles = "10%",
    same_class: _SameClass = "0%",
    shared: _Shared = "5%",
    gold: _Gold = None,
    id: IdOption = None,
    seed: SeedOption = 0,
    escape: EscapeOption = True,
    encoding: EncodingOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Plan which pairs to ask, in which order and of whom, for judgements that are collected elsewhere.

    The table has one row per question: left, right, kind, question, annotator (a number from 1), and shown_first, the
    item to show on the left. Add a column with the judged difference, and `confdiff check` and `confdiff fit` read it.
    Report quality on the rows of kind `random` only. `confdiff label new` needs no such table.

    Example:
        confdiff label design jokes.csv -o pairs.csv --judges 3
    """
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_file
        from confdiff.io.tables import check_table_name, write_table
        from confdiff.labelling.design.planning import plan_design
        from confdiff.tabular.tables import read_items
    if design == "uncertain":
        raise ValueError(
            "--design uncertain needs answers while pairs are planned: use it with `confdiff label new`. "
            "Here, --design must be balanced or random."
        )
    check_new_file(check_table_name(output), inputs=[items], overwrite=overwrite)
    table = read_items(items, id=id)
    plan = plan_design(
        len(table),
        pairs_per_item=pairs_per_item,
        judges=judges,
        design=design,
        groups=_groups(table, groups),
        repeats=fraction("--repeats", repeats),
        reserve=fraction("--reserve", reserve),
        triangles=fraction("--triangles", triangles),
        same_class=fraction("--same-class", same_class),
        shared=fraction("--shared", shared),
        gold=_gold_rows(table, expected_pairs("--gold", gold)),
        seed=seed,
    )
    write_table(output, _columns(table, plan, seed), escape=escape)
    kinds, counts = np.unique(plan.kind, return_counts=True)
    listed = ", ".join(f"{count:,} {kind}" for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True))
    say(f"{plural(len(table), 'item')}, {plural(len(plan), 'question')} for {plural(judges, 'annotator')}: {listed}")
    say_files({"pairs": output})


def _groups(table: "ItemTable", column: str | None) -> "list[str] | None":
    from confdiff.tabular.roles import check_column

    if column is None:
        return None
    check_column(table.source, table.columns, column, "groups")
    return [str(value) for value in np.asarray(table.columns[column]).tolist()]


def _gold_rows(table: "ItemTable", pairs: Sequence[tuple[str, str, float]]) -> list[tuple[int, int]]:
    """Return the rows of both items of each gold pair."""
    rows = {str(name): row for row, name in enumerate(table.ids.tolist())}
    for left, right, _ in pairs:
        for name in (left, right):
            if name not in rows:
                raise ValueError(f"--gold must have ids of items; got {name!r}, which is not in {table.source.name}.")
    return [(rows[left], rows[right]) for left, right, _ in pairs]


def _columns(table: "ItemTable", plan: "PairDesign", seed: int) -> dict[str, object]:
    """Return the columns of the table of questions."""
    from confdiff.labelling.design.questions import question_of
    from confdiff.labelling.design.sides import first_shown

    return {
        "left": table.ids[plan.left],
        "right": table.ids[plan.right],
        "kind": plan.kind,
        "question": np.array([question_of(kind) for kind in plan.kind.tolist()]),
        "annotator": plan.slot + 1,
        "shown_first": table.ids[first_shown(plan, len(table), seed)],
    }
