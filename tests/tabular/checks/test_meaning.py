"""What judgements mean: simulated judgements of each kind."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from confdiff.links import LINKS
from confdiff.tabular.checks.graph import edges_of
from confdiff.tabular.checks.item_scores import LOSSES_OF_LINKS, scores_under
from confdiff.tabular.checks.meaning import meaning_of, meaning_statement
from confdiff.tabular.checks.report import check_comparisons
from judging import judged, kinds, the


def simulated(kind, n_items=60, n_pairs=600, seed=0):
    """Judgements of items with normal scores, by one of the three questions."""
    rng = np.random.default_rng(seed)
    scores = 1.5 * rng.normal(size=n_items)
    left = rng.integers(0, n_items, n_pairs)
    right = (left + rng.integers(1, n_items, n_pairs)) % n_items
    if kind == "probability":
        c = expit(2 * scores[right]) - expit(2 * scores[left])
    elif kind == "preference":
        c = 2 * rng.binomial(9, expit(scores[right] - scores[left])) / 9 - 1
    else:
        near = np.abs(scores[right] - scores[left]) < 2.5  # only similar items are compared
        left = left[near]
        right = right[near]
        c = (scores[right] - scores[left]) / 2.5
    return left, right, c


def measured(kind, **options):
    return meaning_of(edges_of(judged(*zip(*simulated(kind, **options), strict=True))))


@pytest.mark.parametrize("seed", range(3))
def test_preferences_are_recognised(seed):
    meaning = measured("preference", seed=seed)
    assert meaning.supported == ("preference",)
    assert meaning.proposal == "preference"
    assert "link='preference': differences do not add up" in meaning_statement(meaning)


@pytest.mark.parametrize("seed", range(3))
def test_probabilities_may_also_be_points(seed):
    meaning = measured("probability", seed=seed)
    assert meaning.supported == ("probability", "score")
    assert meaning.proposal is None
    assert meaning.span < 1.05
    assert "link='probability' and link='score' about equally well" in meaning_statement(meaning)


@pytest.mark.parametrize("seed", range(3))
def test_points_with_a_wide_range_are_no_probabilities(seed):
    meaning = measured("score", seed=seed)
    assert meaning.supported == ("score",)
    assert meaning.span > 1.5
    assert f"a range of {meaning.span:.2f}" in meaning_statement(meaning)


def test_without_cycles_nothing_is_known():
    chain = [(row, row + 1, 0.1) for row in range(200)]
    assert meaning_of(edges_of(judged(*chain))) is None
    assert "Declare what was asked" in meaning_statement(None)


def tables(kind):
    left, right, c = simulated(kind)
    items = pd.DataFrame({"x": np.arange(60.0)}, index=[f"i{row}" for row in range(60)])
    return items, pd.DataFrame({"left": items.index[left], "right": items.index[right], "difference": c})


def test_the_report_says_what_was_asked():
    report = check_comparisons(*tables("preference"))
    assert report.link == "preference"
    assert the(report, "not-probabilities").severity == "note"
    assert "link='preference' fits better" in the(report, "not-probabilities").text
    assert report.as_dict()["meaning"] == report.meaning_statement
    assert report.as_dict()["measures"]["meaning"]["supported"] == ("preference",)


def test_a_declared_meaning_that_does_not_fit_is_a_warning():
    report = check_comparisons(*tables("preference"), link="probability")
    assert the(report, "other-meaning").severity == "warning"
    assert report.link == "probability"
    fits = check_comparisons(*tables("preference"), link="preference")
    assert not {"other-meaning", "not-probabilities"} & set(kinds(fits))
    with pytest.raises(ValueError, match="unknown link 'votes'"):
        check_comparisons(*tables("preference"), link="votes")


@pytest.mark.parametrize("link", LOSSES_OF_LINKS)
def test_slopes_are_those_of_the_losses(link):
    rng = np.random.default_rng(0)
    s = rng.normal(size=5)
    s_prime = rng.normal(size=5)
    c = rng.uniform(-1, 1, 5)
    loss = LOSSES_OF_LINKS[link]
    step = 1e-6
    _, slope, slope_prime = loss(s, s_prime, c)
    np.testing.assert_allclose(
        (loss(s + step, s_prime, c)[0] - loss(s - step, s_prime, c)[0]) / (2 * step), slope, atol=1e-8
    )
    by_prime = (loss(s, s_prime + step, c)[0] - loss(s, s_prime - step, c)[0]) / (2 * step)
    np.testing.assert_allclose(by_prime, slope_prime, atol=1e-8)


def test_every_link_has_a_loss_and_scores_recover_the_differences():
    assert list(LOSSES_OF_LINKS) == list(LINKS)
    pairs = judged(*zip(*simulated("score"), strict=True))
    scores = scores_under("score", pairs, 1e-6)
    np.testing.assert_allclose(scores[pairs.right] - scores[pairs.left], pairs.c, atol=1e-3)
