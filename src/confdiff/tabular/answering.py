"""Name the annotators of pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.tables import PairTable

NOT_NAMED = "(not named)"
"""The annotator of all pairs without a name in the column."""


def annotators_of(judged: PairTable) -> NDArray[Any] | None:
    """Return the name of each pair's annotator as text; None without such a column, or if it is empty.

    Pairs without an annotator count as answers of one further annotator. Numbers are written as whole numbers where
    they are whole, so that ``7`` and ``7.0`` are the same annotator.

    Examples
    --------
    >>> from confdiff.tabular.tables import read_judged
    >>> table = {"left": ["a", "a"], "right": ["b", "c"], "difference": [0.1, 0.2], "annotator": [7.0, None]}
    >>> annotators_of(read_judged(table)).tolist()
    ['7', '(not named)']
    """
    if judged.annotator is None:
        return None
    from confdiff.tabular.checks.data import encode_names  # checks compare pairs, too

    names, codes = encode_names(judged.annotator)
    if not names:
        return None
    return np.array([*names, NOT_NAMED], dtype=object)[codes]
