"""Functions for the members of gangs, in a module that their processes can import."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from confdiff.engines import GangBrokenError, open_store


def describe(member, first, second):
    member.send(f"from rank {member.rank}")
    first[0] += 1  # the arrays of a member are its own
    return member.rank, member.size, float(first[0]), first.sum(), second is first, os.environ["OMP_NUM_THREADS"]


def describe_and_add_ranks(member, first, second):
    """Return a description, and the sum of all ranks by torch.distributed in the store of the gang."""
    import torch
    from torch import distributed

    description = describe(member, first, second)
    distributed.init_process_group("gloo", store=open_store(member), rank=member.rank, world_size=member.size)
    total = torch.tensor(float(member.rank))
    distributed.all_reduce(total)
    member.send(f"added by {member.size} members")
    distributed.destroy_process_group()
    return *description, float(total)


def fail_in_rank_1(member, how):
    if member.rank != 1:
        raise_broken_later(how)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(3)
    if how == "raise":
        time.sleep(0.2)  # the others report first that they lost this rank
        raise ValueError("c must be in [-1, 1]; got 2.")


def raise_broken_later(how):
    if how == "raise":
        raise GangBrokenError("lost another worker")
    time.sleep(600)


def note_and_wait(member, folder):
    Path(folder, f"pid-{member.rank}.part").write_text(str(os.getpid()))
    Path(folder, f"pid-{member.rank}.part").rename(Path(folder, f"pid-{member.rank}"))
    while not member.is_stopping():
        time.sleep(0.05)
    Path(folder, f"stopped-{member.rank}").touch()


def note_and_wait_in_all(member, folder):
    """As :func:`note_and_wait`, but all members end once rank 0 was told to stop."""
    if member.rank == 0:
        return note_and_wait(member, folder)
    Path(folder, f"pid-{member.rank}.part").write_text(str(os.getpid()))
    Path(folder, f"pid-{member.rank}.part").rename(Path(folder, f"pid-{member.rank}"))
    while not Path(folder, "stopped-0").exists():
        time.sleep(0.05)
    return None


TENSORS = (((), "int64"), ((1,), "float32"), ((0,), "float32"), ((3, 601), "float32"), ((9,), "uint8"))
TENSORS += (((2**20 + 5,), "float32"), ((300_000,), "float64"))  # more than one part, and no multiple of the members


def tensor_of(rank, shape, dtype):
    """Return a tensor that differs between ranks."""
    import torch

    rng = torch.Generator().manual_seed(rank)
    return (100 * torch.rand(shape, generator=rng) - (0 if dtype == "uint8" else 50)).to(getattr(torch, dtype)) // 3


def add_tensors(member):
    """Return the sums of tensors of several sizes by shared memory, and by the network."""
    from confdiff.training.exchange import open_exchange

    sums = []
    for folder in (member.folder, None):
        add = open_exchange(replace(member, folder=folder))
        sums.append([tensor_of(member.rank, *tensor) for tensor in TENSORS])
        for values in sums[-1]:
            add(values)
    return sums


def train_without_common_disk(member, job, saved):
    """Train as members do that see no file of the caller, and add their numbers over the network."""
    from confdiff.training.starting import _train_as_member

    return _train_as_member(replace(member, shares_disk=False, folder=None), job, saved)
