"""The page of a comparison, as blocks: headline and chart, statistics, all settings, assumptions and commands."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from confdiff.display.text import plural
from confdiff.experiments.comparing.results import ComparisonResults, MethodCell
from confdiff.experiments.comparing.wording import (
    assumptions,
    headline,
    over_datasets_text,
    over_seeds_text,
    ranks_text,
)
from confdiff.experiments.plans.verdicts import SIGNS
from confdiff.experiments.report.blocks import Block, Cell, Commands, Heading, Opening, Paragraph, Picture, Row, Table
from confdiff.experiments.report.dot_plots import DotRow, critical_difference_figure, dots_figure
from confdiff.experiments.report.numbers import accuracy_text, gain_text, interval_text, p_text, signed_text
from confdiff.experiments.report.style import colour_of, dataset_label, label_of
from confdiff.experiments.statistics import paired, training_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SETTINGS = """\
Each method is compared with {baseline} on the same pairs by a paired t-test over seeds. The last p-value is corrected \
by the method of Benjamini and Hochberg for all {tests} tests of the table: of the differences marked `+` or `-`, at \
most 5 % are expected to be chance. An equals sign does not prove that two methods are equal. Each cell has {trials}, \
but for those that are missing."""


def comparison_blocks(results: ComparisonResults) -> list[Block]:
    """Return the page of a comparison."""
    chart = Picture(_chart_title(results), partial(gains_figure, results), name="gains", inline=True)
    return [
        Opening(headline(results), chart),
        *_over_seeds(results),
        *_over_datasets(results),
        *_settings(results),
        *_missing(results),
        Heading("What the tests assume", anchor="assumptions", link="Assumptions"),
        *(Paragraph(text) for text in assumptions(results)),
        Heading("Commands", anchor="commands", link="Commands"),
        Commands((results.plan.command,)),
        Paragraph(_time(results)),
    ]


def _chart_title(results: ComparisonResults) -> str:
    return f"Accuracy minus that of {label_of(results.plan.baseline)}, one dot per setting"


def gains_figure(results: ComparisonResults) -> "Figure":
    """Draw the differences from the baseline: a dot per setting, the mean, and its interval over seeds."""
    baseline = results.plan.baseline
    rows = []
    for method in results.methods:
        gains = results.differences(method, baseline)
        outcome = paired(results.overall[method], results.overall[baseline])
        rows.append(
            DotRow(
                label=label_of(method),
                colour=colour_of(method),
                dots=gains if method != baseline else [],
                mean=sum(gains) / len(gains),
                interval=outcome.interval if outcome and method != baseline else None,
            )
        )
    key = "dots: settings; diamond: mean; line: 95 % interval over seeds"
    return dots_figure(rows, f"accuracy minus that of {label_of(baseline)}\n({key})")


def _over_seeds(results: ComparisonResults) -> list[Block]:
    means: list[Row] = [
        [
            label_of(method),
            accuracy_text(trials.mean),
            interval_text(trials) or "no interval",
            f"{_wins(results, method)} of {len(results.settings)}",
            f"{results.ranks.ranks[method]:.2f}",
        ]
        for method, trials in results.overall.items()
    ]
    pairs: list[Row] = [
        [
            label_of(pair.first),
            label_of(pair.second),
            signed_text(pair.outcome.difference),
            gain_text(pair.outcome.interval),
            _effect(pair.outcome.effect),
            p_text(pair.outcome.p_value),
            _significant(pair.outcome.adjusted_p, pair.outcome.direction),
            str(pair.won),
            str(pair.tied),
            str(pair.lost),
        ]
        for pair in results.over_seeds
    ]
    head = ["first", "second", "difference", "95 % interval", "effect", "p", "Holm p", "won", "tied", "lost"]
    return [
        Heading("On these settings", anchor="settings-mean", link="On these settings"),
        Paragraph(over_seeds_text(results)),
        Table(["method", "mean accuracy", "95 % interval", "best in", "mean rank of data sets"], means),
        Table(head, pairs),
    ]


def _wins(results: ComparisonResults, method: str) -> int:
    """Count the settings in which a method has the highest mean of all methods."""
    return sum(
        results.trials[setting, method].mean == max(results.trials[setting, name].mean for name in results.methods)
        for setting in results.settings
    )


def _effect(effect: float | None) -> str:
    return "" if effect is None else f"{effect:+.1f}"


def _significant(adjusted_p: float | None, direction: str) -> Cell:
    return Cell(p_text(adjusted_p), shade=direction if direction in ("above", "below") else "")


def _over_datasets(results: ComparisonResults) -> list[Block]:
    datasets = list(results.by_dataset)
    if len(datasets) < 2:
        return []
    rows: list[Row] = [
        [
            label_of(pair.first),
            label_of(pair.second),
            signed_text(pair.median_difference),
            f"{pair.test.rank_biserial:+.2f}",
            p_text(pair.test.p_value),
            Cell(p_text(pair.adjusted_p), shade="above" if pair.is_significant else ""),
        ]
        for pair in results.over_datasets
    ]
    labels = {method: label_of(method) for method in results.methods}
    draw = partial(critical_difference_figure, results.ranks, results.groups, labels)
    return [
        Heading("On other data sets", anchor="datasets", link="On other data sets"),
        Paragraph(over_datasets_text(results)),
        Picture("Critical-difference plot of mean ranks", draw, "ranks", inline=True),
        Paragraph(ranks_text(results)),
        Table(["first", "second", "median difference", "effect", "p", "Holm p"], rows),
        Table(["data set", *labels.values()], [_dataset_row(results, name) for name in datasets]),
    ]


def _dataset_row(results: ComparisonResults, dataset: str) -> Row:
    means = results.by_dataset[dataset]
    best = max(means.values())
    return [dataset_label(dataset), *(Cell(accuracy_text(value), bold=value == best) for value in means.values())]


def _settings(results: ComparisonResults) -> list[Block]:
    tests = sum(cell.outcome is not None and cell.outcome.p_value is not None for cell in results.cells)
    trials = plural(results.plan.trials, "trial")
    text = _SETTINGS.format(baseline=label_of(results.plan.baseline), tests=tests, trials=trials)
    if not tests:
        text = f"Each method is compared with {label_of(results.plan.baseline)}. A test needs three trials."
    head = ["data set", "prior", "noise", "method", "accuracy", "95 % interval"]
    head += ["difference", "its interval", "effect", "p", "BH p"]
    rows = [_setting_row(cell) for cell in results.cells]
    return [
        Heading("All settings", anchor="settings", link="All settings"),
        Paragraph(text),
        Table(head, rows, group_columns=3),
    ]


def _setting_row(cell: MethodCell) -> Row:
    outcome = cell.outcome
    start: list[str | Cell] = [
        dataset_label(cell.setting.dataset),
        f"{cell.setting.prior:g}",
        cell.setting.noise,
        label_of(cell.method),
        accuracy_text(cell.trials.mean, cell.trials.std),
        interval_text(cell.trials) or "no interval",
    ]
    if outcome is None:
        return [*start, "", "", "", "", ""]
    shade = outcome.direction if outcome.direction in ("above", "below") else ""
    return [
        *start,
        Cell(signed_text(outcome.difference), sign=SIGNS[outcome.direction], shade=shade),
        gain_text(outcome.interval),
        _effect(outcome.effect),
        p_text(outcome.p_value),
        p_text(outcome.adjusted_p),
    ]


def _missing(results: ComparisonResults) -> list[Block]:
    if not results.missing:
        return []
    left_out = [setting for setting in results.plan.settings if setting not in results.settings]
    names = [f"{dataset_label(setting.dataset)} at {setting.prior:g}, {setting.noise}" for setting in left_out]
    return [
        Heading("Trials that are missing", anchor="missing", link="Missing"),
        Paragraph(
            f"{plural(results.missing, 'trial')} of the plan could not be run. The statistics leave out the settings "
            f"without all trials: {'; '.join(names)}."
        ),
    ]


def _time(results: ComparisonResults) -> str:
    records = list(results.records.values())
    seeds = "seed 0" if results.plan.trials == 1 else f"seeds 0 to {results.plan.trials - 1}"
    versions = sorted({f"{name} {version}" for record in records for name, version in record.versions.items()})
    return (
        f"{plural(len(records), 'trial')}, {seeds}, "
        f"{training_seconds(records) / 3600:.2f} processor hours of training. {_versions(versions)}"
    )


def _versions(versions: Sequence[str]) -> str:
    return f"Versions: {', '.join(versions)}." if versions else ""
