"""One palette for every page and plot, chosen to be readable with colour-blind vision.

The base colours are those of Okabe and Ito (2008); methods of this library add the muted colours of Tol (2021).
Plots use the roles (``POSITIVE``, ``BOUND``, ...), never a colour code of their own.
"""

from collections import Counter
from collections.abc import Iterable

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
"""What random judgements would give, beside measured values."""
GUIDE = "#dddddd"
"""Faint lines that lead the eye to a label."""

SEVERITIES = {"error": VERMILION, "warning": BLUE, "note": GREY}
"""Severity of a finding -> colour of its badge."""

_FAMILIES = {
    "confdiff": ("#E69F00", "#56B4E9", "#0072B2", "#882255", "#332288", "#44AA99", "#AA4499"),
    "pcomp": ("#F0C400", "#CC79A7", "#D55E00", "#009E73"),
    "oracle": ("#999999", "#444444"),  # references rather than competitors: grey
}
_OTHERS = ("#999933", "#661100", "#117733", "#88CCEE", "#DDCC77", "#CC6677")


def family_colours(methods: Iterable[str]) -> dict[str, str]:
    """Return one colour per method, in shades of its family.

    The family of a method is its name up to the first hyphen. Methods of a family take its colours in the order in
    which they come; a family that the palette does not list, or has no colour left for, takes the remaining ones.

    Parameters
    ----------
    methods : iterable of str
        Names of methods, in the order of their table.

    Returns
    -------
    dict of str to str
        Name of a method -> colour, such as ``"#0072B2"``.

    Examples
    --------
    >>> family_colours(["confdiff-unbiased", "pcomp-relu", "oracle-hard", "bpr"])
    {'confdiff-unbiased': '#E69F00', 'pcomp-relu': '#F0C400', 'oracle-hard': '#999999', 'bpr': '#999933'}
    """
    colours = {}
    taken: Counter[str] = Counter()
    for method in methods:
        family = method.split("-")[0]
        if taken[family] >= len(_FAMILIES.get(family, ())):
            family = ""
        shades = _FAMILIES.get(family, _OTHERS)
        colours[method] = shades[taken[family] % len(shades)]
        taken[family] += 1
    return colours
