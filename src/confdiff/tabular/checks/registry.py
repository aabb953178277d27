"""The table of checks.

To add a check:

1. Write one file in this folder with a function ``..._findings(data) -> list[Finding]``. What it needs is in
   :class:`~confdiff.tabular.checks.data.CheckData`. A check that measures something also has a frozen dataclass for the
   numbers and a function ``measure_...(data)``; its findings are then a function of ``(data, measure)``.
2. Add one row to :data:`CHECKS`. The report runs over this table: the findings go to the page, the JSON and the command
   line, and the measure goes to ``report.measures[name]`` and to the JSON.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from confdiff.tabular.checks.annotators import annotator_findings, measure_annotators
from confdiff.tabular.checks.answers import answer_findings, measure_answers
from confdiff.tabular.checks.cells import cell_findings
from confdiff.tabular.checks.columns import column_findings, measure_columns
from confdiff.tabular.checks.components import component_findings, measure_components
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.differences import difference_findings, measure_differences
from confdiff.tabular.checks.few_pairs import few_pairs_findings
from confdiff.tabular.checks.finding import Finding
from confdiff.tabular.checks.groups import group_findings
from confdiff.tabular.checks.ids import id_findings
from confdiff.tabular.checks.learning_curve import learning_curve_findings, measure_learning_curve
from confdiff.tabular.checks.meaning import meaning_findings, measure_meaning
from confdiff.tabular.checks.notation import measure_notation, notation_findings
from confdiff.tabular.checks.one_score import measure_one_score, one_score_findings
from confdiff.tabular.checks.repeats import measure_repeats, repeat_findings
from confdiff.tabular.checks.scale import scale_findings
from confdiff.tabular.checks.triangles import measure_triangles, triangle_findings
from confdiff.tabular.checks.values import value_findings


@dataclass(frozen=True)
class TableCheck:
    """One row of the table of checks.

    Attributes
    ----------
    name : str
        Name of the check, and of its measure in the report.
    findings : callable
        ``(data) -> list of Finding``, or ``(data, measure) -> list of Finding`` if there is a measure.
    measure : callable or None
        ``(data) -> measure``: a dataclass, a tuple of dataclasses, or None if there is nothing to measure.
    of_usable_pairs : bool
        Whether the check looks only at usable pairs, and is skipped if there are none.
    """

    name: str
    findings: Callable[..., list[Finding]]
    measure: Callable[[CheckData], Any] | None = None
    of_usable_pairs: bool = False


CHECKS = (
    TableCheck("cells", cell_findings),
    TableCheck("ids", id_findings),
    TableCheck("values", value_findings),
    TableCheck("answers", answer_findings, measure_answers),
    TableCheck("scale", scale_findings),
    TableCheck("notation", notation_findings, measure_notation, of_usable_pairs=True),
    TableCheck("columns", column_findings, measure_columns),
    TableCheck("components", component_findings, measure_components),
    TableCheck("groups", group_findings),
    TableCheck("differences", difference_findings, measure_differences, of_usable_pairs=True),
    TableCheck("repeats", repeat_findings, measure_repeats, of_usable_pairs=True),
    TableCheck("triangles", triangle_findings, measure_triangles, of_usable_pairs=True),
    TableCheck("one_score", one_score_findings, measure_one_score, of_usable_pairs=True),
    TableCheck("meaning", meaning_findings, measure_meaning, of_usable_pairs=True),
    TableCheck("few_pairs", few_pairs_findings, of_usable_pairs=True),
    TableCheck("annotators", annotator_findings, measure_annotators, of_usable_pairs=True),
    TableCheck("learning_curve", learning_curve_findings, measure_learning_curve, of_usable_pairs=True),
)
"""All checks, in the order in which findings of one severity are listed."""
