"""Ctrl-C and SIGTERM: both end a run in the same way, and never in the midst of a training step."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Terminated(KeyboardInterrupt):
    """The process was asked to end: by SIGTERM, as batch systems and containers do, or by a closed terminal.

    Attributes
    ----------
    signal_name : str
        The signal, such as ``"SIGTERM"``.
    """

    def __init__(self, number: int) -> None:
        self.signal_number = number
        self.signal_name = signal.Signals(number).name
        super().__init__(self.signal_name)


def exit_status(error: KeyboardInterrupt) -> int:
    """Return the exit status of a command that was interrupted, as shells do: 128 plus the number of the signal.

    >>> exit_status(KeyboardInterrupt())
    130
    >>> exit_status(Terminated(signal.SIGTERM))
    143
    """
    return 128 + (error.signal_number if isinstance(error, Terminated) else signal.SIGINT)


def end_like_interrupts() -> None:
    """Let SIGTERM and SIGHUP raise :class:`Terminated` instead of ending the process at once.

    Files are then completed or removed, as after Ctrl-C. Handlers of others, and ``nohup``, are respected.
    """
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _raise_terminated)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    raise Terminated(number)


@contextmanager
def interrupts_held_back() -> Iterator[Callable[[], bool]]:
    """Defer Ctrl-C and SIGTERM inside the block; at its end, they do what they would have done.

    The block receives a function that returns whether such a signal came. A second one takes effect at once. Nothing
    is deferred outside the main thread, where Python receives no signals, nor if the program has installed its own
    handlers.
    """
    received: list[int] = []
    handlers = _own_handlers()

    def remember(number: int, frame: FrameType | None) -> None:
        received.append(number)
        _install(handlers)

    for number in handlers:
        signal.signal(number, remember)
    try:
        yield lambda: bool(received)
    finally:
        _install(handlers)
    if received:
        _handle(received[0])


_Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers


def _own_handlers() -> dict[int, _Handler]:
    """Return the handlers of Python and of this module, by signal; none outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    may_be_deferred: dict[int, tuple[_Handler, ...]] = {signal.SIGINT: (signal.default_int_handler,)}
    may_be_deferred |= dict.fromkeys(_ENDING, (signal.SIG_DFL, _raise_terminated))
    handlers: dict[int, _Handler] = {}
    for number, usual in may_be_deferred.items():
        handler = signal.getsignal(number)
        if handler is not None and handler in usual:
            handlers[number] = handler
    return handlers


def _install(handlers: dict[int, _Handler]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _handle(number: int) -> None:
    """Do what a signal does now: raise an exception, or end the process."""
    handler = signal.getsignal(number)
    if callable(handler):
        handler(number, None)
    else:
        signal.raise_signal(number)
