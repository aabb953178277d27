"""The report as Markdown."""

from collections.abc import Sequence
from statistics import mean, stdev

from confdiff.experiments.grouping import grouped
from confdiff.experiments.oracles import OracleRow, Trials
from confdiff.experiments.plots import LABELS
from confdiff.experiments.rankings import METRICS, RankingRow
from confdiff.experiments.sections import TITLES, Section
from confdiff.experiments.study import CONDITIONS, METHODS, StudyCell

INTRODUCTION = """\
Made by `confdiff report` from the trials in `results/`. Accuracy on the test items, mean of the last 10 epochs;
mean and standard deviation (n - 1) over trials, their number in brackets; below it the paper's number and the verdict
where there are at least three trials: `=` within two combined standard deviations or .01 of the printed number, `+`
above, `-` below. Bold is the best, oracles apart. Pcomp pairs are ordered by their labels, (-, +) pairs reversed."""


RANKINGS = """\
The latest positive of each user (drawn by chance where there is no time) is ranked among sampled candidates, as in the
paper, whose number stands below, and (full) among all items that were not in that user's training. Mean and standard
deviation over trials; best NDCG first."""
ORACLES = """\
Methods that can do without the class prior, told it and not, between ConfDiff-ABS and Oracle-Soft, which are told
everything they need. Differences are means over the trials that both have, on the same pairs."""
STUDY = """\
Accuracy as above, trials in brackets; `+` above and `-` below ConfDiff-ABS on the same pairs (paired t-test over
trials, 5 %), `=` neither. Conditions were chosen before any of it was run."""


def as_markdown(
    sections: Sequence[Section],
    study: Sequence[StudyCell] = (),
    rankings: Sequence[RankingRow] = (),
    oracles: Sequence[OracleRow] = (),
) -> str:
    """All tables, ours above the paper's, in the paper's arrangement; then our methods, recommenders and the study."""
    lines = ["# Results", "", *INTRODUCTION.splitlines()]
    for section in sections:
        lines += ["", f"## {section.title}", "", f"    {section.command}", "", *_table(section)]
        for part in (_verdicts, _orderings, _comparison):
            lines += ["", *part(section)]
        lines += ["", time_of(section)]
    if oracles:
        lines += ["", *_oracles(oracles)]
    if rankings:
        lines += ["", *_rankings(rankings)]
    if study:
        lines += ["", *_study(study)]
    return "\n".join(lines) + "\n"


def _table(section: Section) -> list[str]:
    head = ["prior", "method", *(TITLES[name] for name in section.datasets)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for prior in section.priors:
        for method in section.methods:
            row = [f"{prior:g}", LABELS[method]]
            row += [_cell(section, dataset, prior, method) for dataset in section.datasets]
            lines.append(f"| {' | '.join(row)} |")
    return lines


def _cell(section: Section, dataset: str, prior: float, method: str) -> str:
    cell = section.cells.get((dataset, prior, method))
    if cell is None:
        return ""
    ours = number(cell.mean, cell.std)
    ours = f"**{ours}**" if section.best(dataset, prior) == method else ours
    if cell.printed is None:
        return f"{ours} ({cell.trials})"
    sign = {"within": "=", "above": "+", "below": "-", "": ""}[cell.verdict]
    paper = f"{number(cell.printed.mean, cell.printed.std)}, {signed(cell.mean - cell.printed.mean)} {sign}"
    return f"{ours} ({cell.trials})<br>{paper.strip()}"


def signed(difference: float) -> str:
    """A difference of accuracies.

    >>> signed(-0.0123), signed(0.0001)
    ('-.012', '+.000')
    """
    return f"{difference:+.3f}".replace("0.", ".", 1)


def number(value: float, std: float | None) -> str:
    """As the paper prints it.

    >>> number(0.9873, 0.0021), number(0.5, None)
    ('.987 ± .002', '.500')
    """
    text = f"{value:.3f}" + ("" if std is None else f" ± {std:.3f}")
    return text.replace("0.", ".")


def _verdicts(section: Section) -> list[str]:
    lines = ["| method | within | above | below |", "|---|---|---|---|"]
    for method, counts in section.verdicts.items():
        lines.append(f"| {LABELS[method]} | {counts['within']} | {counts['above']} | {counts['below']} |")
    return lines


def _orderings(section: Section) -> list[str]:
    """Whether the methods stand in the paper's order, up to one standard deviation."""
    lines = []
    for first, second, held, broken in section.orderings:
        if not held and not broken:
            continue
        where = "; not in " + ", ".join(f"{TITLES[c.dataset]} at {c.prior:g}" for c in broken) if broken else ""
        lines.append(f"{LABELS[first]} >= {LABELS[second]} in {held} of {held + len(broken)} cells{where}.")
    return lines


def _comparison(section: Section) -> list[str]:
    lines = [
        "| ConfDiff-ABS against | won | tied | lost | mean difference | signed-rank p |",
        "|---|---|---|---|---|---|",
    ]
    for duel in section.duels:
        p = "" if duel.p_value is None else f"{duel.p_value:.2g}"
        counts = f"{duel.won} | {duel.tied} | {duel.lost}"
        lines.append(f"| {LABELS[duel.second]} | {counts} | {duel.mean_difference:+.4f} | {p} |")
    ranks = section.ranks
    if ranks.ranks:
        order = ", ".join(f"{LABELS[name]} {rank:.2f}" for name, rank in ranks.ranks.items())
        lines += ["", f"Mean ranks over {ranks.cells} cells: {order}."]
        if ranks.critical_difference is not None:
            lines[-1] += f" Critical difference (Nemenyi, 5 %): {ranks.critical_difference:.2f}."
    return lines


def time_of(section: Section) -> str:
    """How long the trials took."""
    trials = sum(cell.trials for cell in section.cells.values())
    seconds = sum(cell.seconds for cell in section.cells.values())
    hours = f"{seconds / 3600:.2f} hours of training in all"
    return f"{trials} trials, {hours}, {seconds / trials:.1f} s a trial, one thread each."


def _oracles(rows: Sequence[OracleRow]) -> list[str]:
    """A table for each method, protocol and number of epochs."""
    lines = ["## Between ConfDiff-ABS and the oracle", "", *ORACLES.splitlines()]
    for group in grouped(rows, lambda row: (row.method, row.protocol, row.epochs)):
        first = group[0]
        what = f"--methods {first.method} --protocol {first.protocol} --epochs {first.epochs}"
        lines += ["", f"    confdiff reproduce table2 {what}  # and the same --without-prior; table1", ""]
        head = ["data set", "prior", "ConfDiff-ABS", LABELS[first.method], "prior not told", "Oracle-Soft"]
        head += ["above ABS", "below the oracle", "lost without the prior"]
        lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        for row in group:
            cells = [TITLES[row.dataset], f"{row.prior:g}"]
            cells += [mean_of(trials) for trials in (row.baseline, row.told, row.not_told, row.oracle)]
            gaps = (row.above_baseline, row.below_oracle, row.lost_without_prior)
            cells += ["" if gap is None else signed(gap) for gap in gaps]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def mean_of(trials: Trials) -> str:
    """Mean and standard deviation of trials, and their number.

    >>> mean_of({0: 0.98, 1: 0.96})
    '.970 ± .014 (2)'
    """
    if not trials:
        return ""
    return f"{number(mean(trials.values()), stdev(trials.values()) if len(trials) > 1 else None)} ({len(trials)})"


def _rankings(rows: Sequence[RankingRow]) -> list[str]:
    """A table for each data set and setting: the ranking among candidates beside the paper's, and the full one."""
    lines = ["## Table 3, recommenders", "", *RANKINGS.splitlines()]
    for group in grouped(rows, lambda row: row.setting):
        first = group[0]
        command = f"{first.command} --trials {max(row.trials for row in group)}"
        lines += ["", f"    {command}", "", f"{first.description} {first.seconds:.0f} s a trial."]
        lines += ["", "| method | HR@10 | NDCG@10 | full HR@10 | full NDCG@10 | trials |", "|---|---|---|---|---|---|"]
        for row in group:
            cells = [_ranking_cell(row, metric) for metric in METRICS]
            lines.append(f"| {row.name} | {' | '.join(cells)} | {row.trials} |")
    return lines


def _ranking_cell(row: RankingRow, metric: str) -> str:
    ours = number(row.mean(metric), row.std(metric))
    return f"{ours}<br>{number(row.printed[metric], None)}" if metric in row.printed else ours


def _study(cells: Sequence[StudyCell]) -> list[str]:
    """The studies that there are, by protocol and number of epochs."""
    lines = ["## Our methods and ConfDiff-ABS under noise", "", *STUDY.splitlines()]
    for group in grouped(cells, lambda cell: (cell.protocol, cell.epochs)):
        command = f"confdiff reproduce study --protocol {group[0].protocol} --epochs {group[0].epochs}"
        lines += ["", f"    {command} --trials {max(len(cell.accuracies) for cell in group)}", "", *_one_study(group)]
    return lines


def _one_study(cells: Sequence[StudyCell]) -> list[str]:
    """A row for each condition, a column for each method, and how often each is above or below ABS."""
    table = {(cell.dataset, cell.prior, cell.condition, cell.method): cell for cell in cells}
    methods = [name for name in METHODS if any(cell.method == name for cell in cells)]
    head = ["data set", "prior", "condition", *(LABELS[name] for name in methods)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for dataset, prior in dict.fromkeys((cell.dataset, cell.prior) for cell in cells):
        for condition in CONDITIONS:
            row = [_study_cell(table.get((dataset, prior, condition, name))) for name in methods]
            lines.append(f"| {TITLES[dataset]} | {prior:g} | {condition} | {' | '.join(row)} |")
    lines += ["", "| method | above ABS | level | below ABS | mean gain |", "|---|---|---|---|---|"]
    for name in methods[1:]:
        own = [cell for cell in cells if cell.method == name and cell.gain is not None]
        counts = [sum(cell.verdict == verdict for cell in own) for verdict in ("above", "level", "below")]
        gain = sum(cell.gain or 0.0 for cell in own) / max(1, len(own))
        lines.append(f"| {LABELS[name]} | {' | '.join(map(str, counts))} | {signed(gain)} |")
    return lines


def _study_cell(cell: StudyCell | None) -> str:
    if cell is None:
        return ""
    sign = {"above": " +", "below": " -", "level": " =", "": ""}[cell.verdict]
    return f"{number(cell.mean, cell.std)} ({len(cell.accuracies)}){sign}"
