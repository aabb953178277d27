"""The form of a text, whatever its words: people who judge texts go by it too."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray


def _of_words(text: str) -> float:
    return len(text) / max(1, len(text.split()))


FORM: dict[str, Callable[[str], float]] = {
    "commas": lambda text: np.log1p(text.count(",")),
    "exclamation marks": lambda text: np.log1p(text.count("!")),
    "question marks": lambda text: np.log1p(text.count("?")),
    "small first letter": lambda text: float(text.lstrip()[:1].islower()),
    "characters a word": _of_words,
    "characters": lambda text: np.log1p(len(text)),
    "length": lambda text: np.log1p(len(text.split())),
}
"""What is measured -> how. Numbers of things are logarithms, log(1 + n); the length is that in words."""


def form_of(texts: Iterable[str]) -> NDArray[np.float64]:
    """The form of each text, (N, measures).

    >>> form_of(["why not, then?"]).round(2)
    array([[0.69, 0.  , 0.69, 1.  , 4.67, 2.71, 1.39]])
    """
    measured = [[measure(text) for measure in FORM.values()] for text in texts]
    return np.array(measured, dtype=np.float64).reshape(-1, len(FORM))
