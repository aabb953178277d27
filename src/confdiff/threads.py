"""Set the number of threads of a computation."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Make PyTorch compute with one thread inside the block, and restore the number of threads after it.

    Several threads add numbers in another order, so the last digits of a result depend on the number of threads.
    """
    previous = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(previous)
