"""Learn the values of ordered grades before a fit.

The learners are the probes of :mod:`confdiff.estimators.probes`, of the score link. Values come before annotators: all
annotators of a scale share them, and the model of annotators then rescales the values of each annotator.
"""

import warnings

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.estimators.probes import PROBES, suits
from confdiff.pairs import Pairs
from confdiff.randomness import derived_seed
from confdiff.spacing import FitPredict, Spacing, can_be_learned, learn_spacing, levels_of, out_of_fold

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_MOST_ANSWERS = 6_000  # values are few, so more answers add little


def space_grades(
    pairs: Pairs, *, spacing: str = "auto", at_least: bool = False, random_state: int = 0
) -> tuple[Pairs, Spacing]:
    """Replace differences, which are ordered grades, by the values of the grades.

    Parameters
    ----------
    pairs : Pairs
        Pairs with differences of two classes, of at most 10 sizes. Annotators and sides are kept.
    spacing : {"auto", "learned", "equal"}, default="auto"
        Learn the values, keep the differences, or choose by held-out answers: differences are kept unless learned
        values agree better by more than a standard error.
    at_least : bool, default=False
        Whether an end of the scale means "at least this much": its target is then the difference that is predicted out
        of fold, where that is larger. Targets may exceed [-1, 1], so this is for the score link. The other links
        predict nothing beyond an end, or do not penalise it.
    random_state : int, default=0
        Seed of the folds.

    Returns
    -------
    pairs : Pairs
        The pairs with the values as differences.
    spacing : Spacing
        The values; ``spacing.differences(c)`` applies them to other answers.

    Raises
    ------
    ValueError
        The pairs have no differences of two classes, or values cannot be learned from them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(200, 2))
    >>> left, right = rng.integers(0, 100, 600), rng.integers(100, 200, 600)
    >>> d = x[right, 0] - x[left, 0]
    >>> c = np.sign(d) * np.digitize(np.abs(d), [0.1, 0.3]) / 2  # the upper grade is far wider than the lower one
    >>> _, spacing = space_grades(Pairs(x, left, right, c), spacing="learned")
    >>> spacing.values[0] / spacing.values[1] < 0.4
    True
    """
    if pairs.difference is None or pairs.has_vectors:
        raise ValueError("the values of grades need pairs with differences of two classes; these have none.")
    if pairs.precision is not None:
        raise ValueError("these differences are rescaled already; learn the values of grades before the annotators.")
    rows = np.flatnonzero(pairs.carries("differences").numpy())
    c = pairs.difference.double().numpy()
    sample = _sample(rows, random_state)
    if not can_be_learned(c[sample], spacing):
        levels = levels_of(c[rows]) or (1.0,)
        return pairs, Spacing(name="equal", levels=levels, values=levels)
    fit_predict = _chosen_probe(pairs, c, rows, random_state)
    learned = learn_spacing(
        c[sample],
        lambda training, targets, test: fit_predict(sample[training], targets, sample[test]),
        spacing=spacing,
        seed=random_state,
    )
    if learned.name == "equal":
        return pairs, learned
    if at_least:
        return with_end_targets(pairs, learned, seed=random_state), learned
    return with_values(pairs, learned), learned


def with_values(pairs: Pairs, spacing: Spacing) -> Pairs:
    """Return pairs with the values of their differences, which stay in [-1, 1]; missing ones stay missing."""
    assert pairs.difference is not None
    return pairs.with_difference(torch.from_numpy(spacing.differences(pairs.difference.double().numpy())).float())


def with_end_targets(pairs: Pairs, spacing: Spacing, *, seed: int) -> Pairs:
    """Return pairs with the values of their differences, and with larger ones at the ends of the scale.

    There, the difference that is predicted out of fold is the target, where it is larger.
    """
    assert pairs.difference is not None
    rows = np.flatnonzero(pairs.carries("differences").numpy())
    c = pairs.difference.double().numpy()
    target = c.copy()
    fit_predict = _chosen_probe(pairs, c, rows, seed)
    predicted = out_of_fold(spacing.differences(c[rows]), rows, fit_predict, seed)
    target[rows] = spacing.targets(c[rows], predicted)
    return pairs.with_difference(torch.from_numpy(target).float())


def _sample(rows: _Rows, seed: int) -> _Rows:
    if len(rows) <= _MOST_ANSWERS:
        return rows
    rng = np.random.default_rng(derived_seed(seed, "answers for grades"))
    return np.sort(rng.choice(rows, _MOST_ANSWERS, replace=False))


def _chosen_probe(pairs: Pairs, c: _Floats, rows: _Rows, seed: int) -> FitPredict:
    """Return the probe that predicts the differences as they are with the least error."""
    names = [name for name in PROBES if suits(name, pairs)]
    candidates = [_fit_predict(pairs, name, seed) for name in names]
    if len(candidates) == 1:
        return candidates[0]
    sample = _sample(rows, seed)
    errors = [float(((out_of_fold(c[sample], sample, probe, seed) - c[sample]) ** 2).mean()) for probe in candidates]
    return candidates[int(np.argmin(errors))]


def _fit_predict(pairs: Pairs, name: str, seed: int) -> FitPredict:
    """Return a probe as a function of rows of pairs and of their targets."""

    def fit_predict(training: _Rows, targets: _Floats, test: _Rows) -> _Floats:
        part = _without_annotators(pairs[np.asarray(training)], targets).compact()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PROBES[name](part, seed).fit(part)
            predicted: _Floats = np.asarray(model._differences(pairs[np.asarray(test)].compact()), dtype=np.float64)
        return predicted

    return fit_predict


def _without_annotators(pairs: Pairs, targets: _Floats) -> Pairs:
    """Return pairs with targets as differences, pooled over annotators and without same-class answers."""
    pooled = pairs.with_precision(torch.from_numpy(targets).float(), torch.ones(len(pairs)))
    return pooled.with_precision_in_weights().with_same(None)
