import json

import numpy as np
import pytest

from confdiff.pairs import Pairs, sample_pairs
from confdiff.pairs.describe import CENTRES, describe_pairs
from easy import easy_pairs


def test_numbers_of_a_small_example():
    c = [-1.0, -0.96, -0.04, 0.0, 0.049, 0.3, 1.0]
    pairs = Pairs(np.zeros((9, 1)), range(7), range(1, 8), c, labels=[1, 0, 0, 0, 0, 0, 0, 0, 1])
    description = describe_pairs(pairs)
    assert (description.n_pairs, description.n_items, description.components) == (7, 8, 1)
    assert description.near_ties == pytest.approx(3 / 7)
    assert description.near_certain == pytest.approx(3 / 7)
    assert (description.least, description.greatest) == (-1, 1)
    assert description.mean == pytest.approx(np.mean(c), abs=1e-6)
    histogram = dict(zip(CENTRES, description.histogram, strict=True))
    assert {centre: count for centre, count in histogram.items() if count} == {-1.0: 2, 0.0: 3, 0.3: 1, 1.0: 1}
    assert description.prior == pytest.approx(1 / 14)  # one of the fourteen places of items in pairs
    assert description.mean_posterior is None
    assert json.loads(json.dumps(description.as_dict()))["near_ties"] == description.near_ties


@pytest.mark.parametrize("prior", [0.1, 0.3, 0.5, 0.8])
def test_the_prior_lies_in_the_interval_and_at_its_end_where_posteriors_are_certain(prior):
    labels = np.repeat([0.0, 1.0], 3000)
    for sharpness, at_the_end in ((1.0, True), (0.6, False)):
        r = 0.5 + sharpness * (labels - 0.5)
        pairs = sample_pairs(r[:, None], labels=labels, posteriors=r, n_pairs=1500, prior=prior)
        low, high = describe_pairs(pairs).prior_interval
        assert low <= prior <= high
        assert (min(prior - low, high - prior) < 0.12) == (at_the_end or prior == 0.1)


def test_the_interval_holds_the_prior_nineteen_times_in_twenty():
    labels = np.repeat([0.0, 1.0], 1000)
    held = 0
    for seed in range(400):
        pairs = sample_pairs(labels[:, None], labels=labels, posteriors=labels, n_pairs=200, prior=0.2, seed=seed)
        interval = describe_pairs(pairs).prior_interval
        held += interval is not None and interval[0] <= 0.2 <= interval[1]
    assert held / 400 > 0.93


def test_differences_that_no_prior_allows():
    pairs = Pairs(np.zeros((2, 1)), [0] * 50, [1] * 50, [1.0] * 50)
    assert describe_pairs(pairs).prior_interval is None


def test_differences_beyond_one_are_counted_at_the_ends():
    pairs = easy_pairs()
    wild = pairs.with_difference(3 * pairs.difference)
    assert sum(describe_pairs(wild).histogram) == len(pairs)
    assert describe_pairs(wild).greatest > 1


def test_ungraded_pairs_cannot_be_described():
    with pytest.raises(ValueError, match="have no differences"):
        describe_pairs(Pairs([[0.0], [1.0]], [0], [1]))
