"""Check items and judged pairs before learning from them."""

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from confdiff.config import optional_config
from confdiff.display.text import plural
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.links import find_link
from confdiff.tabular.checks.columns import TableSummary
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.differences import prior_statement
from confdiff.tabular.checks.finding import Finding, by_severity
from confdiff.tabular.checks.meaning import meaning_statement
from confdiff.tabular.checks.registry import CHECKS
from confdiff.tabular.comparisons import recognised_scale
from confdiff.tabular.faults import Fault
from confdiff.tabular.roles import ROLES, check_column
from confdiff.tabular.scales import Scale, parse_scale
from confdiff.tabular.tables import read_comparisons
from confdiff.threads import follow_policy
from confdiff.validation import check_choice

_NO_MEANING = "No pair can be used, so nothing is known about the meaning of the judgements."


@dataclass(frozen=True)
class CheckReport:
    """Measures and findings of all checks.

    Attributes
    ----------
    id_name : str
        The column of ids of the items.
    usable_pairs : int
        Number of pairs that `fit` could learn from.
    scale : Scale or None
        Scale of the differences; None if it was neither given nor recognised.
    scale_given : bool
        Whether the user gave the scale.
    measures : dict of str to dataclass
        Name of a check -> its measure. Checks of usable pairs are missing if there are no such pairs.
    findings : tuple of Finding
        Errors first, notes last.
    meaning_statement : str
        The information of the judgements about the question that was asked.
    """

    id_name: str
    usable_pairs: int
    scale: Scale | None
    scale_given: bool
    measures: Mapping[str, Any]
    findings: tuple[Finding, ...]
    meaning_statement: str

    @property
    def items(self) -> TableSummary:
        """Summary of the table of items."""
        summary: TableSummary = self.measures["columns"].items
        return summary

    @property
    def pairs(self) -> TableSummary:
        """Summary of the table of pairs."""
        summary: TableSummary = self.measures["columns"].pairs
        return summary

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings for which `fit` would stop with an error."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def verdict(self) -> str:
        """The result of the check in one sentence."""
        if self.errors:
            more = f" ({len(self.errors)} errors in all.)" if len(self.errors) > 1 else ""
            return f"`confdiff fit` would stop with an error: {self.errors[0].text}{more}"
        warnings = sum(finding.severity == "warning" for finding in self.findings)
        return f"Ready for `confdiff fit`, with {plural(warnings, 'warning') if warnings else 'no warnings'}."

    @property
    def prior_statement(self) -> str:
        """The information of the differences about the class prior."""
        answers = self.measures.get("answers")
        if "differences" not in self.measures and answers is not None:
            return f"For pairs of independent items, the answers imply {answers.prior:.2f} or {1 - answers.prior:.2f}."
        if "differences" not in self.measures:
            return "No pair can be used, so nothing is known about the class prior."
        return prior_statement(self.measures["differences"].summary)

    @property
    def link(self) -> str | None:
        """The link that was declared, or that the judgements determine; None if neither."""
        meaning = self.measures.get("meaning")
        return None if meaning is None else meaning.declared or meaning.proposal

    def reworded(self, translate: Callable[[str], str]) -> "CheckReport":
        """Return the same report with translated texts of findings and of the meaning."""
        findings = tuple(
            replace(finding, text=translate(finding.text), action=translate(finding.action))
            for finding in self.findings
        )
        return replace(self, findings=findings, meaning_statement=translate(self.meaning_statement))

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary that can be written as JSON."""
        content = asdict(self)
        columns = content["measures"].pop("columns")
        meaning = content.pop("meaning_statement")
        return {
            "verdict": self.verdict,
            "items": columns["items"],
            "pairs": columns["pairs"],
            **content,
            "scale_formula": None if self.scale is None else self.scale.formula,
            "scale_meaning": None if self.scale is None else self.scale.meaning,
            "prior": self.prior_statement,
            "meaning": meaning,
        }


@follow_policy
@takes_encoding
def check_comparisons(
    items: Any,
    pairs: Any,
    *,
    scale: Scale | tuple[float, float] | str | None = None,
    kinds: Mapping[str, str] | None = None,
    link: str | None = None,
    encoding: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **columns: Any,
) -> CheckReport:
    """Check items and judged pairs, as ``confdiff check`` does.

    Parameters
    ----------
    items, pairs : path, data frame or mapping of columns
        The two tables.
    scale : Scale, tuple of two numbers, str or None, default=None
        Scale of the differences, such as ``(1, 7)``, ``"1,7"`` or ``"saaty"``; recognised if None.
    kinds : mapping, optional
        Column of the items -> its kind, as in :class:`~confdiff.tabular.features.item_features.ItemFeatures`.
    link : str, optional
        What was asked, as :mod:`confdiff.links` names it, to be compared with the judgements.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.
    config : path, optional
        A ``confdiff.toml`` with columns and options, see :class:`confdiff.config.Config`; arguments win over it.
    **columns
        Columns by role, such as ``left="arg1"``; those not given are recognised by their names. ``id`` is the column
        of ids of the items, and ``ignore`` is a list of columns of the items to leave out.

    Returns
    -------
    CheckReport

    Raises
    ------
    ValueError
        If a table cannot be read or has no column of a role that is needed. Other faults are findings.

    Examples
    --------
    >>> items = {"id": ["a", "b", "c"], "age": [30.0, 50.0, 40.0]}
    >>> pairs = {"left": ["a", "b"], "right": ["b", "x"], "difference": [0.5, 0.1]}
    >>> check_comparisons(items, pairs).errors[0].kind
    'unknown-id'
    """
    for name in columns:
        check_choice("column", name, ["id", "ignore", *ROLES])
    faults: list[Fault] = []
    ignore = columns.pop("ignore", None) or ()
    settings = optional_config(config)
    given = settings.fill(
        id=columns.pop("id", None),
        ignore=(ignore,) if isinstance(ignore, str) else tuple(ignore),
        scale=scale,
        **{role: columns.get(role) for role in ROLES},
    )
    scale = given.pop("scale")
    known_scale = None if scale is None else parse_scale(scale)
    item_table, pair_table = read_comparisons(
        items,
        pairs,
        id=given.pop("id"),
        ignore=_without_features(given.pop("ignore"), settings.labels),
        columns=given,
        faults=faults,
        scale=known_scale,
    )
    given_kinds = {**settings.kinds, **(kinds or {})}
    for column in given_kinds:
        check_column(item_table.source, item_table.columns, column, "kinds")
    data = CheckData(
        items=item_table,
        pairs=pair_table,
        scale=known_scale or recognised_scale(pair_table, pair_table.difference),
        scale_given=scale is not None,
        faults=tuple(faults),
        kinds=given_kinds,
        link=declared_link(settings.link if link is None else link),
    )
    return run_checks(data)


def declared_link(link: str | None) -> str | None:
    """Return a link that the user declared, after a check of its name; None for None and ``"auto"``."""
    return None if link is None or link == "auto" else find_link(link).name


def _without_features(ignore: tuple[str, ...], labels: str | None) -> tuple[str, ...]:
    """Return the columns of the items that `fit` does not learn from: those to ignore, and the labels."""
    return ignore if labels is None or labels in ignore else (*ignore, labels)


def run_checks(data: CheckData) -> CheckReport:
    """Run all checks of :data:`~confdiff.tabular.checks.registry.CHECKS`."""
    has_differences = bool(data.is_usable.any())
    measures = {}
    findings: list[Finding] = []
    for check in CHECKS:
        if check.of_usable_pairs and not has_differences:
            continue
        if check.measure is None:
            findings += check.findings(data)
        else:
            measures[check.name] = check.measure(data)
            findings += check.findings(data, measures[check.name])
    return CheckReport(
        id_name=data.items.id_name,
        usable_pairs=int((data.is_usable | data.is_answered).sum()),
        scale=data.scale,
        scale_given=data.scale_given,
        measures=measures,
        findings=by_severity(findings),
        meaning_statement=meaning_statement(measures["meaning"]) if "meaning" in measures else _NO_MEANING,
    )
