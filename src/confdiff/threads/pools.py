"""Set the number of threads of every library that has a pool of them, and restore it."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Pool:
    """The threads of one library.

    Attributes
    ----------
    name : str
        Different for every pool of a process.
    count : callable
        Returns the number of threads.
    set_count : callable
        Sets the number of threads.
    busy_waiting : bool
        Whether idle threads wait in busy loops, as OpenMP and OpenBLAS do; others sleep.
    """

    name: str
    count: Callable[[], int]
    set_count: Callable[[int], object]
    busy_waiting: bool = True


def loaded_pools() -> list[Pool]:
    """Return the pools of the libraries that the process has loaded: BLAS and OpenMP, PyTorch, pyarrow.

    The inter-op threads of PyTorch and the input threads of pyarrow are not listed: they sleep until there is work,
    and the library gives the former none.
    """
    pools = []
    if torch := sys.modules.get("torch"):  # first: it also sets the number of MKL, which is not visible from outside
        pools.append(Pool("torch", torch.get_num_threads, torch.set_num_threads))
    pools += _native_pools(len(sys.modules))
    if pyarrow := sys.modules.get("pyarrow"):
        pools.append(Pool("pyarrow", pyarrow.cpu_count, pyarrow.set_cpu_count, busy_waiting=False))
    return pools


@lru_cache(maxsize=1)
def _native_pools(n_modules: int) -> tuple[Pool, ...]:
    """Return the pools of native libraries; they are searched again (4 ms) only if modules were imported since."""
    if "numpy" not in sys.modules:
        return ()
    from threadpoolctl import ThreadpoolController

    libraries = ThreadpoolController().lib_controllers
    return tuple(Pool(library.filepath, library.get_num_threads, library.set_num_threads) for library in libraries)


class _Originals:
    """The numbers of threads before the first of the active blocks, for the last one that ends."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n_blocks = 0
        self.counts: dict[str, int] = {}


_originals = _Originals()


@contextmanager
def limited_pools(limit: Callable[[Pool, int], int]) -> Iterator[None]:
    """Set the number of threads of every pool inside the block.

    Blocks may be nested. If blocks of several Python threads overlap, the last one to end restores the numbers from
    before the first.

    Parameters
    ----------
    limit : callable
        ``limit(pool, original)`` returns the number of threads of a pool that had ``original`` before all blocks.
    """
    pools = loaded_pools()
    with _originals.lock:
        _originals.n_blocks += 1
        previous = {pool.name: pool.count() for pool in pools}
        for pool in pools:
            original = _originals.counts.setdefault(pool.name, previous[pool.name])
            pool.set_count(limit(pool, original))
    try:
        yield
    finally:
        with _originals.lock:
            _originals.n_blocks -= 1
            if _originals.n_blocks == 0:
                previous |= _originals.counts
                _originals.counts.clear()
            for pool in pools:
                pool.set_count(previous[pool.name])
