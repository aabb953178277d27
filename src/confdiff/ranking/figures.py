"""The figure of a ranking: scores with their intervals."""

from matplotlib.figure import Figure

from confdiff.display.figures import add_grid, new_figure
from confdiff.display.palette import MEASURED, NEUTRAL
from confdiff.ranking.ranking import Ranking

_MOST_LETTERS = 28  # of the name of an item
MOST_NAMED = 60
"""The number of items that a figure names; of longer rankings it shows all intervals without names."""


def ranking_figure(ranking: Ranking) -> Figure:
    """Draw the scores of the largest connected component with their intervals, the best item at the top."""
    size = ranking.components[0].items
    is_named = size <= MOST_NAMED
    figure, axes = new_figure(8, max(2.4, 0.24 * size + 1.2) if is_named else 5.5)
    scores = ranking.score[:size]
    positions = range(1, size + 1)
    if is_named:
        reach = (scores - ranking.low[:size], ranking.high[:size] - scores)
        axes.errorbar(scores, positions, xerr=reach, fmt="o", color=MEASURED, markersize=4, linewidth=1.4)
        axes.set_yticks(positions, [_label(ranking, row) for row in range(size)], fontsize=8)
        axes.set_ylim(size + 0.7, 0.3)
        axes.set_ylabel("item and rank")
    else:
        axes.fill_betweenx(positions, ranking.low[:size], ranking.high[:size], color=MEASURED, alpha=0.25, linewidth=0)
        axes.plot(scores, positions, color=MEASURED, linewidth=1.4)
        axes.set_ylim(size + 1, 0)
        axes.set_ylabel("rank")
    axes.axvline(0, color=NEUTRAL, linewidth=0.8, linestyle=":")
    axes.set_xlabel("score, relative to the mean of the items")
    axes.set_title(f"{size:,} items, with intervals of {ranking.level:.0%}", fontsize=10)
    add_grid(axes, "x")
    return figure


def _label(ranking: Ranking, row: int) -> str:
    text = str(ranking.id[row])
    if ranking.group is not None:
        text = f"{ranking.group[row]}: {text}"
    short = text if len(text) <= _MOST_LETTERS else text[: _MOST_LETTERS - 1] + "…"
    return f"{short.replace('$', chr(92) + '$')}  {ranking.rank[row]}"
