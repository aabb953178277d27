"""A method is tried before it is added."""

import pytest
import torch

import confdiff
from confdiff.experiments.report.style import colour_of, label_of, line_style
from confdiff.methods import METHODS, find_method
from confdiff.plugins import RegistrationError
from confdiff.plugins.registering import _owners
from confdiff.registration import register_method
from confdiff.training import Recipe, train
from plugged import method_file, plugged


@pytest.fixture(autouse=True)
def _removed():
    names = set(METHODS)
    yield
    for name in set(METHODS) - names:
        del METHODS[name]
    _owners.clear()


def terms(g, g_prime, c, *, prior, weight=None, loss=None):
    return torch.stack([(g_prime - g - c).square().mean(), ((g + g_prime) / 2).mean() - prior])


def without_prior(g, g_prime, c, *, weight=None, loss=None):
    return (g_prime - g - c).square().mean().reshape(1)


def of_labels(g, g_prime, r, r_prime, *, prior, weight=None, loss=None):
    return torch.stack([(g - r).square().mean(), (g_prime - r_prime).square().mean()])


def test_defaults_come_from_the_terms():
    method = register_method("mine", terms)
    assert METHODS["mine"] is method is find_method("mine")
    assert (method.label, method.family, method.prior) == ("mine", "plugin", "needed")
    assert method.term_names == ("term 1", "term 2")
    assert method.correction is confdiff.CORRECTIONS["identity"]


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (terms, {"prior": "optional"}),
        (without_prior, {"prior": "unused", "classifies": False}),
        (of_labels, {"learns_from": "labels"}),
        (of_labels, {"learns_from": "differences and same"}),
        (lambda g, g_prime, *, prior, weight, loss: torch.stack([g.sum(), prior * g.sum()]), {"learns_from": "order"}),
    ],
)
def test_any_supervision_can_be_registered(function, options):
    assert register_method("mine", function, **options).name == "mine"


def test_a_method_of_a_plugin_trains(tmp_path):
    with plugged(method_file(tmp_path)):
        items = torch.randn(20, 3)
        pairs = confdiff.Pairs(items, range(10), range(10, 20), difference=torch.linspace(-0.5, 0.5, 10))
        history = train(torch.nn.Linear(3, 1), pairs, "my-squares", prior=0.4, recipe=Recipe(epochs=3))
        assert history[-1]["risk"] < history[0]["risk"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mine", 3), "the terms of the method 'mine' must be a function; got 3"),
        (("mine", without_prior), r"must accept \(g, g_prime, c, \*, prior, weight, loss\): got an unexpected keyword"),
        (("mine", lambda g, g_prime: g), r"must accept \(g, g_prime, c, .*too many positional arguments"),
        (("mine", lambda *a, **k: g_missing), "raised NameError for 4 pairs"),  # noqa: F821
        (("mine", lambda *a, **k: torch.tensor(1.0)), r"must return .* of shape \(k,\).*; got \(\)"),
        (("mine", lambda *a, **k: [1.0]), r"must return .* of shape \(k,\).*; got list"),
        (("My Method", terms), "the name of a method must be lower-case"),
        (("bpr", terms), "the method 'bpr' exists already: it is built in"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(RegistrationError, match=message):
        register_method(*arguments)
    assert "mine" not in METHODS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learns_from": "stars"}, "learns_from of the method 'mine' must be one of differences, order"),
        ({"prior": "maybe"}, "prior of the method 'mine' must be one of needed, optional, unused; got 'maybe'"),
        ({"link": "logit"}, "link of the method 'mine' must be one of"),
        ({"famly": "confdiff"}, "option of the method 'mine' must be one of .*family.*; got 'famly'"),
        ({"label": "BPR"}, "the label of the method 'mine' must be a new, non-empty text; got 'BPR'"),
        ({"label": " "}, "must be a new, non-empty text"),
        ({"correction": lambda z: 1}, "the correction of the method 'mine' must be a function of a tensor"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(RegistrationError, match=message):
        register_method("mine", terms, **options)


def test_methods_of_plugins_have_colours_of_their_own():
    for number in range(4):
        register_method(f"mine-{number}", terms, label=f"Mine {number}", family="confdiff")
    assert len({colour_of(name) for name in METHODS}) == len(METHODS)
    assert label_of("mine-1") == line_style("mine-1")["label"] == "Mine 1"
