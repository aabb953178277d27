"""The numbers of the owner's page: the report of ``confdiff check`` and of ``confdiff rank`` on a study, live."""

import time
import warnings
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from confdiff.labelling.annotator_rows import AnnotatorRow, annotator_rows
from confdiff.labelling.checking import shown_columns
from confdiff.labelling.judged_tables import AnswerTable
from confdiff.labelling.reserve import ReserveQuality, reserve_quality
from confdiff.ranking.ranking_items import rank_items
from confdiff.tabular.checks.annotators import annotator_findings
from confdiff.tabular.checks.components import Components, component_findings, measure_components
from confdiff.tabular.checks.learning_curve import LearningCurve, measure_learning_curve
from confdiff.tabular.checks.repeats import Repeats, measure_repeats, repeat_findings
from confdiff.tabular.scales import PLAIN_SCALE

if TYPE_CHECKING:
    from confdiff.labelling.study import Study
    from confdiff.ranking.ranking import Ranking, SideBias
    from confdiff.tabular.checks.finding import Finding

MOST_RANKED = 24
"""Number of items of the ranking on the owner's page: the first and the last ones."""

_FEWEST_GRADES = 3  # for a ranking
_LONGEST_PREVIEW = 90  # characters


@dataclass(frozen=True, eq=False)
class OwnerReport:
    """The state of a study.

    Attributes
    ----------
    made_at : float
        Time of the report, in seconds since 1970.
    items : int
        Number of items of the study.
    answers, graded, same_class, cannot_say : int
        Number of answers, of those with a grade, of same-class answers, and of questions without an answer.
    annotators : tuple of AnnotatorRow
        One row per annotator.
    side_bias : SideBias or None
        Bias towards the item on the right of the screen; None before there is a ranking.
    repeats : Repeats or None
        Pairs that were judged more than once, by one annotator or by several.
    components : Components or None
        Connected components of the judged pairs; None before the first one.
    ranking : Ranking or None
        Scores and ranks with intervals, as ``confdiff rank`` computes them.
    previews : dict of str to ItemPreview
        Ids of the first and the last items of the ranking -> how to show them.
    quality : ReserveQuality
        Agreement with the random pairs that are reserved for it.
    learning_curve : LearningCurve or None
        Accuracy against the number of answers, with a projection.
    findings : tuple of Finding
        What deserves a look, in the words of ``confdiff check``.
    notes : tuple of str
        Warnings of the ranking.
    """

    made_at: float
    items: int
    answers: int
    graded: int
    same_class: int
    cannot_say: int
    annotators: tuple[AnnotatorRow, ...]
    side_bias: "SideBias | None"
    repeats: Repeats | None
    components: Components | None
    ranking: "Ranking | None"
    previews: "dict[str, ItemPreview]"
    quality: ReserveQuality
    learning_curve: LearningCurve | None
    findings: "tuple[Finding, ...]"
    notes: tuple[str, ...]

    @property
    def quota(self) -> int:
        """Number of answers that the annotators with a working link are asked for, with those given by others."""
        return sum(row.answered if row.revoked else max(row.quota, row.answered) for row in self.annotators)

    @property
    def seconds_left(self) -> float | None:
        """Time until the slowest annotator has finished, if all work at once; None before the first answers."""
        times = [row.seconds_left for row in self.annotators if row.seconds_left is not None]
        return max(times, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        values = plain | {
            "annotators": [row.as_dict() for row in self.annotators],
            "side_bias": None if self.side_bias is None else asdict(self.side_bias),
            "repeats": None if self.repeats is None else asdict(self.repeats),
            "components": None if self.components is None else asdict(self.components),
            "ranking": None if self.ranking is None else self._ranking_json(self.ranking),
            "quality": _quality_json(self.quality),
            "learning_curve": None if self.learning_curve is None else asdict(self.learning_curve),
            "findings": [_finding_json(finding) for finding in self.findings],
        }
        return {name: _without_nan(value) for name, value in values.items()}

    def _ranking_json(self, ranking: "Ranking") -> dict[str, Any]:
        """Return the first and the last items of the ranking, and what all items share."""
        columns = {name: _ends(column.tolist()) for name, column in ranking.columns().items()}
        items = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {
            "items": [item | asdict(self.previews[item["id"]]) for item in items],
            "count": len(ranking),
            "pairs": ranking.n_pairs,
            "level": ranking.level,
            "reliability": ranking.reliability,
            "components": ranking.n_components,
        }


@dataclass(frozen=True)
class ItemPreview:
    """An item in the ranking: its row among the items, from 0, and the beginning of its first text."""

    number: int
    text: str


_PLAIN = ("made_at", "items", "answers", "graded", "same_class", "cannot_say", "quota", "seconds_left", "notes")


def owner_report(study: "Study") -> OwnerReport:
    """Measure a study.

    Parameters
    ----------
    study : Study
        The study, which may be collecting answers.
    """
    table = AnswerTable.of(study)
    rows = annotator_rows(study, table)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        ranking, side_bias = _ranked(table)
        quality = reserve_quality(table)
    data = table.answered().check_data
    is_judged = bool(data.is_usable.any())
    repeats = measure_repeats(data) if is_judged else None
    components = measure_components(data) if len(data.pairs) else None
    judged = tuple(row.judged for row in rows if row.judged is not None)
    findings = annotator_findings(data, judged)
    findings += [] if repeats is None else repeat_findings(data, repeats)
    findings += [] if components is None else component_findings(data, components)
    return OwnerReport(
        made_at=time.time(),
        items=len(table.ids),
        answers=len(table),
        graded=int(table.is_graded.sum()),
        same_class=int(np.isfinite(table.same).sum()),
        cannot_say=sum(row.cannot_say for row in rows),
        annotators=rows,
        side_bias=side_bias,
        repeats=repeats,
        components=components,
        ranking=ranking,
        previews=_previews(study, ranking, table.ids.tolist()),
        quality=quality,
        learning_curve=measure_learning_curve(data) if is_judged else None,
        findings=tuple(findings),
        notes=tuple(dict.fromkeys(str(warning.message) for warning in caught)),
    )


def _ranked(table: AnswerTable) -> "tuple[Ranking | None, SideBias | None]":
    """Return the ranking, and the side bias of all annotators together."""
    columns = table.columns()
    if np.count_nonzero(columns["difference"]) < _FEWEST_GRADES:
        return None, None
    pooled = rank_items(columns, scale=PLAIN_SCALE, annotator_model="pooled", n_proposals=0)
    if len(np.unique(columns["annotator"])) < 2:
        return pooled, pooled.side_bias
    return rank_items(columns, scale=PLAIN_SCALE, n_proposals=0), pooled.side_bias


def _ends(values: list[Any]) -> list[Any]:
    """Return the first and the last of many values."""
    end = MOST_RANKED // 2
    return values if len(values) <= MOST_RANKED else [*values[:end], *values[-end:]]


def _previews(study: "Study", ranking: "Ranking | None", ids: list[str]) -> dict[str, ItemPreview]:
    """Return how to show the items at both ends of a ranking."""
    if ranking is None:
        return {}
    numbers = {name: number for number, name in enumerate(ids)}
    kinds = study.settings.kinds
    shown = shown_columns(study.settings, study.columns, study.id_column)
    texts = [column for column in shown if kinds.get(column) in ("text", "markdown")]
    previews = {}
    for name in _ends(ranking.id.tolist()):
        cell = study.item(numbers[name]).get(texts[0]) if texts else None
        previews[name] = ItemPreview(number=numbers[name], text=_shortened("" if cell is None else str(cell)))
    return previews


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_PREVIEW else f"{text[: _LONGEST_PREVIEW - 1]}…"


def _quality_json(quality: ReserveQuality) -> dict[str, Any]:
    measured = None if quality.agreement is None else quality.agreement.to_json()
    return {"answers": quality.answers, "agreement": measured}


def _finding_json(finding: "Finding") -> dict[str, Any]:
    return {name: getattr(finding, name) for name in ("kind", "severity", "count", "text", "action")}


def _without_nan(value: Any) -> Any:
    """Return JSON values with None for numbers that are not finite."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_nan(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(entry) for entry in value]
    return value
