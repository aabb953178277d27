"""Combine the evidence about the class prior: held-out differences, label differences and labelled items."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from confdiff.prior.intervals import WIDE, Interval, not_identified, quantiles
from confdiff.prior.label_differences import LabelMoment
from confdiff.prior.monotone import MonotoneFit, fit_monotone
from confdiff.prior.out_of_fold import OutOfFold
from confdiff.prior.same_class import SameAnswers
from confdiff.prior.shape import fit_shape
from confdiff.validation import check_choice

_Vector = NDArray[np.float64]

PriorSource = Literal["given", "differences", "label differences", "labelled items", "same-class answers"]
"""What a class prior is known from."""

POSITIVES = ("rarer", "commoner")
"""Values of ``positives``: whether the positive class is the rarer or the commoner one."""

DIFFERENCE_KINDS = ("graded", "labels")
"""Values of ``differences``: graded differences, or differences of labels 0 and 1."""

_N_PRIORS = 2_001
_DECIDES = 0.975  # probability above which labelled items decide between two priors
_FAVOURS = 2 / 3
"""Fraction of the density of the prior on one side of 1/2 from which it outweighs the shape of the scores."""


@dataclass(frozen=True)
class PriorEstimate:
    """An estimate of the class prior from differences and, optionally, labels.

    Attributes
    ----------
    low, high : float
        The identified interval: every prior in it fits the differences equally well.
    value : float
        The point estimate. Without labels, it is the prior in the 95 % interval at which rescaled scores fit held-out
        differences best.
    confidence_low, confidence_high : float
        A 95 % interval for the prior. It holds all of ``alternatives``.
    n_labels : int
        Number of labelled items used.
    n_answers : int
        Number of same-class answers used.
    source : {"differences", "label differences", "labelled items", "same-class answers"}
        What determined the value.
    alternatives : tuple of tuples (low, high)
        Label differences alone fit two priors, an interval and its reflection. Both are listed here if nothing
        decides between them; otherwise it is empty.
    """

    low: float
    high: float
    value: float
    confidence_low: float
    confidence_high: float
    n_labels: int = 0
    n_answers: int = 0
    source: PriorSource = "differences"
    alternatives: tuple[Interval, ...] = ()

    @property
    def is_identified(self) -> bool:
        """Whether the data determine the prior, up to sampling error."""
        return self.confidence_high - self.confidence_low <= WIDE

    @property
    def problem(self) -> str:
        """The sentence that says what the data leave open and what to do; empty if the prior is identified."""
        if self.is_identified:
            return ""
        if not self.alternatives:
            return not_identified(self.confidence_low, self.confidence_high)
        (low, high), (mirrored_low, mirrored_high) = self.alternatives
        return (
            f"two class priors fit the {self._answers}: {low:.2f} to {high:.2f}, or {mirrored_low:.2f} to "
            f'{mirrored_high:.2f}. Pass positives="rarer" or positives="commoner", prior=..., or a few labelled items.'
        )

    @property
    def _answers(self) -> str:
        return self.source if self.source == "same-class answers" else "label differences"

    def __str__(self) -> str:
        text = f"prior {self.value:.3f} (95 %: {self.confidence_low:.3f} to {self.confidence_high:.3f})"
        return text if self.is_identified else f"{text}; {self.problem}"


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known about the class prior.

    Attributes
    ----------
    held_out : OutOfFold or None
        Scores of held-out pairs; None if label differences suffice.
    moment : LabelMoment or None
        The moment of label differences, if the differences are declared as such.
    positives : {"rarer", "commoner"} or None
        Whether the positive class is the rarer or the commoner one.
    label_scores, labels : arrays of shape (m,) or None
        Scores of labelled items, by the models that scored the pairs, and the labels, 0 or 1.
    answer_scores, answers : array of shape (2 m,) and SameAnswers, or None
        Scores of the items of same-class answers, and the answers.
    """

    held_out: OutOfFold | None
    moment: LabelMoment | None = None
    positives: str | None = None
    label_scores: _Vector | None = None
    labels: NDArray[np.float32] | None = None
    answer_scores: _Vector | None = None
    answers: SameAnswers | None = None

    def __post_init__(self) -> None:
        if self.positives is not None:
            check_choice("positives", self.positives, POSITIVES)

    def estimate(self) -> PriorEstimate:
        """Return the estimate."""
        if self.held_out is None:
            return self._of_moment()
        fit = fit_monotone(self.held_out)
        if self.labels is not None or self.answers is not None:
            return self._of_labels(fit)
        return self._of_differences(fit) if self.moment is None else self._of_moment(fit)

    def _of_differences(self, fit: MonotoneFit) -> PriorEstimate:
        """Return the estimate from held-out differences alone."""
        assert self.held_out is not None
        low, high = self._confined(*confidence_interval(fit, self.held_out))
        value = float(np.clip(fit_shape(self.held_out, low, high).prior, low, high))
        return PriorEstimate(
            low=_identified(fit)[0],
            high=_identified(fit)[1],
            value=value,
            confidence_low=low,
            confidence_high=high,
        )

    def _of_moment(self, fit: MonotoneFit | None = None) -> PriorEstimate:
        """Return the estimate from label differences; the range of the differences may exclude one of two priors."""
        assert self.moment is not None
        possible = self.moment.alternatives
        if self.positives is not None:
            possible = tuple(self._confined(low, high) for low, high in possible if self._allows(low, high))
        elif fit is not None and self.held_out is not None:
            low, high = confidence_interval(fit, self.held_out, level=0.99)
            overlapping = tuple(ends for ends in possible if ends[0] <= high and low <= ends[1])
            possible = overlapping or possible
        value = self.moment.prior
        if possible[0][0] >= 0.5 or (len(possible) > 1 and fit is not None and self._favours_commoner()):
            value = 1 - value
        return PriorEstimate(
            low=possible[0][0],
            high=possible[-1][1],
            value=value,
            confidence_low=possible[0][0],
            confidence_high=possible[-1][1],
            source="label differences",
            alternatives=possible if len(possible) > 1 else (),
        )

    def _of_labels(self, fit: MonotoneFit) -> PriorEstimate:
        """Return the middle 95 % of the prior given labels and answers, uniform in the interval of the differences."""
        assert self.held_out is not None
        low, high = self._confined(*confidence_interval(fit, self.held_out))
        priors = np.linspace(low, high, _N_PRIORS) if self.moment is None else self._confined_grid()
        log_density = self._log_likelihood(fit, priors)
        density = np.exp(log_density - log_density.max())
        rarer = float(density[priors <= 0.5].sum() / density.sum())
        modes: tuple[Interval, ...] = ()
        has_reflection = self.moment is not None or self.labels is None
        is_decided = max(rarer, 1 - rarer) > _DECIDES
        if has_reflection and is_decided:
            density = np.where((priors <= 0.5) == (rarer > _DECIDES), density, 0.0)
        elif self.moment is not None and len(self.moment.alternatives) > 1:
            modes = self.moment.alternatives
        below, above = quantiles(priors, density, 0.025, 0.975)
        if self.labels is None and not is_decided:
            value = self._on_favoured_side(priors, density)
        else:
            value = float(priors[density.argmax()]) if modes else float(np.average(priors, weights=density))
        return PriorEstimate(
            low=_identified(fit)[0],
            high=_identified(fit)[1],
            value=value,
            confidence_low=modes[0][0] if modes else below,
            confidence_high=modes[-1][1] if modes else above,
            n_labels=0 if self.labels is None else len(self.labels),
            n_answers=0 if self.answers is None else len(self.answers),
            source="same-class answers" if self.labels is None else "labelled items",
            alternatives=modes,
        )

    def _on_favoured_side(self, priors: _Vector, density: _Vector) -> float:
        """Return the mean prior on the likelier side of 1/2.

        Few same-class answers fit a prior and its reflection about equally well. Unless they favour a side by
        :data:`_FAVOURS`, it is the one where rescaled scores fit the held-out differences best. The mean is nearer to
        the middle of the side than the likeliest prior, which a few answers move to an end.
        """
        assert self.held_out is not None
        commoner = float(density[priors > 0.5].sum() / density.sum())
        if max(commoner, 1 - commoner) > _FAVOURS:
            is_commoner = commoner > 0.5
        else:
            is_commoner = fit_shape(self.held_out, float(priors[0]), float(priors[-1])).prior > 0.5
        on_side = np.where((priors > 0.5) == is_commoner, density, 0.0)
        return float(np.average(priors, weights=on_side if on_side.any() else density))

    def _log_likelihood(self, fit: MonotoneFit, priors: _Vector) -> _Vector:
        """Return the log-likelihood of priors given labels, same-class answers and the moment of label differences."""
        total = np.zeros(len(priors))
        if self.labels is not None and self.label_scores is not None:
            total = total + labels_log_likelihood(fit.values(self.label_scores), self.labels, priors)
        if self.answers is not None and self.answer_scores is not None:
            total = total + self.answers.log_likelihood(fit.values(self.answer_scores), priors)
        if self.moment is not None:
            total = total + self.moment.log_likelihood(priors)
        return total

    def _allows(self, low: float, high: float) -> bool:
        return low < 0.5 if self.positives == "rarer" else high > 0.5

    def _confined(self, low: float, high: float) -> Interval:
        return confined((low, high), self.positives)

    def _confined_grid(self) -> _Vector:
        low, high = self._confined(0.0005, 0.9995)
        return np.linspace(low, high, _N_PRIORS)

    def _favours_commoner(self) -> bool:
        assert self.held_out is not None
        return fit_shape(self.held_out, 0.0, 1.0).prior > 0.5


def confined(interval: Interval, positives: str | None) -> Interval:
    """Return the part of an interval on the side of 1/2 that ``positives`` states.

    >>> confined((0.3, 0.7), "rarer"), confined((0.3, 0.7), None)
    ((0.3, 0.5), (0.3, 0.7))
    """
    low, high = interval
    if positives == "rarer":
        return min(low, 0.5), min(high, 0.5)
    if positives == "commoner":
        return max(low, 0.5), max(high, 0.5)
    return low, high


def confidence_interval(
    fit: MonotoneFit, held_out: OutOfFold, level: float = 0.95, *, sample: OutOfFold | None = None
) -> Interval:
    """Return the interval of the prior that held-out differences leave open.

    The profile is for the mean posterior of the held-out items. The class prior is that of the population, so the
    sampling error of the items is added. If the held-out items are few of many, ``sample`` are all pairs with the
    scores of the same model: the mean is moved to their items, whose sampling error is smaller.
    """
    low, high = fit.interval(level)
    inner_low = min(fit.low, high)
    inner_high = max(fit.high, low)
    items = held_out if sample is None else sample
    values = fit.values(items.scores)
    shift = float(np.average(values, weights=items.item_weight))
    sampling = 1.96 * items.item_error(values)
    low = inner_low + shift - float(np.hypot(max(0.0, inner_low - low), sampling))
    high = inner_high + shift + float(np.hypot(max(0.0, high - inner_high), sampling))
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def labels_log_likelihood(d: _Vector, labels: NDArray[np.float32], priors: _Vector) -> _Vector:
    """Return the log-likelihood of priors, (k,), given the labels of items with posteriors d + prior."""
    r = np.clip(d[:, None] + priors, 0.01, 0.99)
    likelihood: _Vector = np.where(labels[:, None] > 0, np.log(r), np.log1p(-r)).sum(axis=0)
    return likelihood


def _identified(fit: MonotoneFit) -> Interval:
    """Return the identified interval of a fit; one point if the fit exceeds the range of probabilities."""
    low = min(fit.low, 1.0)
    high = max(fit.high, 0.0)
    if low > high:
        low = high = (low + high) / 2
    return low, high
