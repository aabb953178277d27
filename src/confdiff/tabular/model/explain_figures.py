"""Draw the importance of columns, and the contributions of columns to the score of an item."""

from typing import TYPE_CHECKING

from confdiff.display.figures import add_grid, new_figure
from confdiff.display.palette import MEASURED, NEGATIVE, NEUTRAL, POSITIVE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from confdiff.tabular.model.importance import Importance

_MAX_BARS = 15
_MAX_LABEL = 40  # characters


def importance_figure(importance: "Importance") -> "Figure":
    """Draw the drop of R² of the most important columns, with two standard errors to each side."""
    rows = importance.columns[:_MAX_BARS][::-1]
    figure, axes = new_figure(8, 1 + 0.28 * len(rows))
    axes.barh(
        [_shortened(row.column) for row in rows],
        [row.r2_drop for row in rows],
        xerr=[2 * row.r2_error for row in rows],
        color=MEASURED,
        ecolor=NEUTRAL,
        capsize=2,
    )
    axes.axvline(0, color=NEUTRAL, linewidth=0.8)
    axes.set(xlabel="drop of R² if the values of the column are permuted")
    add_grid(axes, "x")
    return figure


def contributions_figure(labels: list[str], contributions: list[float]) -> "Figure":
    """Draw contributions as bars to the right (they raise the score) and to the left (they lower it)."""
    figure, axes = new_figure(8, 0.9 + 0.28 * len(labels))
    positions = list(range(len(labels)))[::-1]
    colours = [POSITIVE if value >= 0 else NEGATIVE for value in contributions]
    axes.barh(positions, contributions, color=colours)
    axes.set_yticks(positions, [_shortened(label) for label in labels])
    axes.axvline(0, color=NEUTRAL, linewidth=0.8)
    axes.set(xlabel="contribution to the score")
    add_grid(axes, "x")
    return figure


def _shortened(text: str) -> str:
    """Return a label that matplotlib can draw and does not read as mathematics, cut off where it is long."""
    line = " ".join(text.encode(errors="replace").decode().split())  # half a character cannot be drawn
    label = line if len(line) <= _MAX_LABEL else line[: _MAX_LABEL - 1] + "…"
    return label.replace("$", "\\$")
