import pytest
import torch
from torch import nn

from confdiff.models import MODELS, authors_mlp, build_model, mlp


def as_torch_runs_it(network):
    """The same layers, run one after the other by torch: an independent forward pass."""
    plain = nn.Sequential(*mlp(7, hidden=(5, 4)))
    plain.load_state_dict(network.state_dict())
    return plain.double()


def test_the_paper_s_network():
    network = mlp(16)
    widths = [layer.weight.shape for layer in network if isinstance(layer, nn.Linear)]
    assert widths == [(300, 16), (300, 300), (300, 300), (1, 300)]
    assert sum(isinstance(layer, nn.BatchNorm1d) for layer in network) == 3


def test_mlp_equals_its_layers_forward_backward_and_in_its_statistics():
    network = mlp(7, hidden=(5, 4)).double()
    plain = as_torch_runs_it(network)
    for _ in range(3):
        x = torch.randn(11, 7, dtype=torch.float64)
        ours, theirs = network(x), plain(x)[:, 0]
        torch.testing.assert_close(ours, theirs)
        ours.square().sum().backward()
        theirs.square().sum().backward()
    for mine, its in zip(network.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, its.grad)
    statistics = [name for name, _ in network.named_buffers() if "running" in name]
    for name in statistics:
        torch.testing.assert_close(network.get_buffer(name), plain.get_buffer(name))
    torch.testing.assert_close(network.eval()(x), plain.eval()(x)[:, 0])


def test_mlp_gradients():
    network = mlp(3, hidden=(4, 4)).double()
    x = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(network, (x,))


def test_mlp_refuses_to_train_on_a_single_item():
    with pytest.raises(ValueError, match="at least two items"):
        mlp(3).train()(torch.zeros(1, 3))
    assert mlp(3).eval()(torch.zeros(1, 3)).shape == (1,)


def test_the_authors_network_applies_one_hidden_layer_three_times():
    network = authors_mlp(4, width=6).double().eval()
    x = torch.randn(5, 4, dtype=torch.float64)
    with torch.no_grad():
        network.normalise.running_mean.uniform_()
        h = (x - network.normalise.running_mean) / (network.normalise.running_var + 1e-5).sqrt()
        h = torch.relu(h @ network.enter.weight.T + network.enter.bias)
        for _ in range(3):
            h = torch.relu(h @ network.repeat.weight.T + network.repeat.bias)
        expected = h @ network.leave.weight.T + network.leave.bias
        torch.testing.assert_close(network(x), expected[:, 0])
    assert sum(p.numel() for p in authors_mlp(16).parameters()) == 2 * 16 + 17 * 300 + 301 * 300 + 301


@pytest.mark.parametrize("name", MODELS)
def test_the_seed_determines_the_initial_weights(name):
    n_features = 3072 if name.startswith("resnet") else 9
    x = torch.randn(4, n_features)
    first, same, other = (build_model(name, n_features, seed=seed).eval()(x) for seed in (1, 1, 2))
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_building_does_not_change_the_global_generator():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    build_model("mlp", 3)
    assert torch.equal(torch.rand(1), expected)


def test_build_model_takes_networks_and_factories():
    network = nn.Linear(3, 1)
    copy = build_model(network, 3)
    assert copy is not network
    assert torch.equal(copy.weight, network.weight)
    assert build_model(lambda d: nn.Linear(d, 1), 5).in_features == 5
    with pytest.raises(ValueError, match=r"unknown model 'mpl'\. Did you mean 'mlp'"):
        build_model("mpl", 3)
    with pytest.raises(ValueError, match="a factory of one; the factory gave 3"):
        build_model(lambda d: d, 3)
