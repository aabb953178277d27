"""Tasks on real tables: the test set enters nothing, and learners of a task get the same pairs."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from confdiff.datasets import Dataset
from confdiff.experiments.plans import real_table_task
from confdiff.experiments.plans.real_table_task import DIFFERENCES, make_table_task, most_pairs, why_not_loaded
from confdiff.tasks import split
from table_records import table_spec


@pytest.fixture
def small(monkeypatch):
    """A data set of 600 items, a quarter of them positive, instead of Adult."""
    rng = np.random.default_rng(0)
    labels = (np.arange(600) % 4 == 0).astype(np.uint8)
    items = (rng.normal(size=(600, 3)) + labels[:, None]).astype(np.float32)
    data = Dataset("adult", items, labels, ("no", "yes"), (1,))
    use(monkeypatch, data)
    return data


def use(monkeypatch, data):
    real_table_task._load.cache_clear()
    real_table_task._grades.cache_clear()
    monkeypatch.setattr(real_table_task, "load", lambda name, **_: data)


@pytest.fixture(autouse=True)
def _forget():
    yield
    real_table_task._load.cache_clear()
    real_table_task._grades.cache_clear()


@pytest.mark.parametrize(("balance", "prior", "n_pairs"), [("natural", 0.25, 240), ("equal", 0.5, 120)])
def test_pairs_and_test_set_have_the_class_balance(small, balance, prior, n_pairs):
    task = make_table_task(table_spec("linear", balance=balance, pairs=1_500))
    assert task.prior == prior
    assert len(task.pairs) == n_pairs
    assert float(task.pairs.labels.mean()) == prior
    assert task.test_labels.mean() == prior
    assert float(task.pairs.posteriors.mean()) == pytest.approx(prior, abs=0.06)  # moved to the prior of the pairs


def test_labels_of_the_test_set_enter_nothing_but_the_test(small, monkeypatch):
    spec = table_spec("linear", differences="additive", pairs=50)
    before = make_table_task(spec)
    test_rows = split(small, spec.seed)[1].numpy()
    exchanged = small.classes.copy()
    exchanged[test_rows] = 1 - exchanged[test_rows]
    other = replace(small, classes=exchanged)
    monkeypatch.setattr(real_table_task, "split", lambda data, seed: split(small, seed))
    use(monkeypatch, other)
    after = make_table_task(spec)
    assert torch.equal(before.pairs.difference, after.pairs.difference)
    assert torch.equal(before.pairs.items, after.pairs.items)
    assert (before.test_labels != after.test_labels).all()


def test_no_test_item_is_in_a_pair(small):
    task = make_table_task(table_spec("linear", pairs=1_500))
    pairs = {tuple(row) for row in task.pairs.items.tolist()}
    assert not pairs & {tuple(row) for row in task.test_items.tolist()}
    assert len(pairs) == 2 * len(task.pairs)  # each item is in one pair


def test_kinds_of_differences_share_pairs_and_differ_in_noise(small):
    tasks = {kind: make_table_task(table_spec("linear", differences=kind, pairs=60)) for kind in DIFFERENCES}
    exact = tasks["exact"].pairs
    assert torch.equal(exact.difference, exact.posteriors[exact.right] - exact.posteriors[exact.left])
    for kind, task in tasks.items():
        assert torch.equal(task.pairs.items, exact.items)
        assert torch.equal(task.pairs.difference, exact.difference) == (kind == "exact")
    labels = tasks["labels"].pairs
    assert torch.equal(labels.difference, labels.labels[labels.right] - labels.labels[labels.left])
    assert set((tasks["five grades"].pairs.difference * 2).tolist()) <= {-2, -1, 0, 1, 2}


def test_posteriors_rank_items_they_were_not_fitted_on(small):
    task = make_table_task(table_spec("linear", pairs=1_500))
    posteriors, labels = task.pairs.posteriors, task.pairs.labels
    assert posteriors[labels > 0].mean() > posteriors[labels == 0].mean() + 0.2
    assert 0.75 < task.teacher_accuracy < 1  # a teacher that had seen the labels would be near 1


@pytest.mark.parametrize(("n_positive", "n_negative", "prior"), [(60, 180, 0.25), (7, 30, 0.5), (33, 90, 0.2683)])
def test_the_largest_number_of_pairs_can_be_drawn_and_no_more(n_positive, n_negative, prior):
    from confdiff.pairs import sample_pairs

    labels = np.repeat([1, 0], [n_positive, n_negative])
    items = np.arange(len(labels))[:, None]
    most = most_pairs(labels, prior)
    sample_pairs(items, labels=labels, n_pairs=most, prior=prior)
    with pytest.raises(ValueError, match="takes"):
        sample_pairs(items, labels=labels, n_pairs=most + 1, prior=prior)


def test_data_sets_that_cannot_be_loaded_are_named_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.delenv("CONFDIFF_DATA", raising=False)
    real_table_task._load.cache_clear()
    reasons = why_not_loaded(["framingham"], folder=tmp_path)
    assert "framingham is missing" in reasons["framingham"]
