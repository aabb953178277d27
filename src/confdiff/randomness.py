"""Random streams: every use of random numbers has its own named stream, derived from one seed.

A stream is named by a path of strings and numbers. Streams are independent of each other and of the order in which
they are used. A run that is resumed, or does its work in another order, therefore draws the same numbers.
"""

import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


class _Generators:
    """The lock of PyTorch's global generators; a forked process has no thread that could release it, so it is new."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.lock = threading.RLock()


_generators = _Generators()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_generators.renew)


def derived_seed(seed: int, *path: str | int) -> int:
    """Return a 64-bit seed for the stream called ``path``.

    >>> derived_seed(0, "order", 3) == derived_seed(0, "order", 3) != derived_seed(0, "order", 4)
    True
    """
    words = [zlib.crc32(part.encode()) if isinstance(part, str) else part for part in path]
    return int(np.random.SeedSequence(seed, spawn_key=words).generate_state(1, np.uint64)[0])


def generator(seed: int, *path: str | int) -> torch.Generator:
    """Return a generator for the stream called ``path``."""
    return torch.Generator().manual_seed(derived_seed(seed, *path))


@contextmanager
def seeded(seed: int, *path: str | int) -> Iterator[None]:
    """Seed PyTorch's global generators for the stream ``path`` inside the block, and restore them after it.

    All Python threads share these generators, so only one thread at a time is inside such a block. Fits in several
    threads therefore take turns, and end with the same weights as one after another.
    """
    with _generators.lock, torch.random.fork_rng():
        torch.manual_seed(derived_seed(seed, *path))
        yield
