"""Environment variables of a program that trains: idle threads sleep."""

import os
from collections.abc import MutableMapping

_WAITING = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0"}
_EXPLICIT_WAITING = (*_WAITING, "GOMP_SPINCOUNT")
_BLAS = {"OPENBLAS_NUM_THREADS": "1"}  # OpenBLAS always waits in busy loops, and products of commands are small
_EXPLICIT_BLAS = (*_BLAS, "OMP_NUM_THREADS", "GOTO_NUM_THREADS")


def prepare_environment(environment: MutableMapping[str, str] = os.environ) -> None:
    """Let idle threads of OpenMP sleep, and OpenBLAS compute with one thread, unless variables of the user say how.

    The libraries read these variables when they are loaded, so a program calls this before it imports NumPy or
    PyTorch. The command line does. ``import confdiff`` does not, because the variables would affect the rest of the
    user's program.

    Parameters
    ----------
    environment : mapping, default=os.environ
        The variables, changed in place.

    Examples
    --------
    >>> variables = {"OMP_NUM_THREADS": "4"}
    >>> prepare_environment(variables)
    >>> variables
    {'OMP_NUM_THREADS': '4', 'OMP_WAIT_POLICY': 'PASSIVE', 'KMP_BLOCKTIME': '0'}
    """
    for defaults, explicit in ((_WAITING, _EXPLICIT_WAITING), (_BLAS, _EXPLICIT_BLAS)):
        if not any(name in environment for name in explicit):
            environment.update(defaults)
