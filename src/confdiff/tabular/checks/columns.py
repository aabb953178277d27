"""What the columns of items and pairs hold, and what `confdiff fit` would do with those of the items."""

import warnings
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.findings import Finding, Mask, where
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.tables import ItemTable, PairTable
from confdiff.tabular.values import is_missing

_MOST_NAMED = 5  # columns in one finding


@dataclass(frozen=True)
class Column:
    """A column: what it is taken for, how often nothing stands there, and the range of its numbers or times."""

    name: str
    taken_for: str
    missing: int
    share_missing: float
    least: float | str | None
    greatest: float | str | None


@dataclass(frozen=True)
class Table:
    """A table of items or of pairs."""

    source: str
    rows: int
    columns: tuple[Column, ...]


def item_table(items: ItemTable, use: "Use") -> Table:
    """What the columns of items hold."""
    columns = [_column(name, use.kinds.get(name, "unknown"), column) for name, column in items.columns.items()]
    return Table(items.source.name, len(items), tuple(columns))


def pair_table(pairs: PairTable) -> Table:
    """What the columns of pairs are taken for, and hold."""
    columns = [_column(name, role, getattr(pairs, role)) for role, name in pairs.names.items()]
    return Table(pairs.source.name, len(pairs), tuple(columns))


def _column(name: str, taken_for: str, column: NDArray[Any]) -> Column:
    missing = is_missing(column)
    count = int(missing.sum())
    return Column(name, taken_for, count, count / len(column), *_range(column[~missing]))


def _range(there: NDArray[Any]) -> tuple[float | str | None, float | str | None]:
    """The least and the greatest of numbers, infinities apart, or of times; None for anything else."""
    if there.dtype.kind == "M" and len(there):
        return str(there.min()), str(there.max())
    numbers = _numbers(there)
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (None, None)


def _numbers(there: NDArray[Any]) -> NDArray[np.float64]:
    """The finite ones among values that are all numbers; none where they are not."""
    if there.dtype == object and not all(isinstance(value, Real) for value in there.tolist()):
        return np.empty(0)
    if there.dtype.kind not in "biufO":
        return np.empty(0)
    numbers = there.astype(np.float64)
    return numbers[np.isfinite(numbers)]


@dataclass(frozen=True)
class Use:
    """What `fit` would do with the columns of items: what it takes each for, what it warns of, why it refuses."""

    kinds: dict[str, str]
    warnings: tuple[str, ...]
    refusal: str | None


def use_of(items: ItemTable, compared: Mask) -> Use:
    """Ask the code of `fit`, which learns from the items that stand in a pair; compared: (N,) which these are."""
    rows = compared if compared.any() else ~compared
    seen = replace(items, ids=items.ids[rows], columns={name: column[rows] for name, column in items.columns.items()})
    features, refusal = ItemFeatures(), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            features.fit(seen)
        except ValueError as error:
            refusal = str(error)
    said = tuple(str(warning.message) for warning in caught if warning.category is UserWarning)
    return Use(dict(getattr(features, "kinds_", {})), said, refusal)


def item_findings(items: ItemTable, use: Use, compared: Mask) -> list[Finding]:
    """What is worth saying about items and their columns."""
    refused = _infinite_features(items)
    if use.refusal is not None and not refused:
        refused = [Finding("no-features", "stop", 1, (), use.refusal, "`fit` refuses: name the column by --ignore.")]
    action = "Name it by --ignore if that is meant."
    left_out = [Finding("column", "note", 1, (), text[:1].upper() + text[1:], action) for text in use.warnings]
    return [*refused, *_missing(items), *left_out, *_in_no_pair(compared)]


def _infinite_features(items: ItemTable) -> list[Finding]:
    infinite = {name: _infinite(column) for name, column in items.columns.items()}
    bad = [name for name, mask in infinite.items() if mask.any()]
    if not bad:
        return []
    text, action = f"{{}} with an infinite number, in {_listed(bad)}.", "`fit` refuses: put a number there, or nothing."
    return where("infinite-feature", "stop", np.any([infinite[name] for name in bad], axis=0), text, action, "item")


def _infinite(column: NDArray[Any]) -> Mask:
    if column.dtype == object:
        return np.array([isinstance(value, float) and abs(value) == np.inf for value in column.tolist()], dtype=bool)
    return np.isinf(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMED]) + (" ..." if len(names) > _MOST_NAMED else "")
    return shown.replace("{", "{{").replace("}", "}}")


def _missing(items: ItemTable) -> list[Finding]:
    missing = {name: is_missing(column) for name, column in items.columns.items()}
    some = sorted((name for name, mask in missing.items() if mask.any()), key=lambda name: -int(missing[name].sum()))
    if not some:
        return []
    severe = any(missing[name].mean() > 0.5 for name in some)
    named = _listed([f"{name} ({missing[name].mean():.1%})" for name in some])
    return where(
        "missing-feature", "mind" if severe else "note", np.any([missing[name] for name in some], axis=0),
        f"{{}} with a missing value, in {named}.",
        "`fit` fills a missing number with the median and marks it in a column of its own; a missing category is one "
        "of its own.",
        "item",
    )  # fmt: skip


def _in_no_pair(compared: Mask) -> list[Finding]:
    severity: Any = "mind" if (~compared).mean() > 0.5 else "note"
    action = "`fit` leaves them out of training; they can still be scored."
    return where("item-in-no-pair", severity, ~compared, "{} in no pair.", action, "item")
