import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, r2_score

from confdiff.metrics import accuracy, calibration_error, difference_r2, hit_rate, ndcg, reliability

rng = np.random.default_rng(0)
P = rng.random(500)
Y = (rng.random(500) < P**2).astype(int)


def test_accuracy_against_scikit_learn():
    assert accuracy(P - 0.5, Y) == accuracy_score(Y, P >= 0.5)
    assert accuracy(P - 0.5, 2 * Y - 1) == accuracy_score(Y, P >= 0.5)


def test_reliability_against_scikit_learn():
    observed, predicted = calibration_curve(Y, P, n_bins=10)
    table = reliability(P, Y)
    assert table[:, 0] == pytest.approx(predicted)
    assert table[:, 1] == pytest.approx(observed)
    assert table[:, 2].sum() == len(P)
    assert calibration_error(P, Y) == pytest.approx((np.abs(predicted - observed) * table[:, 2]).sum() / len(P))


def test_reliability_takes_certainty():
    assert reliability([0.0, 1.0], [0, 1]).tolist() == [[0, 0, 1], [1, 1, 1]]


def test_difference_r2():
    c = rng.uniform(-1, 1, 50)
    predicted = c + rng.normal(0, 0.1, 50)
    symmetric = np.concatenate([c, -c]), np.concatenate([predicted, -predicted])
    assert difference_r2(predicted, c) == pytest.approx(r2_score(*symmetric))  # as the mean is then 0
    weight = rng.integers(0, 4, 50)
    repeated = difference_r2(predicted.repeat(weight), c.repeat(weight))
    assert difference_r2(predicted, c, weight) == pytest.approx(repeated)
    assert difference_r2([0.1], [0.0]) == 0
    assert difference_r2([0.0], [0.0]) == 1


def test_nothing_broadcasts_and_nothing_is_not_perfect():
    with pytest.raises(ValueError, match="vectors of one length"):
        accuracy(np.ones((3, 1)), [1, 0, 1])
    with pytest.raises(ValueError, match="vectors of one length"):
        reliability([0.5, 0.5], [1])
    with pytest.raises(ValueError, match="vectors of one length"):
        difference_r2([[0.1], [0.2]], [0.1, 0.2])
    with pytest.raises(ValueError, match="above 0"):
        difference_r2([0.1], [0.2], [0.0])


def test_ndcg_is_scikit_learn_s():
    from sklearn.metrics import ndcg_score

    rng = np.random.default_rng(0)
    scores = rng.normal(size=(40, 50))
    relevant = np.zeros((40, 50))
    relevant[:, 0] = 1
    for at in (1, 5, 10, 50):
        expected = [ndcg_score(relevant[[row]], scores[[row]], k=at) for row in range(40)]
        assert ndcg(scores, at=at) == pytest.approx(expected)
        places = (scores > scores[:, :1]).sum(axis=1)
        assert hit_rate(scores, at=at).tolist() == (places < at).tolist()


def test_ties_are_broken_at_random():
    """Against the mean over all possible orders of equal scores."""
    from itertools import permutations

    scores = np.array([2.0, 3.0, 2.0, 2.0, 1.0])
    hits, gains = [], []
    for order in permutations(range(5)):
        ranked = sorted(range(5), key=lambda row, order=order: (-scores[row], order[row]))
        place = ranked.index(0)
        hits.append(place < 3)
        gains.append(1 / np.log2(place + 2) if place < 3 else 0)
    assert hit_rate(scores[None], at=3) == pytest.approx(np.mean(hits))
    assert ndcg(scores[None], at=3) == pytest.approx(np.mean(gains))


def test_a_constant_scorer_gets_the_expected_value_of_random_orders():
    assert hit_rate(np.zeros((3, 50))).tolist() == [0.2] * 3
    assert ndcg(np.zeros((1, 50)))[0] == pytest.approx(sum(1 / np.log2(place + 2) for place in range(10)) / 50)
    assert hit_rate([[0.0, -np.inf, -np.inf]], at=1).tolist() == [1]
