import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, r2_score

from confdiff.metrics import accuracy, calibration_error, difference_score, reliability

chance = np.random.default_rng(0)
P = chance.random(500)
Y = (chance.random(500) < P**2).astype(int)


def test_accuracy_against_scikit_learn():
    assert accuracy(P - 0.5, Y) == accuracy_score(Y, P >= 0.5)
    assert accuracy(P - 0.5, 2 * Y - 1) == accuracy_score(Y, P >= 0.5)


def test_reliability_against_scikit_learn():
    so, said = calibration_curve(Y, P, n_bins=10)
    table = reliability(P, Y)
    assert table[:, 0] == pytest.approx(said)
    assert table[:, 1] == pytest.approx(so)
    assert table[:, 2].sum() == len(P)
    assert calibration_error(P, Y) == pytest.approx((np.abs(said - so) * table[:, 2]).sum() / len(P))


def test_reliability_takes_certainty():
    assert reliability([0.0, 1.0], [0, 1]).tolist() == [[0, 0, 1], [1, 1, 1]]


def test_difference_score():
    c = chance.uniform(-1, 1, 50)
    predicted = c + chance.normal(0, 0.1, 50)
    symmetric = np.concatenate([c, -c]), np.concatenate([predicted, -predicted])
    assert difference_score(predicted, c) == pytest.approx(r2_score(*symmetric))  # as the mean is then 0
    weight = chance.integers(0, 4, 50)
    repeated = difference_score(predicted.repeat(weight), c.repeat(weight))
    assert difference_score(predicted, c, weight) == pytest.approx(repeated)
    assert difference_score([0.1], [0.0]) == 0
    assert difference_score([0.0], [0.0]) == 1


def test_nothing_broadcasts_and_nothing_is_not_perfect():
    with pytest.raises(ValueError, match="vectors of one length"):
        accuracy(np.ones((3, 1)), [1, 0, 1])
    with pytest.raises(ValueError, match="vectors of one length"):
        reliability([0.5, 0.5], [1])
    with pytest.raises(ValueError, match="vectors of one length"):
        difference_score([[0.1], [0.2]], [0.1, 0.2])
    with pytest.raises(ValueError, match="above 0"):
        difference_score([0.1], [0.2], [0.0])
