"""Learned values of the grades of an ordered scale: antisymmetric, monotone, shrunk to equal spacing.

A grade is a difference c with one of a few sizes, its levels: 1/3, 2/3 and 1 for seven points. Its value is v(c), with
v(-c) = -v(c) and v(0) = 0. The value of a level is the mean of the differences that a learner predicts out of fold for
the pairs with this level (alternating least squares, as in optimal scaling). Only ratios of values are determined: the
mean square of v over all answers is that of c, or less, if the largest value would exceed 1. An end of the scale means
"at least this much", so a target there is the prediction where that is larger.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.randomness import derived_seed
from confdiff.validation import check_choice

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
FitPredict = Callable[[_Rows, _Floats, _Rows], _Floats]
"""Training rows, their targets, and other rows -> the differences that a learner predicts for the latter."""

SPACINGS = ("equal", "learned", "auto")
"""The values of grades: as the scale defines them, learned, or chosen by held-out answers."""
MOST_LEVELS = 10
"""More sizes than these are numbers and not grades: a slider or per cent."""
_ROUNDS = 2  # of the alternation
_FOLDS = 3  # of the answers from which values are learned
_OUTER_FOLDS = 5  # of held-out answers
_BLOCK = 25  # answers, for the standard error of a difference of agreements
_FEWEST = 50  # answers; with fewer, auto is equal
_END = 1 - 1e-6
_DIGITS = 5  # by which sizes are the same


@dataclass(frozen=True)
class Spacing:
    """The value of each level of a scale, and how well each candidate agrees with held-out answers.

    Attributes
    ----------
    name : {"equal", "learned"}
        Which candidate it is.
    levels : tuple of float
        The sizes of differences above 0, increasing.
    values : tuple of float
        Their values, not decreasing.
    agreement : mapping of str to float
        Candidate -> Kendall's tau-b of held-out answers and their predictions; empty if nothing was compared.
    """

    name: str
    levels: tuple[float, ...]
    values: tuple[float, ...]
    agreement: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_choice("spacing", self.name, ("equal", "learned"))
        is_increasing = all(low < high for low, high in zip(self.levels, self.levels[1:], strict=False))
        if len(self.levels) != len(self.values) or not self.levels or not is_increasing or self.levels[0] <= 0:
            raise ValueError(f"levels must increase from above 0, with a value each; got {self.levels} {self.values}.")

    def differences(self, c: ArrayLike) -> _Floats:
        """Return the values of differences; those between two levels are interpolated.

        >>> Spacing("learned", (0.5, 1.0), (0.3, 1.0)).differences([-1, 0, 0.5, 0.75])
        array([-1.  ,  0.  ,  0.3 ,  0.65])
        """
        difference = np.asarray(c, dtype=np.float64)
        size = np.abs(difference)
        value = np.interp(size, (0.0, *self.levels), (0.0, *self.values))
        beyond = np.maximum(size / self.levels[-1], 1)  # a level that did not occur among the answers
        mapped: _Floats = np.sign(difference) * np.minimum(value * beyond, np.maximum(size, self.values[-1]))
        return mapped

    def targets(self, c: ArrayLike, predicted: ArrayLike) -> _Floats:
        """Return targets for a learner of scores: at an end of the scale, the prediction where it lies beyond the end.

        Parameters
        ----------
        c
            (n,) differences in [-1, 1]; the ends of the scale are -1 and 1.
        predicted
            (n,) differences that were predicted out of fold.

        Examples
        --------
        >>> spacing = Spacing("learned", (0.5, 1.0), (0.3, 1.0))
        >>> spacing.targets([1, 1, -1, 0.5], [1.4, 0.2, -1.1, 0.9])
        array([ 1.4,  1. , -1.1,  0.3])
        """
        difference = np.asarray(c, dtype=np.float64)
        value = self.differences(difference)
        sign = np.sign(difference)
        beyond = sign * np.maximum(sign * np.asarray(predicted, dtype=np.float64), np.abs(value))
        return np.where(np.abs(difference) >= _END, beyond, value)

    def to_json(self) -> dict[str, Any]:
        """Return the spacing as JSON values."""
        return {
            "name": self.name,
            "levels": list(self.levels),
            "values": list(self.values),
            "agreement": dict(self.agreement),
        }


def levels_of(c: ArrayLike) -> tuple[float, ...]:
    """Return the sizes above 0 of differences, increasing.

    >>> levels_of([-1, 0, 0.5, 0.5])
    (0.5, 1.0)
    """
    size = np.abs(np.asarray(c, dtype=np.float64)).round(_DIGITS)
    return tuple(np.unique(size[size > 0]).tolist())


def learned_values(c: ArrayLike, predicted: ArrayLike) -> _Floats:
    """Return the values of the levels of differences that fit predictions, shrunk to the levels themselves.

    Parameters
    ----------
    c
        (n,) differences.
    predicted
        (n,) differences that were predicted out of fold.

    Returns
    -------
    values
        One for each of :func:`levels_of`, at least 0, not decreasing and at most 1. Deviations from the levels are
        shrunk by empirical Bayes: their spread is estimated from all levels, so levels with few answers keep theirs.

    Examples
    --------
    >>> c = np.repeat([0.5, 1, -0.5, -1], 500)
    >>> learned_values(c, np.sign(c) * np.where(np.abs(c) == 0.5, 0.1, 0.4)).round(2)
    array([0.25, 1.  ])
    """
    levels = np.array(levels_of(c))
    difference = np.asarray(c, dtype=np.float64)
    is_graded = np.abs(difference).round(_DIGITS) > 0
    if len(levels) < 2:
        return levels
    position = np.searchsorted(levels, np.abs(difference[is_graded]).round(_DIGITS))
    d = np.sign(difference[is_graded]) * np.asarray(predicted, dtype=np.float64)[is_graded]
    count = np.bincount(position).astype(np.float64)
    mean = np.bincount(position, d) / count
    square = np.bincount(position, d**2) / count
    energy = float(count @ mean**2)
    if energy <= 0 or float(count @ mean) <= 0:
        return levels  # the predictions do not agree with the answers: nothing can be learned from them
    factor = (float(count @ levels**2) / energy) ** 0.5
    deviation = factor * mean - levels
    variance = factor**2 * np.maximum(square - mean**2, 0) / count
    spread = max(float((deviation**2 - variance).mean()), 0.0)
    weight = spread / np.maximum(spread + variance, 1e-300)
    shrunk = _not_decreasing(np.maximum(levels + weight * deviation, 0), count)
    total = float(count @ shrunk**2)
    values = shrunk * (float(count @ levels**2) / total) ** 0.5 if total > 0 else levels
    return values / max(float(values[-1]), 1.0)


def _not_decreasing(values: _Floats, weights: _Floats) -> _Floats:
    """Return the non-decreasing values that are closest to given ones in weighted squares."""
    from sklearn.isotonic import isotonic_regression

    fitted: _Floats = isotonic_regression(values, sample_weight=weights)
    return fitted


def learn_spacing(c: ArrayLike, fit_predict: FitPredict, *, spacing: str = "auto", seed: int = 0) -> Spacing:
    """Alternate a learner with the values of the levels, and choose between candidates by held-out answers.

    Parameters
    ----------
    c
        (n,) differences in [-1, 1] of at most :data:`MOST_LEVELS` sizes.
    fit_predict
        The learner.
    spacing
        One of :data:`SPACINGS`. ``"auto"`` holds out every answer once, learns the values and the learner from the
        others, and keeps equal spacing unless learned values agree better by more than a standard error.
    seed
        Of the folds.

    Raises
    ------
    ValueError
        The spacing is unknown, or ``"learned"`` is asked for and the differences do not have 2 to 10 sizes.
    """
    answers = np.asarray(c, dtype=np.float64)
    levels = levels_of(answers)
    equal = Spacing(name="equal", levels=levels or (1.0,), values=levels or (1.0,))
    if not can_be_learned(answers, spacing):
        return equal
    agreement: dict[str, float] = {}
    if spacing == "auto":
        is_better, agreement = _compared(answers, fit_predict, equal, seed)
        if not is_better:
            return Spacing(name="equal", levels=levels, values=levels, agreement=agreement)
    learned, _ = _learned(answers, np.arange(len(answers)), fit_predict, seed)
    return Spacing(name="learned", levels=learned.levels, values=learned.values, agreement=agreement)


def can_be_learned(c: ArrayLike, spacing: str) -> bool:
    """Return whether values are to be learned from differences; equal spacing needs no learner.

    Raises
    ------
    ValueError
        The spacing is unknown, or ``"learned"`` is asked for and the differences do not have 2 to 10 sizes.
    """
    check_choice("spacing", spacing, SPACINGS)
    count = len(levels_of(c))
    if spacing == "equal":
        return False
    if 2 <= count <= MOST_LEVELS:
        return spacing == "learned" or np.size(c) >= _FEWEST
    if spacing == "learned":
        raise ValueError(
            f"spacing='learned' needs 2 to {MOST_LEVELS} sizes of differences, as ordered grades have; got {count}. "
            "Pass spacing='equal'."
        )
    return False


def out_of_fold(targets: _Floats, rows: _Rows, fit_predict: FitPredict, seed: int) -> _Floats:
    """Return the differences of rows, each predicted by a learner that was not fitted to its answer."""
    fold = _folds(len(rows), _FOLDS, seed, "folds of grades")
    predicted = np.empty(len(rows))
    for number in range(_FOLDS):
        held_out = fold == number
        predicted[held_out] = fit_predict(rows[~held_out], targets[~held_out], rows[held_out])
    return predicted


def _folds(count: int, n_folds: int, seed: int, purpose: str) -> _Rows:
    shuffled = np.random.default_rng(derived_seed(seed, purpose)).permutation(count)
    return np.asarray(shuffled % n_folds, dtype=np.int64)


def _learned(c: _Floats, rows: _Rows, fit_predict: FitPredict, seed: int) -> tuple[Spacing, _Floats]:
    """Return the spacing that is learned from some answers, and their targets."""
    levels = levels_of(c[rows])
    targets = c[rows]
    spacing = Spacing(name="learned", levels=levels or (1.0,), values=levels or (1.0,))
    for _ in range(_ROUNDS):
        predicted = out_of_fold(targets, rows, fit_predict, seed)
        values = learned_values(c[rows], predicted)
        spacing = Spacing(name="learned", levels=spacing.levels, values=tuple(values.tolist()) or spacing.values)
        targets = spacing.targets(c[rows], predicted)
    return spacing, targets


def _compared(c: _Floats, fit_predict: FitPredict, equal: Spacing, seed: int) -> tuple[bool, dict[str, float]]:
    """Return whether learned values agree better with held-out answers, and the agreement of both candidates.

    Everything that a prediction depends on is learned without its fold. Gains are differences of tau within blocks of a
    fold. Blocks of a fold share a learner, so the standard error is the larger one of those over blocks and over folds.
    """
    fold = _folds(len(c), _OUTER_FOLDS, seed, "held-out grades")
    predicted = {"equal": np.empty(len(c)), "learned": np.empty(len(c))}
    gains: list[list[float]] = []
    for number in range(_OUTER_FOLDS):
        test = np.flatnonzero(fold == number)
        training = np.flatnonzero(fold != number)
        predicted["equal"][test] = fit_predict(training, equal.differences(c[training]), test)
        _, targets = _learned(c, training, fit_predict, seed)
        predicted["learned"][test] = fit_predict(training, targets, test)
        blocks = np.array_split(test, max(len(test) // _BLOCK, 1))
        taus = [{name: _tau(c[block], values[block]) for name, values in predicted.items()} for block in blocks]
        gains.append([tau["learned"] - tau["equal"] for tau in taus])
    of_folds = np.array([np.mean(gain) for gain in gains])
    of_blocks = np.concatenate(gains)
    error = max(_standard_error(of_folds), _standard_error(of_blocks))
    agreement = {name: _tau(c, values) for name, values in predicted.items()}
    return bool(of_blocks.mean() > error), agreement


def _standard_error(values: _Floats) -> float:
    return float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else np.inf


def _tau(c: _Floats, predicted: _Floats) -> float:
    """Return Kendall's tau-b, which does not depend on the values of grades."""
    from scipy.stats import kendalltau

    tau = float(kendalltau(c.round(_DIGITS), predicted).statistic)
    return tau if np.isfinite(tau) else 0.0
