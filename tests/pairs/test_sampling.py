from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from confdiff.pairs import rows_at_prior, sample_pairs


def test_sampling_has_the_paper_s_counts():
    chance = np.random.default_rng(0)
    r = chance.random(500)
    labels = r > 0.4
    pairs = sample_pairs(r[:, None], labels=labels, posteriors=r, n_pairs=100, prior=0.2, seed=3)
    rows = torch.cat([pairs.left, pairs.right]).numpy()
    assert len(set(rows)) == 200  # without replacement
    assert labels[rows].sum() == 40
    assert pairs.difference.numpy() == pytest.approx(r[pairs.right] - r[pairs.left], abs=1e-6)
    again = sample_pairs(r[:, None], labels=labels, posteriors=r, n_pairs=100, prior=0.2, seed=3)
    assert torch.equal(again.left, pairs.left)


def test_sampling_more_than_there_is_says_so():
    with pytest.raises(ValueError, match=r"takes 4 positives, and there are 2"):
        sample_pairs(np.zeros((8, 1)), labels=[1, 1] + [0] * 6, posteriors=np.full(8, 0.5), n_pairs=4, prior=0.5)


def drawn(n_pairs, prior, *, positives=300, negatives=300, **how):
    labels = np.repeat([1, 0], [positives, negatives])
    r = np.linspace(0, 1, len(labels))
    return sample_pairs(r[:, None], labels=labels, posteriors=r, n_pairs=n_pairs, prior=prior, **how)


@given(n_pairs=st.integers(1, 150), prior=st.floats(0.01, 0.99), seed=st.integers(0, 5))
def test_any_prior_gives_its_share_of_positives(n_pairs, prior, seed):
    if int(2 * n_pairs * prior + 1e-9) == 0:
        with pytest.raises(ValueError, match="are all of one class"):
            drawn(n_pairs, prior, seed=seed)
        return
    pairs = drawn(n_pairs, prior, seed=seed)
    labels = pairs.labels[torch.cat([pairs.left, pairs.right])]
    assert labels.sum() == int(2 * n_pairs * prior + 1e-9)
    assert len(torch.unique(torch.cat([pairs.left, pairs.right]))) == 2 * n_pairs


def test_counts_are_those_that_were_meant_not_those_of_floating_point():
    assert int(2 * 50 * 0.29) == 28
    pairs = drawn(50, 0.29)
    assert pairs.labels[torch.cat([pairs.left, pairs.right])].sum() == 29


@pytest.mark.parametrize("partners", [1, 2, 3, 5])
def test_every_item_has_so_many_partners_and_each_is_another(partners):
    pairs = drawn(60, 0.5, partners=partners)
    counts = Counter(torch.cat([pairs.left, pairs.right]).tolist())
    assert set(counts.values()) == {partners}
    assert len(counts) == 120 / partners
    assert len({frozenset(pair) for pair in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)}) == 60
    assert pairs.n_components() == (60 if partners == 1 else 1)
    assert pairs.labels[list(counts)].mean() == 0.5


def test_a_part_of_the_pairs_keeps_the_partners():
    pairs = drawn(60, 0.5, partners=3)[:30]
    assert pairs.n_components() == 1
    assert set(Counter(pairs.left.tolist()).values()) == {3}


def test_too_many_pairs_for_any_memory():
    with pytest.raises(ValueError, match="n_pairs must be at most 100,000,000"):
        drawn(10**12, 0.5, replacement=True)


def test_partners_must_fit():
    with pytest.raises(ValueError, match="must be a multiple of partners and at least its square, 9"):
        drawn(10, 0.5, partners=3)
    with pytest.raises(ValueError, match="at least its square, 9"):
        drawn(6, 0.5, partners=3)


def test_replacement_is_a_flag():
    with pytest.raises(ValueError, match=r"takes 6 positives, and there are 3\..*or pass replacement=True"):
        drawn(6, 0.5, positives=3)
    for seed in range(20):
        pairs = drawn(6, 0.5, positives=3, negatives=3, replacement=True, seed=seed)
        counts = Counter(torch.cat([pairs.left, pairs.right]).tolist())
        assert set(counts.values()) == {2}  # none a third time before all were drawn twice
        assert (pairs.left != pairs.right).all()
    plenty, plain = drawn(50, 0.5, replacement=True), drawn(50, 0.5)
    assert torch.equal(plenty.left, plain.left)
    with pytest.raises(ValueError, match="cannot be combined with replacement=True"):
        drawn(50, 0.5, partners=2, replacement=True)
    with pytest.raises(
        ValueError, match=r"takes 6 positives, and there are 0\. Ask for fewer pairs or another prior\.$"
    ):
        drawn(6, 0.5, positives=0, replacement=True)


def test_only_the_given_rows_are_drawn_from():
    pairs = drawn(5, 0.5, rows=[*range(10), *range(300, 310)])
    assert set(torch.cat([pairs.left, pairs.right]).tolist()) <= {*range(10), *range(300, 310)}


def test_ungraded_pairs_are_graded_later():
    labels = [0, 1, 0, 1]
    pairs = sample_pairs(np.zeros((4, 1)), labels=labels, n_pairs=2, prior=0.5)
    assert pairs.difference is None
    graded = pairs.graded_by([0.1, 0.9, 0.3, 0.6])
    assert graded.difference == pytest.approx(graded.posteriors[graded.right] - graded.posteriors[graded.left])


@pytest.mark.parametrize("take", ["first", "random"])
@given(positives=st.integers(1, 60), negatives=st.integers(1, 60), prior=st.sampled_from([0.2, 0.35, 0.5, 0.8]))
def test_a_test_set_is_as_large_as_the_prior_allows(take, positives, negatives, prior):
    labels = np.repeat([1, 0], [positives, negatives])
    odds = prior / (1 - prior)
    if int(negatives * odds + 1e-9) == 0 or int(positives / odds + 1e-9) == 0:
        with pytest.raises(ValueError, match="it would hold only one class"):
            rows_at_prior(labels, prior, take=take)
        return
    rows = rows_at_prior(labels, prior, take=take)
    n_positive, n_negative = int(labels[rows].sum()), int((1 - labels[rows]).sum())
    assert len(set(rows.tolist())) == len(rows)
    assert n_positive == positives or n_negative == negatives  # one class is there whole
    assert abs(n_positive - odds * n_negative) < max(1, odds)
    if take == "first":
        assert rows.tolist() == [*range(n_positive), *range(positives, positives + n_negative)]
