"""Warnings that point to the user's code and are not repeated."""

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_INTERNAL = ("confdiff", "contextlib", "joblib", "sklearn")  # modules whose source lines do not help a user


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the user's code, not with a line inside the package.

    Parameters
    ----------
    message : str
        The problem, and a remedy.
    category : type, default=UserWarning
        The class of the warning.
    """
    level = 2  # the caller of this function
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _INTERNAL:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def similar_warnings_once() -> Iterator[None]:
    """Collect the warnings of the block, and issue those that differ only in numbers once, after the block.

    Fits on folds, or on one class after the other, would repeat them.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    issued = set()
    for warning in caught:
        kind = (warning.category, re.sub(r"\d+", "", str(warning.message)))
        if kind not in issued:
            issued.add(kind)
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
