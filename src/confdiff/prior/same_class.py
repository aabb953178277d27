r"""The class prior from same-class answers.

A learner of differences determines posteriors up to a constant. An answer s has the probability
:math:`r r' + (1 - r)(1 - r')` of being "the same", which depends on the constant. For pairs of independent items,
:math:`E[s] = 1 - 2 \pi (1 - \pi)`, so that answers alone determine the prior up to its reflection.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from confdiff.pairs import Pairs
from confdiff.pairs.sparse import Items, SparseItems, as_matrix
from confdiff.prior.label_differences import LabelMoment, moment_of_squares

_Vector = NDArray[np.float64]

_LEAST = 0.01
"""Probabilities of items and of answers are at least this, and at most 1 minus this."""


@dataclass(frozen=True, eq=False)
class SameAnswers:
    """Answers whether two items are of the same class.

    Attributes
    ----------
    items : Tensor or SparseItems of shape (2 m, d)
        The first items of the m pairs, then the second ones.
    same : array of shape (m,)
        Probabilities, or 0 and 1.
    weight : array of shape (m,)
        Weights of the answers.
    """

    items: Items
    same: _Vector
    weight: _Vector

    @classmethod
    def of_pairs(cls, pairs: Pairs) -> "SameAnswers | None":
        """Return the answers of pairs, or None if they have none."""
        if pairs.same is None or not bool(pairs.carries("same").any()):
            return None
        answered = pairs.carrying("same")
        assert answered.same is not None
        weight = np.ones(len(answered)) if answered.weight is None else answered.weight.double().numpy()
        return cls(
            items=answered.items[torch.cat([answered.left, answered.right])],
            same=answered.same.double().numpy(),
            weight=weight,
        )

    def __len__(self) -> int:
        return len(self.same)

    def log_likelihood(self, values: _Vector, priors: _Vector) -> _Vector:
        """Return the log-likelihood of priors, (k,).

        Parameters
        ----------
        values : array of shape (2 m,)
            Posteriors of the items minus the prior.
        priors : array of shape (k,)
            The priors.
        """
        r, r_prime = np.clip(values.reshape(2, -1, 1) + priors, _LEAST, 1 - _LEAST)
        likelihood = np.clip(r * r_prime + (1 - r) * (1 - r_prime), _LEAST, 1 - _LEAST)
        s = self.same[:, None]
        total: _Vector = self.weight @ (s * np.log(likelihood) + (1 - s) * np.log1p(-likelihood))
        return total


def separate_answers(pairs: Pairs) -> tuple[Pairs, SameAnswers | None]:
    """Return the pairs that have a difference, without same-class answers, and the answers of all pairs.

    Examples
    --------
    >>> pairs = Pairs([[0.0], [1.0]], left=[0, 1], right=[1, 0], difference=[0.3, np.nan], same=[0, 1])
    >>> graded, answers = separate_answers(pairs)
    >>> len(graded), len(answers)
    (1, 2)
    """
    if pairs.same is None or pairs.difference is None:
        return pairs, None
    return pairs.carrying("differences").with_same(None), SameAnswers.of_pairs(pairs)


def joined_answers(pairs: Pairs, answers: SameAnswers | None) -> Pairs:
    """Return pairs with differences and, as pairs of their own, same-class answers: the reverse of separating them."""
    if answers is None:
        return pairs
    count = len(answers)
    rows = torch.arange(2 * count) + len(pairs.items)
    weight = _joined_weight(pairs, answers)
    assert pairs.difference is not None
    appended: dict[str, Tensor] = {
        "left": rows[:count],
        "right": rows[count:],
        "difference": torch.full((count,), torch.nan),
        **{name: torch.zeros(count, dtype=torch.int64) for name in ("group", "annotator", "side", "precision")},
    }
    fields = {
        name: torch.cat([value, tensor.to(value.dtype)])
        for name, tensor in appended.items()
        if (value := getattr(pairs, name)) is not None
    }
    items = _stacked(pairs.items, answers.items)
    joined = pairs._with(items=items, **fields, weight=weight, posteriors=None, labels=None)
    return joined.with_same(np.concatenate([np.full(len(pairs), np.nan), answers.same]))


def same_moment(pairs: Pairs) -> LabelMoment:
    """Return the moment E[1 - s] = E[(y' - y)^2] of same-class answers of pairs of independent items."""
    answered = pairs.carrying("same")
    assert answered.same is not None
    return moment_of_squares(answered, 1 - answered.same.double().numpy())


def _joined_weight(pairs: Pairs, answers: SameAnswers) -> Tensor | None:
    if pairs.weight is None and bool((answers.weight == 1).all()):
        return None
    weight = torch.ones(len(pairs)) if pairs.weight is None else pairs.weight
    return torch.cat([weight, torch.from_numpy(answers.weight.astype(np.float32))])


def _stacked(first: Items, second: Items) -> Items:
    """Return the items of both, below each other."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        return torch.cat([first, second.to(first.dtype)])
    from scipy.sparse import csr_array, vstack

    return SparseItems(csr_array(vstack([as_matrix(first), as_matrix(second)], format="csr")))
