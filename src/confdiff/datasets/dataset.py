"""What a data set is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items with class labels and the classes that count as positive.

    items: (N, d) features.
    classes: (N,) the original class labels.
    positive: the classes that are called positive.
    """

    name: str
    items: NDArray[np.float32]
    classes: NDArray[Any]
    positive: tuple[int, ...]

    @property
    def labels(self) -> NDArray[np.float32]:
        """(N,) 1 where the class is a positive one, else 0."""
        return np.isin(self.classes, self.positive).astype(np.float32)
