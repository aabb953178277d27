"""Choose the strength of the penalty of a linear model on held-out pairs, along a path with warm starts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from confdiff.estimators.linear.design import Design, Vector
from confdiff.estimators.linear.solving import Solution, make_ridge, solve
from confdiff.io.decoding import decode_fields
from confdiff.links import find_link
from confdiff.metrics import difference_r2, pairwise_accuracy

_STRENGTHS = tuple(10 ** (-exponent / 2) for exponent in range(13))  # 1 to 1e-6, relative to the features
_NEIGHBOURS = (10**0.25, 10**-0.25)  # relative to the best of these
_PATIENCE = 3  # weaker penalties in a row, each clearly worse, after which the search ends
_CLEARLY = 0.002  # difference of two R²; those of strong penalties are all near 0
_TOL = 1e-4
Splits = Sequence[tuple[Design, Design]]
"""Training pairs and held-out pairs of each fold."""


@dataclass(frozen=True)
class PenaltyCandidate:
    """A strength of the penalty and its results on held-out pairs.

    Attributes
    ----------
    C : float
        Inverse strength of the penalty.
    r2, r2_error : float
        The mean R² of the differences over the folds, and its standard error (0 for one fold).
    pairwise_accuracy : float or None
        The mean pairwise accuracy over the folds; None if a fold has only ties.
    """

    C: float
    r2: float
    r2_error: float
    pairwise_accuracy: float | None


@dataclass(frozen=True)
class PenaltySearch:
    """The result of a search for the strength of the penalty.

    Attributes
    ----------
    candidates : tuple of PenaltyCandidate
        From the strongest penalty to the weakest.

    Examples
    --------
    >>> weak, strong = PenaltyCandidate(1.0, 0.3, 0.1, None), PenaltyCandidate(0.1, 0.4, 0.1, None)
    >>> PenaltySearch((strong, weak)).best.C
    0.1
    """

    candidates: tuple[PenaltyCandidate, ...]

    @property
    def best(self) -> PenaltyCandidate:
        """The candidate with the highest R²; of equals the one with the strongest penalty."""
        return max(self.candidates, key=lambda candidate: candidate.r2)

    def to_json(self) -> list[dict[str, Any]]:
        """Return the candidates as JSON values."""
        return [asdict(candidate) for candidate in self.candidates]

    @classmethod
    def from_json(cls, values: Sequence[Any]) -> "PenaltySearch":
        """Return the search from the JSON values of :meth:`to_json`."""
        return cls(candidates=tuple(decode_fields(PenaltyCandidate, value) for value in values))


def search_penalty(design: Design, splits: Splits, link: str, prior: float | None, scale: bool) -> PenaltySearch:
    """Try weaker and weaker penalties, until they no longer help, and then the neighbours of the best one.

    The candidates are relative to the mean squared length of the feature differences, so that they do not depend on
    the unit and the number of the features.

    Parameters
    ----------
    design : Design
        All training pairs.
    splits : sequence of (training pairs, held-out pairs)
        The folds.
    link : str
        The name of the link.
    prior : float or None
        The class prior, for the probability link.
    scale : bool
        See :func:`~confdiff.estimators.linear.solving.make_ridge`.
    """
    paths = [_Path(training, held_out, link) for training, held_out in splits]
    candidates: list[PenaltyCandidate] = []

    def measure(C: float) -> None:
        for path in paths:
            path.advance(C, prior, scale)
        candidates.append(_measured(C, paths))

    for C in _candidates(design, scale):
        measure(C)
        best = max(candidate.r2 for candidate in candidates)
        if all(candidate.r2 < best - _CLEARLY for candidate in candidates[-_PATIENCE:]):
            break
    coarse = PenaltySearch(tuple(candidates)).best.C
    for factor in _NEIGHBOURS:
        measure(factor * coarse)
    return PenaltySearch(tuple(sorted(candidates, key=lambda candidate: candidate.C)))


def _candidates(design: Design, scale: bool) -> Iterator[float]:
    """Yield the values of C, from the smallest."""
    unit = design.spread() if scale else np.ones(design.n_features)
    spread = design.difference_spread() / np.where(unit > 0, unit, 1)
    length = float(spread.sum()) or 1.0
    for strength in _STRENGTHS:
        yield 1 / (strength * length * len(design))


class _Path:
    """The solutions of one fold, each of which is the start of the next."""

    def __init__(self, training: Design, held_out: Design, link: str) -> None:
        self.training = training
        self.held_out = held_out
        self.link = link
        self.solution: Solution | None = None

    def advance(self, C: float, prior: float | None, scale: bool) -> None:
        ridge = make_ridge(self.training, C, scale)
        self.solution = solve(self.training, self.link, ridge, prior, start=self.solution, tol=_TOL)

    def predicted(self) -> Vector:
        """Return the predicted differences of the held-out pairs."""
        assert self.solution is not None
        link = find_link(self.link)
        if not link.has_classes:
            differences = self.held_out.differences(self.solution.w)
            return link.difference(np.zeros_like(differences), differences)
        scores = self.held_out.scores(self.solution.w) + self.solution.b
        return link.difference(scores[self.held_out.left], scores[self.held_out.right])


def _measured(C: float, paths: Sequence[_Path]) -> PenaltyCandidate:
    predictions = [path.predicted() for path in paths]
    held_out = [path.held_out for path in paths]
    r2 = [difference_r2(c_hat, fold.c, fold.weight) for c_hat, fold in zip(predictions, held_out, strict=True)]
    accuracies = [pairwise_accuracy(c_hat, fold.c) for c_hat, fold in zip(predictions, held_out, strict=True)]
    return PenaltyCandidate(
        C=C,
        r2=float(np.mean(r2)),
        r2_error=float(np.std(r2, ddof=1) / np.sqrt(len(r2))) if len(r2) > 1 else 0.0,
        pairwise_accuracy=None if np.isnan(accuracies).any() else float(np.mean(accuracies)),
    )
