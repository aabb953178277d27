"""The colour, label and line of each method, in every plot and table of the report."""

from typing import Any

from confdiff.datasets import DATASETS
from confdiff.display.palette import family_colours
from confdiff.methods import BUILT_IN_METHODS, METHODS


def colour_of(method: str) -> str:
    """Return the colour of a method; those of plug-ins have a range of their own.

    >>> colour_of("confdiff-abs")
    '#0072B2'
    """
    families = {name: row.family if name in BUILT_IN_METHODS else "plugin" for name, row in METHODS.items()}
    return family_colours(families)[method]


def label_of(method: str) -> str:
    """Return the label of a method; names of other curves are returned unchanged.

    >>> label_of("confdiff-abs"), label_of("item-means")
    ('ConfDiff-ABS', 'item-means')
    """
    return METHODS[method].label if method in METHODS else method


def dataset_label(dataset: str) -> str:
    """Return the label of a data set.

    >>> dataset_label("kmnist")
    'Kuzushiji'
    """
    return DATASETS[dataset].label


def line_style(method: str) -> dict[str, Any]:
    """Return the options of matplotlib for the curve of a method; oracles are dashed."""
    return {
        "color": colour_of(method),
        "label": label_of(method),
        "linestyle": "--" if METHODS[method].family == "oracle" else "-",
        "linewidth": 1.6,
    }
