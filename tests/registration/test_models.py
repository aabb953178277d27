"""A network of a plug-in is built like the others."""

import pytest
import torch

from confdiff.models import MODELS, build_model
from confdiff.plugins import RegistrationError
from confdiff.registration import register_model
from plugged import NETWORK, plugged, write


def test_a_network_of_a_plugin_is_built_from_its_seed(tmp_path):
    with plugged(write(tmp_path, "net.py", NETWORK)):
        first, second = (build_model("tiny", 3, seed=1) for _ in range(2))
        assert torch.equal(first.layer.weight, second.layer.weight)
    assert "tiny" not in MODELS
    with pytest.raises(ValueError, match=r"unknown model 'tiny'.*If a plug-in defines it, load that plug-in first"):
        build_model("tiny", 3)


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (3, "the factory of the model 'tiny' must be a function; got 3"),
        (lambda d: None, r"must accept \(n_features, n_scores\): too many positional arguments"),
    ],
)
def test_factories_that_cannot_be_called(factory, message):
    with pytest.raises(RegistrationError, match=message):
        register_model("tiny", factory)
    assert "tiny" not in MODELS
