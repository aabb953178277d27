"""Corrections f, applied to each partial risk before the sum (Lu et al. 2020; Wang et al. 2023, Eq. 12).

A partial risk is the expectation of a non-negative quantity, but its estimate from differences can be negative. A
flexible model drives it below 0 when it overfits; ReLU and ABS prevent that. All three are 1-Lipschitz, keep
non-negative values as they are, and satisfy identity <= relu <= absolute.
"""

from collections.abc import Callable

from torch import Tensor

Correction = Callable[[Tensor], Tensor]


def identity(z: Tensor) -> Tensor:
    """Return f(z) = z, which leaves the unbiased estimator unchanged."""
    return z


def relu(z: Tensor) -> Tensor:
    """Return f(z) = max(0, z), which ignores a negative partial risk."""
    return z.relu()


def absolute(z: Tensor) -> Tensor:
    """Return f(z) = abs(z), which pushes a negative partial risk back up."""
    return z.abs()


CORRECTIONS: dict[str, Correction] = {"identity": identity, "relu": relu, "absolute": absolute}
"""Name -> correction."""
