"""The choice of the model of annotators by held-out answers."""

import numpy as np
import pytest

from confdiff.annotators import choose_model


def _answers(scale, noise, n=1_000, n_annotators=10):
    rng = np.random.default_rng(0)
    who = np.arange(n) % n_annotators
    d = rng.normal(0, 0.4, n)
    return d, np.asarray(scale)[who] * d + np.asarray(noise)[who] * rng.normal(size=n), who


@pytest.mark.parametrize(
    ("scale", "noise", "model"),
    [
        (np.ones(10), np.full(10, 0.3), "pooled"),
        (np.linspace(0.3, 1.7, 10), np.full(10, 0.1), "scale"),
        (np.linspace(0.3, 1.7, 10), np.geomspace(0.05, 0.6, 10), "full"),
        (np.ones(10), np.geomspace(0.05, 0.6, 10), "full"),
    ],
)
def test_the_simplest_model_that_predicts_is_chosen(scale, noise, model):
    choice = choose_model(*_answers(scale, noise))
    assert choice.model == model
    assert choice.gain["pooled"] == 0


def test_one_annotator_is_pooled():
    d, c, who = _answers(np.ones(1), np.ones(1), n_annotators=1)
    assert choose_model(d, c, who).model == "pooled"


def test_few_answers_of_equal_annotators_are_rarely_divided():
    rng = np.random.default_rng(0)
    who = np.arange(50) % 10
    chosen = []
    for _ in range(60):
        d = rng.normal(0, 0.4, 50)
        chosen.append(choose_model(d, d + 0.2 * rng.standard_t(3, size=50), who).model)
    assert chosen.count("pooled") >= 54
