"""Training: one loop for every method, for pairs in memory and streamed pairs."""

from confdiff.training.recipe import OPTIMIZERS, SCHEDULES, Recipe, epochs_for, learning_rate_for
from confdiff.training.run import Evaluator, History
from confdiff.training.scoring import predict_scores
from confdiff.training.sources import check_streamable
from confdiff.training.starting import check_workers, train

__all__ = [
    "OPTIMIZERS",
    "SCHEDULES",
    "Evaluator",
    "History",
    "Recipe",
    "check_streamable",
    "check_workers",
    "epochs_for",
    "learning_rate_for",
    "predict_scores",
    "train",
]
