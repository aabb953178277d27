"""What methods and data sets are called in reports, and one colour a method, for colour-blind readers too."""

from confdiff.datasets import DATASETS
from confdiff.display.palette import family_colours
from confdiff.methods import METHODS

COLOURS = family_colours(METHODS)
LABELS = {
    "confdiff-unbiased": "ConfDiff-Unbiased",
    "confdiff-relu": "ConfDiff-ReLU",
    "confdiff-abs": "ConfDiff-ABS",
    "confdiff-regression": "ConfDiff-Regression",
    "confdiff-combined": "ConfDiff-Combined",
    "confdiff-projection": "ConfDiff-Projection",
    "confdiff-information": "ConfDiff-Information",
    "pcomp-unbiased": "Pcomp-Unbiased",
    "pcomp-relu": "Pcomp-ReLU",
    "pcomp-abs": "Pcomp-ABS",
    "pcomp-teacher": "Pcomp-Teacher",
    "bpr": "BPR",
    "mrl": "MRL",
    "oracle-hard": "Oracle-Hard",
    "oracle-soft": "Oracle-Soft",
}
TITLES = {name: entry.label for name, entry in DATASETS.items()}
