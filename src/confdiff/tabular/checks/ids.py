"""Check the ids of pairs: missing ids, ids that are not among the items, and pairs of an item with itself."""

from confdiff.display.text import listed, plural
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, row_findings
from confdiff.tabular.values import is_missing

_MOST_IDS = 3  # shown in one finding


def id_findings(data: CheckData) -> list[Finding]:
    """Return findings about pairs whose items are not known."""
    source = data.pairs.source
    left, right = data.item_rows
    left_missing = is_missing(data.pairs.left)
    right_missing = is_missing(data.pairs.right)
    left_unknown = (left < 0) & ~left_missing
    right_unknown = (right < 0) & ~right_missing
    unknown_ids = [*data.pairs.left[left_unknown], *data.pairs.right[right_unknown]]
    return [
        *row_findings(
            "missing-id",
            "error",
            left_missing | right_missing,
            source=source,
            text="without the id of an item.",
            action="`fit` stops with an error: fill in the id or drop the row.",
        ),
        *row_findings(
            "unknown-id",
            "error",
            left_unknown | right_unknown,
            source=source,
            text=f"with an id that is not among the items: {_listed_ids(unknown_ids)}.",
            action="`fit` stops with an error: add the items, or drop the rows.",
        ),
        *row_findings(
            "self-pair",
            "error",
            (left == right) & (left >= 0),
            source=source,
            text="of an item with itself.",
            action="`fit` stops with an error: nothing can be learned from such a pair; drop the row.",
        ),
    ]


def _listed_ids(ids: list[object]) -> str:
    names = list(dict.fromkeys(str(name) for name in ids))
    return f"{listed(map(repr, names), most=_MOST_IDS)} ({plural(len(names), 'unknown id')})"
