"""Sums over the answers of annotators."""

import numpy as np

from confdiff.annotators import AnswerSums

FIELDS = ("codes", "count", "weight", "dd", "dz", "zz", "dc", "zc", "cc")


def test_sums_of_parts_add_up_to_the_sums_of_all():
    rng = np.random.default_rng(0)
    d, c, z, w = rng.normal(size=(4, 90))
    who = rng.integers(0, 7, 90) * 3
    whole = AnswerSums.of(d, c, who, side=z, weight=w**2)
    parts = [AnswerSums.of(d[r], c[r], who[r], side=z[r], weight=w[r] ** 2) for r in np.array_split(np.arange(90), 12)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), err_msg=name)


def test_normalised_weights_count_answers_whatever_their_scale():
    sums = AnswerSums.of([1.0, 2.0], [1.0, 1.0], [0, 1], weight=[10.0, 30.0]).normalised()
    np.testing.assert_allclose(sums.weight, [0.5, 1.5])
    np.testing.assert_allclose(sums.dd, [0.5, 6.0])
