"""One palette for every page and plot, chosen to be readable with colour-blind vision.

The base colours are those of Okabe and Ito (2008); methods of this library add the colours of Tol (2021).
Plots use the roles (``POSITIVE``, ``BOUND``, ...), never a colour code of their own.
"""

from collections import Counter
from collections.abc import Mapping

BLUE = "#0072B2"
VERMILION = "#D55E00"
GREY = "#555555"

POSITIVE = BLUE
"""The positive class."""
NEGATIVE = VERMILION
"""The negative class."""
NEUTRAL = GREY
"""Data that belong to neither class, and reference lines."""
MEASURED = BLUE
"""Measured values."""
BOUND = VERMILION
"""A theoretical bound on measured values."""
TYPICAL = BLUE
"""A member of a group that resembles the others."""
OUTLYING = VERMILION
"""A member of a group that differs from the others."""
RANDOM = VERMILION
"""Values of random judgements, next to measured ones."""
GUIDE = "#dddddd"
"""Faint lines that lead the eye to a label."""

SEVERITIES = {"error": VERMILION, "warning": BLUE, "note": GREY}
"""Severity of a finding -> colour of its badge."""

# A method takes the next colour of its family, in the order of the table in methods.py.
# The comments name the method that has the colour today.
_FAMILIES = {
    "confdiff": (
        "#E69F00",  # ConfDiff-Unbiased
        "#56B4E9",  # ConfDiff-ReLU
        "#0072B2",  # ConfDiff-ABS
        "#882255",  # ConfDiff-Regression
        "#332288",  # ConfDiff-Combined
        "#44AA99",  # ConfDiff-Projection
        "#AA4499",  # ConfDiff-Information
        "#CC6677",  # ConfDiff-Similarity
    ),
    "similarity": (
        "#BBCC33",  # Sconf-Unbiased
        "#77AADD",  # Sconf-ReLU
        "#4477AA",  # Sconf-ABS
        "#EEDD88",  # SconfConfDiff-Unbiased
        "#99DDFF",  # SconfConfDiff-ReLU
        "#225522",  # SconfConfDiff-ABS
        "#AAAA00",  # SD-Unbiased
        "#FFAABB",  # SD-ReLU
        "#994455",  # SD-ABS
        "#EE8866",  # SDPcomp-Unbiased
        "#228833",  # SDPcomp-ReLU
        "#004488",  # SDPcomp-ABS
    ),
    "baseline": (
        "#CCBB44",  # GLWS
        "#BB5566",  # CRCR-like
    ),
    "pcomp": (
        "#F0C400",  # Pcomp-Unbiased
        "#CC79A7",  # Pcomp-ReLU
        "#D55E00",  # Pcomp-ABS
        "#009E73",  # Pcomp-Teacher
    ),
    "ranking": (
        "#999933",  # BPR
        "#661100",  # MRL
    ),
    "plugin": (  # methods of plug-ins, in the order of their registration
        "#D81B60",
        "#1E88E5",
        "#6D4C41",
        "#00897B",
        "#8E24AA",
        "#F4511E",
        "#7CB342",
        "#3949AB",
        "#C0CA33",
        "#546E7A",
    ),
    "oracle": (  # references rather than competitors: grey
        "#999999",  # Oracle-Hard
        "#444444",  # Oracle-Soft
    ),
}
_OTHERS = (
    "#117733",  # Preference
    "#88CCEE",  # Score
    "#DDCC77",
    "#66CCEE",
)


def family_colours(families: Mapping[str, str]) -> dict[str, str]:
    """Return one colour per method, in shades of its family.

    Methods of a family take its colours in the order in which they come. A family without colours of its own takes the
    remaining colours.

    Parameters
    ----------
    families : mapping of str to str
        Name of a method -> its family, in the order of the table of methods.

    Returns
    -------
    dict of str to str
        Name of a method -> colour, such as ``"#0072B2"``.

    Examples
    --------
    >>> family_colours({"confdiff-unbiased": "confdiff", "oracle-hard": "oracle", "bpr": "ranking"})
    {'confdiff-unbiased': '#E69F00', 'oracle-hard': '#999999', 'bpr': '#999933'}
    """
    colours = {}
    taken: Counter[str] = Counter()
    for method, family in families.items():
        has_colours = taken[family] < len(_FAMILIES.get(family, ()))
        source = family if has_colours else ""
        shades = _FAMILIES.get(source, _OTHERS)
        colours[method] = shades[taken[source] % len(shades)]
        taken[source] += 1
    return colours
