import io
import time

import pytest
from rich.console import Console

from confdiff.display.progress import reporting_activity, reporting_progress, silence_progress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def piped():
    return Console(file=io.StringIO(), width=40)


def test_lines_are_printed_now_and_then(piped):
    clock = Clock()
    with reporting_progress("scoring", 1000, console=piped, interval=5, clock=clock) as update:
        for step in range(1, 11):
            clock.now += 2
            update(100 * step)
    assert piped.file.getvalue().splitlines() == [
        "scoring: 300 of 1,000 (30 %), about 0:00:14 left",
        "scoring: 600 of 1,000 (60 %), about 0:00:08 left",
        "scoring: 900 of 1,000 (90 %)",
    ]


def test_short_work_prints_nothing_unless_the_last_state_is_kept(piped):
    with reporting_progress("scoring", console=piped) as update:
        update(7)
    assert piped.file.getvalue() == ""
    with reporting_progress("scoring", console=piped, keep=True) as update:
        update(7)
        update(9, total=9)
    assert piped.file.getvalue() == "scoring: 9 of 9 (100 %)\n"


def fail_after_one_step(console):
    with reporting_progress("training", 3, console=console, interval=0, keep=True) as update:
        update(1, detail="epoch 1 [bold]")
        raise RuntimeError


def test_the_last_state_is_printed_once_and_after_errors_too(piped):
    with pytest.raises(RuntimeError):
        fail_after_one_step(piped)
    assert piped.file.getvalue() == "training: epoch 1 [bold] (33 %)\n"


def test_a_terminal_gets_a_bar():
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80)
    with reporting_progress("scoring", 4, console=terminal, keep=True) as update:
        update(2)
        update(4)
    assert "scoring" in terminal.file.getvalue()
    assert "4 of 4" in terminal.file.getvalue()
    assert "━" in terminal.file.getvalue()


def test_progress_can_be_silenced(piped):
    silence_progress()
    with reporting_progress("scoring", console=piped, keep=True) as update:
        update(7)
    silence_progress(False)
    assert piped.file.getvalue() == ""


def test_a_long_activity_prints_a_line_now_and_then(piped):
    with reporting_activity("reading", console=piped, first=0.01, interval=0.02):
        deadline = time.monotonic() + 10
        while piped.file.getvalue().count("\n") < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    lines = piped.file.getvalue().splitlines()
    assert lines[0].startswith("reading ... 0 s")
    assert len(lines) >= 3
    time.sleep(0.1)
    assert piped.file.getvalue().splitlines() == lines  # nothing is printed after the end


def test_a_short_or_silenced_activity_prints_nothing(piped):
    with reporting_activity("reading", console=piped):
        pass
    silence_progress()
    try:
        with reporting_activity("reading", console=piped, first=0, interval=0.01):
            time.sleep(0.05)
    finally:
        silence_progress(False)
    assert piped.file.getvalue() == ""


def test_a_terminal_gets_a_spinner():
    terminal = Console(file=io.StringIO(), force_terminal=True, width=40)
    with reporting_activity("reading", console=terminal):
        pass
    assert "reading" in terminal.file.getvalue()
