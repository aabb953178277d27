"""Connected components of the graph of pairs."""

import itertools

import numpy as np
import pandas as pd

from confdiff.tabular.checks.report import check_comparisons
from judging import kinds, the


def test_two_components_are_named_by_their_groups():
    r = np.linspace(0, 1, 24)
    items = pd.DataFrame({"r": r}, index=[f"i{k}" for k in range(24)])
    blocks = [range(10), range(10, 22)]
    rows = [(a, b, str(k)) for k, block in enumerate(blocks) for a, b in itertools.combinations(block, 2)]
    pairs = pd.DataFrame(
        {
            "left": [f"i{a}" for a, _, _ in rows],
            "right": [f"i{b}" for _, b, _ in rows],
            "difference": [r[b] - r[a] for a, b, _ in rows],
            "group": [f"topic {g}" for _, _, g in rows],
        }
    )
    report = check_comparisons(items, pairs)
    components = report.measures["components"]
    assert (components.count, components.largest, components.items_in_no_pair) == (2, 12, 2)
    assert [(component.items, component.pairs, component.groups) for component in components.shown] == [
        (12, 66, ("topic 1",)),
        (10, 45, ("topic 0",)),
    ]
    assert "Each group is one component" in the(report, "components").text
    mixed = pairs.assign(group=["topic 1" if row < 5 else name for row, name in enumerate(pairs["group"])])
    assert "By group: topic 1 | topic 0 and topic 1." in the(check_comparisons(items, mixed), "components").text
    assert (the(report, "item-in-no-pair").count, the(report, "item-in-no-pair").rows) == (2, (22, 23))
    pairs.loc[0, "group"] = "topic 2"
    assert "By group: topic 1 | topic 0 and topic 2." in the(check_comparisons(items, pairs), "components").text
    bridge = pd.DataFrame({"left": ["i0"], "right": ["i21"], "difference": [r[21] - r[0]], "group": ["across"]})
    assert "components" not in kinds(check_comparisons(items, pd.concat([pairs, bridge])))
