"""Estimators with the scikit-learn interface: learn from pairs, predict for single items."""

from confdiff.estimators.classifier import ConfDiffClassifier
from confdiff.estimators.logistic import ConfDiffLogisticRegression
from confdiff.estimators.pcomp import PcompClassifier
from confdiff.estimators.projected import ProjectedClassifier
from confdiff.estimators.reductions import OneVersusOne, OneVersusRest
from confdiff.estimators.sensitivity import AssumedPrior, prior_sensitivity
from confdiff.estimators.transformer import ItemTransformer

__all__ = [
    "AssumedPrior",
    "ConfDiffClassifier",
    "ConfDiffLogisticRegression",
    "ItemTransformer",
    "OneVersusOne",
    "OneVersusRest",
    "PcompClassifier",
    "ProjectedClassifier",
    "prior_sensitivity",
]
