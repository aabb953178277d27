"""The commands that run exactly the trials that a table shows."""

from collections.abc import Iterable

from confdiff.experiments.plans.paper_tables import PAPER_METHODS, PAPER_PRIORS, PAPER_TABLES, TableCell
from confdiff.experiments.plans.plugin_flags import plugin_flags
from confdiff.experiments.plans.printed import PAPER_EPOCHS
from confdiff.experiments.statistics import grouped
from confdiff.methods import METHODS

_Place = tuple[int, float, str]
"""Number of trials, prior, data set."""


def table_commands(table: str, protocol: str, epochs: int, cells: Iterable[TableCell]) -> list[str]:
    """Return the commands that run the trials of some cells.

    One command covers all methods with the same cells, if these are all pairs of some data sets and priors. The paper's
    methods and ours are separate, as the command without ``--methods`` runs the paper's.

    Parameters
    ----------
    table, protocol, epochs
        The setting that all cells share.
    cells : iterable of TableCell
        The cells.
    """
    start = f"confdiff reproduce {table} --protocol {protocol}"
    if epochs != PAPER_EPOCHS:
        start += f" --epochs {epochs}"
    commands = []
    for methods, places in _methods_with_same_places(cells):
        for (trials, datasets), priors in _rectangles(table, places).items():
            command = f"{start} --trials {trials}"
            command += _flag("datasets", datasets, PAPER_TABLES[table])
            command += _flag("methods", methods, PAPER_METHODS)
            command += _flag("priors", _short(priors), _short(PAPER_PRIORS))
            command += plugin_flags(("method", name) for name in methods)
            commands.append(command)
    return commands


def _methods_with_same_places(cells: Iterable[TableCell]) -> list[tuple[list[str], set[_Place]]]:
    """Return the methods that share their places, the paper's separately from ours, and these places."""
    places: dict[str, set[_Place]] = {}
    for cell in cells:
        places.setdefault(cell.method, set()).add((cell.trials.n, cell.prior, cell.dataset))
    ordered = sorted(places, key=list(METHODS).index)
    groups = grouped(ordered, lambda method: (method in PAPER_METHODS, frozenset(places[method])))
    return [(methods, places[methods[0]]) for methods in groups]


def _rectangles(table: str, places: Iterable[_Place]) -> dict[tuple[int, tuple[str, ...]], list[float]]:
    """Return (number of trials, data sets) -> the priors at which these data sets have that many trials."""
    columns: dict[tuple[int, float], list[str]] = {}
    for trials, prior, dataset in sorted(places, key=lambda place: PAPER_TABLES[table].index(place[2])):
        columns.setdefault((trials, prior), []).append(dataset)
    rectangles: dict[tuple[int, tuple[str, ...]], list[float]] = {}
    for (trials, prior), datasets in sorted(columns.items()):
        rectangles.setdefault((trials, tuple(datasets)), []).append(prior)
    return rectangles


def _short(priors: Iterable[float]) -> list[str]:
    return [f"{prior:g}" for prior in priors]


def _flag(option: str, chosen: Iterable[str], standard: Iterable[str]) -> str:
    """Return the option, or nothing if all standard values are chosen."""
    names = list(chosen)
    return "" if set(names) == set(standard) else f" --{option} {','.join(names)}"
