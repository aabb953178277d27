"""The model of annotators: how much of the scale each one uses, side bias and noise, by empirical Bayes."""

from confdiff.annotators.anchoring import ScaleEvidence, determine_scale
from confdiff.annotators.choosing import ModelChoice, choose_model
from confdiff.annotators.estimates import AnnotatorEstimates, AnnotatorModel, CommonScale
from confdiff.annotators.estimating import estimate_annotators
from confdiff.annotators.fitting import fit_annotators
from confdiff.annotators.noise import NoisePrior
from confdiff.annotators.sums import AnswerSums

__all__ = [
    "AnnotatorEstimates",
    "AnnotatorModel",
    "AnswerSums",
    "CommonScale",
    "ModelChoice",
    "NoisePrior",
    "ScaleEvidence",
    "choose_model",
    "determine_scale",
    "estimate_annotators",
    "fit_annotators",
]
