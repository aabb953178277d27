"""The simulations hold what the paper says; and each of them would notice if a formula were wrong."""

import numpy as np
import pytest
import torch

from command import confdiff
from confdiff.experiments.theory_page import theory_csv, theory_html
from confdiff.risks import confdiff_terms
from confdiff.theory import bounds, monte_carlo
from confdiff.theory.monte_carlo import CHECKS, Settings
from confdiff.theory.simulation import World, draw, partial_risks

WORLD = World.make(k=30, side=11)
SETTINGS = Settings(sizes=(50, 100, 200, 400, 800), repetitions=60)
BY_NAME = {check.__name__: check for check in CHECKS}


@pytest.mark.parametrize("name", BY_NAME)
def test_every_result_holds(name):
    check = BY_NAME[name](WORLD, SETTINGS)
    assert check.holds, check.finding
    assert len(check.x) == len(check.measured)
    assert check.ratio is None or check.ratio > 1


def test_partial_risks_are_those_of_the_library():
    sample = draw(WORLD, 40, np.random.default_rng(0))
    terms = partial_risks(WORLD, sample, prior=0.3)
    for function in (0, 7):
        g = torch.from_numpy(WORLD.scores[function])
        c = torch.from_numpy(sample.c)
        expected = confdiff_terms(g[sample.left], g[sample.right], c, prior=0.3)
        assert terms[:, function] == pytest.approx(expected.numpy())


MUTATIONS = {
    "a factor of 2": lambda terms: 2 * terms,
    "one term left out": lambda terms: terms * np.array([1, 1, 1, 0])[:, None],
    "one term twice": lambda terms: terms * np.array([2, 1, 1, 1])[:, None],
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_wrong_estimator_is_seen(mutation, monkeypatch):
    right = monte_carlo.partial_risks
    monkeypatch.setattr(monte_carlo, "partial_risks", lambda *a, **o: MUTATIONS[mutation](right(*a, **o)))
    assert not BY_NAME["unbiasedness"](WORLD, SETTINGS).holds
    assert not BY_NAME["convergence_at_a_function"](WORLD, SETTINGS).holds


def test_a_wrong_sign_of_c_is_seen(monkeypatch):
    right = monte_carlo.draw

    def turned(world, n, chance):
        sample = right(world, n, chance)
        return type(sample)(sample.left, sample.right, -sample.c)

    monkeypatch.setattr(monte_carlo, "draw", turned)
    assert not BY_NAME["unbiasedness"](WORLD, SETTINGS).holds


def test_a_bound_that_is_too_small_is_seen(monkeypatch):
    monkeypatch.setattr(bounds, "lemma_5_uniform_deviation", lambda *a, **o: 1e-3)
    assert not BY_NAME["uniform_deviation"](WORLD, SETTINGS).holds


def test_another_weight_has_more_variance(monkeypatch):
    right = monte_carlo.partial_risks
    tilted = np.array([3, 3, 1, 1])[:, None]
    monkeypatch.setattr(monte_carlo, "partial_risks", lambda *a, **o: right(*a, **o) * tilted)
    assert not BY_NAME["variance"](WORLD, SETTINGS).holds


def test_the_page_and_the_table():
    checks = [BY_NAME[name](WORLD, SETTINGS) for name in ("unbiasedness", "uniform_deviation")]
    page = theory_html(checks, SETTINGS)
    assert page.count("data:image/png;base64,") == 2
    assert page.count(">holds<") == 2
    assert len(theory_csv(checks).splitlines()) == 1 + 5 + 5


def test_as_a_command(tmp_path):
    result = confdiff("theory", "--repetitions", "40", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Theorem 6" in result.stdout
    assert sorted(path.name for path in (tmp_path / "theory").iterdir()) == ["theory.csv", "theory.html"]
