"""Estimates of annotators: recovery, shrinkage, coverage, and annotators that cannot be used."""

import json

import numpy as np
import pytest

from confdiff.annotators import AnnotatorEstimates, AnswerSums, choose_model, estimate_annotators


def _simulated(n_annotators, per_annotator, *, seed=0, scale=0.3, bias=0.15, common_noise=0.1):
    rng = np.random.default_rng(seed)
    n = n_annotators * per_annotator
    who = np.repeat(np.arange(n_annotators), per_annotator)
    s = rng.normal(1, scale, n_annotators)
    b = rng.normal(0, bias, n_annotators)
    v = common_noise * 10 / rng.chisquare(10, n_annotators)
    d = rng.normal(0, 0.4, n)
    z = rng.choice([-1.0, 1.0], n)
    c = s[who] * d + b[who] * z + np.sqrt(v[who]) * rng.normal(size=n)
    return {"d": d, "c": c, "annotators": who, "side": z}, (s / s.mean(), b, np.sqrt(v))


def _estimated(answers, model="full"):
    return estimate_annotators(AnswerSums.of(**answers), model)


def test_parameters_are_recovered_from_many_answers():
    answers, (s, b, v) = _simulated(12, 2_000)
    estimates = _estimated(answers)
    np.testing.assert_allclose(estimates.scale, s, atol=0.09)
    np.testing.assert_allclose(estimates.bias, b, atol=0.04)
    np.testing.assert_allclose(estimates.noise, v, rtol=0.06)
    assert np.average(estimates.scale, weights=estimates.count) == pytest.approx(1)


@pytest.mark.parametrize("per_annotator", [20, 125])
def test_intervals_cover(per_annotator):
    covered = []
    for seed in range(40):
        answers, (s, b, v) = _simulated(12, per_annotator, seed=seed)
        estimates = _estimated(answers)
        intervals = (estimates.scale_interval, estimates.bias_interval, estimates.noise_interval)
        covered.append(
            [np.mean((ends[:, 0] <= x) & (x <= ends[:, 1])) for ends, x in zip(intervals, (s, b, v), strict=True)]
        )
    scale, bias, noise = np.mean(covered, axis=0)
    assert 0.9 <= scale <= 0.99
    assert 0.9 <= bias <= 0.99
    assert 0.82 <= noise <= 0.99


def test_few_answers_are_shrunk():
    errors = {"shrunk": [], "same": [], "free": []}
    for seed in range(30):
        answers, (s, _, _) = _simulated(30, 5, seed=seed)
        sums = AnswerSums.of(**answers)
        errors["shrunk"].append(np.mean((_estimated(answers).scale - s) ** 2))
        errors["same"].append(np.mean((1 - s) ** 2))
        errors["free"].append(np.mean((sums.dc / sums.dd - s) ** 2))
    assert np.mean(errors["shrunk"]) < np.mean(errors["same"]) < np.mean(errors["free"])


def test_annotators_who_do_not_differ_get_the_same_targets():
    answers, _ = _simulated(20, 10, scale=0.0, bias=0.0)
    assert choose_model(**answers).model in ("pooled", "full")  # noise differs
    rng = np.random.default_rng(0)
    answers["c"] = answers["d"] + 0.3 * rng.normal(size=200)
    assert choose_model(**answers).model == "pooled"
    target, precision = _estimated(answers).adjusted(answers["c"], answers["annotators"], answers["side"])
    assert np.corrcoef(target, answers["c"])[0, 1] > 0.97
    assert precision.mean() == pytest.approx(1, abs=0.05)


def test_the_side_is_not_used_unless_it_is_given():
    answers, _ = _simulated(10, 100)
    del answers["side"]
    estimates = _estimated(answers)
    assert not estimates.has_side
    assert not estimates.bias.any()


def test_a_reversed_scale_is_reported_and_not_used():
    answers, _ = _simulated(10, 100)
    without = {name: values[100:] for name, values in answers.items()}
    answers["c"] = np.where(answers["annotators"] == 0, -answers["c"], answers["c"])
    estimates = _estimated(answers)
    assert estimates.is_reversed.tolist() == [True] + [False] * 9
    assert estimates.scale[0] < 0
    assert "reversed" in estimates.remarks()[0]
    np.testing.assert_allclose(estimates.scale[1:], _estimated(without).scale, rtol=1e-6)
    _, precision = estimates.adjusted(answers["c"], answers["annotators"], answers["side"])
    assert not precision[:100].any()
    assert precision[100:].mean() == pytest.approx(1)


def test_a_judge_who_guesses_is_reported_but_one_with_few_answers_is_not():
    answers, _ = _simulated(10, 100)
    rng = np.random.default_rng(1)
    is_guess = answers["annotators"] == 3
    answers["c"] = np.where(is_guess, 0.4 * rng.normal(size=1000), answers["c"])
    few = [*np.flatnonzero(answers["annotators"] != 5), 500, 501]
    estimates = _estimated({name: values[few] for name, values in answers.items()})
    assert np.flatnonzero(estimates.is_chance).tolist() == [3]


def test_predictions_that_explain_nothing_give_the_pooled_model():
    rng = np.random.default_rng(0)
    sums = AnswerSums.of(rng.normal(size=100), rng.normal(size=100), np.arange(100) % 5)
    assert estimate_annotators(sums, "full").model == "pooled"


def test_an_unknown_annotator_counts_as_average():
    answers, _ = _simulated(10, 100)
    estimates = _estimated(answers)
    np.testing.assert_allclose(estimates.predict([0.5, -0.2], [99, 77], [1, 1]), [0.5, -0.2])


def test_the_scale_of_weights_does_not_matter():
    answers, _ = _simulated(8, 50)
    first = estimate_annotators(AnswerSums.of(**answers, weight=np.full(400, 1.0)))
    second = estimate_annotators(AnswerSums.of(**answers, weight=np.full(400, 9.0)))
    np.testing.assert_allclose(first.scale, second.scale)
    np.testing.assert_allclose(first.noise, second.noise)


def test_estimates_survive_json():
    answers, _ = _simulated(5, 40)
    estimates = _estimated(answers).named({0: "Ada"})
    other = AnnotatorEstimates.from_dict(json.loads(json.dumps(estimates.to_dict())))
    assert other.to_text() == estimates.to_text()
    assert other.labels[0] == "Ada"


@pytest.mark.parametrize(
    "damage",
    [
        {"scale": [1.0]},
        {"codes": [1, 0, 2, 3, 4]},
        {"noise": [0.0] * 5},
        {"model": "other"},
        {"slope": None},
        {"names": 3},
    ],
)
def test_damaged_values_are_refused(damage):
    answers, _ = _simulated(5, 40)
    with pytest.raises(ValueError, match=r"annotators|model"):
        AnnotatorEstimates.from_dict(_estimated(answers).to_dict() | damage)
