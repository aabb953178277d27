"""Estimators with the scikit-learn interface: learn from pairs, predict for single items."""

from confdiff.estimators.auto import ConfDiffAuto
from confdiff.estimators.boosting import ConfDiffBoosting
from confdiff.estimators.classifier import ConfDiffClassifier
from confdiff.estimators.item_scoring import score_items
from confdiff.estimators.logistic import ConfDiffLogisticRegression
from confdiff.estimators.pcomp import PcompClassifier
from confdiff.estimators.projected import ProjectedClassifier
from confdiff.estimators.reductions import OneVersusOne, OneVersusRest
from confdiff.estimators.sensitivity import AssumedPrior, prior_sensitivity
from confdiff.estimators.transformer import ItemTransformer

__all__ = [
    "AssumedPrior",
    "ConfDiffAuto",
    "ConfDiffBoosting",
    "ConfDiffClassifier",
    "ConfDiffLogisticRegression",
    "ItemTransformer",
    "OneVersusOne",
    "OneVersusRest",
    "PcompClassifier",
    "ProjectedClassifier",
    "prior_sensitivity",
    "score_items",
]
