"""Residual networks for colour images of 32 x 32 pixels (He et al. 2016), as in the paper and the authors' program.

An image is one row of 3 x 32 x 32 numbers: one channel after the other, each row by row.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

_IMAGE = (3, 32, 32)


class _Block(nn.Module):
    """Two 3 x 3 convolutions with batch norm plus a shortcut, which is a projection if the shape changes."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.path = nn.Sequential(
            nn.Conv2d(channels_in, channels, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )
        self.short_cut: nn.Module = nn.Identity()
        if stride != 1 or channels_in != channels:
            projection = nn.Conv2d(channels_in, channels, 1, stride, bias=False)
            self.short_cut = nn.Sequential(projection, nn.BatchNorm2d(channels))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.path(x) + self.short_cut(x))


def _resnet(n_features: int, n_scores: int, blocks: Sequence[int], width: int) -> nn.Module:
    """Return a convolution, stages of blocks that double the channels and halve the image, the mean, a linear score."""
    if n_features != _IMAGE[0] * _IMAGE[1] * _IMAGE[2]:
        raise ValueError(f"a resnet takes images of 3 x 32 x 32 = 3072 numbers; got items of {n_features} features.")
    layers: list[nn.Module] = [
        nn.Unflatten(1, _IMAGE),
        nn.Conv2d(3, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
    ]
    channels = width
    for stage, count in enumerate(blocks):
        for block in range(count):
            channels_out = width * 2**stage
            layers.append(_Block(channels, channels_out, stride=2 if stage > 0 and block == 0 else 1))
            channels = channels_out
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, n_scores))


def resnet34(n_features: int, n_scores: int = 1) -> nn.Module:
    """Return ResNet-34, the paper's network for CIFAR-10: 64 to 512 channels, first convolution of 3 x 3."""
    return _resnet(n_features, n_scores, (3, 4, 6, 3), width=64)


def resnet32(n_features: int, n_scores: int = 1) -> nn.Module:
    """Return the 32-layer CIFAR ResNet of the authors' program: 16, 32 and 64 channels, five blocks each."""
    return _resnet(n_features, n_scores, (5, 5, 5), width=16)
