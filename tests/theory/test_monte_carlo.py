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


def terms_of(sample):
    """(4, m) the partial risks of all functions, each by the library's own risk."""
    g, c = torch.from_numpy(WORLD.scores), torch.from_numpy(sample.c)
    rows = [confdiff_terms(scores[sample.left], scores[sample.right], c, prior=WORLD.prior) for scores in g]
    return torch.stack(rows, dim=1).numpy()


def samples(n, settings, times=1):
    return [draw(WORLD, n, np.random.default_rng([settings.seed, n, i])) for i in range(times * settings.repetitions)]


SOME = int(np.argsort(WORLD.true_risks)[len(WORLD.true_risks) // 3])
EXCESS = WORLD.true_risks - min(WORLD.true_risks)
ERRORS = {
    "convergence_at_a_function": lambda terms: abs(sum(terms[:, SOME]) - WORLD.true_risks[SOME]),
    "uniform_deviation": lambda terms: max(abs(sum(terms) - WORLD.true_risks)),
    "estimation_error": lambda terms: EXCESS[np.argmin(sum(terms))],
    "corrected_deviation": lambda terms: abs(sum(abs(t) for t in terms[:, SOME]) - WORLD.true_risks[SOME]),
    "corrected_estimation_error": lambda terms: EXCESS[np.argmin(sum(abs(t) for t in terms))],
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ERRORS)
def test_what_is_measured_worked_out_sample_by_sample(name, seed):
    sizes = (2, 6, 30)  # some so few that partial risks are often negative
    settings = Settings(sizes=sizes, repetitions=8, seed=seed)
    expected = [np.quantile([ERRORS[name](terms_of(sample)) for sample in samples(n, settings)], 0.95) for n in sizes]
    assert BY_NAME[name](WORLD, settings).measured == pytest.approx(expected)


def test_the_bias_worked_out_sample_by_sample():
    settings, best = Settings(repetitions=2), int(np.argmin(WORLD.true_risks))
    check = BY_NAME["correction_bias"](WORLD, settings)
    for n, measured in zip(check.x[:3], check.measured, strict=False):
        terms = [terms_of(sample)[:, best] for sample in samples(int(n), settings, 20)]
        assert measured == pytest.approx(np.mean([-2 * sum(t for t in row if t < 0) for row in terms]))
    assert check.measured[0] > 0.01


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
