"""Fit candidates on folds of pairs, and drop those that cannot win any more."""

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.progress import Update
from confdiff.estimators.candidates import Candidate, fit_candidate
from confdiff.estimators.folds import FoldPlan
from confdiff.estimators.selection import NEGLIGIBLE, ComparedCandidate, Estimate, Selection
from confdiff.links import LinkName

_Vector = NDArray[np.float64]

_SIMPLEST_LINKS: tuple[LinkName, ...] = ("score", "preference", "probability")  # the last one has an offset as well
_CLEARLY = 3.0  # standard errors by which a candidate or a link must be worse to be dropped
_CLEARLY_FOR_COSTLY = 1.0  # the same for candidates whose fits take long; these are the least simple as well


@dataclass(eq=False)
class Contender:
    """A candidate with a link, and its results so far.

    Attributes
    ----------
    predicted
        The predicted differences of the test pairs of each fold.
    seconds
        The time for the fits.
    note
        Why it is no longer fitted; empty while it is.
    """

    candidate: Candidate
    link: LinkName
    predicted: list[_Vector] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""

    def predictions(self, count: int) -> _Vector:
        """Return the predicted differences of the first ``count`` folds, one after the other."""
        return np.concatenate(self.predicted[:count])


class Comparison:
    """The comparison of candidates, times links, on the same folds.

    Parameters
    ----------
    plan : FoldPlan
        The pairs and their folds.
    candidates : sequence of Candidate
        The simplest first.
    links : sequence of str
        The links to compare, the simplest first.
    labelled : tuple (X, y) or None
        Labelled items, for candidates that take them.
    parameters : dict
        Parameters of all candidates that have them, such as ``prior``.
    """

    def __init__(
        self,
        plan: FoldPlan,
        candidates: Sequence[Candidate],
        links: Sequence[LinkName],
        labelled: Any,
        parameters: dict[str, Any],
    ) -> None:
        self.plan = plan
        self.labelled = labelled
        self.parameters = parameters
        self.contenders = [
            Contender(candidate=candidate, link=link, note=candidate.reason_to_skip(plan.pairs))
            for candidate in candidates
            for link in candidate.links(links)
        ]

    @property
    def most_fits(self) -> int:
        """The number of fits if no candidate is dropped."""
        return sum(self._fold_limit(contender) for contender in self.contenders if not contender.note)

    def run(self, update: Update) -> Contender:
        """Fit the candidates fold by fold, drop those that are clearly worse, and return the chosen one.

        If nothing is compared, it is the simplest candidate with the first link.
        """
        n_fits = 0
        for number in range(len(self.plan.folds)):
            for contender in self._to_fit(number):
                self._fit(contender, number)
                n_fits += 1
                update(n_fits, detail=f"{contender.candidate.name}, {contender.link} (fold {number + 1})")
            self._drop_clearly_worse()
            if len(self._active) == 1:
                break
        return self._choice() if self.plan.folds else self._active[0]

    def selection(self, chosen: Contender) -> Selection:
        """Return the table of results."""
        return Selection(
            rows=tuple(self._row(contender, contender is chosen) for contender in self.contenders),
            held_out=self.plan.held_out,
            folds=len(self.plan.folds),
            pairs=len(self.plan.pairs),
        )

    @property
    def _active(self) -> list[Contender]:
        return [contender for contender in self.contenders if not contender.note]

    def _fold_limit(self, contender: Contender) -> int:
        return len(self.plan.folds) if contender.candidate.is_cheap else self.plan.costly_folds

    def _to_fit(self, number: int) -> Iterator[Contender]:
        """Yield the contenders to fit in a fold. Cheap ones come first: their results decide about links of others."""
        yield from (contender for contender in self._active if contender.candidate.is_cheap)
        if number == 0:
            self._drop_costly_with_worse_link()
        costly = [contender for contender in self._active if not contender.candidate.is_cheap]
        yield from (contender for contender in costly if number < self.plan.costly_folds)

    def _fit(self, contender: Contender, number: int) -> None:
        training, test = self.plan.folds[number]
        start = time.perf_counter()
        estimator = contender.candidate.new(contender.link, **self.parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the fit to all pairs repeats them
            fit_candidate(estimator, self.plan.pairs[training], self.labelled)
            predicted = estimator.predict_difference(self.plan.pairs[test].compact())
        contender.predicted.append(np.asarray(predicted, dtype=np.float64))
        contender.seconds += time.perf_counter() - start

    def _gain(self, contender: Contender, reference: Contender) -> Estimate:
        """Return the gain in R² over a reference, in the folds of both."""
        count = min(len(contender.predicted), len(reference.predicted))
        held_out = self.plan.held_out_pairs(count)
        return held_out.r2_gain(contender.predictions(count), reference.predictions(count))

    def _leader(self, contenders: Sequence[Contender]) -> Contender:
        """Return the contender with the highest R²; of equals the first.

        Those with the most folds are compared in all of these. The best of them is compared with each of the others in
        the folds of both.
        """
        count = max(len(contender.predicted) for contender in contenders)
        held_out = self.plan.held_out_pairs(count)
        complete = [contender for contender in contenders if len(contender.predicted) == count]
        errors = [held_out.squared_errors(contender.predictions(count)).sum() for contender in complete]
        best = complete[int(np.argmin(errors))]
        gains = [0.0 if contender is best else self._gain(contender, best).value for contender in contenders]
        return contenders[int(np.argmax(gains))] if max(gains) > 0 else best

    def _choice(self) -> Contender:
        """Return the simplest candidate that is as good as the leader, with the simplest of its best links.

        Contenders are equally good if their R² differ by less than one standard error and by too little to matter.
        """
        leader = self._leader(self._active)
        simplest = next(contender for contender in self._active if self._is_equal(contender, leader)).candidate
        links = [contender for contender in self._active if contender.candidate is simplest]
        best = self._leader(links)
        equals = [contender for contender in links if self._is_equal(contender, best)]
        return min(equals, key=lambda contender: _SIMPLEST_LINKS.index(contender.link))

    def _is_equal(self, contender: Contender, leader: Contender) -> bool:
        gain = self._gain(contender, leader)
        return contender is leader or -gain.value <= min(gain.error, NEGLIGIBLE)

    def _drop_costly_with_worse_link(self) -> None:
        """Drop costly contenders of links that the cheap candidates clearly reject."""
        cheap = [contender for contender in self._active if contender.predicted]
        if not cheap:
            return
        leader = self._leader(cheap)
        for link in {contender.link for contender in cheap}:
            best = self._leader([contender for contender in cheap if contender.link == link])
            gain = self._gain(best, leader)
            for contender in self._active:
                if contender.link == link and not contender.predicted and -gain.value > _CLEARLY * gain.error:
                    contender.note = f"not tried: the {leader.link} link suits {leader.candidate.name} better"

    def _drop_clearly_worse(self) -> None:
        """Drop the contenders whose R² is clearly below that of the leader."""
        leader = self._leader(self._active)
        for contender in self._active:
            gain = self._gain(contender, leader)
            limit = _CLEARLY if contender.candidate.is_cheap else _CLEARLY_FOR_COSTLY
            if -gain.value > limit * gain.error:
                contender.note = f"dropped after {len(contender.predicted)} of {self._fold_limit(contender)} folds"

    def _row(self, contender: Contender, is_chosen: bool) -> ComparedCandidate:
        count = len(contender.predicted)
        row = ComparedCandidate(
            candidate=contender.candidate.name,
            link=contender.link,
            folds=count,
            seconds=contender.seconds,
            chosen=is_chosen,
            note=contender.note,
        )
        if not count:
            return row
        held_out = self.plan.held_out_pairs(count)
        predicted = contender.predictions(count)
        return replace(
            row,
            r2=_defined(held_out.r2(predicted)),
            gain=_defined(self._gain(contender, self._leader(self._active))),
            pairwise_accuracy=_defined(held_out.pairwise_accuracy(predicted)),
        )


def _defined(estimate: Estimate) -> Estimate | None:
    return None if math.isnan(estimate.value) else estimate
