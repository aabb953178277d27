import pytest
import torch
from torch import nn

from confdiff.models import build_model
from confdiff.models.ncf import RECOMMENDERS
from confdiff.training.cost import largest_product


@pytest.mark.parametrize(
    ("model", "n_features", "per_item"),
    [
        ("linear", 12, 12),
        ("mlp", 784, 784 * 300),
        (nn.Sequential(nn.Unflatten(1, (3, 8, 8)), nn.Conv2d(3, 5, 3), nn.Flatten(0)), 192, 5 * 36 * 27),
    ],
)
def test_the_largest_product_of_a_network(model, n_features, per_item):
    model = build_model(model, n_features).eval() if isinstance(model, str) else model
    assert largest_product(model, torch.zeros(3, n_features), 100) == 100 * per_item


def test_tables_of_vectors_are_no_products():
    cells = torch.zeros(1, 2, dtype=torch.int64)
    assert largest_product(RECOMMENDERS["mf"](10_000, 10_000), cells, 100) == 0
    assert largest_product(RECOMMENDERS["neumf"](10_000, 10_000), cells, 100) == 100 * 256 * 128


def test_measuring_changes_nothing():
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 1)).eval()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = torch.get_rng_state()
    assert largest_product(model, torch.randn(1, 4, generator=torch.Generator()), 1) == 16
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_network_that_fails_counts_as_small():
    class Failing(nn.Module):
        def forward(self, x):
            raise RuntimeError("no items of this kind")

    assert largest_product(Failing(), torch.zeros(1, 2), 10**9) == 0
