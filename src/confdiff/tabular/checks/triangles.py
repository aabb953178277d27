"""Whether differences add up: triangles of items that are compared all three ways."""

from dataclasses import dataclass

import numpy as np

from confdiff.pairs.describe import NEAR_TIE
from confdiff.randomness import derived_seed
from confdiff.tabular.checks.graph import Edges, Floats, Rows

LARGE = 0.25  # a residual that is an eighth of the scale from -1 to 1
MOST_WEDGES = 2_000_000  # two edges with a common end: what the search for triangles looks at
BINS = np.linspace(0, 3, 16)  # of the sizes of the residuals


@dataclass(frozen=True)
class Triangles:
    """How far differences add up: r = |c(a, b) + c(b, c) - c(a, c)| over items that are compared all three ways.

    number: of triangles looked at. looked_at: the share of the graph that was searched, below 1 where a sample was.
    mean, quantile_95, above: of r; above: the share beyond .25. random_...: the same if each difference kept its size
    and a coin gave its sign. cyclic: the share of triangles without near ties in which a beats b, b beats c and c
    beats a; with random signs that is 1/4. histogram, random_histogram: shares in bins of width .2 from 0 to 3.
    """

    number: int
    looked_at: float
    mean: float
    quantile_95: float
    above: float
    random_mean: float
    random_quantile_95: float
    random_above: float
    cyclic: float | None
    histogram: tuple[float, ...]
    random_histogram: tuple[float, ...]


def triangles_of(edges: Edges, *, most: int = MOST_WEDGES, seed: int = 0) -> Triangles | None:
    """What triangles say; None where there are none."""
    sides, looked_at = closed_triangles(edges, most=most, seed=seed)
    if not sides.shape[1]:
        return None
    c = edges.mean[sides]
    residual, a = np.abs(c[0] + c[1] - c[2]), np.abs(c)
    random = np.abs(np.concatenate([a.sum(axis=0)] + [a.sum(axis=0) - 2 * side for side in a]))  # the signs there are
    clear = (a >= NEAR_TIE).all(axis=0)
    cyclic = (np.sign(c[0]) == np.sign(c[1])) & (np.sign(c[1]) != np.sign(c[2]))
    return Triangles(
        sides.shape[1], looked_at, *_summary(residual), *_summary(random),
        cyclic=float(cyclic[clear].mean()) if clear.any() else None,
        histogram=_shares(residual), random_histogram=_shares(random),
    )  # fmt: skip


def _summary(residual: Floats) -> tuple[float, float, float]:
    beyond = residual > LARGE + 1e-9  # rounding does not make a residual of .25 large
    return float(residual.mean()), float(np.quantile(residual, 0.95)), float(beyond.mean())


def _shares(residual: Floats) -> tuple[float, ...]:
    counts = np.histogram((residual + 1e-9).clip(0, BINS[-1]), BINS)[0]  # .6 lies above its edge, also if rounded down
    return tuple((counts / len(residual)).tolist())


def closed_triangles(edges: Edges, *, most: int = MOST_WEDGES, seed: int = 0) -> tuple[Rows, float]:
    """Every triangle u < v < w once: (3, t) its edges uv, vw and uw; and the share of the wedges that was looked at.

    For each edge uv all edges vw from its upper end are tried (a wedge), and uw is looked up among the sorted edges.
    """
    starts = np.searchsorted(edges.first, np.arange(edges.n_items + 1))
    fans = starts[edges.second + 1] - starts[edges.second]
    chosen = _within(fans, most, seed)
    uv, fan = np.repeat(chosen, fans[chosen]), fans[chosen]
    vw = starts[edges.second[uv]] + np.arange(len(uv)) - np.repeat(np.cumsum(fan) - fan, fan)
    keys = edges.first * edges.n_items + edges.second
    wanted = edges.first[uv] * edges.n_items + edges.second[vw]
    uw = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    closed = keys[uw] == wanted
    return np.stack([uv, vw, uw])[:, closed], len(uv) / max(1, int(fans.sum()))


def _within(fans: Rows, most: int, seed: int) -> Rows:
    """The edges that are searched: all of them, or as many by chance as have about ``most`` wedges."""
    if fans.sum() <= most:
        return np.arange(len(fans))
    order = np.random.default_rng(derived_seed(seed, "triangles")).permutation(len(fans))
    return np.sort(order[: int(np.searchsorted(np.cumsum(fans[order]), most)) + 1])
