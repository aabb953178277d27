r"""Links: what a graded judgement means, that is, which function of the scores of two items it measures.

Symbols: :math:`g, g'` the scores of the first and the second item of a pair, :math:`c` the judged difference,
:math:`\sigma` the logistic function.

===========  ==============================  ==========================================  ==========================
link         predicted difference            meant for                                   output for a single item
===========  ==============================  ==========================================  ==========================
probability  :math:`\sigma(g') - \sigma(g)`  risks and class probabilities (the paper)   probability of the class
preference   :math:`2 \sigma(g' - g) - 1`    shares of votes, strengths of preference    score, and the probability
                                                                                         to be preferred
score        :math:`g' - g`                  ratings, points, money                      score in the judgements' units
===========  ==============================  ==========================================  ==========================

A class prior, a decision at one half and a calibration to labels make sense for the probability link only. The scores
of the other two links are determined up to a constant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from confdiff.validation import check_choice

LinkName = Literal["probability", "preference", "score"]
"""The names that users type."""

_Vector = NDArray[Any]
MAX_REFERENCE = 1001
"""The most scores that represent those of the training items."""


@dataclass(frozen=True)
class Link:
    """A meaning of graded judgements.

    Attributes
    ----------
    name : str
        The name that users type.
    question : str
        A question that judgements of this kind answer.
    quantity : str
        What the judgements are differences of, for messages and pages.
    has_classes : bool
        Whether a score determines the probability of a class.
    difference : callable
        ``(g, g_prime)`` -> predicted difference. NumPy arrays of the same shape.
    """

    name: LinkName
    question: str
    quantity: str
    has_classes: bool
    difference: Callable[[_Vector, _Vector], _Vector]


def _probability_difference(g: _Vector, g_prime: _Vector) -> _Vector:
    from scipy.special import expit

    difference: _Vector = expit(g_prime) - expit(g)
    return difference


def _preference_difference(g: _Vector, g_prime: _Vector) -> _Vector:
    difference: _Vector = np.tanh((np.asarray(g_prime) - g) / 2)
    return difference


def _score_difference(g: _Vector, g_prime: _Vector) -> _Vector:
    difference: _Vector = np.asarray(g_prime) - g
    return difference


LINKS: dict[str, Link] = {
    link.name: link
    for link in (
        Link(
            name="probability",
            question="How much likelier is the second item to be positive?",
            quantity="probabilities of the positive class",
            has_classes=True,
            difference=_probability_difference,
        ),
        Link(
            name="preference",
            question="Which item is better, and how clearly?",
            quantity="shares of votes",
            has_classes=False,
            difference=_preference_difference,
        ),
        Link(
            name="score",
            question="By how many points is the second item better?",
            quantity="scores",
            has_classes=False,
            difference=_score_difference,
        ),
    )
}
"""Name -> link."""
assert tuple(LINKS) == get_args(LinkName)


def find_link(name: str) -> Link:
    """Return the link of a name; for an unknown name, the error suggests the nearest one.

    Examples
    --------
    >>> find_link("preference").difference(np.array([0.0]), np.array([0.0]))
    array([0.])
    """
    return LINKS[check_choice("link", name, LINKS)]


def reference_scores(scores: _Vector) -> NDArray[np.float64]:
    """Return scores that represent those of the training items: all of them sorted, or 1,001 quantiles.

    Parameters
    ----------
    scores : array of shape (m,)
        The scores of the training items.

    Returns
    -------
    array of shape (k,), k <= 1001

    Examples
    --------
    >>> reference_scores(np.array([2.0, 1.0]))
    array([1., 2.])
    """
    values = np.sort(np.asarray(scores, dtype=np.float64))
    if len(values) <= MAX_REFERENCE:
        return values
    quantiles: NDArray[np.float64] = np.quantile(values, np.linspace(0, 1, MAX_REFERENCE))
    return quantiles


def class_probability(scores: _Vector) -> NDArray[np.float32]:
    """Return the probability of the positive class for scores of the probability link, as 32-bit floats. Shape: (m,).

    >>> class_probability(np.array([0.0]))
    array([0.5], dtype=float32)
    """
    from scipy.special import expit

    probability: NDArray[np.float32] = expit(scores).astype(np.float32)
    return probability


def preference_probability(scores: _Vector, reference: _Vector) -> NDArray[np.float64]:
    r"""Return the probability of each item to be preferred to a random item of the training set.

    .. math:: \mathrm{mean}_i\ \sigma(g(x) - g_i)

    Parameters
    ----------
    scores : array of shape (m,)
        Scores of the preference link.
    reference : array of shape (k,)
        Scores of the training items, see :func:`reference_scores`.

    Returns
    -------
    array of shape (m,)

    Examples
    --------
    >>> preference_probability(np.array([0.0, 50.0]), np.array([0.0, 0.0]))
    array([0.5, 1. ])
    """
    from scipy.special import expit

    g = np.asarray(scores, dtype=np.float64)
    total = np.zeros(len(g))
    for value in np.asarray(reference, dtype=np.float64):
        total += expit(g - value)
    return total / len(reference)
