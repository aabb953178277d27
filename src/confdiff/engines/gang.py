"""A gang: N processes that run one function together and exchange tensors, unlike the independent calls of an engine.

An engine of gangs is a function ``(function, arguments, workers, *, address, on_message)`` that returns the result of
rank 0. It calls ``function(member, *arguments)`` in every process. If a member raises or dies, it ends the others and
raises the first cause. Ctrl-C asks rank 0 to stop, and a second one ends all members at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

MessageHandler = Callable[[Any], None]
"""Called in the process of the caller with each message that rank 0 sends."""

_GRACE_SECONDS = 5.0
"""How long the caller waits, after a member lost the others, for the cause of it."""


class GangBrokenError(RuntimeError):
    """A member could not exchange data, because another one has ended. It is never the first cause."""


class MemberEndedError(RuntimeError):
    """A member of a gang ended without a result, such as one that was killed."""


@dataclass(frozen=True)
class Member:
    """One of the processes of a gang, as the function that it runs sees it.

    Attributes
    ----------
    rank : int
        The number of the process, from 0.
    size : int
        The number of processes.
    store : str
        Where the members find each other: ``file:PATH`` or ``tcp:HOST:PORT``, a store of torch.distributed that the
        engine keeps for the life of the gang. See :func:`open_store`.
    host : str
        The address of this process at which the other members reach it.
    shares_disk : bool
        Whether the paths of the caller are valid in this process.
    folder : Path or None
        A folder of this gang alone, if all of its members are processes of one machine; otherwise None.
    send : callable
        Sends a message to the caller, in rank 0 only; the messages of other ranks are dropped.
    is_stopping : callable
        Returns whether the caller asked the gang to stop. Only rank 0 receives this.
    """

    rank: int
    size: int
    store: str
    host: str
    shares_disk: bool
    folder: Path | None
    send: MessageHandler
    is_stopping: Callable[[], bool]


class StartGang(Protocol):
    """The interface of an engine of gangs."""

    def __call__(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        workers: int,
        *,
        address: str | None = None,
        on_message: MessageHandler | None = None,
    ) -> Any:
        """Call ``function(member, *arguments)`` in every process and return the result of rank 0.

        Parameters
        ----------
        function : callable
            A function that cloudpickle can send.
        arguments : tuple
            Its arguments after the member. They are handed over once, not once per process, where that is possible.
        workers : int
            Number of processes.
        address : str, optional
            The cluster, for engines that have one.
        on_message : callable, optional
            Called with the messages of rank 0, between the start and the result.
        """


def open_store(member: Member) -> Any:
    """Return the store of torch.distributed in which the members of a gang find each other."""
    from torch import distributed

    kind, _, place = member.store.partition(":")
    if kind == "file":
        return distributed.FileStore(  # type: ignore[attr-defined]
            place, member.size
        )
    host, _, port = place.rpartition(":")
    return distributed.TCPStore(  # type: ignore[attr-defined]
        host, int(port), is_master=False, wait_for_workers=False
    )


def first_cause(failures: list[BaseException]) -> BaseException:
    """Return the failure that explains the others: the first one that is not a broken connection.

    >>> first_cause([GangBrokenError("rank 0 lost rank 1"), ValueError("c is out of range")])
    ValueError('c is out of range')
    """
    return next((failure for failure in failures if not isinstance(failure, GangBrokenError)), failures[0])


def raise_cause(failures: list[BaseException], *, waited: float) -> None:
    """Raise the cause of failures; a member that only lost another one waits for the failure of the other.

    Parameters
    ----------
    failures : list of exceptions
        At least one, in the order in which they came.
    waited : float
        Seconds since the first one.
    """
    cause = first_cause(failures)
    if not isinstance(cause, GangBrokenError) or waited > _GRACE_SECONDS:
        raise cause
