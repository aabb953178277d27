"""Plug-ins for tests, and their removal: the tables belong to the whole process."""

import sys
from contextlib import contextmanager

from confdiff.plugins import load_plugins, loading
from confdiff.plugins.registering import _owners, withdraw

METHOD = """
import torch
from confdiff import register_method
from confdiff.reduction import mean_over_pairs

__version__ = "{version}"


def terms(g, g_prime, c, *, prior, weight=None, loss=None):
    weight = torch.ones_like(c) if weight is None else weight
    p, p_prime = torch.sigmoid(g), torch.sigmoid(g_prime)
    error = mean_over_pairs(weight * (p_prime - p - c) ** 2)
    return torch.stack([error, mean_over_pairs(weight * ((p + p_prime) / 2 - prior)) ** 2])


register_method("{name}", terms, label="{label}")
"""
DATA = """
import numpy as np
from confdiff import register_dataset

__version__ = "0.2"


def blobs():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    return rng.normal(size=(400, 3)) + 2 * labels[:, None], labels


register_dataset("my-blobs", blobs, n_pairs=60, priors=(0.3, 0.5), epochs=2, batch_size=16, label="My blobs")
"""
NETWORK = """
from torch import nn
from confdiff import register_model

__version__ = "3"


class Tiny(nn.Module):
    def __init__(self, n_features, n_scores):
        super().__init__()
        self.layer = nn.Linear(n_features, n_scores)

    def forward(self, x):
        return self.layer(x)


register_model("tiny", Tiny)
"""


def method_file(folder, *, file="mine.py", name="my-squares", version="1.0", label="My squares"):
    """Write a plug-in with a method, and return its path."""
    path = folder / file
    path.write_text(METHOD.format(name=name, version=version, label=label))
    return path


def write(folder, file, text):
    """Write a plug-in, and return its path."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def unload_all():
    """Remove all plug-ins, and what was registered outside of them."""
    for added in loading._loaded.values():
        for module in [name for name in sys.modules if name == added.plugin.module]:
            del sys.modules[module]
        withdraw(added)
    loading._loaded.clear()
    assert not _owners


@contextmanager
def plugged(*sources):
    """Load plug-ins for a block."""
    try:
        yield load_plugins(*sources)
    finally:
        unload_all()
