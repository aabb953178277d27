"""The report: reads the store and the paper's numbers, and nothing else; gives Markdown, CSV and one HTML page."""

import base64
import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from confdiff.experiments.cells import Cell, cells_of
from confdiff.experiments.comparison import Duel, Ranks, duels, mean_ranks
from confdiff.experiments.paper import TABLES
from confdiff.experiments.plots import LABELS, curves_figure, ranks_figure
from confdiff.experiments.store import Store
from confdiff.experiments.trial import Record
from confdiff.storage import replacing

TITLES = {
    "mnist": "MNIST",
    "kmnist": "Kuzushiji",
    "fashion": "Fashion",
    "cifar10": "CIFAR-10",
    "optdigits": "Optdigits",
    "usps": "USPS",
    "pendigits": "Pendigits",
    "letter": "Letter",
}
ORACLES = ("oracle-hard", "oracle-soft")
INTRODUCTION = """\
Made by `confdiff report` from the trials in `results/`. Accuracy on the test items, mean of the last 10 epochs;
mean and standard deviation (n - 1) over trials, their number in brackets; below it the paper's number and the verdict
where there are at least three trials: `=` within two combined standard deviations or .01 of the printed number, `+`
above, `-` below. Bold is the best, oracles apart. Pcomp pairs are ordered by their labels, (-, +) pairs reversed."""


@dataclass(frozen=True)
class Section:
    """One table of the paper by one protocol at one number of epochs."""

    table: str
    protocol: str
    epochs: int
    cells: dict[tuple[str, float, str], Cell]
    records: list[Record]

    @property
    def title(self) -> str:
        """What it is."""
        return f"Table {self.table[-1]}, protocol {self.protocol}, {self.epochs} epochs"

    @property
    def name(self) -> str:
        """A short name, for links and files."""
        return f"{self.table}-{self.protocol}-{self.epochs}"

    @property
    def datasets(self) -> list[str]:
        """Those with a trial, in the paper's order."""
        return [name for name in TABLES[self.table] if any(place[0] == name for place in self.cells)]

    @property
    def priors(self) -> list[float]:
        """Those with a trial."""
        return sorted({place[1] for place in self.cells})

    @property
    def methods(self) -> list[str]:
        """Those with a trial, in the order of the table of methods."""
        return [name for name in LABELS if any(place[2] == name for place in self.cells)]

    def best(self, dataset: str, prior: float) -> str | None:
        """The method with the best mean, oracles apart."""
        rivals = [cell for (d, p, m), cell in self.cells.items() if (d, p) == (dataset, prior) and m not in ORACLES]
        return max(rivals, key=lambda cell: cell.mean).method if rivals else None

    @property
    def verdicts(self) -> dict[str, dict[str, int]]:
        """Method -> how many of its cells are within, above or below the printed numbers."""
        counts: dict[str, dict[str, int]] = {name: {"within": 0, "above": 0, "below": 0} for name in self.methods}
        for cell in self.cells.values():
            if cell.verdict:
                counts[cell.method][cell.verdict] += 1
        return counts

    @property
    def command(self) -> str:
        """What makes it."""
        trials = max(cell.trials for cell in self.cells.values())
        parts = [f"confdiff reproduce {self.table}", f"--protocol {self.protocol}", f"--trials {trials}"]
        parts += [f"--epochs {self.epochs}"] if self.epochs != 200 else []
        parts += [f"--datasets {','.join(self.datasets)}"] if self.datasets != list(TABLES[self.table]) else []
        return " ".join(parts)

    @property
    def duels(self) -> list[Duel]:
        """ConfDiff-ABS against every other method."""
        others = [name for name in self.methods if name != "confdiff-abs"]
        return duels(self.records, "confdiff-abs", others) if "confdiff-abs" in self.methods else []

    @property
    def ranks(self) -> Ranks:
        """Mean ranks of the methods, oracles apart."""
        return mean_ranks(self.records, [name for name in self.methods if name not in ORACLES])


def sections_of(records: Sequence[Record]) -> list[Section]:
    """The tables that there are trials for."""
    groups: dict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    for cell in cells_of(records):
        groups[cell.table, cell.protocol, cell.epochs].append(cell)
    return [
        Section(
            table,
            protocol,
            epochs,
            {(cell.dataset, cell.prior, cell.method): cell for cell in cells},
            [
                r
                for r in records
                if (r["protocol"], r["epochs"]) == (protocol, epochs) and r["dataset"] in TABLES[table]
            ],
        )
        for (table, protocol, epochs), cells in sorted(
            groups.items(), key=lambda item: (item[0][0], item[0][1], -item[0][2])
        )
    ]


def write_report(store: Store, folder: Path) -> dict[str, Path]:
    """Write results.md, results.csv and results.html. Returns: what is where."""
    records = store.records()
    if not records:
        raise ValueError(f"there are no trials in {store.folder}: run some first, such as confdiff reproduce table2.")
    sections = sections_of(records)
    contents = {
        "markdown": (folder / "results.md", as_markdown(sections)),
        "table": (folder / "results.csv", as_csv(sections)),
        "page": (folder / "results.html", as_html(sections)),
    }
    for path, text in contents.values():
        with replacing(path) as temporary:
            temporary.write_text(text)
    return {what: path for what, (path, _) in contents.items()}


def as_csv(sections: Sequence[Section]) -> str:
    """One line a cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = (
        "table protocol epochs dataset prior method trials mean std printed_mean printed_std difference verdict seconds"
    )
    writer.writerow(header.split())
    for section in sections:
        for cell in section.cells.values():
            printed = cell.printed
            writer.writerow(
                [
                    section.table, section.protocol, section.epochs, cell.dataset, cell.prior, cell.method, cell.trials,
                    f"{cell.mean:.5f}", "" if cell.std is None else f"{cell.std:.5f}",
                    "" if printed is None else printed.mean, "" if printed is None else printed.std,
                    "" if cell.difference is None else f"{cell.difference:.5f}", cell.verdict, f"{cell.seconds:.1f}",
                ]
            )  # fmt: skip
    return text.getvalue()


def as_markdown(sections: Sequence[Section]) -> str:
    """All tables, ours above the paper's, in the paper's arrangement."""
    lines = ["# Results", "", *INTRODUCTION.splitlines()]
    for section in sections:
        lines += ["", f"## {section.title}", "", f"    {section.command}", ""]
        lines += _markdown_table(section)
        lines += ["", *_markdown_verdicts(section), "", *_markdown_comparison(section), "", _time(section)]
    return "\n".join(lines) + "\n"


def _markdown_table(section: Section) -> list[str]:
    head = ["prior", "method", *(TITLES[name] for name in section.datasets)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for prior in section.priors:
        for method in section.methods:
            row = [f"{prior:g}", LABELS[method]]
            row += [_markdown_cell(section, dataset, prior, method) for dataset in section.datasets]
            lines.append(f"| {' | '.join(row)} |")
    return lines


def _markdown_cell(section: Section, dataset: str, prior: float, method: str) -> str:
    cell = section.cells.get((dataset, prior, method))
    if cell is None:
        return ""
    ours = number(cell.mean, cell.std)
    ours = f"**{ours}**" if section.best(dataset, prior) == method else ours
    sign = {"within": " =", "above": " +", "below": " -", "": ""}[cell.verdict]
    paper = "" if cell.printed is None else f"<br>{number(cell.printed.mean, cell.printed.std)}{sign}"
    return f"{ours} ({cell.trials}){paper}"


def number(mean: float, std: float | None) -> str:
    """As the paper prints it.

    >>> number(0.9873, 0.0021), number(0.5, None)
    ('.987 ± .002', '.500')
    """
    text = f"{mean:.3f}" + ("" if std is None else f" ± {std:.3f}")
    return text.replace("0.", ".")


def _markdown_verdicts(section: Section) -> list[str]:
    lines = ["| method | within | above | below |", "|---|---|---|---|"]
    for method, counts in section.verdicts.items():
        lines.append(f"| {LABELS[method]} | {counts['within']} | {counts['above']} | {counts['below']} |")
    return lines


def _markdown_comparison(section: Section) -> list[str]:
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


def _time(section: Section) -> str:
    trials = sum(cell.trials for cell in section.cells.values())
    seconds = sum(cell.seconds for cell in section.cells.values())
    hours = f"{seconds / 3600:.2f} hours of training in all"
    return f"{trials} trials, {hours}, {seconds / trials:.1f} s a trial, one thread each."


def as_html(sections: Sequence[Section]) -> str:
    """One page that needs nothing beside it."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(loader=PackageLoader("confdiff.experiments", "."), autoescape=select_autoescape(["html"]))
    environment.globals |= {"labels": LABELS, "titles": TITLES, "number": number, "time_of": _time}
    pictures = {section.name: [_picture(figure) for figure in _figures(section)] for section in sections}
    return environment.get_template("report.html").render(sections=sections, pictures=pictures)


def _figures(section: Section) -> list[Figure]:
    figures = [curves_figure(section.records, section.datasets, section.priors, TITLES)]
    if section.ranks.critical_difference is not None:
        figures.append(ranks_figure(section.ranks))
    return figures


def _picture(figure: Figure) -> str:
    """A figure as an address that holds the picture itself."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
