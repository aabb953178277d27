"""The definition of a target of fuzzing."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    """A kind of file to damage and to open.

    Attributes
    ----------
    name
        The name in reports and on the command line.
    prepare
        Writes valid files into an empty folder; called once.
    forge
        Damages a copy of that folder and returns what it did.
    open
        Opens and uses the copy as a user would. It may succeed, or raise ValueError or OSError with a message that
        names a path in the folder; anything else is a failure.
    """

    name: str
    prepare: Callable[[Path], None]
    forge: Callable[[Path, random.Random], str]
    open: Callable[[Path], None]
