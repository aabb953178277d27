import numpy as np
import pytest
import torch
from scipy import sparse

from confdiff import Pairs, Recipe, train
from confdiff.methods import METHODS
from confdiff.models import build_model
from confdiff.training import predict_scores

RECIPE = Recipe(epochs=2, batch_size=8)


def make_pairs(items):
    rng = np.random.default_rng(0)
    r = rng.uniform(size=20)
    pairs = Pairs(items, rng.integers(0, 20, 30), rng.integers(0, 20, 30), labels=r > 0.5)
    graded = pairs.graded_by(r)
    same = r[graded.left] * r[graded.right] + (1 - r[graded.left]) * (1 - r[graded.right])
    return graded.with_same(same)


def items():
    rng = np.random.default_rng(1)
    return (rng.normal(size=(20, 6)) * (rng.uniform(size=(20, 6)) < 0.3)).astype(np.float32)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_trains_the_same_network_from_sparse_items(name):
    scores = {}
    for form in (np.asarray, sparse.csr_matrix):
        pairs = make_pairs(form(items()))
        network = build_model("mlp", 6, seed=0)
        train(network, pairs, name, prior=0.4, recipe=RECIPE)
        scores[form] = predict_scores(network, pairs.items)
    assert torch.equal(scores[np.asarray], scores[sparse.csr_matrix])


def test_networks_of_64_bit_floats_take_sparse_items():
    pairs = make_pairs(sparse.csr_matrix(items()))
    network = build_model("mlp", 6, seed=0).double()
    train(network, pairs, "confdiff-abs", prior=0.4, recipe=RECIPE)
    assert predict_scores(network, pairs.items).dtype == torch.float64


def test_a_checkpoint_belongs_to_its_sparse_items(tmp_path):
    file = tmp_path / "run"
    pairs = make_pairs(sparse.csr_matrix(items()))
    history = train(build_model("linear", 6, seed=0), pairs, "bpr", recipe=RECIPE, checkpoint=file)
    assert train(build_model("linear", 6, seed=0), pairs, "bpr", recipe=RECIPE, checkpoint=file) == history
    other = pairs.with_items(sparse.csr_matrix(items() * 2))
    with pytest.raises(ValueError, match="another run: items was"):
        train(build_model("linear", 6, seed=0), other, "bpr", recipe=RECIPE, checkpoint=file)
