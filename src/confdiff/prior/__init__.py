"""Estimate the class prior, as far as differences determine it, and say what they leave open."""

from confdiff.prior.estimate import (
    DIFFERENCE_KINDS,
    POSITIVES,
    Evidence,
    PriorEstimate,
    PriorSource,
    confidence_interval,
    confined,
)
from confdiff.prior.estimating import (
    ItemScorer,
    PairLearner,
    check_labelled,
    cross_fit,
    declared_moment,
    estimate_prior,
    estimate_with,
)
from confdiff.prior.intervals import (
    Interval,
    PriorInterval,
    check_prior_interval,
    identified_interval,
    is_narrow,
    open_interval,
    warn_of_open_prior,
)
from confdiff.prior.label_differences import LabelMoment
from confdiff.prior.monotone import fit_monotone
from confdiff.prior.out_of_fold import OutOfFold
from confdiff.prior.same_class import SameAnswers, joined_answers, same_moment, separate_answers
from confdiff.prior.shape import fit_shape, offset_at

__all__ = [
    "DIFFERENCE_KINDS",
    "POSITIVES",
    "Evidence",
    "Interval",
    "ItemScorer",
    "LabelMoment",
    "OutOfFold",
    "PairLearner",
    "PriorEstimate",
    "PriorInterval",
    "PriorSource",
    "SameAnswers",
    "check_labelled",
    "check_prior_interval",
    "confidence_interval",
    "confined",
    "cross_fit",
    "declared_moment",
    "estimate_prior",
    "estimate_with",
    "fit_monotone",
    "fit_shape",
    "identified_interval",
    "is_narrow",
    "joined_answers",
    "offset_at",
    "open_interval",
    "same_moment",
    "separate_answers",
    "warn_of_open_prior",
]
