"""Data sets by name: those of the paper, and two with judgements of real people."""

from confdiff.datasets.dataset import Comparisons, Dataset
from confdiff.datasets.registry import DATASETS, Entry, fetch, load, whereabouts

__all__ = ["DATASETS", "Comparisons", "Dataset", "Entry", "fetch", "load", "whereabouts"]
