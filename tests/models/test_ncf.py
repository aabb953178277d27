import pytest
import torch

from confdiff.models import RECOMMENDERS
from confdiff.models.ncf import _Dropout, factorisation, gmf, ncf_mlp, neumf
from confdiff.pairs import Pairs
from confdiff.training import Recipe, predict_scores, train


@pytest.mark.parametrize("name", RECOMMENDERS)
def test_users_and_items_are_scored(name):
    model = RECOMMENDERS[name](3, 5)
    x = torch.tensor([[0, 0], [2, 4], [1, 3]])
    assert model(x).shape == (3,)
    scores = predict_scores(model, x)
    assert torch.allclose(predict_scores(model, x[[1]]), scores[[1]])


def vectors(model, x):
    """The embeddings of the user and of the item of each row."""
    return [table.weight[x[:, side]] for side, table in enumerate(model.vectors)]


def test_the_parts_against_the_definitions_of_the_paper():
    torch.manual_seed(0)
    x = torch.tensor([[1, 2], [0, 4]])
    model = gmf(3, 5, width=4)
    p, q = vectors(model, x)
    assert torch.allclose(model(x), (p * q) @ model.leave.weight[0] + model.leave.bias)
    light = factorisation(3, 5, width=4)
    p, q = vectors(light, x)
    assert torch.allclose(light(x), (p * q).sum(1))  # offsets begin at 0
    tower = ncf_mlp(3, 5, width=8, layers=2, dropout=0.0)
    h = torch.cat(vectors(tower, x), dim=1)
    for layer in (1, 4):
        h = torch.relu(tower.tower.steps[layer](h))
    assert h.shape == (2, 4)  # 16, then 8, then 4
    assert torch.allclose(tower(x), tower.leave(h)[:, 0])


def test_both_parts_have_vectors_of_their_own():
    x = torch.tensor([[1, 2], [0, 4]])
    model = neumf(3, 5, width=8, layers=2)
    assert [type(step).__name__ for step in model.tower.steps].count("_Dropout") == 2
    model.eval()
    u, v = vectors(model, x)
    assert u.shape == (2, 16)
    high = model.tower.steps(torch.cat([u[:, 8:], v[:, 8:]], dim=1))
    assert torch.allclose(model(x), model.leave(torch.cat([high, u[:, :8] * v[:, :8]], dim=1))[:, 0])


@pytest.mark.parametrize("probability", [0.0, 0.25, 0.5])
def test_dropout_keeps_the_mean_and_drops_the_fraction(probability):
    layer = _Dropout(probability)
    x = torch.ones(300, 333)
    torch.manual_seed(0)
    out = layer(x)
    assert (out == 0).float().mean().item() == pytest.approx(probability, abs=0.005)
    assert out.mean().item() == pytest.approx(1, abs=0.01)
    assert out.unique().tolist() == pytest.approx(sorted({0.0, 1 / (1 - probability)} if probability else {1.0}))
    torch.manual_seed(0)
    assert torch.equal(layer(x), out)
    assert torch.equal(layer.eval()(x), x)


@pytest.mark.parametrize("name", RECOMMENDERS)
@pytest.mark.parametrize("method", ["bpr", "mrl", "confdiff-projection", "confdiff-regression"])
def test_the_one_loop_trains_them(name, method):
    """Users like items of their own parity: a pair of a user has the preferred item second."""
    cells = torch.cartesian_prod(torch.arange(8), torch.arange(6))
    likes = (cells.sum(1) % 2 == 0).float()
    liked = torch.where(likes > 0)[0]
    disliked = liked ^ 1
    pairs = Pairs(cells, disliked, liked, 0.9 * torch.ones(len(liked)))
    model = RECOMMENDERS[name](8, 6)
    train(model, pairs, method, prior=0.5, recipe=Recipe(epochs=200, batch_size=24, learning_rate=0.02))
    scores = predict_scores(model, cells)
    assert (scores[liked] > scores[disliked]).all()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_sparse_gradients_train_as_dense_ones_do(optimizer):
    """Rows that are not in a batch are updated too, by their momentum."""
    generator = torch.Generator().manual_seed(0)
    items = torch.randint(0, 6, (40, 2), generator=generator)
    pairs = Pairs(items, torch.arange(20), torch.arange(20, 40), 2 * torch.rand(20, generator=generator) - 1)
    trained = []
    for sparse in (True, False):
        torch.manual_seed(0)
        model = gmf(6, 6, width=4)
        for table in model.vectors:
            table.sparse = sparse
        train(model, pairs, "confdiff-abs", prior=0.4, recipe=Recipe(epochs=5, batch_size=4, optimizer=optimizer))
        trained.append(torch.cat([weight.detach().reshape(-1) for weight in model.parameters()]))
    assert torch.allclose(*trained, atol=1e-6)
