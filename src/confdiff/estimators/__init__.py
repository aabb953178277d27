"""The scikit-learn face: learn from pairs, predict for single items."""

from confdiff.estimators.classifier import ConfDiffClassifier
from confdiff.estimators.pcomp import PcompClassifier
from confdiff.estimators.transformer import ItemTransformer

__all__ = ["ConfDiffClassifier", "ItemTransformer", "PcompClassifier"]
