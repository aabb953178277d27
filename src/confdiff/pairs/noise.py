"""What becomes of differences that are not given exactly.

c is the true difference of a pair, c_bar what is given in its place.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from confdiff.pairs.pairs import Pairs
from confdiff.randomness import generator
from confdiff.validation import check_choice, check_count, check_number


def multiplicative(c: Tensor, sigma: float, chance: torch.Generator) -> Tensor:
    """c_bar = e c with e from N(1, sigma^2), the noise of the paper (its Section 4.4)."""
    return c * (1 + sigma * torch.randn(len(c), generator=chance))


def additive(c: Tensor, sigma: float, chance: torch.Generator) -> Tensor:
    """c_bar = c + e with e from N(0, sigma^2)."""
    return c + sigma * torch.randn(len(c), generator=chance)


def likert(c: Tensor, points: float, chance: torch.Generator) -> Tensor:
    """The nearest of so many equally spaced grades from -1 to 1.

    A scale with an even number of points has no middle: which side an exact tie is sent to is left to chance.

    >>> likert(torch.tensor([-0.9, -0.2, 0.1, 0.4]), 5, torch.Generator())
    tensor([-1.0000, -0.0000,  0.0000,  0.5000])
    """
    half = (points - 1) / 2
    middle = half % 1  # 0 where the scale has a middle, 1/2 where it has none
    size = (torch.round(c.abs() * half - middle) + middle).clamp(min=middle) / half
    side = torch.where(torch.rand(len(c), generator=chance) < 0.5, -1.0, 1.0)
    return torch.where(c == 0, side, c.sign()) * size


@dataclass(frozen=True)
class Noise:
    """A kind of noise: the formula, what its amount is called, what it does, and if it is kept in [-1, 1]."""

    apply: Callable[[Tensor, float, torch.Generator], Tensor]
    amount: str
    meaning: str
    clipped: bool


NOISES: dict[str, Noise] = {
    "multiplicative": Noise(
        multiplicative, "sigma", "c times N(1, sigma^2), as in the paper, which does not clip", False
    ),
    "additive": Noise(additive, "sigma", "c plus N(0, sigma^2)", True),
    "likert": Noise(likert, "points", "c rounded to a scale with so many points", True),
}
"""Name -> kind of noise. ``"labels"`` is another: y' - y in place of c, of which there is no more or less."""


def check_noise(kind: str, amount: float | None) -> float:
    """The amount of noise of a kind, as a number; 0 for label differences, of which there is no more or less."""
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
    """The same pairs with noisy differences.

    kind: a name from :data:`NOISES`, or ``"labels"`` for label differences y' - y, the least that a comparison can say.
    amount: sigma of ``"multiplicative"`` and ``"additive"``, the number of points of ``"likert"``.
    clip: keep the differences in [-1, 1], as people do who give differences of probabilities. If not given,
        multiplicative noise is not clipped, as in the paper, and other noise is. Unclipped noise has mean zero,
        clipped noise has not where c is near 1 or -1.

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
    kept = NOISES[kind].clipped if clip is None else clip
    return pairs.with_difference(noisy.clamp(-1, 1) if kept else noisy)
