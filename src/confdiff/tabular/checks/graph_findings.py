"""What the differences and the graph of judged pairs say, in words."""

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.pairs.describe import NEAR_TIE, PairsDescription
from confdiff.tabular.checks.findings import FIRST, Finding, Severity
from confdiff.tabular.checks.graph import Edges, Parts, Repeats, Rows, both_ways, contradicted
from confdiff.tabular.checks.triangles import LARGE, Triangles


def difference_findings(c: PairsDescription, error: float, at_ends: float) -> list[Finding]:
    """Ties, ends of the scale, the second item favoured, and differences that no class prior allows."""
    found: list[Finding] = []
    one_sided = min(-c.least, c.greatest) <= 0 and c.n_pairs * (1 - c.near_ties) >= 10

    def add(holds: bool, kind: str, share: float, text: str, action: str) -> None:
        if holds:
            found.append(Finding(kind, "mind", round(share * c.n_pairs), (), text, action))

    add(
        c.near_ties > 0.5, "near-ties", c.near_ties,
        f"{c.near_ties:.0%} of the pairs are near ties (|c| < {NEAR_TIE:g}).",
        "`fit` goes on, with little to learn from: compare items that differ more.",
    )  # fmt: skip
    add(
        at_ends > 0.5, "ends-of-scale", at_ends, f"{at_ends:.0%} of the differences stand at the ends of the scale.",
        "`fit` takes them as they are. They say who is better and not by how much: its probabilities lean to 0 and 1.",
    )  # fmt: skip
    add(
        one_sided, "one-sided", 1.0, f"No pair favours the {'first' if c.greatest > 0 else 'second'} item.",
        "`fit` does not mind in which order the items stand. But where the middle of the scale means no difference, "
        "such as .5 of 0 to 1, say --scale LOW,HIGH.",
    )  # fmt: skip
    add(
        not one_sided and abs(c.mean) > max(NEAR_TIE, 3 * error), "position", 1.0,
        f"The {'second' if c.mean > 0 else 'first'} item is favoured: mean difference {c.mean:+.3f} +- {error:.3f}.",
        "`fit` takes the differences as they are. If the order was by chance, the place adds noise: ask both ways.",
    )  # fmt: skip
    add(
        c.prior_interval is None, "no-prior", 1.0,
        "No class prior allows exact differences of probabilities that are this large.",
        "`fit` goes on: read its probabilities as a ranking, or say a wider --scale.",
    )  # fmt: skip
    return found


def repeat_findings(edges: Edges, repeats: Repeats, rows: Rows) -> list[Finding]:
    """Pairs judged more than once; rows: (n,) where each judgement stands in the table of pairs."""
    found = []

    def add(kind: str, severity: Severity, count: int, which: NDArray[np.bool_], text: str, action: str) -> None:
        first = np.sort(rows[which[edges.of]])[:FIRST]
        found.append(Finding(kind, severity, count, tuple(first.tolist()), text, action))

    pairs = plural(repeats.pairs, "pair")
    if repeats.pairs:
        text = f"{pairs} judged more than once ({plural(repeats.judgements, 'judgement')}), in either order."
        add("repeats", "note", repeats.pairs, edges.count > 1, text, "`fit` keeps them as they are: each counts.")
    if repeats.contradictions:
        text = f"{repeats.contradictions:,} of {pairs} judged more than once with opposite signs, near ties apart."
        action = "`fit` keeps them: they average out. Look at some; an item turned round by mistake shows here."
        add("contradictions", "mind", repeats.contradictions, contradicted(edges), text, action)
    if repeats.asymmetry is not None and repeats.asymmetry > LARGE:
        text = f"{plural(repeats.both_ways, 'pair')} judged both ways round: |c(a, b) + c(b, a)|, which would be 0, is "
        text += f"{repeats.asymmetry:.2f} on average and {repeats.largest_asymmetry:.2f} at most."
        add(
            "asymmetry",
            "mind",
            repeats.both_ways,
            np.isfinite(both_ways(edges)),
            text,
            "`fit` keeps both: they average out.",
        )
    return found


def triangle_findings(triangles: Triangles | None) -> list[Finding]:
    """Differences that do not add up."""
    if triangles is None or triangles.mean <= max(LARGE, triangles.random_mean / 2):
        return []
    circles = "" if triangles.cyclic is None else f" {triangles.cyclic:.0%} are circles (25% with random signs)."
    text = (
        f"Differences do not add up: over {plural(triangles.number, 'triangle')} |c(a, b) + c(b, c) - c(a, c)| is "
        f"{triangles.mean:.2f} on average; random signs would give {triangles.random_mean:.2f}.{circles}"
    )
    action = (
        "`fit` finds the scores that come nearest. Many circles (a beats b beats c beats a) mean noise; few mean that "
        "the scale is too short at its ends, as with votes, and that scores are good for a ranking first."
    )
    return [Finding("triangles", "mind", triangles.number, (), text, action)]


def part_findings(parts: Parts) -> list[Finding]:
    """Items that no chain of pairs connects."""
    if parts.number < 2:
        return []
    text = (
        f"The compared items fall into {parts.number:,} parts that no pair connects; the largest has {parts.largest:,}."
    )
    named = [" and ".join(part.groups) for part in parts.shown if part.groups]
    if parts.by_group:
        text += " Each group is a part of its own."
    elif named:
        text += f" By group: {' | '.join(named[:3])}{' | ...' if len(named) > 3 else ''}."
    action = (
        "`fit` goes on, but differences do not tell how the parts stand to each other: only what items have in common "
        "does. Add pairs across the parts, and compare scores within them."
    )
    return [Finding("parts", "mind", parts.number, (), text, action)]
