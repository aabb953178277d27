"""Measure the form of a text, such as its length and punctuation, which also influences judgements."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray


def _characters_per_word(text: str) -> float:
    return len(text) / max(1, len(text.split()))


FORM: dict[str, Callable[[str], float]] = {
    "commas": lambda text: np.log1p(text.count(",")),
    "exclamation marks": lambda text: np.log1p(text.count("!")),
    "question marks": lambda text: np.log1p(text.count("?")),
    "lower-case first letter": lambda text: float(text.lstrip()[:1].islower()),
    "characters per word": _characters_per_word,
    "characters": lambda text: np.log1p(len(text)),
    "length": lambda text: np.log1p(len(text.split())),
}
"""Name of a measure -> the measure. Counts n are given as log(1 + n); the length is the number of words."""


def form_of(texts: Iterable[str]) -> NDArray[np.float64]:
    """Return the measures of :data:`FORM` for each text. The result has shape (N, number of measures).

    >>> form_of(["why not, then?"]).round(2)
    array([[0.69, 0.  , 0.69, 1.  , 4.67, 2.71, 1.39]])
    """
    measured = [[measure(text) for measure in FORM.values()] for text in texts]
    return np.array(measured, dtype=np.float64).reshape(-1, len(FORM))
