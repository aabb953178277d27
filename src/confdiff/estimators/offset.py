"""The offset of probabilities: report whether differences determined it, or leave an interval of class priors open."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from confdiff.links import find_link
from confdiff.prior import (
    DIFFERENCE_KINDS,
    POSITIVES,
    Interval,
    OutOfFold,
    PriorEstimate,
    PriorInterval,
    PriorSource,
    SameAnswers,
    confidence_interval,
    confined,
    fit_monotone,
    fit_shape,
    is_narrow,
    open_interval,
    warn_of_open_prior,
)
from confdiff.validation import check_choice, warn_user


class OffsetReported:
    """Add to a classifier whether its offset, and so its decisions, are determined.

    Attributes
    ----------
    prior_interval_ : tuple (low, high) or None
        The class priors that the data leave open, with 95 % confidence; for K classes a tuple of K such tuples.
        ``None`` if the prior was given.
    prior_source_ : str or None
        What the prior is known from: ``"given"``, ``"differences"``, ``"label differences"``, ``"labelled items"`` or
        ``"same-class answers"``.
        ``None`` for links without classes.
    is_offset_determined_ : bool
        Whether decisions follow from the data. Otherwise scores and ranks do, and probabilities may be off by a
        constant.
    """

    prior_interval_: PriorInterval | None
    prior_source_: PriorSource | None = None
    prior_estimate_: PriorEstimate

    @property
    def is_offset_determined_(self) -> bool:
        """Whether the prior was given or the data determine it, so that decisions follow."""
        return self.prior_interval_ is None or is_narrow(self.prior_interval_)

    def _forget_offset(self) -> None:
        """Set the attributes to those of a given prior, or of a link without classes."""
        self.prior_interval_ = None
        self.prior_source_ = None
        self.__dict__.pop("prior_estimate_", None)

    def _report_estimate(self, estimate: PriorEstimate) -> None:
        """Set the attributes from an estimated prior, and warn once if it is open."""
        self.prior_estimate_ = estimate
        self.prior_source_ = estimate.source
        self.prior_interval_ = (estimate.confidence_low, estimate.confidence_high)
        if not estimate.is_identified:
            warn_user(f"{estimate.problem} Probabilities may be off by a constant.")

    def _report_offset(self, held_out: OutOfFold, sample: OutOfFold | None = None) -> Interval:
        """Set the attributes from scores of held-out pairs without a given prior, and warn once if it is open.

        ``sample`` are all pairs, if few of them are held out. Returned is the interval for the held-out items.
        """
        fit = fit_monotone(held_out)
        self.prior_source_ = "differences"
        self.prior_interval_ = self._on_stated_side(confidence_interval(fit, held_out, sample=sample))
        if not self.is_offset_determined_:
            warn_of_open_prior(self.prior_interval_)
        return self._on_stated_side(confidence_interval(fit, held_out))

    def _on_stated_side(self, interval: Interval) -> Interval:
        """Return the part of an interval on the side of 1/2 that ``positives`` states."""
        return confined(interval, getattr(self, "positives", None))

    def _needed_rescaling(self, held_out: OutOfFold, interval: Interval) -> tuple[float, float]:
        """Return factor and constant by which scores are to be rescaled, (1, 0) if not at all.

        A learner stays near the probability at which it starts. Its scores are rescaled if their mean probability is
        outside the interval, or if another offset fits the differences of held-out pairs noticeably better.
        """
        low, high = interval
        rescaling = fit_shape(held_out, low, high)
        mean = np.average(held_out.probabilities, weights=held_out.item_weight)
        if low <= mean <= high and not rescaling.is_better:
            return 1.0, 0.0
        return rescaling.scale, rescaling.shift

    def _report_open_classes(
        self,
        predicted: ArrayLike,
        differences: ArrayLike,
        probabilities: ArrayLike,
        weight: ArrayLike | None = None,
    ) -> None:
        """Set the attributes from predictions for K classes (:func:`open_interval`), and warn once if they are open."""
        self.prior_source_ = "differences"
        self.prior_interval_ = open_interval(predicted, differences, probabilities, weight)
        if not self.is_offset_determined_:
            warn_of_open_prior(self.prior_interval_)


def check_offset_options(estimator: Any, *, has_classes: bool, has_vectors: bool) -> None:
    """Check the parameters ``differences`` and ``positives`` of an estimator, and that they can be used."""
    check_choice("differences", estimator.differences, DIFFERENCE_KINDS)
    if estimator.positives is not None:
        check_choice("positives", estimator.positives, POSITIVES)
    options = {
        "positives": estimator.positives,
        "differences": None if estimator.differences == "graded" else estimator.differences,
    }
    for name, value in options.items():
        if value is not None and not has_classes:
            raise ValueError(f"{name}={value!r} is for link='probability'; got link={estimator.link!r}.")
        if value is not None and has_vectors:
            raise ValueError(f"{name}={value!r} is for two classes; got differences of several classes.")
    if estimator.positives is not None and not isinstance(estimator.prior, str | None):
        raise ValueError(f"positives={estimator.positives!r} would not be used: the prior is given. Pass one of them.")


def check_answers_are_used(estimator: Any, answers: SameAnswers | None) -> None:
    """Refuse same-class answers if the link has no classes."""
    if answers is not None and not find_link(estimator.link).has_classes:
        raise ValueError(f"same-class answers are for link='probability'; got link={estimator.link!r}.")


def check_side_is_known(estimate: PriorEstimate, positives: str | None) -> None:
    """Refuse a prior from same-class answers alone, if nothing states which class is the positive one.

    Answers do not change if both classes change their names. Differences do.
    """
    if positives is None:
        low = min(estimate.value, 1 - estimate.value)
        raise ValueError(
            f"same-class answers alone do not determine which class is the positive one: they fit a prior of {low:.2f} "
            f"as well as {1 - low:.2f}. Pass positives='rarer' or positives='commoner', the prior itself, or "
            "differences of some pairs."
        )


def estimates_prior(estimator: Any, labelled: Any, answers: SameAnswers | None = None) -> bool:
    """Return whether the prior of an estimator is estimated before it is trained."""
    if estimator.prior is None:
        return labelled is not None or answers is not None or getattr(estimator, "differences", "graded") == "labels"
    return isinstance(estimator.prior, str)
