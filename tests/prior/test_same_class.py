import numpy as np
import pytest

from confdiff.pairs import Pairs
from confdiff.prior import SameAnswers, estimate_prior, joined_answers, same_moment, separate_answers


def answers_only(prior, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(2 * n) < prior
    same = labels[:n] == labels[n:]
    return Pairs(rng.normal(size=(2 * n, 2)), np.arange(n), np.arange(n, 2 * n), same=same)


@pytest.mark.parametrize("prior", [0.1, 0.3])
def test_answers_alone_determine_the_prior_up_to_its_reflection(prior):
    pairs = answers_only(prior)
    low, high = same_moment(pairs).interval
    assert low < prior < high
    estimate = estimate_prior(pairs, positives="rarer")
    assert estimate.value == pytest.approx(prior, abs=0.04)
    assert (estimate.source, estimate.n_answers) == ("same-class answers", 2000)
    with pytest.warns(UserWarning, match="two class priors fit the same-class answers"):
        both = estimate_prior(pairs)
    assert len(both.alternatives) == 2


def test_labels_need_differences():
    with pytest.raises(ValueError, match="labelled items need pairs with differences"):
        estimate_prior(answers_only(0.3, n=20), labelled=(np.zeros((2, 2)), [0, 1]))


def test_the_likelihood_is_that_of_each_answer():
    values = np.array([-0.1, 0.2, 0.1, 0.0])
    answers = SameAnswers(items=None, same=np.array([1.0, 0.25]), weight=np.array([1.0, 2.0]))
    (result,) = answers.log_likelihood(values, np.array([0.3]))
    first = 0.2 * 0.4 + 0.8 * 0.6
    second = 0.5 * 0.3 + 0.5 * 0.7
    expected = np.log(first) + 2 * (0.25 * np.log(second) + 0.75 * np.log(1 - second))
    assert result == pytest.approx(expected, abs=1e-12)


def test_separated_answers_can_be_joined_again():
    pairs = Pairs(np.eye(3), [0, 1], [1, 2], [0.2, np.nan], same=[0.5, 1], weight=[1, 3])
    graded, answers = separate_answers(pairs)
    assert graded.same is None
    joined = joined_answers(graded, answers)
    assert joined.carries("differences").tolist() == [True, False, False]
    assert joined.carrying("same").same.tolist() == [0.5, 1]
    assert joined.items[joined.left].tolist() == np.eye(3)[[0, 0, 1]].tolist()
    assert joined_answers(graded, None) is graded


def test_pairs_without_answers_stay_as_they_are():
    pairs = Pairs(np.eye(2), [0], [1], [0.2])
    assert separate_answers(pairs) == (pairs, None)
