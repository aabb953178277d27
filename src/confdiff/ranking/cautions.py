"""Warn of comparisons that do not support what a ranking says."""

import numpy as np

from confdiff.display.text import plural
from confdiff.ranking.ranking import Ranking
from confdiff.ranking.reading import JudgedItems
from confdiff.validation import warn_user

_MUCH_NOISE = 0.3  # variance of the noise relative to the scores
_FEW_CHECKS = 0.1  # fraction of comparisons that repeat another one or close a cycle
_MANY_PAIRS = 20  # from which pairs that always favour one side are suspicious


def warn_of_answers(judged: JudgedItems) -> None:
    """Warn if all pairs are ties, or if the side that was shown first equals the result."""
    if not judged.difference.any():
        warn_user("all pairs are ties: they rank no item above another, and the intervals are not reliable.")
    _warn_of_side(judged)


def warn_of_ranking(ranking: Ranking) -> None:
    """Warn of several connected components, and of comparisons that cannot separate noise from scores."""
    if ranking.score.any():
        _warn_of_chains(ranking)
    if ranking.n_components > 1 and ranking.group is None:
        warn_user(
            f"the compared items form {ranking.n_components:,} connected components. Items of different components "
            "cannot be compared: each component has its own scores and ranks. Add pairs that join them."
        )


def _warn_of_side(judged: JudgedItems) -> None:
    if judged.side is None:
        return
    favoured = np.sign(judged.difference * judged.side)
    favoured = favoured[favoured != 0]
    if len(favoured) >= _MANY_PAIRS and abs(favoured.sum()) == len(favoured):
        position = "second" if favoured[0] > 0 else "first"
        warn_user(
            f"the item shown {position} is the better one in every pair that is not a tie. If the order follows the "
            "result, it is not a side: then the side bias absorbs differences of the items. Pass no column of the side."
        )


def _warn_of_chains(ranking: Ranking) -> None:
    """Warn if much noise was learned, but little more than the exchangeability of items separates it from scores."""
    checks = ranking.n_pairs - (len(ranking) - ranking.n_components)
    if ranking.ridge_given or ranking.ridge < _MUCH_NOISE or checks > _FEW_CHECKS * ranking.n_pairs:
        return
    warn_user(
        f"{checks:,} of {plural(ranking.n_pairs, 'comparison')} repeat another one or close a cycle, so they "
        "hardly separate noise from scores. If neighbours of a sorted list were compared, the scores are shrunk too "
        "much, and ranks may contradict the answers. Compare more pairs at random, or pass a small ridge=0.01."
    )
