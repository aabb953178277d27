"""Draw docs/images/idea.png: from one graded comparison to the probability of a single item.

Run ``python docs/images/idea.py`` from any folder. The picture has a white panel of its own, so that it reads the same
on white and on dark pages.
"""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

INK = "#1f2933"
GREY = "#6b7785"
BLUE = "#2a6f97"
ORANGE = "#d9772b"
PALE_BLUE = "#e8f1f6"
PALE_ORANGE = "#fdf0e4"
WIDTH = 12.0
HEIGHT = 4.4


def box(axes: Axes, x: float, y: float, width: float, height: float, face: str, edge: str) -> None:
    """Draw a rounded box whose lower left corner is at (x, y)."""
    style = "round,pad=0,rounding_size=0.14"
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=face, edgecolor=edge, linewidth=1.6))


def text(axes: Axes, x: float, y: float, words: str, size: float, color: str = INK, weight: str = "normal") -> None:
    """Write centred words."""
    axes.text(x, y, words, ha="center", va="center", fontsize=size, color=color, fontweight=weight, linespacing=1.35)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow from start to end."""
    properties = {"arrowstyle": "-|>,head_width=0.35,head_length=0.6", "color": GREY, "linewidth": 2}
    axes.annotate("", xy=end, xytext=start, arrowprops=properties)


def card(axes: Axes, x: float, y: float, name: str, facts: str) -> None:
    """Draw an item: a name and its features."""
    box(axes, x, y, 1.75, 1.2, PALE_BLUE, BLUE)
    text(axes, x + 0.875, y + 0.88, name, 12.5, BLUE, "bold")
    text(axes, x + 0.875, y + 0.4, facts, 10.5)


def draw_judgement(axes: Axes) -> None:
    """Draw two items and what a person says about them."""
    text(axes, 2.4, 3.92, "1  A person compares two items", 13, weight="bold")
    card(axes, 0.4, 2.35, "Patient A", "age 54, ward B")
    card(axes, 2.65, 2.35, "Patient B", "age 71, ward A")
    box(axes, 0.4, 0.75, 4.0, 0.95, PALE_ORANGE, ORANGE)
    text(axes, 2.4, 1.225, "“B's risk is about\n20 points higher than A's.”", 12.5)
    arrow(axes, (1.275, 2.33), (1.275, 1.72))
    arrow(axes, (3.525, 2.33), (3.525, 1.72))
    text(axes, 2.4, 0.38, "c = p(B) - p(A) = 0.20     no label, no probability", 10.5, GREY)


def draw_model(axes: Axes) -> None:
    """Draw the model that learns from many such judgements."""
    text(axes, 6.4, 3.92, "2  A model learns from many", 13, weight="bold")
    arrow(axes, (4.55, 2.05), (5.2, 2.05))
    box(axes, 5.25, 1.15, 2.3, 1.8, "white", INK)
    text(axes, 6.4, 2.4, "model", 15, weight="bold")
    text(axes, 6.4, 1.72, "scores one item\nat a time", 11)
    text(axes, 6.4, 0.38, "pairs are needed for training only", 10.5, GREY)


def draw_probability(axes: Axes) -> None:
    """Draw the prediction for one item as a number and a bar."""
    text(axes, 10.0, 3.92, "3  Probability of a single item", 13, weight="bold")
    card(axes, 9.125, 2.35, "Patient C", "age 63, ward A")
    arrow(axes, (7.6, 2.05), (8.25, 2.05))
    arrow(axes, (10.0, 2.33), (10.0, 1.95))
    left = 8.5
    width = 3.0
    probability = 0.37
    box(axes, left, 0.75, width, 0.5, "#eef0f2", "#c3cad1")
    box(axes, left, 0.75, width * probability, 0.5, ORANGE, ORANGE)
    text(axes, 10.0, 1.65, f"p(ill) = {probability:.2f}", 15, ORANGE, "bold")
    text(axes, left, 0.38, "0", 10.5, GREY)
    text(axes, left + width, 0.38, "1", 10.5, GREY)


def main() -> None:
    """Write the picture beside this script."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    figure.patch.set_alpha(0)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT))
    axes.axis("off")
    panel = FancyBboxPatch(
        (0.06, 0.06),
        WIDTH - 0.12,
        HEIGHT - 0.12,
        boxstyle="round,pad=0,rounding_size=0.2",
        facecolor="white",
        edgecolor="#d5dae0",
        linewidth=1.2,
    )
    axes.add_patch(panel)
    draw_judgement(axes)
    draw_model(axes)
    draw_probability(axes)
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=130)


if __name__ == "__main__":
    main()
