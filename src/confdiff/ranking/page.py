"""Write a ranking: a table, an HTML page and JSON."""

import json
from pathlib import Path

from confdiff.display.html import as_data_uri, render
from confdiff.display.text import plural
from confdiff.io.atomic import atomic_files, write_text
from confdiff.io.outputs import check_new_files
from confdiff.io.tables import check_table_name, write_table
from confdiff.ranking.ranking import Ranking

_MOST_ROWS = 1_000  # of the table on the page


def ranking_files(path: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`write_ranking` writes; page and JSON have the name of the table.

    >>> {name: path.name for name, path in ranking_files(Path("ranking.csv.gz")).items()}
    {'ranking': 'ranking.csv.gz', 'page': 'ranking.html', 'numbers': 'ranking.summary.json'}
    """
    stem = path.with_suffix("") if path.suffix == ".gz" else path
    return {"ranking": path, "page": stem.with_suffix(".html"), "numbers": stem.with_suffix(".summary.json")}


def write_ranking(
    ranking: Ranking, path: str | Path, *, overwrite: bool = False, escape: bool = True
) -> dict[str, Path]:
    """Write the table of items, and next to it an HTML page and a JSON file.

    Parameters
    ----------
    ranking : Ranking
        The ranking to write.
    path : path
        The table; its ending determines the format.
    overwrite : bool
        Replace existing files.
    escape : bool
        Whether to escape texts that a spreadsheet program would run as formulas, in CSV and TSV.

    Returns
    -------
    dict of str to Path
        The files, as ``"ranking"``, ``"page"`` and ``"numbers"``.
    """
    files = ranking_files(check_table_name(Path(path)))
    check_new_files(files, overwrite=overwrite)
    with atomic_files(files) as temporaries:
        write_table(temporaries["ranking"], ranking.columns(), escape=escape)
        write_text(temporaries["page"], ranking_html(ranking))
        write_text(temporaries["numbers"], ranking_json(ranking) + "\n")
    return files


def ranking_json(ranking: Ranking) -> str:
    """Return the ranking as JSON."""
    return json.dumps(ranking.as_dict(), indent=1, allow_nan=False, ensure_ascii=False)


def ranking_html(ranking: Ranking) -> str:
    """Return the ranking as one self-contained page."""
    from confdiff.ranking.figures import ranking_figure

    shown = {name: column[:_MOST_ROWS].tolist() for name, column in ranking.columns().items()}
    return render(
        "confdiff.ranking",
        "ranking.html",
        ranking=ranking,
        rows=[dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)],
        figure=as_data_uri(ranking_figure(ranking)),
        annotators=None if ranking.annotators is None else ranking.annotators.to_text(),
        has_components=ranking.n_components > 1 and ranking.group is None,
        has_groups=any(component.groups for component in ranking.components),
        more=max(len(ranking) - _MOST_ROWS, 0),
        plural=plural,
    )
