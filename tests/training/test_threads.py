"""Training and scoring follow the thread policy."""

import pytest
import torch
from torch import nn

from confdiff.pairs import Pairs
from confdiff.threads import LARGE_PRODUCT, policy, use_threads
from confdiff.training import Recipe, predict_scores, train


class Observed(nn.Module):
    """A linear network that notes the number of threads of each forward pass."""

    def __init__(self, n_features):
        super().__init__()
        self.score = nn.Linear(n_features, 1)
        self.threads = []

    def forward(self, x):
        self.threads.append(torch.get_num_threads())
        return self.score(x)


@pytest.fixture(autouse=True)
def _two_cpus(monkeypatch):
    """A process with two processors, whose PyTorch has two threads, as it has without OMP_NUM_THREADS."""
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(policy, "available_cpus", lambda: 2)
    torch.set_num_threads(2)
    yield
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)


def train_observed():
    items = torch.randn(40, 5, generator=torch.Generator().manual_seed(0))
    pairs = Pairs(items, torch.arange(20), torch.arange(20, 40), difference=torch.linspace(-1, 1, 20))
    network = Observed(5)

    def evaluate(model):
        return {"score": float(predict_scores(model, items).mean())}

    train(network, pairs, "confdiff-abs", prior=0.5, recipe=Recipe(epochs=3, batch_size=8), evaluate=evaluate)
    return network


def test_small_steps_have_one_thread():
    assert set(train_observed().threads[1:]) == {1}  # the first pass measures the network


def test_large_steps_have_all_processors(monkeypatch):
    monkeypatch.setattr(policy, "LARGE_PRODUCT", 10)
    assert set(train_observed().threads[1:]) == {2}


def test_an_explicit_number_wins():
    with use_threads(2):
        assert set(train_observed().threads) == {2}


def test_scores_of_many_items_have_all_processors(monkeypatch):
    network = Observed(4)
    predict_scores(network, torch.zeros(10, 4))
    assert network.threads[-1] == 1
    monkeypatch.setattr(policy, "LARGE_PRODUCT", 4 * 1024)
    predict_scores(network, torch.zeros(2000, 4))
    assert network.threads[-2:] == [2, 2]
    assert LARGE_PRODUCT > 4 * 1024
