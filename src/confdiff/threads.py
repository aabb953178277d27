"""Decide how many threads a piece of work gets."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute with one thread inside the block, and with as many as before after it.

    More threads add up in another order, so that the last digits of a result would depend on how many there are.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
