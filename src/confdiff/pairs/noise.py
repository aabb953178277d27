"""Add noise to the differences of pairs.

c is the true difference of a pair, c_bar the noisy one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from confdiff.pairs.pairs import Pairs
from confdiff.randomness import generator
from confdiff.validation import check_choice, check_count, check_number


def multiplicative(c: Tensor, sigma: float, rng: torch.Generator) -> Tensor:
    """Return c_bar = e c with e from N(1, sigma^2), the noise of the paper (its Section 4.4)."""
    return c * (1 + sigma * torch.randn(len(c), generator=rng))


def additive(c: Tensor, sigma: float, rng: torch.Generator) -> Tensor:
    """Return c_bar = c + e with e from N(0, sigma^2)."""
    return c + sigma * torch.randn(len(c), generator=rng)


def likert(c: Tensor, points: float, rng: torch.Generator) -> Tensor:
    """Round c to the nearest of ``points`` equally spaced grades from -1 to 1.

    A scale with an even number of points has no middle: an exact tie goes to a random side.

    >>> likert(torch.tensor([-0.9, -0.2, 0.1, 0.4]), 5, torch.Generator())
    tensor([-1.0000, -0.0000,  0.0000,  0.5000])
    """
    half = (points - 1) / 2
    middle = half % 1  # 0 where the scale has a middle, 1/2 where it has none
    size = (torch.round(c.abs() * half - middle) + middle).clamp(min=middle) / half
    side = torch.where(torch.rand(len(c), generator=rng) < 0.5, -1.0, 1.0)
    return torch.where(c == 0, side, c.sign()) * size


@dataclass(frozen=True)
class Noise:
    """A kind of noise.

    Parameters
    ----------
    apply : callable
        The formula: (c, amount, rng) -> c_bar.
    amount : str
        The name of its amount.
    meaning : str
        Short description, for help texts.
    clipped : bool
        Whether c_bar is clipped to [-1, 1] by default.
    """

    apply: Callable[[Tensor, float, torch.Generator], Tensor]
    amount: str
    meaning: str
    clipped: bool


NOISES: dict[str, Noise] = {
    "multiplicative": Noise(
        apply=multiplicative,
        amount="sigma",
        meaning="c times N(1, sigma^2), as in the paper, which does not clip",
        clipped=False,
    ),
    "additive": Noise(apply=additive, amount="sigma", meaning="c plus N(0, sigma^2)", clipped=True),
    "likert": Noise(
        apply=likert, amount="points", meaning="c rounded to a scale with this number of points", clipped=True
    ),
}
"""Name -> kind of noise. ``"labels"`` is another kind, without an amount: y' - y instead of c."""


def check_noise(kind: str, amount: float | None) -> float:
    """Check the amount of a kind of noise and return it as a number; 0 for label differences, which have none."""
    check_choice("noise", kind, [*NOISES, "labels"])
    if kind == "labels":
        if amount is not None:
            raise ValueError(f"label differences have no amount; got {amount!r}.")
        return 0.0
    size = check_number(f"{NOISES[kind].amount}, the amount of {kind} noise,", amount, least=0)
    if kind == "likert":
        check_count("points, those of a Likert scale,", int(size) if size.is_integer() else size, least=2)
    return size


def add_noise(
    pairs: Pairs, kind: str, amount: float | None = None, *, clip: bool | None = None, seed: int = 0
) -> Pairs:
    """Return the same pairs with noisy differences.

    Parameters
    ----------
    pairs : Pairs
        Pairs with differences, or with labels if ``kind`` is ``"labels"``.
    kind : str
        A name from :data:`NOISES`, or ``"labels"`` for label differences y' - y, the coarsest comparison.
    amount : float, optional
        Sigma of ``"multiplicative"`` and ``"additive"``, the number of points of ``"likert"``.
    clip : bool, optional
        Whether to clip the differences to [-1, 1]. By default multiplicative noise is not clipped, as in the paper,
        and other noise is. Unclipped noise has mean zero; clipped noise does not if c is near 1 or -1.
    seed : int
        Seed of the noise.

    Examples
    --------
    >>> pairs = Pairs([[0.0], [1.0]], left=[0], right=[1], difference=[0.3], labels=[0, 1])
    >>> add_noise(pairs, "likert", 5).difference, add_noise(pairs, "labels").difference
    (tensor([0.5000]), tensor([1.]))
    """
    size = check_noise(kind, amount)
    if kind == "labels":
        y, y_prime = pairs.targets("labels")
        return pairs.with_difference(y_prime - y)
    (c,) = pairs.targets("differences")
    noisy = NOISES[kind].apply(c, size, generator(check_count("seed", seed, least=0), "noise", kind))
    clipped = NOISES[kind].clipped if clip is None else clip
    return pairs.with_difference(noisy.clamp(-1, 1) if clipped else noisy)
