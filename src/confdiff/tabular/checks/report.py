"""Checking items and judged pairs before anything is learned from them."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from confdiff.display.text import plural
from confdiff.pairs import Pairs
from confdiff.pairs.describe import PairsDescription, describe_pairs
from confdiff.tabular.checks import annotators as people
from confdiff.tabular.checks import findings as words
from confdiff.tabular.checks import graph, one_score, triangles
from confdiff.tabular.checks import graph_findings as graph_words
from confdiff.tabular.checks.columns import Table, item_findings, item_table, pair_table, use_of
from confdiff.tabular.checks.findings import Finding, Mask
from confdiff.tabular.comparisons import Comparisons, split_pairs
from confdiff.tabular.scales import PLAIN, Scale, parse_scale, recognise_scale
from confdiff.tabular.tables import ROLES, ItemTable, PairTable, read_items, read_judged
from confdiff.validation import check_choice

HELD_OUT = 0.2  # of the pairs, by `confdiff fit`, unless it is told otherwise


@dataclass(frozen=True)
class Measures:
    """What the pairs that can be used say.

    bias_error: the standard error of the mean difference, which is above 0 where the second item is favoured.
    at_ends: the share of differences that stand at an end of the scale.
    """

    differences: PairsDescription
    bias_error: float
    at_ends: float
    repeats: graph.Repeats
    triangles: triangles.Triangles | None
    one_score: one_score.OneScore | None
    annotators: tuple[people.Annotator, ...]


@dataclass(frozen=True)
class CheckReport:
    """What a check found.

    used: how many pairs can be used. scale: what the differences are on; None where that cannot be told.
    measures: None where no pair can be used. findings: what stops first, notes last.
    """

    items: Table
    pairs: Table
    used: int
    scale: Scale | None
    scale_given: bool
    parts: graph.Parts
    measures: Measures | None
    findings: tuple[Finding, ...]

    @property
    def stops(self) -> tuple[Finding, ...]:
        """What `confdiff fit` would refuse."""
        return tuple(finding for finding in self.findings if finding.severity == "stop")

    @property
    def verdict(self) -> str:
        """All of it in one line."""
        if self.stops:
            return f"`confdiff fit` would refuse: {self.stops[0].text}" + _and_more(len(self.stops) - 1)
        minded = sum(finding.severity == "mind" for finding in self.findings)
        return "Ready for `confdiff fit`; " + (f"{plural(minded, 'thing')} to mind." if minded else "all is well.")

    @property
    def prior_in_words(self) -> str:
        """What the differences say about the class prior."""
        if self.measures is None:
            return "No pair can be used, so nothing is known about the class prior."
        interval = self.measures.differences.prior_interval
        if interval is None:
            return (
                "No class prior allows differences as large as these: they are not exact differences of probabilities "
                "of independent items. Votes and points of a scale seldom are; then take scores as a ranking."
            )
        low, high = interval
        return (
            f"If the differences are exact and the items of a pair independent, between {low:.0%} and {high:.0%} of "
            "the items are positive (95 %): the larger the differences, the nearer to half. Differences tell no more "
            "about the share of positives, unless some items are known to be nearly certain."
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        formula = None if self.scale is None else words.mapping(self.scale)
        return {"verdict": self.verdict, **asdict(self), "mapping": formula, "prior": self.prior_in_words}


def check_comparisons(items: Any, pairs: Any, *, scale: Scale | str | None = None, **columns: Any) -> CheckReport:
    """Look at items and judged pairs, as ``confdiff check`` does.

    items, pairs: files or data frames. scale: of the differences, such as ``"1,7"``; recognised if not given.
    columns: which column is what, such as ``left="arg1"``; ``id`` is of the items, as is ``ignore``, a list of columns.

    >>> items = {"id": ["a", "b", "c"], "age": [30.0, 50.0, 40.0]}
    >>> pairs = {"left": ["a", "b"], "right": ["b", "x"], "difference": [0.5, 0.1]}
    >>> check_comparisons(items, pairs).stops[0].kind
    'unknown-id'
    """
    for name in columns:
        check_choice("column", name, ["id", "ignore", *ROLES])
    table = read_items(items, id=columns.pop("id", None), ignore=columns.pop("ignore", None) or ())
    judged = read_judged(pairs, **columns)
    found = parse_scale(scale) if isinstance(scale, str) else scale
    return _checked(table, judged, found or recognise_scale(judged.difference), scale is not None)


def _checked(items: ItemTable, pairs: PairTable, scale: Scale | None, given: bool) -> CheckReport:
    left, right = pairs.rows(items)
    known = (left >= 0) & (right >= 0) & (left != right)
    c = pairs.difference if scale is None else scale.differences(pairs.difference)
    beyond = np.abs(c) > 1 + 1e-6
    parts = graph.parts_of(left[known], right[known], len(items))
    group_names, group = _group(pairs)
    use = use_of(items, parts >= 0)
    described = graph.describe_parts(parts, left[known], group_names, group[known])
    usable = known & np.isfinite(c) & ~beyond & (scale is not None) & _good_weight(pairs)
    measures, from_pairs = _measured(items, pairs, usable, left, right, c)
    findings = [
        *words.id_findings(pairs, left, right),
        *words.number_findings(pairs),
        *words.scale_findings(pairs.difference, scale, beyond & np.isfinite(c), given),
        *item_findings(items, use, parts >= 0),
        *graph_words.part_findings(described),
        *words.name_findings(pairs),
        *from_pairs,
    ]
    return CheckReport(
        item_table(items, use),
        pair_table(pairs),
        int(usable.sum()),
        scale,
        given,
        described,
        measures,
        words.by_severity(findings),
    )


def _and_more(count: int) -> str:
    return f" That is one of {count + 1} reasons." if count else ""


def _group(pairs: PairTable) -> tuple[list[str], graph.Rows]:
    return ([], np.full(len(pairs), -1)) if pairs.group is None else people.coded(pairs.group)


def _good_weight(pairs: PairTable) -> Mask:
    weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
    good: Mask = np.isfinite(weight) & (weight >= 0) & np.any(weight > 0)
    return good


def _measured(
    items: ItemTable, pairs: PairTable, usable: Mask, left: graph.Rows, right: graph.Rows, c: graph.Floats
) -> tuple[Measures | None, list[Finding]]:
    """What the pairs that can be used say, and what of it is worth saying."""
    rows = np.flatnonzero(usable)
    if not len(rows):
        return None, []
    weight = np.ones(len(rows)) if pairs.weight is None else pairs.weight[rows]
    weight = weight / max(weight.max(), np.finfo(float).tiny)  # as sums of very large ones would overflow
    judged = graph.Judgements(len(items), rows, left[rows], right[rows], c[rows].clip(-1, 1), weight)
    edges, scores = graph.edges_of(judged), one_score.fitted_scores(judged)
    described = describe_pairs(Pairs(np.zeros((len(items), 1)), judged.left, judged.right, judged.c))
    names, codes = ([], np.full(len(rows), -1)) if pairs.annotator is None else people.coded(pairs.annotator[rows])
    measures = Measures(
        described, float(judged.c.std() / len(rows) ** 0.5), float((np.abs(judged.c) > 1 - 1e-6).mean()),
        graph.repeats_of(edges), triangles.triangles_of(edges), one_score.explained(judged, scores),
        people.annotators_of(judged, edges, names, codes),
    )  # fmt: skip
    return measures, [
        *graph_words.difference_findings(described, measures.bias_error, measures.at_ends),
        *graph_words.repeat_findings(edges, measures.repeats, rows),
        *graph_words.triangle_findings(measures.triangles),
        *one_score.score_findings(measures.one_score, len(rows)),
        *_few_pairs(judged),
        *people.annotator_findings(measures.annotators, lambda name: rows[codes == names.index(name)]),
    ]


def _few_pairs(judged: graph.Judgements) -> list[Finding]:
    """Whether `fit` could hold out pairs to judge its model by: its own code is asked."""
    try:
        split_pairs(Comparisons(judged.left, judged.right, judged.c.astype(np.float32), PLAIN), HELD_OUT, seed=0)
    except ValueError as error:
        action = "`fit` refuses unless it holds out none, and then nothing is known about how good the model is."
        return [Finding("few-pairs", "mind", len(judged), (), _sentence(str(error)), action)]
    return []


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
