"""Workers add their numbers in shared memory as they do over the network, and notice the end of another one."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import gangs
from confdiff.engines import GangBrokenError, Member, start_gang
from confdiff.training.exchange import _SharedMemory, open_exchange


@pytest.mark.parametrize("workers", [2, 3])
def test_sums_in_shared_memory_are_those_of_the_network(workers):
    in_memory, over_network = start_gang(gangs.add_tensors, (), workers)
    for tensor, values, others in zip(gangs.TENSORS, in_memory, over_network, strict=True):
        expected = sum(gangs.tensor_of(rank, *tensor) for rank in range(workers))
        assert values.dtype == expected.dtype
        assert torch.equal(values, expected)  # whole numbers: no rounding
        assert torch.equal(others, expected)


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", fail)
    member = Member(0, 2, "", host="", shares_disk=True, folder=tmp_path, send=print, is_stopping=bool)
    with pytest.raises(OSError, match="sums cannot be written: No space left on device"):
        open_exchange(member)


@pytest.mark.parametrize(("ended", "message"), [("_outgoing", "it has ended"), ("_incoming", "Broken pipe")])
def test_a_worker_notices_the_end_of_another_one(tmp_path, ended, message):
    """Two members are threads here; one of them closes what the system closes when a process ends."""

    def connected(rank):
        options = {"host": "", "shares_disk": True, "send": print, "is_stopping": bool}
        return _SharedMemory(Member(rank, 2, f"file:{tmp_path}/store", folder=tmp_path, **options), tmp_path)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(connected, range(2))
        sums = [torch.ones(3), torch.ones(3)]
        list(pool.map(lambda shared, values: shared.add(values), (first, second), sums))
    assert torch.equal(sums[0], torch.full((3,), 2.0))
    assert torch.equal(sums[0], sums[1])
    for pipe in getattr(second._meeting, ended):
        os.close(pipe)
    with pytest.raises(GangBrokenError, match=f"lost the connection to another worker: .*{message}"):
        first.add(torch.ones(3))
    other = "_incoming" if ended == "_outgoing" else "_outgoing"
    for pipe in (*first._meeting._outgoing, *first._meeting._incoming, *getattr(second._meeting, other)):
        os.close(pipe)
