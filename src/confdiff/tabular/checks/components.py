"""Check whether the pairs connect the items: connected components, and items that occur in no pair."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.data import CheckData, encode_names
from confdiff.tabular.checks.finding import Finding, row_findings

_Rows = NDArray[np.int64]
_MOST_SHOWN = 10  # components in the report
_MOST_GROUPS = 3  # groups named per component, and components named in a finding


@dataclass(frozen=True)
class Component:
    """A connected component: the number of its items and pairs, and the first groups of these pairs."""

    items: int
    pairs: int
    groups: tuple[str, ...]


@dataclass(frozen=True)
class Components:
    """Connected components of the graph of pairs. Differences do not determine the offsets between components.

    Attributes
    ----------
    count : int
        Number of components with at least one pair.
    largest : int
        Number of items in the largest component.
    items_in_no_pair : int
        Number of items that occur in no pair.
    groups : int
        Number of groups that the pairs name.
    by_group : bool
        Whether components and groups are the same.
    shown : tuple of Component
        The largest components.
    """

    count: int
    largest: int
    items_in_no_pair: int
    groups: int
    by_group: bool
    shown: tuple[Component, ...]


def measure_components(data: CheckData) -> Components:
    """Describe the connected components of the compared items."""
    rows = data.has_items
    names, codes = _groups(data)
    codes = codes[rows]
    of_pair = data.components[data.item_rows[0][rows]]
    sizes = np.bincount(data.components[data.components >= 0])
    combinations = len(np.unique(of_pair * (len(names) + 1) + codes))  # distinct (component, group)
    return Components(
        count=len(sizes),
        largest=int(sizes.max(initial=0)),
        items_in_no_pair=int((data.components < 0).sum()),
        groups=len(names),
        by_group=combinations == len(sizes) == len(names) and bool((codes >= 0).all()),
        shown=_largest(sizes, of_pair, names, codes),
    )


def _groups(data: CheckData) -> tuple[list[str], _Rows]:
    if data.pairs.group is None:
        return [], np.full(len(data.pairs), -1)
    return encode_names(data.pairs.group)


def _largest(sizes: _Rows, of_pair: _Rows, names: list[str], codes: _Rows) -> tuple[Component, ...]:
    n_pairs = np.bincount(of_pair)
    components = []
    for number in range(min(_MOST_SHOWN, len(sizes))):
        present = np.unique(codes[(of_pair == number) & (codes >= 0)])
        component = Component(
            items=int(sizes[number]),
            pairs=int(n_pairs[number]),
            groups=tuple(names[code] for code in present[:_MOST_GROUPS]),
        )
        components.append(component)
    return tuple(components)


def component_findings(data: CheckData, measure: Components) -> list[Finding]:
    """Return findings about items in no pair, and about components that no pair connects."""
    return [*_in_no_pair(data), *_several_components(measure)]


def _in_no_pair(data: CheckData) -> list[Finding]:
    isolated = data.components < 0
    return row_findings(
        "item-in-no-pair",
        "warning" if isolated.mean() > 0.5 else "note",
        isolated,
        source=data.items.source,
        text="in no pair.",
        action="`fit` does not train on items in no pair; the model can still score them.",
        noun="item",
    )


def _several_components(measure: Components) -> list[Finding]:
    if measure.count < 2:
        return []
    finding = Finding(
        kind="components",
        severity="warning",
        count=measure.count,
        text=f"The compared items form {measure.count:,} connected components; the largest has {measure.largest:,} "
        f"items.{_named_groups(measure)}",
        action="`fit` goes on, but differences do not determine the offsets between components: only features that "
        "their items share do. Add pairs across components, or compare scores only within a component.",
    )
    return [finding]


def _named_groups(measure: Components) -> str:
    if measure.by_group:
        return " Each group is one component."
    named = [" and ".join(component.groups) for component in measure.shown if component.groups]
    if not named:
        return ""
    more = " | ..." if len(named) > _MOST_GROUPS else ""
    return f" By group: {' | '.join(named[:_MOST_GROUPS])}{more}."
