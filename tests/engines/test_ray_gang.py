"""What the caller of a gang on Ray does with its messages; Ray itself is replaced."""

import pickle
from types import SimpleNamespace

import pytest

from confdiff.engines import MemberEndedError
from confdiff.engines.ray_gang import _Caller


class RayError(Exception):
    pass


class Ray:
    """Results by reference: an exception, or a value; all are ready at once, and the runs first."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=type("RayTaskError", (RayError,), {}))

    def __init__(self, results, batches):
        self.results = results
        self.batches = [[pickle.dumps(message) for message in batch] for batch in batches]

    def wait(self, references, timeout):
        return references[1:2], references[2:]

    def get(self, reference, timeout=None):
        if reference == "messages":
            return self.batches.pop(0) if self.batches else []
        if isinstance(self.results[reference], Exception):
            raise self.results[reference]
        return self.results[reference]


def call(results, batches):
    """Return the messages that arrive, and the result or the error."""
    first = SimpleNamespace(take_messages=SimpleNamespace(remote=lambda: "messages"))
    runs = {reference: int(reference[-1]) for reference in results}
    arrived = []
    caller = _Caller(Ray(results, batches), first, runs, arrived.append, lambda: False)
    return arrived, caller.result


def test_messages_that_came_before_a_failure_are_kept():
    arrived, result = call({"run-1": RayError()}, [["checkpoint 1"], ["checkpoint 2"]])
    with pytest.raises(MemberEndedError, match="worker 1 ended before it had a result"):
        result()
    assert arrived == ["checkpoint 1", "checkpoint 2"]


def test_messages_that_came_just_before_the_end_are_kept():
    arrived, result = call({"run-0": "weights", "run-1": None}, [["epoch 1"], ["checkpoint"]])
    assert result() == "weights"
    assert arrived == ["epoch 1", "checkpoint"]
