"""Links: the predicted differences of each, restated, and the probability to be preferred."""

import math

import numpy as np
import pytest

from confdiff.links import LINKS, find_link, preference_probability, reference_scores

SCORES = np.array([-3.0, -0.2, 0.0, 1.5])
OTHERS = np.array([0.4, -0.2, 2.0, -30.0])


def _sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z))


RESTATED = {
    "probability": lambda g, h: _sigmoid(h) - _sigmoid(g),
    "preference": lambda g, h: 2 * _sigmoid(h - g) - 1,
    "score": lambda g, h: h - g,
}


@pytest.mark.parametrize("name", LINKS)
def test_predicted_difference_is_the_formula_of_the_link(name):
    expected = [RESTATED[name](g, h) for g, h in zip(SCORES, OTHERS, strict=True)]
    np.testing.assert_allclose(LINKS[name].difference(SCORES, OTHERS), expected, atol=1e-12)


@pytest.mark.parametrize("name", LINKS)
def test_swapped_pairs_have_the_opposite_difference(name):
    difference = LINKS[name].difference
    np.testing.assert_allclose(difference(SCORES, OTHERS), -difference(OTHERS, SCORES), atol=1e-15)


@pytest.mark.parametrize("name", [name for name, link in LINKS.items() if not link.has_classes])
def test_links_without_classes_determine_scores_up_to_a_constant(name):
    difference = LINKS[name].difference
    np.testing.assert_allclose(difference(SCORES, OTHERS), difference(SCORES + 7, OTHERS + 7), atol=1e-12)


def test_extreme_scores_do_not_overflow():
    for link in LINKS.values():
        assert np.isfinite(link.difference(np.array([-1e4]), np.array([1e4]))).all()


def test_unknown_link_names_the_nearest():
    with pytest.raises(ValueError, match="preference"):
        find_link("preferense")


def test_preference_is_the_mean_over_the_reference():
    expected = [np.mean([_sigmoid(g - h) for h in OTHERS]) for g in SCORES]
    np.testing.assert_allclose(preference_probability(SCORES, OTHERS), expected)


def test_quantiles_represent_many_scores():
    scores = np.random.default_rng(0).normal(size=50_000)
    reference = reference_scores(scores)
    assert len(reference) == 1001
    exact = preference_probability(SCORES, scores[:20_000])
    np.testing.assert_allclose(preference_probability(SCORES, reference), exact, atol=0.01)
