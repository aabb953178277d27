"""The report as Markdown."""

from collections.abc import Sequence

from confdiff.display.text import plural
from confdiff.experiments import texts
from confdiff.experiments.comparison import Duel
from confdiff.experiments.findings import Findings
from confdiff.experiments.grouping import grouped
from confdiff.experiments.markdown_figures import figure_lines
from confdiff.experiments.names import LABELS, TITLES
from confdiff.experiments.oracles import OracleRow
from confdiff.experiments.parts import PartRow
from confdiff.experiments.rankings import METRICS, RankingRow, rankings_command
from confdiff.experiments.sections import VERDICTS, Section
from confdiff.experiments.study import CONDITIONS, METHODS, StudyCell, study_command
from confdiff.experiments.wording import chance, mean_of, number, signed, table


def as_markdown(findings: Findings) -> str:
    """All tables, ours above the paper's, in the paper's arrangement; its figures; then our methods and the study."""
    lines = ["# Results", "", *texts.INTRODUCTION.splitlines()]
    if findings.sections:
        lines += ["", *_glance(findings.sections)]
    for section in findings.sections:
        commands = (f"    {command}" for command in section.commands)
        lines += ["", f"## {section.title}", "", *commands, "", *_table(section)]
        for part in (_verdicts, _orderings, _comparison):
            if said := part(section):
                lines += ["", *said]
        lines += ["", time_of(section)]
    if findings.parts:
        lines += ["", *_parts(findings.parts)]
    if findings.rankings:
        lines += ["", *_rankings(findings.rankings)]
    for curves in findings.figures:
        lines += ["", *figure_lines(curves)]
    if findings.oracles:
        lines += ["", *_oracles(findings.oracles)]
    if findings.study:
        lines += ["", *_study(findings.study)]
    return "\n".join(lines) + "\n"


def _glance(sections: Sequence[Section]) -> list[str]:
    head = ["", "trials", *VERDICTS, "best of the paper's methods"]
    rows = ([s.title, str(s.trials), *map(str, s.tally.values()), winners_of(s)] for s in sections)
    return ["## At a glance", "", *texts.GLANCE.splitlines(), "", *table(head, rows)]


def winners_of(section: Section) -> str:
    """The paper's methods that are best somewhere, and in how many cells."""
    return ", ".join(f"{LABELS[name]} {count}" for name, count in section.winners.items())


def _table(section: Section) -> list[str]:
    return table(
        ["prior", "method", *(TITLES[name] for name in section.datasets)],
        (
            [f"{prior:g}", LABELS[method], *(_cell(section, name, prior, method) for name in section.datasets)]
            for prior in section.priors
            for method in section.methods_at(prior)
        ),
    )


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


def _verdicts(section: Section) -> list[str]:
    if not section.is_judged:
        return [texts.UNJUDGED]
    rows = ([LABELS[method], *map(str, counts.values())] for method, counts in section.verdicts.items())
    return table(["method", *VERDICTS], rows)


def _orderings(section: Section) -> list[str]:
    """Whether the methods stand in the paper's order, up to one standard deviation."""
    lines = []
    for first, second, held, broken in section.orderings:
        if not held and not broken:
            continue
        where = "; not in " + ", ".join(f"{TITLES[c.dataset]} at {c.prior:g}" for c in broken) if broken else ""
        cells = f"{held} of {held + len(broken)} cells"
        lines.append(f"{LABELS[first]} >= {LABELS[second]}, up to one standard deviation, in {cells}{where}.")
    return lines


def _comparison(section: Section) -> list[str]:
    """Each method against ConfDiff-ABS, and all in order, where there is more than one."""
    head = ["ConfDiff-ABS against", "won", "tied", "lost", "mean difference", "signed-rank p"]
    lines = table(head, map(_duel, section.duels)) if section.duels else []
    return [*lines, "", ranks_of(section)] if ranks_of(section) else lines


def ranks_of(section: Section) -> str:
    """The mean ranks in a sentence or two; nothing where fewer than two methods can be ranked."""
    ranks = section.ranks
    if len(ranks.ranks) < 2:
        return ""
    order = ", ".join(f"{LABELS[name]} {rank:.2f}" for name, rank in ranks.ranks.items())
    text = f"Mean ranks over {plural(ranks.cells, 'cell')}, of the methods with trials in each: {order}."
    if ranks.critical_difference is not None:
        text += f" Critical difference (Nemenyi, 5 %): {ranks.critical_difference:.2f}."
    if ranks.p_value is not None:
        text += f" That all are alike: p = {chance(ranks.p_value)} (Friedman)."
    return text


def _duel(duel: Duel) -> list[str]:
    counts = map(str, (duel.won, duel.tied, duel.lost))
    return [LABELS[duel.second], *counts, f"{duel.mean_difference:+.4f}", chance(duel.p_value)]


def time_of(section: Section) -> str:
    """How long the trials took."""
    seconds = sum(cell.seconds for cell in section.cells.values())
    hours = f"{seconds / 3600:.2f} hours of training in all"
    return f"{plural(section.trials, 'trial')}, {hours}, {seconds / section.trials:.1f} s a trial, one thread each."


def _parts(rows: Sequence[PartRow]) -> list[str]:
    lines = [f"## {texts.PARTS_TITLE}", "", *texts.PARTS.splitlines(), "", *(f"    {row.command}" for row in rows), ""]
    head = ["data set", "prior", "method", "network", "pairs", "epochs", "accuracy", "after the last epoch"]
    return lines + table([*head, "its teacher", "printed", "s a trial"], map(_part_row, rows))


def _part_row(row: PartRow) -> list[str]:
    pairs = "" if row.n_pairs is None else f"{row.n_pairs:,}"
    what = [TITLES[row.dataset], f"{row.prior:g}", LABELS[row.method], row.network, pairs, str(row.epochs)]
    paper = "" if row.printed is None else number(row.printed, None)
    return [*what, mean_of(row.trials), mean_of(row.last), number(row.teacher, None), paper, f"{row.seconds:.0f}"]


def _oracles(rows: Sequence[OracleRow]) -> list[str]:
    """A table for each method, protocol and number of epochs."""
    lines = ["## Between ConfDiff-ABS and the oracle", "", *texts.ORACLES.splitlines()]
    for group in grouped(rows, lambda row: (row.method, row.protocol, row.epochs)):
        first = group[0]
        what = f"--methods {first.method} --protocol {first.protocol} --epochs {first.epochs}"
        lines += ["", f"    confdiff reproduce table2 {what}  # and the same --without-prior; table1", ""]
        head = ["data set", "prior", "ConfDiff-ABS", LABELS[first.method], "prior not told", "Oracle-Soft"]
        head += ["above ABS", "below the oracle", "lost without the prior"]
        lines += table(head, map(_oracle_row, group))
    return lines


def _oracle_row(row: OracleRow) -> list[str]:
    trials = [mean_of(trials) for trials in (row.baseline, row.told, row.not_told, row.oracle)]
    gaps = (row.above_baseline, row.below_oracle, row.lost_without_prior)
    return [TITLES[row.dataset], f"{row.prior:g}", *trials, *("" if gap is None else signed(gap) for gap in gaps)]


def _rankings(rows: Sequence[RankingRow]) -> list[str]:
    """A table for each data set and setting: the ranking among candidates beside the paper's, and the full one."""
    lines = ["## Table 3, recommenders", "", *texts.RANKINGS.splitlines()]
    for group in grouped(rows, lambda row: row.setting):
        first = group[0]
        lines += ["", f"    {rankings_command(group)}", "", f"{first.description} {first.seconds:.0f} s a trial."]
        head = ["method", "HR@10", "NDCG@10", "full HR@10", "full NDCG@10", "trials"]
        lines += ["", *table(head, map(_ranking_row, group))]
    return lines


def _ranking_row(row: RankingRow) -> list[str]:
    return [row.name, *(_ranking_cell(row, metric) for metric in METRICS), str(row.trials)]


def _ranking_cell(row: RankingRow, metric: str) -> str:
    ours = number(row.mean(metric), row.std(metric))
    return f"{ours}<br>{number(row.printed[metric], None)}" if metric in row.printed else ours


def _study(cells: Sequence[StudyCell]) -> list[str]:
    """The studies that there are, by protocol and number of epochs."""
    lines = ["## Our methods and ConfDiff-ABS under noise", "", *texts.STUDY.splitlines()]
    for group in grouped(cells, lambda cell: (cell.protocol, cell.epochs)):
        lines += ["", f"    {study_command(group)}", "", *_one_study(group)]
    return lines


def _one_study(cells: Sequence[StudyCell]) -> list[str]:
    """A row for each condition, a column for each method, and how often each is above or below ABS."""
    at = {(cell.dataset, cell.prior, cell.condition, cell.method): cell for cell in cells}
    methods = [name for name in METHODS if any(cell.method == name for cell in cells)]
    places = dict.fromkeys((cell.dataset, cell.prior) for cell in cells)
    lines = table(
        ["data set", "prior", "condition", *(LABELS[name] for name in methods)],
        (
            [TITLES[dataset], f"{prior:g}", condition]
            + [_study_cell(at.get((dataset, prior, condition, name))) for name in methods]
            for dataset, prior in places
            for condition in CONDITIONS
        ),
    )
    rows = []
    for name in methods[1:]:
        own = [cell for cell in cells if cell.method == name and cell.gain is not None]
        counts = [sum(cell.verdict == verdict for cell in own) for verdict in ("above", "level", "below")]
        gain = sum(cell.gain or 0.0 for cell in own) / max(1, len(own))
        rows.append([LABELS[name], *map(str, counts), signed(gain)])
    return [*lines, "", *table(["method", "above ABS", "level", "below ABS", "mean gain"], rows)]


def _study_cell(cell: StudyCell | None) -> str:
    if cell is None:
        return ""
    sign = {"above": " +", "below": " -", "level": " =", "": ""}[cell.verdict]
    return f"{number(cell.mean, cell.std)} ({len(cell.accuracies)}){sign}"
