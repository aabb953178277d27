"""Corrections f: what is done to each partial risk before the sum (Lu et al. 2020; Wang et al. 2023, Eq. 12).

A partial risk is the expectation of something non-negative, but its estimate from differences can be negative, and
a flexible model will drive it there. ReLU and ABS do not let it. All three are 1-Lipschitz, keep non-negative
values as they are, and satisfy identity <= relu <= absolute.
"""

from collections.abc import Callable

from torch import Tensor

Correction = Callable[[Tensor], Tensor]


def identity(z: Tensor) -> Tensor:
    """f(z) = z: the unbiased estimator as it is."""
    return z


def relu(z: Tensor) -> Tensor:
    """f(z) = max(0, z): a negative partial risk counts as nothing."""
    return z.relu()


def absolute(z: Tensor) -> Tensor:
    """f(z) = abs(z): a negative partial risk is pushed back up."""
    return z.abs()


CORRECTIONS: dict[str, Correction] = {"identity": identity, "relu": relu, "absolute": absolute}
"""Name -> correction."""
