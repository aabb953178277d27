"""Pairs of items: containers, sampling, ordering and noise."""

from confdiff.pairs.noise import NOISES, add_noise, check_noise
from confdiff.pairs.ordering import STRATEGIES, order_by_labels
from confdiff.pairs.pairs import Pairs, Supervision
from confdiff.pairs.sampling import rows_at_prior, sample_pairs
from confdiff.pairs.similarity import supervised_pairs, with_similarities
from confdiff.pairs.streamed import StreamedPairs

__all__ = [
    "NOISES",
    "STRATEGIES",
    "Pairs",
    "StreamedPairs",
    "Supervision",
    "add_noise",
    "check_noise",
    "order_by_labels",
    "rows_at_prior",
    "sample_pairs",
    "supervised_pairs",
    "with_similarities",
]
