"""The thread policy: the size of a piece of work decides how many threads it gets.

Work below :data:`LARGE_PRODUCT` multiply-adds gets one thread. Several threads would gain little, and they wait for
each other in busy loops, which is very slow if other programs use the same processors. Larger work gets the processors
that the process may use. An explicit number wins: :func:`use_threads`, ``OMP_NUM_THREADS`` or
``MKL_NUM_THREADS``. The policy covers PyTorch, BLAS, the OpenMP of scikit-learn, and pyarrow.
"""

from confdiff.threads.cpus import available_cpus
from confdiff.threads.environment import prepare_environment
from confdiff.threads.policy import (
    LARGE_PRODUCT,
    computing,
    follow_policy,
    one_thread,
    pass_over,
    threads_for,
    use_threads,
)

__all__ = [
    "LARGE_PRODUCT",
    "available_cpus",
    "computing",
    "follow_policy",
    "one_thread",
    "pass_over",
    "prepare_environment",
    "threads_for",
    "use_threads",
]
