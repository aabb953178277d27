"""Data sets by name: labelled items, comparisons by people, and interactions of users with items."""

from confdiff.datasets.comparisons import ComparisonDataset
from confdiff.datasets.dataset import Dataset
from confdiff.datasets.entry import Entry
from confdiff.datasets.interactions import Interactions
from confdiff.datasets.loading import fetch, find_interactions, load, load_interactions, portable_files, whereabouts
from confdiff.datasets.registry import DATASETS, names_of_kind

__all__ = [
    "DATASETS",
    "ComparisonDataset",
    "Dataset",
    "Entry",
    "Interactions",
    "fetch",
    "find_interactions",
    "load",
    "load_interactions",
    "names_of_kind",
    "portable_files",
    "whereabouts",
]
