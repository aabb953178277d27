"""How good a model is, with labels and without."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.validation import check_same_shape, no_weight


def accuracy(scores: ArrayLike, labels: ArrayLike) -> float:
    """The share of items whose score has the sign of their label (a score of 0 counts as positive).

    Shapes: scores: (m,); labels: (m,), positive where above 0.

    >>> accuracy([0.3, -2.0, 0.0], [1, 1, 1])
    0.6666666666666666
    """
    g, y = np.asarray(scores), np.asarray(labels)
    check_same_shape(scores=g, labels=y)
    return float(np.mean((g >= 0) == (y > 0)))


def reliability(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> NDArray[np.float64]:
    """For each of ``bins`` equal bins of the predicted probability that is not empty: what was said, what was so.

    Shapes: probabilities: (m,); labels: (m,), positive where above 0.
    Returns: (b, 3), the columns being the mean prediction, the share of positives and the number of items.

    >>> reliability([0.12, 0.18, 0.91], [0, 1, 1])
    array([[0.15, 0.5 , 2.  ],
           [0.91, 1.  , 1.  ]])
    """
    said = np.asarray(probabilities, dtype=np.float64)
    so = np.asarray(labels) > 0
    check_same_shape(probabilities=said, labels=so)
    place = np.minimum((said * bins).astype(int), bins - 1)
    counts = np.bincount(place, minlength=bins).astype(np.float64)
    sums = np.stack([np.bincount(place, said, bins), np.bincount(place, so, bins)])
    full = counts > 0
    return np.column_stack([(sums[:, full] / counts[full]).T, counts[full]])


def calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> float:
    """The expected calibration error: the mean gap between what was said and what was so, over the items.

    >>> round(calibration_error([0.12, 0.18, 0.91], [0, 1, 1]), 4)
    0.2633
    """
    said, so, counts = reliability(probabilities, labels, bins=bins).T
    return float(np.average(np.abs(said - so), weights=counts))


def difference_r2(predicted: ArrayLike, given: ArrayLike, weight: ArrayLike | None = None) -> float:
    r"""How much of the given differences the predicted ones explain: needs neither labels nor the class prior.

    .. math:: 1 - \sum_i w_i (\hat c_i - c_i)^2 / \sum_i w_i c_i^2

    1 is perfect, 0 what a constant model gets. Where all pairs are ties: 1 if all are predicted so, else 0.

    Shapes: predicted, given: (n,), or (n, K) for K classes; weight: (n,).

    >>> difference_r2([0.5, -0.5], [0.5, -0.5]), difference_r2([0.0, 0.0], [0.5, -0.5])
    (1.0, 0.0)
    """
    c_hat, c = np.asarray(predicted, dtype=np.float64), np.asarray(given, dtype=np.float64)
    w = np.ones(len(c)) if weight is None else np.asarray(weight, dtype=np.float64)
    if c.ndim > 1 and c_hat.shape == c.shape:
        w = np.repeat(w, c.size // len(c))
        c_hat, c = c_hat.reshape(-1), c.reshape(-1)
    check_same_shape(predicted=c_hat, given=c, weight=w)
    if not w.any():
        raise no_weight()
    residual, total = float(w @ (c_hat - c) ** 2), float(w @ c**2)
    if total == 0:
        return float(residual == 0)
    return 1 - residual / total


def pairwise_accuracy(predicted: ArrayLike, given: ArrayLike) -> float:
    """The share of differences that are not 0 whose sign is right; half for those that are predicted to be 0.

    NaN where all are 0.

    Shapes: predicted, given: (n,).

    >>> pairwise_accuracy([0.5, 0.1, 0.0, -0.2], [0.3, -0.3, 0.9, 0.0])
    0.5
    """
    c_hat, c = np.asarray(predicted, dtype=np.float64), np.asarray(given, dtype=np.float64)
    check_same_shape(predicted=c_hat, given=c)
    told = c != 0
    right = np.where(c_hat[told] == 0, 0.5, np.sign(c_hat[told]) == np.sign(c[told]))
    return float(right.mean()) if len(right) else float("nan")


def hit_rate(scores: ArrayLike, *, at: int = 10) -> NDArray[np.float64]:
    """Whether the first of some candidates is among the ``at`` best, one number for each row.

    Candidates with equal scores stand in random order, and what is given is the expectation: a constant scorer gets
    what chance gets, ``at`` / m. A candidate of score -inf is none.

    Shapes: scores: (u, m), the relevant candidate in the first column. Returns: (u,).

    >>> hit_rate([[3.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]], at=1)
    array([1.        , 0.33333333, 0.        ])
    """
    above, tied = _above_and_tied(scores)
    return np.clip((at - above) / (tied + 1), 0, 1)


def ndcg(scores: ArrayLike, *, at: int = 10) -> NDArray[np.float64]:
    """The normalised discounted cumulative gain of the first candidate: 1 / log2(1 + its place), 0 below place ``at``.

    Ties and shapes as in :func:`hit_rate`.

    >>> ndcg([[3.0, 1.0, 2.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]], at=2).round(4)
    array([1.    , 0.6309, 0.    ])
    """
    above, tied = _above_and_tied(scores)
    gains = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, at + 2)))])  # of the best 0, 1, ... at places
    first, last = np.minimum(above, at), np.minimum(above + tied + 1, at)
    means: NDArray[np.float64] = (gains[last] - gains[first]) / (tied + 1)
    return means


def _above_and_tied(scores: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many other candidates score above the first one, and how many as high."""
    table = np.asarray(scores, dtype=np.float64)
    relevant = table[:, :1]
    return (table > relevant).sum(axis=1), (table[:, 1:] == relevant).sum(axis=1)
