"""Training: one loop for every method, for pairs in memory and streamed."""

from confdiff.training.loop import predict_scores, train
from confdiff.training.recipe import OPTIMIZERS, SCHEDULES, Recipe, epochs_for
from confdiff.training.run import Evaluation, History
from confdiff.training.stream import check_streamable

__all__ = [
    "OPTIMIZERS",
    "SCHEDULES",
    "Evaluation",
    "History",
    "Recipe",
    "check_streamable",
    "epochs_for",
    "predict_scores",
    "train",
]
