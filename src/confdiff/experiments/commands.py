"""The commands that make the trials of a table: all that are there, and no others."""

from collections.abc import Iterable

from confdiff.experiments.cells import Cell
from confdiff.experiments.names import LABELS
from confdiff.experiments.paper import EPOCHS, METHODS_OF_THE_PAPER, PRIORS, TABLES

Place = tuple[int, float, str]
"""Number of trials, prior, data set."""


def commands_of(table: str, protocol: str, epochs: int, cells: Iterable[Cell]) -> list[str]:
    """One command for all methods that have the same cells, if these are all pairs of some data sets and priors.

    The paper's methods and ours are apart, as the command makes the paper's if it is told none.

    cells: of the table, by the protocol, at the number of epochs.
    """
    places: dict[str, set[Place]] = {}
    for cell in cells:
        places.setdefault(cell.method, set()).add((cell.trials, cell.prior, cell.dataset))
    methods: dict[tuple[bool, frozenset[Place]], list[str]] = {}
    for method in sorted(places, key=list(LABELS).index):
        methods.setdefault((method in METHODS_OF_THE_PAPER, frozenset(places[method])), []).append(method)
    always = f"confdiff reproduce {table} --protocol {protocol}" + ("" if epochs == EPOCHS else f" --epochs {epochs}")
    return [
        f"{always} --trials {trials}"
        + _chosen("datasets", datasets, TABLES[table])
        + _chosen("methods", names, METHODS_OF_THE_PAPER)
        + _chosen("priors", [f"{prior:g}" for prior in priors], [f"{prior:g}" for prior in PRIORS])
        for (_, shared), names in methods.items()
        for (trials, datasets), priors in _rectangles(table, shared).items()
    ]


def _rectangles(table: str, places: Iterable[Place]) -> dict[tuple[int, tuple[str, ...]], list[float]]:
    """(number of trials, data sets) -> the priors at which these data sets have so many trials."""
    columns: dict[tuple[int, float], list[str]] = {}
    for trials, prior, dataset in sorted(places, key=lambda place: TABLES[table].index(place[2])):
        columns.setdefault((trials, prior), []).append(dataset)
    rectangles: dict[tuple[int, tuple[str, ...]], list[float]] = {}
    for (trials, prior), datasets in sorted(columns.items()):
        rectangles.setdefault((trials, tuple(datasets)), []).append(prior)
    return rectangles


def _chosen(option: str, chosen: Iterable[str], standard: Iterable[str]) -> str:
    """The option, unless all that is standard is chosen."""
    chosen = list(chosen)
    return "" if set(chosen) == set(standard) else f" --{option} {','.join(chosen)}"
