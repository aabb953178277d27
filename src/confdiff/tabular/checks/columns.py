"""Check the columns of both tables: roles, ranges, missing and infinite values, and their encoding by `fit`."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.io.column_types.deciding import NumberCount
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, row_findings
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.features.kinds import stray_text
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ItemTable
from confdiff.tabular.values import is_missing
from confdiff.validation.arrays import LARGEST

_Mask = NDArray[np.bool_]
_MANY_MISSING = 0.5  # fraction of the values of a column


@dataclass(frozen=True)
class ColumnSummary:
    """Summary of a column.

    Attributes
    ----------
    name : str
        Name of the column.
    role : str
        Role of a column of pairs, such as ``"left"``, or kind of a column of items, such as ``"number"``.
    missing : int
        Number of missing values.
    missing_fraction : float
        The same as a fraction of the rows.
    least, greatest : float, str or None
        Range of finite numbers or of times; None for other values.
    """

    name: str
    role: str
    missing: int
    missing_fraction: float
    least: float | str | None
    greatest: float | str | None


@dataclass(frozen=True)
class TableSummary:
    """Summary of a table.

    Attributes
    ----------
    source : str
        The file, or ``"the items"`` and the like.
    row_numbering : str
        Numbering of rows in findings.
    rows : int
        Number of rows.
    columns : tuple of ColumnSummary
    """

    source: str
    row_numbering: str
    rows: int
    columns: tuple[ColumnSummary, ...]


@dataclass(frozen=True)
class ColumnUse:
    """Summaries of both tables, and the encoding of the items by `fit`.

    Attributes
    ----------
    items, pairs : TableSummary
    warnings : tuple of str
        Warnings of `fit` about columns.
    refusals : tuple of str
        Error messages if `fit` cannot encode the items: one for each column at fault.
    """

    items: TableSummary
    pairs: TableSummary
    warnings: tuple[str, ...]
    refusals: tuple[str, ...]


def measure_columns(data: CheckData) -> ColumnUse:
    """Summarise both tables; the code of `fit` is run on the items that occur in a pair."""
    encoder, messages, refusals = _fitted_features(data.items, data.components >= 0, data.kinds)
    kinds = dict(getattr(encoder, "kinds_", {}))
    items = [_summary(name, kinds.get(name, "unknown"), column) for name, column in data.items.columns.items()]
    pairs = [_summary(name, role, getattr(data.pairs, role)) for role, name in data.pairs.names.items()]
    return ColumnUse(
        items=_table(data.items.source, len(data.items), items),
        pairs=_table(data.pairs.source, len(data.pairs), pairs),
        warnings=messages,
        refusals=refusals,
    )


def _fitted_features(
    items: ItemTable, compared: _Mask, kinds: Mapping[str, str] | None
) -> tuple[ItemFeatures, tuple[str, ...], tuple[str, ...]]:
    """Return an encoder fitted to the compared items, its warnings, and its error messages.

    A column that is refused is left out, and the rest is tried again, so that all such columns are named.
    """
    rows = np.flatnonzero(compared if compared.any() else ~compared)
    stray = _stray_texts(items, kinds)
    columns = {name: column for name, column in items.columns.items() if name not in stray}
    refusals: list[str] = []
    if not columns:
        return ItemFeatures(), (), ()  # findings about the columns at fault say so
    while True:
        encoder = ItemFeatures(kinds=_kinds_of(columns, kinds))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            refusal = _refusal(encoder, replace(items, columns=columns), rows)
        messages = tuple(str(warning.message) for warning in caught if warning.category is UserWarning)
        if refusal is None:
            return encoder, messages, tuple(refusals)
        refusals.append(refusal)
        culprits = [name for name in columns if _is_refused(items, rows, name, refusal, kinds)]
        columns = {name: column for name, column in columns.items() if name not in culprits}
        if not culprits or not columns:
            return encoder, messages, tuple(refusals)


def _refusal(encoder: ItemFeatures, items: ItemTable, rows: NDArray[np.int64]) -> str | None:
    """Fit an encoder to some items; return the error message if it refuses them."""
    try:
        encoder.fit(items, rows=rows)
    except ValueError as error:
        return str(error)
    return None


def _is_refused(
    items: ItemTable, rows: NDArray[np.int64], name: str, refusal: str, kinds: Mapping[str, str] | None
) -> bool:
    """Return whether a column alone is refused with the same message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = ItemFeatures(kinds=_kinds_of((name,), kinds))
        return _refusal(encoder, replace(items, columns={name: items.columns[name]}), rows) == refusal


def _kinds_of(columns: Iterable[str], kinds: Mapping[str, str] | None) -> dict[str, str]:
    """Return the kinds of columns that are still used."""
    return {name: kind for name, kind in (kinds or {}).items() if name in columns}


def _table(source: TableSource, rows: int, columns: list[ColumnSummary]) -> TableSummary:
    numbering = source.note or "the first row is row 0"
    return TableSummary(source=source.name, row_numbering=numbering, rows=rows, columns=tuple(columns))


def _summary(name: str, role: str, column: NDArray[Any]) -> ColumnSummary:
    missing = is_missing(column)
    count = int(missing.sum())
    least, greatest = _range(column[~missing])
    return ColumnSummary(
        name=name,
        role=role,
        missing=count,
        missing_fraction=count / len(column),
        least=least,
        greatest=greatest,
    )


def _range(values: NDArray[Any]) -> tuple[float | str | None, float | str | None]:
    """Return the least and the greatest of finite numbers or of times; None for other values."""
    if values.dtype.kind == "M" and len(values):
        return str(values.min()), str(values.max())
    numbers = _finite_numbers(values) if values.ndim == 1 else np.empty(0)
    return (float(numbers.min()), float(numbers.max())) if len(numbers) else (None, None)


def _finite_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return the finite numbers among values that are all numbers; nothing if some are not."""
    if values.dtype == object and not all(isinstance(value, Real) for value in values.tolist()):
        return np.empty(0)
    if values.dtype.kind not in "biufO":
        return np.empty(0)
    numbers = values.astype(np.float64)
    return numbers[np.isfinite(numbers)]


def column_findings(data: CheckData, measure: ColumnUse) -> list[Finding]:
    """Return findings about the columns of the items."""
    infinite = [*_infinite_values(data.items), *_large_values(data.items)]
    listed_already = [
        f"column {name!r}"
        for name, column in data.items.columns.items()
        if _is_infinite(column).any() or _is_too_large(column).any()
    ]
    refusal = [_no_features(text) for text in measure.refusals if not any(name in text for name in listed_already)]
    unused = [_unused_column(message) for message in measure.warnings]
    return [*infinite, *_stray_text_findings(data), *refusal, *_missing_values(data.items), *unused]


def _stray_texts(items: ItemTable, kinds: Mapping[str, str] | None) -> dict[str, str]:
    """Return the columns of numbers with a few cells of text, each with a message that names the first such cell.

    A column whose kind is given is not one of them.
    """
    messages = {}
    for name, column in items.columns.items():
        if items.types.get(name) == "text" and name not in (kinds or {}):
            message = stray_text(name, NumberCount.of(column), items.source)
            if message is not None:
                messages[name] = message
    return messages


def _stray_text_findings(data: CheckData) -> list[Finding]:
    return [
        Finding(
            kind="text-among-numbers",
            severity="error",
            count=1,
            text=message,
            action=f"`fit` stops with an error: correct the cell, or pass kinds={{{name!r}: 'category'}}.",
            table="items",
        )
        for name, message in _stray_texts(data.items, data.kinds).items()
    ]


def _no_features(refusal: str) -> Finding:
    return Finding(
        kind="no-features",
        severity="error",
        count=1,
        text=refusal,
        action="`fit` stops with an error: leave the column out with ignore='COLUMN', or add columns.",
    )


def _unused_column(message: str) -> Finding:
    return Finding(
        kind="column",
        severity="warning",
        count=1,
        text=message[:1].upper() + message[1:],
        action="To confirm it, pass ignore='COLUMN'.",
    )


def _infinite_values(items: ItemTable) -> list[Finding]:
    infinite = {name: _is_infinite(column) for name, column in items.columns.items()}
    names = [name for name, mask in infinite.items() if mask.any()]
    if not names:
        return []
    return row_findings(
        "infinite-feature",
        "error",
        np.any([infinite[name] for name in names], axis=0),
        source=items.source,
        text=f"with an infinite number, in {listed(names)}.",
        action="`fit` stops with an error: replace it by a number, or leave the cell empty.",
        noun="item",
    )


def _large_values(items: ItemTable) -> list[Finding]:
    too_large = {name: _is_too_large(column) for name, column in items.columns.items()}
    names = [name for name, mask in too_large.items() if mask.any()]
    if not names:
        return []
    return row_findings(
        "large-feature",
        "error",
        np.any([too_large[name] for name in names], axis=0),
        source=items.source,
        text=f"with a number above {LARGEST:g} in size, in {listed(names)}.",
        action="`fit` stops with an error: correct the number, or use other units.",
        noun="item",
    )


def _is_too_large(column: NDArray[Any]) -> _Mask:
    if column.dtype.kind != "f" or column.ndim > 1:
        return np.zeros(len(column), dtype=bool)
    mask: _Mask = np.isfinite(column) & (np.abs(column) > LARGEST)
    return mask


def _is_infinite(column: NDArray[Any]) -> _Mask:
    if column.dtype == object:
        return np.array([isinstance(value, float) and abs(value) == np.inf for value in column.tolist()], dtype=bool)
    return np.isinf(column) if column.dtype.kind == "f" and column.ndim == 1 else np.zeros(len(column), dtype=bool)


def _missing_values(items: ItemTable) -> list[Finding]:
    missing = {name: is_missing(column) for name, column in items.columns.items()}
    incomplete = [name for name, mask in missing.items() if mask.any()]
    if not incomplete:
        return []
    incomplete.sort(key=lambda name: -int(missing[name].sum()))
    severe = any(missing[name].mean() > _MANY_MISSING for name in incomplete)
    fractions = [f"{name} ({missing[name].mean():.1%})" for name in incomplete]
    return row_findings(
        "missing-feature",
        "warning" if severe else "note",
        np.any([missing[name] for name in incomplete], axis=0),
        source=items.source,
        text=f"with a missing value, in {listed(fractions)}.",
        action="`fit` replaces a missing number by the median, or a missing vector by the mean, and adds a column that "
        "marks it. A missing category becomes a category of its own.",
        noun="item",
    )
