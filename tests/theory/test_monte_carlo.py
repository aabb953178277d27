"""Every result of the paper holds in simulations, and each simulation detects a wrong formula."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from command import confdiff
from confdiff.risks import confdiff_terms
from confdiff.theory import bounds, measuring
from confdiff.theory.complexity import finite_complexity
from confdiff.theory.measuring import Settings, TheoryCheck
from confdiff.theory.monte_carlo import FEW, THEORY_CHECKS
from confdiff.theory.page import theory_csv, theory_html, theory_json
from confdiff.theory.simulation import World, draw, pair_losses, partial_risks

WORLD = World.make(k=30, side=11)
SETTINGS = Settings(sizes=(50, 100, 200, 400, 800), repetitions=60)
BY_NAME = {check.__name__: check for check in THEORY_CHECKS}


@pytest.mark.parametrize("name", BY_NAME)
def test_every_result_holds(name):
    check = BY_NAME[name](WORLD, SETTINGS)
    assert check.holds is True, check.finding
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
    assert pair_losses(WORLD, sample).mean(axis=1) == pytest.approx(partial_risks(WORLD, sample).sum(axis=0))


def terms_of(sample):
    """(4, m) the partial risks of all functions, each by the library's own risk."""
    g, c = torch.from_numpy(WORLD.scores), torch.from_numpy(sample.c)
    rows = [confdiff_terms(scores[sample.left], scores[sample.right], c, prior=WORLD.prior) for scores in g]
    return torch.stack(rows, dim=1).numpy()


def samples(n, settings, times=1):
    return [draw(WORLD, n, np.random.default_rng([settings.seed, n, i])) for i in range(times * settings.repetitions)]


LARGE = [i for i in range(len(WORLD.scores)) if 2 * np.abs(WORLD.scores[i]).max() >= np.abs(WORLD.scores).max()]
SOME = sorted(LARGE, key=lambda i: WORLD.true_risks[i])[len(LARGE) // 3]
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
def test_measured_values_against_a_computation_sample_by_sample(name, seed):
    sizes = (2, 6, 30)  # some so few that partial risks are often negative
    settings = Settings(sizes=sizes, repetitions=8, seed=seed)
    expected = [np.quantile([ERRORS[name](terms_of(sample)) for sample in samples(n, settings)], 0.95) for n in sizes]
    assert BY_NAME[name](WORLD, settings).measured == pytest.approx(expected)


def mild_terms(n, settings):
    """The partial risks of the best function of the world with an eighth of the scores."""
    mild = World(WORLD.points, WORLD.mass, WORLD.posteriors, WORLD.scores / 8)
    best = int(np.argmin(mild.true_risks))
    return mild, [partial_risks(mild, sample)[:, best] for sample in samples(n, settings, 20)], best


def test_lemma_6_and_the_bias_against_a_computation_sample_by_sample():
    settings = Settings(repetitions=10)
    lemma, theorem = (BY_NAME[name](WORLD, settings) for name in ("negative_terms", "correction_bias"))
    for place, n in enumerate(FEW[:3]):
        mild, terms, best = mild_terms(n, settings)
        assert lemma.measured[place] == pytest.approx(np.mean([any(t <= 0 for t in row) for row in terms]))
        assert theorem.measured[place] == pytest.approx(np.mean([-2 * sum(t for t in row if t < 0) for row in terms]))
        least = mild.expected_terms[:, best].tolist()
        assert lemma.bound[place] == bounds.lemma_6_negative_terms(n, least, bound=mild.constants.bound)
        assert theorem.bound[place] == bounds.theorem_5_bias(n, least, bound=mild.constants.bound)
    assert lemma.bound[-1] < 1


def test_the_variance_is_that_of_all_pairs_enumerated():
    check = BY_NAME["variance"](WORLD, Settings(sizes=(50,), repetitions=400))
    left, right = (rows.ravel() for rows in np.indices((30, 30)))
    probabilities = WORLD.mass[left] * WORLD.mass[right]
    g, c = torch.from_numpy(WORLD.scores[SOME]), torch.from_numpy(WORLD.posteriors[right] - WORLD.posteriors[left])
    for place, alpha in ((0, 0.0), (5, 0.5), (8, 0.8)):
        pairs = zip(g[left], g[right], c, strict=True)
        values = np.array(
            [
                confdiff_terms(a[None], b[None], d[None], prior=WORLD.prior, alpha=alpha).sum().item()
                for a, b, d in pairs
            ]
        )
        exact = (probabilities @ values**2 - (probabilities @ values) ** 2) / 50
        assert check.measured[place] == pytest.approx(exact, rel=0.15)


@pytest.mark.parametrize(
    ("name", "amounts", "argument"),
    [
        ("error_under_noise", (0.0, 0.1, 0.2, 0.3, 0.4), "mean_error"),
        ("error_under_a_wrong_prior", (0.0, 0.05, 0.1, 0.2, 0.3), "prior_error"),
    ],
)
def test_errors_of_the_input_against_a_computation_sample_by_sample(name, amounts, argument):
    n, settings = 20, Settings(sizes=(10, 20), repetitions=12)
    check = BY_NAME[name](WORLD, settings)
    for place, amount in enumerate(amounts):
        errors, wrong = [], []
        for number, sample in enumerate(samples(n, settings)):
            c, prior = sample.c.copy(), WORLD.prior
            if argument == "mean_error":  # towards 0, and beyond
                size = amount * np.abs(np.random.default_rng([0, number]).normal(size=n))
                c = np.where(c > 0, c - size, np.where(c < 0, c + size, c))
            else:
                prior = prior + amount
            risks = partial_risks(WORLD, type(sample)(sample.left, sample.right, c), prior=prior).sum(axis=0)
            errors.append(EXCESS[np.argmin(risks)])
            wrong.append(np.abs(c - sample.c).mean())
        assert check.measured[place] == pytest.approx(np.quantile(errors, 0.95))
        size = amount if argument == "prior_error" else float(np.mean(wrong))
        limit = bounds.theorem_4_estimation_error_under_noise(
            n, measuring.complexity(WORLD, n, settings), delta=0.05, loss=WORLD.constants, **{argument: size}
        )
        assert check.bound[place] == pytest.approx(limit)


AT_SOME = WORLD.expected_terms[:, SOME].tolist()
LEAST = [min(row) for row in WORLD.expected_terms.tolist()]
BOUNDS = {
    "convergence_at_a_function": lambda n, _: 2 * WORLD.constants.bound * bounds.mcdiarmid(n, 0.05),
    "uniform_deviation": lambda n, r: bounds.lemma_5_uniform_deviation(n, r, delta=0.05, loss=WORLD.constants),
    "estimation_error": lambda n, r: bounds.theorem_3_estimation_error(n, r, delta=0.05, loss=WORLD.constants),
    "corrected_deviation": lambda n, _: bounds.theorem_5_deviation(n, AT_SOME, delta=0.05, bound=WORLD.constants.bound),
    "corrected_estimation_error": lambda n, r: bounds.theorem_6_estimation_error_of_the_corrected(
        n, r, LEAST, delta=0.05, loss=WORLD.constants
    ),
    "corrected_estimation_error_by_our_proof": lambda n, r: bounds.estimation_error_of_the_corrected(
        n, r, delta=0.05, loss=WORLD.constants
    ),
    "complexity_of_the_losses": lambda _, r: 2 * WORLD.constants.lipschitz * r,
}


@pytest.mark.parametrize("name", BOUNDS)
def test_each_check_uses_the_bound_of_its_name(name):
    settings = Settings(sizes=(10, 20, 40), repetitions=3)
    expected = [BOUNDS[name](n, measuring.complexity(WORLD, n, settings)) for n in settings.sizes]
    assert BY_NAME[name](WORLD, settings).bound == pytest.approx(expected)


def test_the_complexity_of_losses_is_that_of_the_library_s_losses():
    settings = Settings(sizes=(10,), repetitions=1)
    sample = samples(10, settings)[0]
    g, c = torch.from_numpy(WORLD.scores), torch.from_numpy(sample.c)
    rows = [
        [
            confdiff_terms(scores[[i]], scores[[j]], c[[k]], prior=WORLD.prior).sum().item()
            for k, (i, j) in enumerate(zip(sample.left, sample.right, strict=True))
        ]
        for scores in g
    ]
    expected = finite_complexity(rows, draws=200, seed=0)[0]
    assert BY_NAME["complexity_of_the_losses"](WORLD, settings).measured == pytest.approx([expected])


def test_the_tightest_ratio_is_shown_and_errors_of_0_are_left_out():
    check = TheoryCheck("a", "b", "c", "n", [1.0, 2.0, 3.0], [0.5, 0.2, 0.0], [1.0, 0.3, 0.1], "", holds=True)
    assert check.ratio == pytest.approx(1.5)
    assert check.looseness == "1.5"
    nothing = TheoryCheck("a", "b", "c", "n", [1.0], [0.0], [1.0], "", holds=True)
    assert (nothing.ratio, nothing.looseness) == (None, "")


def test_a_prediction_is_no_bound():
    check = TheoryCheck("a", "b", "c", "n", [1.0], [0.5], [0.6], "", holds=True, bound_name="predicted")
    assert (check.ratio, check.looseness) == (None, "")
    assert theory_csv([check]).splitlines()[1] == "a,n,1.0,0.5,,0.6,True"
    assert theory_csv([replace(check, bound_name="bound")]).splitlines()[1] == "a,n,1.0,0.5,0.6,,True"


def test_errors_that_are_all_0_have_no_slope():
    settings = Settings(sizes=(10, 20, 40), repetitions=5)
    table = np.array([[0.1] * 5, [0.0] * 5, [0.0] * 5])
    check = measuring.rate("a", "b", settings, table, [1.0] * 3)
    assert not check.holds
    assert check.finding == "too few errors above 0 for a slope"


@pytest.mark.parametrize(("power", "exact", "holds"), [(0.5, True, True), (0.9, True, False), (0.9, False, True)])
def test_rates_are_checked_by_their_slopes(power, exact, holds):
    settings = Settings(repetitions=400)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(7, 400)) * np.array(settings.sizes)[:, None] ** -power
    assert measuring.rate("a", "b", settings, table, [9.0] * 7, exact=exact).holds is holds
    assert not measuring.rate("a", "b", settings, table * 0 + 1, [9.0] * 7, exact=exact).holds
    assert not measuring.rate("a", "b", settings, table, [1e-9] * 7, exact=exact).holds


def test_growth_faster_than_the_bound_is_detected():
    arguments = ("a", "b", "x", "c", [0.0, 0.1])
    assert measuring.growth(*arguments, [0.0, 0.3], [2.0, 2.4]).holds
    assert not measuring.growth(*arguments, [0.0, 0.5], [2.0, 2.4]).holds
    assert not measuring.growth(*arguments, [0.1, 0.1], [2.0, 2.4]).holds


MUTATIONS = {
    "a factor of 2": lambda terms: 2 * terms,
    "one term left out": lambda terms: terms * np.array([1, 1, 1, 0])[:, None],
    "one term twice": lambda terms: terms * np.array([2, 1, 1, 1])[:, None],
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_wrong_estimator_is_detected(mutation, monkeypatch):
    right = measuring.partial_risks
    monkeypatch.setattr(measuring, "partial_risks", lambda *a, **o: MUTATIONS[mutation](right(*a, **o)))
    assert not BY_NAME["unbiasedness"](WORLD, SETTINGS).holds
    assert not BY_NAME["convergence_at_a_function"](WORLD, SETTINGS).holds


def test_a_wrong_sign_of_c_is_detected(monkeypatch):
    right = measuring.draw

    def swapped(world, n, rng):
        sample = right(world, n, rng)
        return type(sample)(sample.left, sample.right, -sample.c)

    monkeypatch.setattr(measuring, "draw", swapped)
    assert not BY_NAME["unbiasedness"](WORLD, SETTINGS).holds


def test_a_bound_that_is_too_small_is_detected(monkeypatch):
    monkeypatch.setattr(bounds, "lemma_5_uniform_deviation", lambda *a, **o: 1e-3)
    assert not BY_NAME["uniform_deviation"](WORLD, SETTINGS).holds


def test_another_weight_has_more_variance(monkeypatch):
    right = measuring.partial_risks
    tilted = np.array([3, 3, 1, 1])[:, None]
    monkeypatch.setattr(measuring, "partial_risks", lambda *a, **o: right(*a, **o) * tilted)
    assert not BY_NAME["variance"](WORLD, SETTINGS).holds


def test_the_page_and_the_table():
    checks = [BY_NAME[name](WORLD, SETTINGS) for name in ("unbiasedness", "uniform_deviation")]
    page = theory_html(checks, SETTINGS)
    assert page.count("data:image/png;base64,") == 2
    assert page.count(">holds<") == 2
    assert len(theory_csv(checks).splitlines()) == 1 + 5 + 5
    assert "600 samples of 50 pairs" in page
    saved = json.loads(theory_json(checks, SETTINGS))
    assert saved["settings"] == {"sizes": [50, 100, 200, 400, 800], "repetitions": 60, "seed": 0}
    assert [result["measured"] for result in saved["results"]] == [check.measured for check in checks]


def test_as_a_command(tmp_path):
    result = confdiff("theory", "--repetitions", "40", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "Theorem 6" in result.stdout
    assert sorted(path.name for path in (tmp_path / "theory").iterdir()) == ["theory.csv", "theory.html", "theory.json"]
    assert "Proposition 7" in result.stdout
