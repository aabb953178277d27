"""Draw docs/images/ranking.png: the scores of simulated items with their intervals, as on the page of a ranking.

Run ``python docs/images/ranking.py``.
"""

from pathlib import Path

import numpy as np

from confdiff import rank_items
from confdiff.display.figures import save_figure
from confdiff.ranking.figures import ranking_figure

NAMES = ["ash", "beech", "birch", "cedar", "elm", "fir", "hazel", "larch", "linden", "maple", "oak", "pine"]

if __name__ == "__main__":
    rng = np.random.default_rng(3)
    score = rng.normal(0, 0.25, len(NAMES))
    left = rng.integers(0, len(NAMES), 90)
    right = (left + rng.integers(1, len(NAMES), 90)) % len(NAMES)
    difference = (score[right] - score[left] + rng.normal(0, 0.15, 90)).clip(-1, 1)
    names = np.array(NAMES)
    ranking = rank_items({"left": names[left], "right": names[right], "difference": difference})
    save_figure(ranking_figure(ranking), Path(__file__).with_suffix(".png"))
