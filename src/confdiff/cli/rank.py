"""confdiff rank: rank a fixed list of items from judged pairs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from confdiff.cli.console import name_column, number_column, results, say, say_files, status
from confdiff.cli.options import (
    TABLE_ENDINGS,
    AnnotatorModelOption,
    AnnotatorOption,
    ConfigOption,
    DifferenceOption,
    EncodingOption,
    EscapeOption,
    GroupOption,
    JsonOption,
    LeftOption,
    OverwriteOption,
    RightOption,
    ScaleOption,
    SeedOption,
    ShownFirstOption,
    SpacingOption,
    TieOption,
    WeightOption,
    WinnerOption,
    option,
    output_option,
    switch,
)
from confdiff.cli.study_tables import PairsOrStudyArgument, read_pair_tables
from confdiff.display.text import plural
from confdiff.io.table_formats.encodings import takes_encoding

if TYPE_CHECKING:
    from confdiff.ranking.ranking import Ranking

_MOST_ROWS = 20  # printed


@takes_encoding
def rank_command(
    pairs: PairsOrStudyArgument,
    output: Annotated[
        Path,
        output_option(
            f"Table to write ({TABLE_ENDINGS}). A page and a JSON file are written next to it.", metavar="FILE"
        ),
    ] = Path("ranking.csv"),
    as_json: JsonOption = False,
    left: LeftOption = None,
    right: RightOption = None,
    difference: DifferenceOption = None,
    weight: WeightOption = None,
    winner: WinnerOption = None,
    tie: TieOption = None,
    annotator: AnnotatorOption = None,
    shown_first: ShownFirstOption = None,
    group: GroupOption = None,
    by_group: Annotated[bool, switch("--by-group", help="Rank the items of each group separately.")] = False,
    annotator_model: AnnotatorModelOption = "auto",
    ridge: Annotated[
        float | None,
        option(metavar="NUMBER", help="Strength of the penalty, in comparisons. Learned if omitted."),
    ] = None,
    level: Annotated[float, option(metavar="FRACTION", help="Probability of the intervals.")] = 0.95,
    n_proposals: Annotated[int, option(min=0, metavar="N", help="Number of pairs to propose.")] = 10,
    scale: ScaleOption = None,
    spacing: SpacingOption = "equal",
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    escape: EscapeOption = True,
    config: ConfigOption = None,
    overwrite: OverwriteOption = False,
) -> None:
    """Rank a fixed list of items from judged pairs; the items need no features.

    Each item gets a score and a rank, both with intervals. A table, an HTML page and a JSON file are written. Items of
    different connected components cannot be compared, and are ranked separately. The page proposes pairs to compare
    next.

    Examples:
        confdiff rank pairs.csv -o ranking.csv
        confdiff rank jokes.db
    """
    with status("loading PyTorch"):
        from confdiff.io.outputs import check_new_files
        from confdiff.io.tables import check_table_name
        from confdiff.ranking.page import ranking_files, ranking_json, write_ranking
        from confdiff.ranking.ranking_items import rank_items
    check_table_name(output)
    tables = read_pair_tables(pairs)
    check_new_files(ranking_files(output), inputs=tables.inputs, overwrite=overwrite)
    config = tables.config(config)
    with status("ranking"):
        ranking = rank_items(
            tables.pairs,
            ridge=ridge,
            by_group=by_group,
            annotator_model=annotator_model,
            level=level,
            n_proposals=n_proposals,
            scale=tables.scale(scale),
            spacing=spacing,
            seed=seed,
            encoding=encoding,
            config=config,
            left=left,
            right=right,
            difference=difference,
            weight=weight,
            winner=winner,
            tie=tie,
            annotator=annotator,
            group=group,
            shown_first=shown_first,
        )
        files = write_ranking(ranking, output, overwrite=overwrite, escape=escape)
    if as_json:
        typer.echo(ranking_json(ranking))
        return
    if tables.study is not None:
        say(f"study: {tables.study}")
    _print(ranking)
    say_files(files)


def _print(ranking: "Ranking") -> None:
    has_groups = ranking.group is not None
    names = [*(["group"] if has_groups else []), "item"]
    numbers = ["rank", "score", f"{ranking.level:.0%} interval", "comparisons"]
    has_components = ranking.n_components > 1 and not has_groups
    numbers += ["component"] if has_components else []
    table = Table(*map(name_column, names), *map(number_column, numbers))
    for row in range(min(_MOST_ROWS, len(ranking))):
        table.add_row(
            *([Text(str(ranking.group[row]))] if ranking.group is not None else []),
            Text(str(ranking.id[row])),
            f"{ranking.rank[row]:,}",
            f"{ranking.score[row]:+.3f}",
            f"{ranking.low[row]:+.3f} to {ranking.high[row]:+.3f}",
            f"{ranking.comparisons[row]:,}",
            *([f"{ranking.component[row]:,}"] if has_components else []),
        )
    results.print(table)
    if len(ranking) > _MOST_ROWS:
        say(f"{plural(len(ranking) - _MOST_ROWS, 'more item')} in the table")
    say(
        f"{plural(len(ranking), 'item')}, {plural(ranking.n_pairs, 'comparison')}, "
        f"{plural(ranking.n_components, 'connected component')}; reliability {ranking.reliability:.3f}"
    )
    if ranking.spacing is not None:
        say(f"values of the grades: {ranking.spacing_text}")
    if ranking.side_bias is not None:
        side = ranking.side_bias
        say(f"side bias towards the item shown second: {side.value:+.3f} ({side.low:+.3f} to {side.high:+.3f})")
    if ranking.annotators is not None:
        say(ranking.annotators.to_text())
    if ranking.proposals:
        best = ranking.proposals[0]
        place = "" if best.group is None else f" in group {best.group or '(missing)'}"
        say(f"pair to compare next: {best.left} and {best.right}{place} ({best.reason}); more on the page")
