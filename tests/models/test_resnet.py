import pytest
import torch
from torch import nn

from confdiff.models import build_model, resnet32, resnet34
from confdiff.pairs import Pairs
from confdiff.training import Recipe, train


@pytest.mark.parametrize(("factory", "layers", "channels"), [(resnet34, 34, 512), (resnet32, 32, 64)])
def test_depth_and_width(factory, layers, channels):
    """Layers as they are counted: convolutions on the way (without those of the shortcuts) and the linear one."""
    network = factory(3072)
    on_the_way = [m for m in network.modules() if isinstance(m, nn.Conv2d) and m.kernel_size == (3, 3)]
    assert len(on_the_way) + 1 == layers
    assert max(m.out_channels for m in on_the_way) == channels


def test_parameters():
    """Published counts: 21.3 million for ResNet-34 (less its 1000 classes), 0.46 million for the 32-layer one."""
    counts = {factory: sum(p.numel() for p in factory(3072).parameters()) for factory in (resnet34, resnet32)}
    assert counts[resnet34] == pytest.approx(21.28e6, rel=0.01)
    assert counts[resnet32] == pytest.approx(0.466e6, rel=0.02)


def test_the_channels_of_an_image_are_used_as_such():
    """An image moved by whole strides keeps its score up to the border; a scrambled one has another."""
    network = resnet32(3072).eval()
    picture = torch.zeros(1, 3, 32, 32)
    picture[:, 0, 8:16, 8:16] = 1
    moved = picture.roll(4, dims=3)
    with torch.no_grad():
        first, second, other = (network(x.flatten(1)) for x in (picture, moved, picture.flip(1)))
    assert first == pytest.approx(second.item(), abs=0.02)
    assert first.shape == (1, 1)
    assert other != pytest.approx(first.item(), abs=1e-4)


def test_other_items_are_refused():
    with pytest.raises(ValueError, match="3 x 32 x 32 = 3072 numbers; got items of 784 features"):
        build_model("resnet34", 784)


@pytest.mark.parametrize("name", ["resnet34", "resnet32"])
def test_they_learn_from_pairs(name):
    """Bright images from dark ones, by the loop that all networks share."""
    labels = torch.arange(16) % 2
    items = torch.randn(16, 3072, generator=torch.Generator().manual_seed(0)) + 2.0 * labels[:, None]
    left, right = torch.arange(8), torch.arange(8, 16).roll(1)
    pairs = Pairs(items, left, right, (labels[right] - labels[left]).float())
    recipe = Recipe(epochs=6, batch_size=8, learning_rate=5e-4, device="cpu")
    history = train(build_model(name, 3072), pairs, "confdiff-regression", prior=0.5, recipe=recipe)
    risks = [record["risk"] for record in history]
    assert risks[-1] < 0.5 * risks[0]
