from datetime import timedelta

import pytest

from confdiff.cli.console import set_up_consoles
from confdiff.cli.grid_bar import GridBar


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def left(bar):
    return bar.bar.tasks[0].fields["left"]


@pytest.mark.parametrize("before", [0, 100])
def test_the_time_left_of_trials_that_take_minutes(before):
    """Two workers, five minutes a trial: what was there before took no time, and no half minute says it all."""
    clock = Clock()
    bar = GridBar(clock=clock)
    bar.show("teachers", 3, 3)
    clock.now += 50
    bar.show("trials", before, before + 20)
    assert left(bar) == "-:--:--"
    for done, second in ((1, 299), (2, 300), (3, 601), (4, 602)):
        clock.now = 1050.0 + second
        bar.show("trials", before + done, before + 20)
    assert left(bar) == str(timedelta(seconds=16 * 602 / 4))
    clock.now += 200  # nothing new
    bar.show("trials", before + 4, before + 20)
    assert left(bar) == str(timedelta(seconds=16 * 602 / 4 - 200))
    clock.now += 10_000  # far slower than before: not less than nothing
    bar.show("trials", before + 4, before + 20)
    assert left(bar) == "0:00:00"
    assert (bar.bar.tasks[0].completed, bar.bar.tasks[0].total) == (before + 4, before + 20)


def test_lines_where_no_terminal_is_attached(capsys):
    set_up_consoles()
    clock = Clock()
    bar = GridBar(clock=clock)
    for done in range(9):
        bar.show("trials", done, 8)
        clock.now += 10
    assert capsys.readouterr().err.splitlines() == ["trials: 3 of 8, left 0:00:50", "trials: 6 of 8, left 0:00:20"]
