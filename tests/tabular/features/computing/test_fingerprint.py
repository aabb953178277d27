"""Check that a fingerprint changes with all that a function computes with."""

import dataclasses
import functools
import os
import subprocess
import sys
import threading
import types

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


def default(value):
    def encode(path, factor=value):
        return [factor]

    return encode


def with_attribute(value):
    def encode(path):
        return [encode.factor]

    encode.factor = value
    return encode


def nested(path):
    return [(lambda: FACTOR)() for _ in path]


@functools.lru_cache
def remembered(path):
    return [FACTOR]


def twice(function):
    @functools.wraps(function)
    def wrapper(path):
        return 2 * function(path)

    return wrapper


decorated = twice(scaled)
ones, twos = lambda path: [1.0], lambda path: [2.0]


def compiled(source):
    """Return a function whose source is in no file, as in a notebook or a terminal."""
    names = {}
    exec(source, names)
    return names["encode"]


def uses_module(path):
    return [settings.FACTOR]


settings = types.ModuleType("settings")
settings.FACTOR = 1.0


@dataclasses.dataclass
class Size:
    rows: int


class Slots:
    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def encode(self, path):
        return [self.factor]


class Half(torch.nn.Module):
    """A network with an attribute, a buffer that is not saved, and a constant of the class."""

    constant = 1.0

    def __init__(self, factor=1.0, buffer=1.0, seed=0):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.layer = torch.nn.Linear(2, 2)
        self.factor = factor
        self.register_buffer("shift", torch.tensor([buffer]), persistent=False)

    def forward(self, path):
        return self.layer(torch.ones(2)) * self.factor * FACTOR + self.shift


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
        (made((1, 1)), made((1,))),
        (made([[1], [2]]), made([[1, [2]]])),
        (made({1, 2}), made({1, 3})),
        (made({"a": 1, "b": 2}), made({"b": 2, "a": 1})),
        (made(np.float32(1)), made(np.float32(2))),
        (made(np.array([None, 1])), made(np.array([None, 2]))),
        (made(torch.float32), made(torch.float64)),
        (made(Size(1)), made(Size(2))),
        (made(types.SimpleNamespace(rows=1)), made(types.SimpleNamespace(rows=2))),
        (Slots(1).encode, Slots(2).encode),
        (np.arange(3).take, np.arange(4).take),
        (default(1), default(2)),
        (with_attribute(1), with_attribute(2)),
        (ones, twos),
        (compiled("def encode(path): return [1.0]"), compiled("def encode(path): return [2.0]")),
        (twice(scaled), twice(calls_scaled)),
        (Half(factor=1.0), Half(factor=2.0)),
        (Half(buffer=1.0), Half(buffer=2.0)),
        (Half(seed=1), Half(seed=2)),
        (made([Half(seed=1), Half(seed=1)]), made([Half(seed=1), Half(seed=2)])),
        (torch.nn.Sequential(Half(1.0)), torch.nn.Sequential(Half(2.0))),
        (torch.nn.Dropout(0.1), torch.nn.Dropout(0.2)),
        (torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Tanh()), torch.nn.Sequential(torch.nn.Tanh(), torch.nn.ReLU())),
    ],
)
def test_other_functions_and_values_have_another(first, second):
    assert fingerprint_of(first) != fingerprint_of(second)


def test_global_values_count_also_in_functions_that_are_called(monkeypatch):
    before = fingerprint_of(scaled), fingerprint_of(calls_scaled)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert fingerprint_of(scaled) != before[0]
    assert fingerprint_of(calls_scaled) != before[1]


@pytest.mark.parametrize("function", [nested, remembered, decorated, Half(), Half().forward, functools.partial(scaled)])
def test_global_values_count_in_all_kinds_of_functions(function, monkeypatch):
    before = fingerprint_of(function)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert fingerprint_of(function) != before


def test_values_of_modules_and_classes_count(monkeypatch):
    before = fingerprint_of(uses_module), fingerprint_of(Half())
    monkeypatch.setattr(settings, "OTHER", 2.0, raising=False)
    assert fingerprint_of(uses_module) == before[0]
    monkeypatch.setattr(settings, "FACTOR", 2.0)
    monkeypatch.setattr(Half, "constant", 2.0)
    assert fingerprint_of(uses_module) != before[0]
    assert fingerprint_of(Half()) != before[1]


def test_modules_imported_inside_a_function_count(tmp_path, monkeypatch):
    (tmp_path / "own_settings.py").write_text("FACTOR = 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    encode = compiled("def encode(path):\n    import own_settings\n    return [own_settings.FACTOR]")
    before = fingerprint_of(encode)
    encode("a.jpg")
    assert fingerprint_of(encode) == before
    monkeypatch.setattr("own_settings.FACTOR", 2.0)
    assert fingerprint_of(encode) != before


def test_the_mode_of_a_network_does_not_count():
    network = Half()
    assert fingerprint_of(network.train()) == fingerprint_of(network.eval())


def test_another_process_gives_the_same_fingerprint(tmp_path):
    (tmp_path / "own_encoder.py").write_text(
        "import torch\n"
        "KINDS = {'a', 'b', 'c', 'd'}\n"
        "class Encoder(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layer = torch.nn.Conv2d(1, 2, 3)\n"
        "        torch.nn.init.ones_(self.layer.weight)\n"
        "        torch.nn.init.ones_(self.layer.bias)\n"
        "    def forward(self, path):\n"
        "        return self.layer(path in KINDS or path in {'x', 'y', 'z'})\n"
    )
    code = (
        "from own_encoder import Encoder\n"
        "from confdiff.tabular.features.computing.fingerprint import fingerprint_of\n"
        "print(fingerprint_of(Encoder()))"
    )
    printed = set()
    for seed in ("1", "2"):
        path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path}
        printed.add(subprocess.check_output([sys.executable, "-c", code], env=environment, text=True))
    assert len(printed) == 1


@pytest.mark.parametrize("value", [threading.Lock(), (number for number in range(3))])
def test_values_without_content_are_refused(value):
    with pytest.raises(ValueError, match="it refers to a value whose content cannot be read, <"):
        fingerprint_of(made(value))


def test_values_that_contain_themselves_have_a_fingerprint():
    first, second = [1], [2]
    first.append(first)
    second.append(second)
    assert fingerprint_of(made(first)) != fingerprint_of(made(second))


def test_weights_count():
    before = fingerprint_of(uses_weights), fingerprint_of(WEIGHTS)
    with torch.no_grad():
        WEIGHTS.bias += 1
    assert fingerprint_of(uses_weights) != before[0]
    assert fingerprint_of(WEIGHTS) != before[1]
