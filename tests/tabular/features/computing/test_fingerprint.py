"""Check that a fingerprint changes with all that a function computes with."""

import functools

import numpy as np
import pytest
import torch

from confdiff.tabular.features.computing.fingerprint import fingerprint_of

FACTOR = 2.0
WEIGHTS = torch.nn.Linear(2, 2)


def scaled(path):
    return [FACTOR * len(path)]


def calls_scaled(path):
    return scaled(path)


def uses_weights(path):
    return WEIGHTS(torch.ones(2))


def made(value):
    return lambda path: [value]


class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, path):
        return [self.factor]

    def encode(self, path):
        return [self.factor]


def test_the_same_function_has_the_same_fingerprint():
    assert fingerprint_of(scaled) == fingerprint_of(scaled)
    assert fingerprint_of(made(1)) == fingerprint_of(made(1))
    assert fingerprint_of(Scaler(1)) == fingerprint_of(Scaler(1))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (scaled, calls_scaled),
        (made(1), made(2)),
        (made(np.ones(3)), made(np.zeros(3))),
        (made(np.ones(4)), made(np.ones((2, 2)))),
        (made(torch.ones(2)), made(torch.zeros(2))),
        (Scaler(1), Scaler(2)),
        (Scaler(1).encode, Scaler(2).encode),
        (functools.partial(max, 1), functools.partial(max, 2)),
        (functools.partial(max, key=len), functools.partial(max, key=abs)),
        (len, max),
    ],
)
def test_other_functions_and_values_have_another(first, second):
    assert fingerprint_of(first) != fingerprint_of(second)


def test_global_values_count_also_in_functions_that_are_called(monkeypatch):
    before = fingerprint_of(scaled), fingerprint_of(calls_scaled)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert fingerprint_of(scaled) != before[0]
    assert fingerprint_of(calls_scaled) != before[1]


def test_weights_count():
    before = fingerprint_of(uses_weights), fingerprint_of(WEIGHTS)
    with torch.no_grad():
        WEIGHTS.bias += 1
    assert fingerprint_of(uses_weights) != before[0]
    assert fingerprint_of(WEIGHTS) != before[1]
