"""Deferred Ctrl-C, so that a training step is never interrupted half-way."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_held_back() -> Iterator[Callable[[], bool]]:
    """Defer Ctrl-C inside the block, and raise ``KeyboardInterrupt`` at its end.

    The block receives a function that returns whether Ctrl-C was pressed. A second Ctrl-C interrupts at once. Nothing
    is deferred outside the main thread, where Python receives no signals, nor if the program has installed its own
    handler of Ctrl-C.
    """
    pressed = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    signal.signal(signal.SIGINT, remember)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt
