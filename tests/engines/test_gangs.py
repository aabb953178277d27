"""A gang returns the result of rank 0, or ends as a whole with the first cause."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import gangs
from confdiff.engines import MemberEndedError, start_gang
from processes import runs

TESTS = Path(gangs.__file__).parent
CALLER = """
import sys
sys.path.insert(0, sys.argv[1])
import gangs
from confdiff.engines import start_gang
start_gang(gangs.note_and_wait_in_all, (sys.argv[2],), 2)
"""


def test_members_share_arguments_and_rank_0_answers():
    large = torch.ones(2**18)
    messages = []
    answer = start_gang(gangs.describe, (large, large), 2, on_message=messages.append)
    assert answer == (0, 2, 2.0, 2**18 + 1, True, "1")
    assert messages == ["from rank 0"]
    assert large[0] == 1


def test_arrays_of_every_kind_arrive_unchanged(tmp_path):
    from confdiff.engines.handing_over import dump_shared, load_shared

    wide = np.arange(2**20, dtype=np.int64).reshape(2, -1)
    values = [wide, wide.T, torch.from_numpy(wide)[:, ::2], torch.ones(2**20, dtype=torch.bfloat16), torch.ones(3)]
    values.append(torch.ones(2**20, requires_grad=True))
    loaded = load_shared(dump_shared(values, tmp_path))
    for value, copy in zip(values, loaded, strict=True):
        assert type(value) is type(copy)
        assert value.dtype == copy.dtype
        assert bool((value == copy).all())


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ("raise", ValueError, r"c must be in \[-1, 1\]; got 2"),
        ("kill", MemberEndedError, "worker 1 was killed by signal 9"),
        ("exit", MemberEndedError, "worker 1 ended with status 3"),
    ],
)
def test_the_first_cause_is_raised_and_no_process_is_left(how, error, message):
    with pytest.raises(error, match=message):
        start_gang(gangs.fail_in_rank_1, (how,), 2)


def test_a_local_gang_has_no_address():
    with pytest.raises(ValueError, match="engine='local' is this machine"):
        start_gang(gangs.describe, (), 2, address="auto")
    with pytest.raises(ValueError, match="unknown engine 'rai'"):
        start_gang(gangs.describe, (), 2, engine="rai")


def waiting_gang(folder):
    """Start a caller in a process of its own, and return it with the process ids of its members."""
    caller = subprocess.Popen([sys.executable, "-c", CALLER, TESTS, folder], stderr=subprocess.PIPE, text=True)
    files = [Path(folder, f"pid-{rank}") for rank in range(2)]
    wait_for(lambda: all(file.exists() for file in files))
    return caller, [int(file.read_text()) for file in files]


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_ctrl_c_asks_rank_0_to_stop_and_is_raised(tmp_path):
    caller, pids = waiting_gang(tmp_path)
    caller.send_signal(signal.SIGINT)
    _, text = caller.communicate(timeout=120)
    assert "KeyboardInterrupt" in text
    assert Path(tmp_path, "stopped-0").exists()
    assert not any(map(runs, pids))


def test_members_do_not_outlive_a_killed_caller(tmp_path):
    caller, pids = waiting_gang(tmp_path)
    caller.kill()
    caller.communicate()
    wait_for(lambda: not any(map(runs, pids)))
