"""Batches that are read ahead."""

import threading
from contextvars import ContextVar

import pytest

from confdiff.io.batches import read_ahead

_variable = ContextVar("variable", default="outside")


def test_the_next_batch_is_read_while_the_caller_works_on_this_one():
    second_is_read = threading.Event()

    def batches():
        yield 1
        second_is_read.set()
        yield 2

    ahead = read_ahead(batches())
    assert next(ahead) == 1
    assert second_is_read.wait(timeout=60)
    assert list(ahead) == [2]


def test_no_more_than_one_batch_is_read_ahead():
    started = []

    def batches():
        for number in range(5):
            started.append(number)
            yield number

    for number in read_ahead(batches()):
        assert max(started) <= number + 1
    assert started == [0, 1, 2, 3, 4]


def test_an_error_comes_after_the_batches_before_it():
    def batches():
        yield 1
        raise ValueError("damaged")

    ahead = read_ahead(batches())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="damaged"):
        next(ahead)


def test_batches_are_read_with_the_context_of_the_caller():
    def batches():
        yield _variable.get()

    token = _variable.set("inside")
    try:
        assert list(read_ahead(batches())) == ["inside"]
    finally:
        _variable.reset(token)


def test_a_caller_may_stop_early():
    ahead = read_ahead(iter(range(5)))
    assert next(ahead) == 0
    ahead.close()
    assert not any(thread.name.startswith("confdiff-reading") for thread in threading.enumerate())
