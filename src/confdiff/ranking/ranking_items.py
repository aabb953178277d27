"""Rank the items of judged pairs: read a table, fit scores, and describe the result."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.judges import ANNOTATOR_MODELS
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.ranking.blocks import MOST_DENSE
from confdiff.ranking.cautions import warn_of_answers, warn_of_ranking
from confdiff.ranking.design import ComparisonDesign
from confdiff.ranking.grades import spaced_design
from confdiff.ranking.judging import fit_judged_scores
from confdiff.ranking.proposing import Proposal, informative_pairs, joining_pairs
from confdiff.ranking.ranking import RankedComponent, Ranking, SideBias
from confdiff.ranking.reading import JudgedItems, judged_items
from confdiff.ranking.scoring import Scores, fit_scores
from confdiff.tabular.checks.graph import components_of
from confdiff.tabular.grades import spacing_words
from confdiff.tabular.scales import Scale
from confdiff.threads import follow_policy
from confdiff.validation import check_choice, check_fraction

_Rows = NDArray[np.int64]
_MOST_COMPONENTS = 10  # described
_MOST_GROUPS = 3  # named per component


@follow_policy
@takes_encoding
def rank_items(
    pairs: Any,
    *,
    ridge: float | None = None,
    by_group: bool = False,
    annotator_model: str = "auto",
    level: float = 0.95,
    n_proposals: int = 10,
    scale: Scale | tuple[float, float] | str | None = None,
    spacing: str = "equal",
    seed: int = 0,
    encoding: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **columns: str | None,
) -> Ranking:
    """Rank the items of judged pairs, which need no features, as ``confdiff rank`` does.

    Parameters
    ----------
    pairs : path, data frame, mapping of columns, or Pairs
        The judged pairs. The items of :class:`~confdiff.Pairs` are named by their row numbers.
    ridge : float, optional
        Strength of the penalty, in comparisons. If None, the spread of the scores and the noise are learned by
        marginal likelihood (empirical Bayes).
    by_group : bool, default=False
        Whether each group has its own scores. Otherwise an item has one score in all groups.
    annotator_model : {"auto", "pooled", "scale", "full"}, default="auto"
        How annotators may differ, if the pairs name them: not at all, in their scale, or also in side bias and noise.
        ``"auto"`` chooses by held-out answers.
    level : float, default=0.95
        Probability of the intervals.
    n_proposals : int, default=10
        Number of pairs to propose for comparison.
    scale : Scale, tuple of two numbers, str or None, default=None
        Scale of the differences, such as ``(1, 7)`` or ``"saaty"``; recognised if None.
    spacing : {"equal", "learned", "auto"}, default="equal"
        The values of ordered grades, such as the points of a scale. ``"auto"`` chooses by held-out answers. They are
        learned before the annotators, who share them.
    seed : int, default=0
        Seed of the draws for intervals of ranks, and of held-out answers.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``.
    config : path, optional
        A ``confdiff.toml`` with columns and options; arguments win over it.
    **columns
        Columns by role, such as ``left="home_team"``; those not given are recognised by their names.

    Returns
    -------
    Ranking

    Raises
    ------
    ValueError
        A row cannot be used, or an option is out of range.

    Warns
    -----
    UserWarning
        The items form several connected components, the declared side equals the result, all pairs are ties, or the
        comparisons hardly separate noise from scores.

    Examples
    --------
    >>> pairs = {"left": ["a", "b", "a"], "right": ["b", "c", "c"], "difference": [0.2, 0.3, 0.4]}
    >>> ranking = rank_items(pairs)
    >>> ranking.id.tolist(), ranking.rank.tolist()
    (['c', 'b', 'a'], [1, 2, 3])
    """
    if check_fraction("level", level) == 1:
        raise ValueError("level must be below 1, such as 0.95; got 1, whose intervals have no ends.")
    check_choice("annotator_model", annotator_model, ANNOTATOR_MODELS)
    if ridge is not None and not (np.isfinite(ridge) and ridge > 0):
        raise ValueError(f"ridge must be a positive number, such as 1.0; got {ridge!r}.")
    judged = judged_items(pairs, scale=scale, columns=columns, config=config).with_weight()
    design, nodes = judged.design(by_group=by_group)
    component = components_of(design.left, design.right, design.n_items)
    warn_of_answers(judged)
    design, spaced = spaced_design(design, component, spacing=spacing, ridge=ridge, seed=seed)
    annotators = None
    if judged.annotator is None or annotator_model == "pooled":
        scores = fit_scores(design, component, ridge=ridge, level=level, seed=seed)
    else:
        names, codes = judged.annotator
        scores, annotators = fit_judged_scores(
            design,
            component,
            np.where(codes < 0, len(names), codes),
            annotator_model=annotator_model,
            ridge=ridge,
            level=level,
            seed=seed,
        )
        annotators = annotators.named({**dict(enumerate(names)), len(names): "(missing)"})
    ranking = _ranking(judged, design, nodes, scores, annotators, by_group=by_group, level=level, count=n_proposals)
    ranking = replace(ranking, ridge_given=ridge is not None)
    if spaced is not None:
        ranking = replace(ranking, spacing=spaced, spacing_text=spacing_words(spaced, judged.scale))
    warn_of_ranking(ranking)
    return ranking


def _ranking(
    judged: JudgedItems,
    design: ComparisonDesign,
    nodes: _Rows,
    scores: Scores,
    annotators: Any,
    *,
    by_group: bool,
    level: float,
    count: int,
) -> Ranking:
    unit = judged.scale.unit
    order = np.lexsort((scores.rank, scores.component))
    score = scores.score[order] * unit
    sd = scores.sd[order] * unit
    ids = judged.ids[nodes % len(judged.ids)]
    group = _names_of_groups(judged, nodes // len(judged.ids)) if by_group else None
    counts = np.bincount(np.concatenate([design.left, design.right]), minlength=len(nodes))
    sizes = np.bincount(scores.component)
    return Ranking(
        id=ids[order],
        rank=scores.rank[order],
        rank_low=scores.rank_low[order],
        rank_high=scores.rank_high[order],
        score=score,
        sd=sd,
        low=score - scores.half_width * sd,
        high=score + scores.half_width * sd,
        comparisons=counts[order],
        component=scores.component[order] + 1,
        group=None if group is None else group[order],
        level=level,
        n_pairs=len(design),
        scale=judged.scale.name,
        spread=float(np.sqrt(scores.estimates.spread)) * unit,
        noise=float(np.sqrt(scores.estimates.noise)) * unit,
        ridge=scores.estimates.ridge,
        ridge_given=False,
        side_bias=_side_bias(judged, scores, annotators),
        n_components=len(sizes),
        components=_components(judged, design, scores.component, sizes),
        proposals=_proposals(scores, ids, group, count),
        is_exact=all(len(block.rows) <= MOST_DENSE for block in scores.blocks),
        annotators=annotators,
    )


def _names_of_groups(judged: JudgedItems, codes: _Rows) -> NDArray[Any]:
    names = np.array(["", *(judged.group[0] if judged.group is not None else ())], dtype=object)
    named: NDArray[Any] = names[codes]
    return named


def _side_bias(judged: JudgedItems, scores: Scores, annotators: Any) -> SideBias | None:
    """Return the common side bias in units of the judgements; None if there is none."""
    if judged.side is None or not judged.side.any() or (annotators is not None and annotators.has_side):
        return None
    value = scores.estimates.side_bias * judged.scale.unit
    reach = scores.half_width * float(np.sqrt(scores.estimates.side_bias_variance)) * judged.scale.unit
    return SideBias(value=value, low=value - reach, high=value + reach)


def _components(
    judged: JudgedItems, design: ComparisonDesign, component: _Rows, sizes: _Rows
) -> tuple[RankedComponent, ...]:
    of_pair = component[design.left]
    n_pairs = np.bincount(of_pair, minlength=len(sizes))
    described = []
    for number in range(min(_MOST_COMPONENTS, len(sizes))):
        groups: tuple[str, ...] = ()
        if judged.group is not None:
            names, codes = judged.group
            present = np.unique(codes[(of_pair == number) & (codes >= 0)])
            groups = tuple(names[code] for code in present[:_MOST_GROUPS])
        described.append(RankedComponent(items=int(sizes[number]), pairs=int(n_pairs[number]), groups=groups))
    return tuple(described)


def _proposals(scores: Scores, ids: NDArray[Any], group: NDArray[Any] | None, count: int) -> tuple[Proposal, ...]:
    """Return the pairs to compare next: those that join components, then those that reduce uncertainty."""
    listed = ids.tolist()
    joining = joining_pairs(scores, count // 2) if group is None else []
    proposals = [Proposal(left=listed[i], right=listed[j], reason="joins components") for i, j in joining]
    for i, j, reduction in informative_pairs(scores, count - len(proposals)):
        proposals.append(
            Proposal(
                left=listed[i],
                right=listed[j],
                reason="reduces uncertainty",
                reduction=reduction,
                group=None if group is None else str(group[i]),
            )
        )
    return tuple(proposals)
