"""Write the card of a model: a page about its data and its quality."""

import math
from typing import TYPE_CHECKING

from confdiff import __version__
from confdiff.display.figures import draw_diagonal, new_figure
from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import MEASURED
from confdiff.tabular.scales import parse_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from confdiff.tabular.model.about import About
    from confdiff.tabular.model.model import ComparisonModel


def card_html(model: "ComparisonModel") -> str:
    """Return a self-contained page about a model."""
    scale = model.about.data.scale_option
    return render(
        "confdiff.tabular.model",
        "card.html",
        about=model.about,
        scale=None if scale is None else parse_scale(scale),
        classifier=model.classifier,
        version=__version__,
        picture=as_data_uri(card_figure(model.about)),
        digits=_digits,
    )


def _digits(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def card_figure(about: "About") -> "Figure":
    """Draw the reliability of the differences of held-out pairs, and a histogram of the probabilities of all items."""
    figure, (left, right) = new_figure(8, 3.4, columns=2)
    draw_diagonal(left, -1, 1)
    if about.validation is not None:
        predicted, judged, counts = zip(*about.validation.reliability, strict=True)
        left.scatter(predicted, judged, s=[20 + 180 * count / sum(counts) for count in counts], color=MEASURED)
    left.set(xlabel="predicted difference", ylabel="mean judged difference", xlim=(-1, 1), ylim=(-1, 1))
    left.set_title("held-out pairs", fontsize=10)
    bins = len(about.probabilities)
    centres = [(k + 0.5) / bins for k in range(bins)]
    right.bar(centres, about.probabilities, width=0.9 / bins, color=MEASURED)
    right.set(xlabel="probability of the positive class", ylabel="items", xlim=(0, 1))
    right.set_title("all items", fontsize=10)
    return figure
