"""Agreement of probabilities with judged pairs."""

import json
import math

import numpy as np
import pytest

from confdiff.tabular.model.agreement import Agreement, agreement, difference_reliability, wilson_interval


def test_agreement_by_hand():
    p, p_prime, c = np.array([0.2, 0.6, 0.5, 0.5]), np.array([0.7, 0.9, 0.5, 0.9]), np.array([0.5, -0.3, 0.2, 0.0])
    found = agreement(p_prime - p, c)
    assert found.pairs == 4
    assert found.pairwise_accuracy == pytest.approx((1 + 0 + 0.5) / 3)  # the last is a tie, the third not decided
    assert found.r2 == pytest.approx(1 - (0 + 0.36 + 0.04 + 0.16) / (0.25 + 0.09 + 0.04))
    assert found.rmse == pytest.approx(np.sqrt((0 + 0.36 + 0.04 + 0.16) / 4))
    assert found.correlation == pytest.approx(np.corrcoef(p_prime - p, c)[0, 1])


def test_wilson_interval():
    from scipy.stats import binomtest

    expected = binomtest(37, 50).proportion_ci(method="wilson")
    assert wilson_interval(37 / 50, 50) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert wilson_interval(0.5, 0) == (0, 1)


def test_agreement_comes_back_through_json():
    p = np.array([0.2, 0.6])
    varying = agreement(p[::-1] - p, np.array([0.5, -0.3]))
    assert Agreement.from_json(json.loads(json.dumps(varying.to_json()))) == varying
    constant = agreement(p - p, np.zeros(2))
    text = json.dumps(constant.to_json(), allow_nan=False)
    restored = Agreement.from_json(json.loads(text))
    assert math.isnan(restored.correlation)
    assert math.isnan(restored.pairwise_accuracy)
    assert restored.interval == constant.interval == (0, 1)


def test_reliability_of_differences_by_hand():
    p_prime = np.array([0.0, 0.1, 0.9, 1.0])
    points = difference_reliability(p_prime, np.array([-0.2, 0.2, 0.8, 1.0]), bins=4)
    assert [count for _, _, count in points] == [2, 2]
    np.testing.assert_allclose(points[0][:2], (0.05, 0.0), atol=1e-12)
    np.testing.assert_allclose(points[1][:2], (0.95, 0.9), atol=1e-12)
