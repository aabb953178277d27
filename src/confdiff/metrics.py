"""Measure the quality of a model, with labels and without."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.validation import check_same_shape, no_weight


def accuracy(scores: ArrayLike, labels: ArrayLike) -> float:
    """Return the fraction of items whose score has the sign of their label; a score of 0 counts as positive.

    Parameters
    ----------
    scores : array-like of shape (m,)
        Scores of the items.
    labels : array-like of shape (m,)
        Labels, positive where above 0.

    Examples
    --------
    >>> accuracy([0.3, -2.0, 0.0], [1, 1, 1])
    0.6666666666666666
    """
    g = np.asarray(scores)
    y = np.asarray(labels)
    check_same_shape(scores=g, labels=y)
    return float(np.mean((g >= 0) == (y > 0)))


def reliability(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> NDArray[np.float64]:
    """Return the reliability table: predicted and observed frequency in bins of the predicted probability.

    Parameters
    ----------
    probabilities : array-like of shape (m,)
        Predicted probabilities of the positive class.
    labels : array-like of shape (m,)
        Labels, positive where above 0.
    bins : int
        Number of bins of equal width in [0, 1]; empty bins are left out.

    Returns
    -------
    ndarray of shape (b, 3)
        One row per non-empty bin: mean prediction, fraction of positives, number of items.

    Examples
    --------
    >>> reliability([0.12, 0.18, 0.91], [0, 1, 1])
    array([[0.15, 0.5 , 2.  ],
           [0.91, 1.  , 1.  ]])
    """
    predicted = np.asarray(probabilities, dtype=np.float64)
    positive = np.asarray(labels) > 0
    check_same_shape(probabilities=predicted, labels=positive)
    bin_of = np.minimum((predicted * bins).astype(int), bins - 1)
    counts = np.bincount(bin_of, minlength=bins).astype(np.float64)
    sums = np.stack([np.bincount(bin_of, predicted, bins), np.bincount(bin_of, positive, bins)])
    full = counts > 0
    return np.column_stack([(sums[:, full] / counts[full]).T, counts[full]])


def calibration_error(probabilities: ArrayLike, labels: ArrayLike, *, bins: int = 10) -> float:
    """Return the expected calibration error: the mean gap between predicted and observed frequency, over the items.

    Parameters as in :func:`reliability`.

    >>> round(calibration_error([0.12, 0.18, 0.91], [0, 1, 1]), 4)
    0.2633
    """
    predicted, observed, counts = reliability(probabilities, labels, bins=bins).T
    return float(np.average(np.abs(predicted - observed), weights=counts))


def difference_r2(predicted: ArrayLike, differences: ArrayLike, weight: ArrayLike | None = None) -> float:
    r"""Return the R² of predicted differences, which needs neither labels nor the class prior.

    .. math:: 1 - \sum_i w_i (\hat c_i - c_i)^2 / \sum_i w_i c_i^2

    A perfect model gets 1 and a constant model 0. If all pairs are ties, the value is 1 if all are predicted to be
    ties, else 0.

    Parameters
    ----------
    predicted, differences : array-like of shape (n,), or (n, K) for K classes
        Predicted and observed differences of the pairs.
    weight : array-like of shape (n,) or None
        Weights of the pairs.

    Examples
    --------
    >>> difference_r2([0.5, -0.5], [0.5, -0.5]), difference_r2([0.0, 0.0], [0.5, -0.5])
    (1.0, 0.0)
    """
    c_hat = np.asarray(predicted, dtype=np.float64)
    c = np.asarray(differences, dtype=np.float64)
    w = np.ones(len(c)) if weight is None else np.asarray(weight, dtype=np.float64)
    if c.ndim > 1 and c_hat.shape == c.shape:
        w = np.repeat(w, c.size // len(c))
        c_hat = c_hat.reshape(-1)
        c = c.reshape(-1)
    check_same_shape(predicted=c_hat, differences=c, weight=w)
    if not w.any():
        raise no_weight()
    residual = float(w @ (c_hat - c) ** 2)
    total = float(w @ c**2)
    if total == 0:
        return float(residual == 0)
    return 1 - residual / total


def pairwise_accuracy(predicted: ArrayLike, differences: ArrayLike) -> float:
    """Return the fraction of pairs for which the sign of the difference is predicted correctly.

    Ties (differences of 0) are left out, and a predicted difference of 0 counts one half. If all pairs are ties, the
    value is NaN.

    Parameters
    ----------
    predicted, differences : array-like of shape (n,)
        Predicted and observed differences of the pairs.

    Examples
    --------
    >>> pairwise_accuracy([0.5, 0.1, 0.0, -0.2], [0.3, -0.3, 0.9, 0.0])
    0.5
    """
    c_hat = np.asarray(predicted, dtype=np.float64)
    c = np.asarray(differences, dtype=np.float64)
    check_same_shape(predicted=c_hat, differences=c)
    ordered = c != 0
    correct = np.where(c_hat[ordered] == 0, 0.5, np.sign(c_hat[ordered]) == np.sign(c[ordered]))
    return float(correct.mean()) if len(correct) else float("nan")


def hit_rate(scores: ArrayLike, *, at: int = 10) -> NDArray[np.float64]:
    """Return whether the first candidate of each row is among the ``at`` best.

    Candidates with equal scores are in random order, and the value is the expectation over these orders: a constant
    scorer gets ``at`` / m. A score of -inf marks a candidate that does not exist.

    Parameters
    ----------
    scores : array-like of shape (u, m)
        Scores of the candidates, the relevant one in the first column.
    at : int
        Length of the list of best candidates.

    Returns
    -------
    ndarray of shape (u,)

    Examples
    --------
    >>> hit_rate([[3.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]], at=1)
    array([1.        , 0.33333333, 0.        ])
    """
    above, tied = _above_and_tied(scores)
    return np.clip((at - above) / (tied + 1), 0, 1)


def ndcg(scores: ArrayLike, *, at: int = 10) -> NDArray[np.float64]:
    """Return the normalised discounted cumulative gain of the first candidate of each row.

    It is 1 / log2(1 + rank) for ranks up to ``at``, and 0 below. Parameters and ties as in :func:`hit_rate`.

    >>> ndcg([[3.0, 1.0, 2.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]], at=2).round(4)
    array([1.    , 0.6309, 0.    ])
    """
    above, tied = _above_and_tied(scores)
    gains = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, at + 2)))])  # of the best 0, 1, ..., at ranks
    first = np.minimum(above, at)
    last = np.minimum(above + tied + 1, at)
    means: NDArray[np.float64] = (gains[last] - gains[first]) / (tied + 1)
    return means


def _above_and_tied(scores: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the other candidates that score higher than the first one, and those that score the same."""
    table = np.asarray(scores, dtype=np.float64)
    relevant = table[:, :1]
    return (table > relevant).sum(axis=1), (table[:, 1:] == relevant).sum(axis=1)
