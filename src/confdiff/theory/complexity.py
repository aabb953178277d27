r"""Rademacher complexity of function classes, :math:`\mathfrak R_n = E \sup_g \frac1n \sum_i \sigma_i g(x_i)`."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from torch import nn

from confdiff.validation import check_count, check_items, check_number


def linear_complexity(items: ArrayLike, radius: float) -> float:
    r"""Return an upper bound of the complexity of :math:`\{x \mapsto w^\top x : \|w\|_2 \le B\}`.

    .. math:: \frac{B}{n} \sqrt{\textstyle\sum_i \|x_i\|^2}

    Parameters
    ----------
    items : array-like of shape (n, d)
        The points :math:`x_i`.
    radius : float
        The bound B of the norm.

    Examples
    --------
    >>> linear_complexity([[3.0, 4.0], [0.0, 5.0]], radius=2.0)
    7.0710678118654755
    """
    x = check_items("items", items)
    return check_number("radius", radius, above=0) * math.sqrt(float((x.astype(np.float64) ** 2).sum())) / len(x)


def linear_complexity_monte_carlo(
    items: ArrayLike, radius: float, *, norm: int = 2, draws: int = 1000, seed: int = 0
) -> tuple[float, float]:
    r"""Return the complexity of a linear class by Monte Carlo, and its standard error.

    The supremum is a dual norm: :math:`\frac{B}{n} E \|\sum_i \sigma_i x_i\|_2` for :math:`\|w\|_2 \le B`, and the
    largest absolute entry instead of the length for :math:`\|w\|_1 \le B`.

    Parameters
    ----------
    items : array-like of shape (n, d)
        The points :math:`x_i`.
    radius : float
        The bound B of the norm.
    norm : {1, 2}
        The norm of w that is bounded, 1 or 2.
    draws : int
        Number of draws of the signs.
    seed : int
        Seed of the draws.

    Examples
    --------
    >>> estimate, error = linear_complexity_monte_carlo([[1.0]], radius=2.0)
    >>> estimate, error
    (2.0, 0.0)
    """
    x = check_items("items", items).astype(np.float64)
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2, (check_count("draws", draws), len(x))) * 2 - 1
    sums = signs @ x
    if norm not in (1, 2):
        raise ValueError(f"norm must be 1 or 2; got {norm!r}.")
    sizes = np.abs(sums).max(axis=1) if norm == 1 else np.sqrt((sums**2).sum(axis=1))
    values = check_number("radius", radius, above=0) * sizes / len(x)
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(draws)) if draws > 1 else 0.0


def finite_complexity(scores: ArrayLike, *, draws: int = 1000, seed: int = 0) -> tuple[float, float]:
    r"""Return the complexity of finitely many functions by Monte Carlo, and its standard error.

    Parameters
    ----------
    scores : array-like of shape (k, n)
        Values of k functions on n items, one row per function.
    draws : int
        Number of draws of the signs.
    seed : int
        Seed of the draws.

    Examples
    --------
    >>> finite_complexity([[1.0, -1.0]])[0] < 0.1
    True
    """
    table = check_items("scores", scores).astype(np.float64)
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2, (check_count("draws", draws), table.shape[1])) * 2 - 1
    values = (signs @ table.T).max(axis=1) / table.shape[1]
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(draws)) if draws > 1 else 0.0


def network_complexity(items: ArrayLike, norms: Sequence[float]) -> float:
    r"""Return an upper bound of the complexity of ReLU networks without biases.

    .. math:: \frac1n \sqrt{\textstyle\sum_i \|x_i\|^2} \left(\sqrt{2 \ln 2 \cdot D} + 1\right) \prod_j M_j

    for :math:`D` layers (Golowich, Rakhlin and Shamir 2018, Theorem 1). Like all such bounds, it is loose.

    Parameters
    ----------
    items : array-like of shape (n, d)
        The points :math:`x_i`.
    norms : sequence of float
        Bounds :math:`M_j` of the Frobenius norms of the layers.

    Examples
    --------
    >>> round(network_complexity([[1.0], [1.0]], [2.0, 2.0]), 4)
    7.5381
    """
    x = check_items("items", items).astype(np.float64)
    depth = len(norms)
    product = math.prod(check_number("norm", norm, least=0) for norm in norms)
    return math.sqrt(float((x**2).sum())) / len(x) * (math.sqrt(2 * math.log(2) * depth) + 1) * product


def largest_score(items: ArrayLike, norms: Sequence[float]) -> float:
    r"""Return the paper's :math:`C_g` of ReLU networks without biases, :math:`\max_i \|x_i\| \prod_j M_j`.

    A linear class has one norm, its radius. Parameters as in :func:`network_complexity`.

    >>> largest_score([[3.0, 4.0], [0.0, 1.0]], [2.0])
    10.0
    """
    x = check_items("items", items).astype(np.float64)
    longest = math.sqrt(float((x**2).sum(axis=1).max()))
    return longest * math.prod(check_number("norm", norm, least=0) for norm in norms)


def frobenius_norms(network: nn.Module) -> list[float]:
    """Return the Frobenius norms of the layers, in order, of a network to which :func:`network_complexity` applies.

    >>> network = nn.Linear(2, 2, bias=False)
    >>> _ = network.weight.data.fill_(1.0)
    >>> frobenius_norms(network)
    [2.0]
    """
    norms = []
    for layer in network.modules():
        if isinstance(layer, nn.Linear) and len(list(layer.parameters())) == 1:
            norms.append(float(layer.weight.detach().norm()))
        elif not isinstance(layer, nn.Sequential | nn.ReLU):
            raise ValueError(
                "the bound applies to networks of linear layers without biases and ReLU between them; "
                f"got a network with {layer}."
            )
    return norms
