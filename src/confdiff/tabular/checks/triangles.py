"""Check whether differences add up: triangles of items that are compared in all three pairs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.pairs.describe import NEAR_TIE
from confdiff.randomness import derived_seed
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding
from confdiff.tabular.checks.graph import Edges

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_LARGE = 0.25  # residual: an eighth of the scale from -1 to 1
_MOST_WEDGES = 2_000_000  # pairs of edges with a common end that the search for triangles tries

RESIDUAL_BINS = np.linspace(0, 3, 16)
"""Edges of the histogram of residuals."""


@dataclass(frozen=True)
class Triangles:
    """Residuals r = |c(a, b) + c(b, c) - c(a, c)| over triangles of items.

    The fields that begin with ``random`` are the same numbers if each difference keeps its size but not its sign.

    Attributes
    ----------
    count : int
        Number of triangles found.
    searched : float
        Fraction of the graph that was searched; below 1 if it was sampled.
    mean, quantile_95 : float
        Mean and 95% quantile of r.
    fraction_large : float
        Fraction of the triangles with r > .25.
    cyclic : float or None
        Fraction of the triangles without near ties in which a beats b, b beats c and c beats a. It is 1/4 with random
        signs.
    histogram, random_histogram : tuple of float
        Fractions in bins of width .2 from 0 to 3.
    """

    count: int
    searched: float
    mean: float
    quantile_95: float
    fraction_large: float
    random_mean: float
    random_quantile_95: float
    random_fraction_large: float
    cyclic: float | None
    histogram: tuple[float, ...]
    random_histogram: tuple[float, ...]


def measure_triangles(data: CheckData) -> Triangles | None:
    """Measure how far differences add up; return None without triangles."""
    return triangles_of(data.edges)


def triangles_of(edges: Edges, *, most: int = _MOST_WEDGES, seed: int = 0) -> Triangles | None:
    """Measure how far the mean differences of edges add up.

    Parameters
    ----------
    edges : Edges
        Distinct pairs with their mean differences.
    most : int
        Number of wedges after which the graph is sampled.
    seed : int, default=0
        Seed of the sample.

    Returns
    -------
    Triangles or None
        None without triangles.
    """
    sides, searched = closed_triangles(edges, most=most, seed=seed)
    if not sides.shape[1]:
        return None
    c = edges.mean[sides]
    size = np.abs(c)
    residual = np.abs(c[0] + c[1] - c[2])
    total = size.sum(axis=0)
    random = np.abs(np.concatenate([total] + [total - 2 * side for side in size]))  # the four distinct sign patterns
    mean, quantile_95, fraction_large = _statistics(residual)
    random_mean, random_quantile_95, random_fraction_large = _statistics(random)
    return Triangles(
        count=sides.shape[1],
        searched=searched,
        mean=mean,
        quantile_95=quantile_95,
        fraction_large=fraction_large,
        random_mean=random_mean,
        random_quantile_95=random_quantile_95,
        random_fraction_large=random_fraction_large,
        cyclic=_cyclic_fraction(c),
        histogram=_histogram(residual),
        random_histogram=_histogram(random),
    )


def _statistics(residual: _Floats) -> tuple[float, float, float]:
    large = residual > _LARGE + 1e-9  # rounding must not make a residual of .25 large
    return float(residual.mean()), float(np.quantile(residual, 0.95)), float(large.mean())


def _cyclic_fraction(c: _Floats) -> float | None:
    clear = (np.abs(c) >= NEAR_TIE).all(axis=0)
    cyclic = (np.sign(c[0]) == np.sign(c[1])) & (np.sign(c[1]) != np.sign(c[2]))
    return float(cyclic[clear].mean()) if clear.any() else None


def _histogram(residual: _Floats) -> tuple[float, ...]:
    shifted = (residual + 1e-9).clip(0, RESIDUAL_BINS[-1])  # .6 belongs above its bin edge even if rounded down
    counts = np.histogram(shifted, RESIDUAL_BINS)[0]
    return tuple((counts / len(residual)).tolist())


def closed_triangles(edges: Edges, *, most: int = _MOST_WEDGES, seed: int = 0) -> tuple[_Rows, float]:
    """Return every triangle u < v < w once.

    For each edge uv all edges vw from its upper end are tried (a wedge), and uw is looked up among the sorted edges.

    Parameters
    ----------
    edges : Edges
        Distinct pairs, sorted.
    most : int
        Number of wedges after which the edges uv are sampled.
    seed : int, default=0
        Seed of the sample.

    Returns
    -------
    sides : ndarray of int, shape (3, t)
        The edges uv, vw and uw of each triangle.
    searched : float
        Fraction of the wedges that was tried.
    """
    starts = np.searchsorted(edges.first, np.arange(edges.n_items + 1))
    fans = starts[edges.second + 1] - starts[edges.second]
    chosen = _sampled_edges(fans, most, seed)
    fan = fans[chosen]
    uv = np.repeat(chosen, fan)
    vw = starts[edges.second[uv]] + np.arange(len(uv)) - np.repeat(np.cumsum(fan) - fan, fan)
    keys = edges.first * edges.n_items + edges.second
    wanted = edges.first[uv] * edges.n_items + edges.second[vw]
    uw = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    closed = keys[uw] == wanted
    return np.stack([uv, vw, uw])[:, closed], len(uv) / max(1, int(fans.sum()))


def _sampled_edges(fans: _Rows, most: int, seed: int) -> _Rows:
    """Return the edges to search: all, or a random sample with about ``most`` wedges."""
    if fans.sum() <= most:
        return np.arange(len(fans))
    order = np.random.default_rng(derived_seed(seed, "triangles")).permutation(len(fans))
    return np.sort(order[: int(np.searchsorted(np.cumsum(fans[order]), most)) + 1])


def triangle_findings(data: CheckData, measure: Triangles | None) -> list[Finding]:
    """Return a finding if differences do not add up."""
    if measure is None or measure.mean <= max(_LARGE, measure.random_mean / 2):
        return []
    cycles = "" if measure.cyclic is None else f" {measure.cyclic:.0%} are cyclic (25% with random signs)."
    finding = Finding(
        kind="triangles",
        severity="warning",
        count=measure.count,
        text=f"Differences do not add up: over {plural(measure.count, 'triangle')}, |c(a, b) + c(b, c) - c(a, c)| is "
        f"{measure.mean:.2f} on average; random signs would give {measure.random_mean:.2f}.{cycles}",
        action="`fit` finds the scores that fit best. Many cycles (a beats b beats c beats a) mean noise. Few cycles "
        "mean that judgements saturate at the ends of the scale, as votes do: use the scores as a ranking.",
    )
    return [finding]
