"""Draw docs/images/links.png and docs/images/adding-up.png: the three meanings of a graded judgement.

Run ``python docs/images/links.py`` from any folder. Everything is computed from the formulas of ``confdiff.links``.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confdiff.display.figures import add_grid, new_figure, save_figure
from confdiff.display.palette import MEASURED, NEUTRAL, RANDOM
from confdiff.links import LINKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent
REFERENCES = (-2.0, 0.0, 2.0)  # scores of the first item
STYLES = ("--", "-", ":")
TITLES = {
    "probability": "probability: “how much likelier?”",
    "preference": "preference: “which is better, how clearly?”",
    "score": "score: “by how many points?”",
}


def links_figure() -> "Figure":
    """Draw the difference that each link predicts, over the score of the second item, for three first items."""
    figure, row = new_figure(10, 3.4, columns=3, sharey=True)
    second = np.linspace(-5, 5, 201)
    for axes, (name, link) in zip(row, LINKS.items(), strict=True):
        for first, style in zip(REFERENCES, STYLES, strict=True):
            unit = 0.2 if name == "score" else 1.0  # points are on a scale of their own
            difference = link.difference(unit * np.full_like(second, first), unit * second)
            axes.plot(second, difference, style, color=MEASURED, label=f"first item: {first:+.0f}")
        axes.axhspan(1, 1.5, color=NEUTRAL, alpha=0.1, linewidth=0)
        axes.axhspan(-1.5, -1, color=NEUTRAL, alpha=0.1, linewidth=0)
        axes.set_title(TITLES[name], fontsize=10)
        axes.set(xlabel="score of the second item", xlim=(-5, 5), ylim=(-1.5, 1.5))
        add_grid(axes)
    row[0].set_ylabel("judgement, from -1 to 1")
    row[0].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def adding_up_figure() -> "Figure":
    """Draw c(a, c) against c(a, b) + c(b, c) for random items, under the preference link and for points."""
    figure, row = new_figure(7.4, 3.6, columns=2, sharey=True)
    scores = 1.2 * np.random.default_rng(0).normal(size=(3, 400))
    for axes, name in zip(row, ("score", "preference"), strict=True):
        unit = 0.2 if name == "score" else 1.0
        difference = LINKS[name].difference
        sum_of_two = difference(unit * scores[0], unit * scores[1]) + difference(unit * scores[1], unit * scores[2])
        axes.scatter(sum_of_two, difference(unit * scores[0], unit * scores[2]), s=8, color=MEASURED, alpha=0.5)
        axes.plot([-2, 2], [-2, 2], color=RANDOM, linewidth=1)
        axes.set(xlabel="c(a, b) + c(b, c)", xlim=(-2, 2), ylim=(-1.2, 1.2))
        add_grid(axes)
    row[0].set_ylabel("c(a, c)")
    row[0].set_title("probability and score: differences add up", fontsize=10)
    row[1].set_title("preference: differences saturate", fontsize=10)
    return figure


if __name__ == "__main__":
    save_figure(links_figure(), FOLDER / "links.png")
    save_figure(adding_up_figure(), FOLDER / "adding-up.png")
