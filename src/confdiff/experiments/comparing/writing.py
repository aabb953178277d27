"""Write the files of a comparison: a page, Markdown, JSON and CSV."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confdiff import __version__
from confdiff.experiments.comparing.results import ComparisonResults, MethodCell
from confdiff.experiments.comparing.section import comparison_blocks
from confdiff.experiments.comparing.wording import headline, settings_text
from confdiff.experiments.report.blocks import CsvFile
from confdiff.experiments.report.csv import TRIAL_COLUMNS, CsvColumns, attributes, csv_file
from confdiff.experiments.report.files import ReportFiles, picture_files
from confdiff.experiments.report.numbers import digits
from confdiff.experiments.statistics import Paired

PAGE = "comparison"
"""Name of the page, without its ending."""
_TITLE = "Comparison of methods"


def comparison_files(folder: Path) -> dict[str, Path]:
    """Return the files that :func:`write_comparison` writes, by kind; the page is the first."""
    names = {"page": f"{PAGE}.html", "markdown": f"{PAGE}.md", "settings": "settings.csv", "pairs": "pairs.csv"}
    files = {kind: folder / name for kind, name in names.items()}
    return files | {f"{PAGE}.json": folder / f"{PAGE}.json"} | picture_files(folder, ("gains", "ranks"))


def write_comparison(
    results: ComparisonResults, folder: Path, *, overwrite: bool = False, escape: bool = True
) -> dict[str, Path]:
    """Write the page, the same as Markdown, ``comparison.json``, and one row per setting or pair of methods as CSV.

    Parameters
    ----------
    results : ComparisonResults
        The results.
    folder : Path
        Folder for the files.
    overwrite, escape : bool
        As in :meth:`confdiff.experiments.report.files.ReportFiles.write`.

    Returns
    -------
    dict
        Kind of file -> its path.
    """
    contents = ReportFiles(
        name=PAGE,
        title=_TITLE,
        lead=f"{len(results.methods)} methods, {settings_text(results)}.",
        blocks=comparison_blocks(results),
        tables=[_settings_file(results), _pairs_file(results)],
        texts={f"{PAGE}.json": json.dumps(comparison_json(results), indent=1) + "\n"},
    )
    return contents.write(folder, overwrite=overwrite, escape=escape)


_OUTCOME: CsvColumns = {
    "difference": lambda row: digits(row.outcome and row.outcome.difference),
    "difference_low": lambda row: digits(row.outcome and row.outcome.interval and row.outcome.interval[0]),
    "difference_high": lambda row: digits(row.outcome and row.outcome.interval and row.outcome.interval[1]),
    "effect": lambda row: getattr(row.outcome, "effect", None),
    "p_value": lambda row: getattr(row.outcome, "p_value", None),
}


def _adjusted(correction: str) -> CsvColumns:
    return {f"{correction}_p": lambda row: getattr(row.outcome, "adjusted_p", None)}


_SETTING_COLUMNS: CsvColumns = {
    **attributes("setting.dataset", "setting.prior", "setting.noise", "method"),
    **TRIAL_COLUMNS,
    **_OUTCOME,
    **_adjusted("bh"),
}


def _settings_file(results: ComparisonResults) -> CsvFile:
    columns = {name.removeprefix("setting."): value for name, value in _SETTING_COLUMNS.items()}
    return csv_file("settings", columns, results.cells)


def _pairs_file(results: ComparisonResults) -> CsvFile:
    over_datasets = {(pair.first, pair.second): pair for pair in results.over_datasets}
    columns: CsvColumns = {
        **attributes("first", "second"),
        **_OUTCOME,
        **_adjusted("holm"),
        **attributes("won", "tied", "lost"),
        "median_over_datasets": lambda pair: digits(over_datasets[pair.first, pair.second].median_difference),
        "rank_biserial": lambda pair: over_datasets[pair.first, pair.second].test.rank_biserial,
        "signed_rank_p": lambda pair: over_datasets[pair.first, pair.second].test.p_value,
        "signed_rank_holm_p": lambda pair: over_datasets[pair.first, pair.second].adjusted_p,
    }
    return csv_file("pairs", columns, results.over_seeds)


def comparison_json(results: ComparisonResults) -> dict[str, Any]:
    """Return the plan, all accuracies and all statistics, for programs."""
    return {
        "confdiff": __version__,
        "plan": results.plan.to_json(),
        "command": results.plan.command,
        "headline": headline(results),
        "missing_trials": results.missing,
        "settings_in_statistics": len(results.settings),
        "methods": [
            {"method": method, "mean": trials.mean, "interval": trials.interval, "by_seed": _by_seed(trials.by_seed)}
            for method, trials in results.overall.items()
        ],
        "over_seeds": [
            {"first": pair.first, "second": pair.second, **_outcome(pair.outcome, "holm")}
            for pair in results.over_seeds
        ],
        "over_datasets": [
            {
                "first": pair.first,
                "second": pair.second,
                "median_difference": pair.median_difference,
                "rank_biserial": pair.test.rank_biserial,
                "p_value": pair.test.p_value,
                "holm_p": pair.adjusted_p,
            }
            for pair in results.over_datasets
        ],
        "ranks": {
            "mean_ranks": results.ranks.ranks,
            "datasets": results.ranks.cells,
            "friedman_p": results.ranks.p_value,
            "nemenyi_critical_difference": results.ranks.critical_difference,
            "groups": results.groups,
        },
        "cells": [_cell(cell) for cell in results.cells],
    }


def _cell(cell: MethodCell) -> dict[str, Any]:
    return {
        "dataset": cell.setting.dataset,
        "prior": cell.setting.prior,
        "noise": cell.setting.noise,
        "method": cell.method,
        "by_seed": _by_seed(cell.trials.by_seed),
        "mean": cell.trials.mean,
        "std": cell.trials.std,
        "interval": cell.trials.interval,
        "against_reference": None if cell.outcome is None else _outcome(cell.outcome, "bh"),
    }


def _by_seed(values: Mapping[int, float]) -> dict[str, float]:
    return {str(seed): value for seed, value in values.items()}


def _outcome(outcome: Paired, correction: str) -> dict[str, Any]:
    names = ("difference", "interval", "effect", "seeds", "p_value")
    return {name: getattr(outcome, name) for name in names} | {f"{correction}_p": outcome.adjusted_p}
