"""Score pictures from graded comparisons: a network of yours turns files into vectors, and confdiff learns from them.

The pictures are made here: coloured gradients, some of them blurred. Simulated people say which of two is more
colourful, from -3 to 3. The network is a small one with random weights; in practice, take one that was trained on
pictures. The model scores new files, and a file that was seen before is not encoded again.
"""

import tempfile
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from confdiff import fit_comparisons, load_model

SIZE = 32  # pixels


class PictureNetwork(nn.Module):
    """Map the path of a picture to 56 numbers: mean and spread of its colours and of 24 random filters."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.filters = nn.Conv2d(3, 24, kernel_size=5, stride=2)

    def forward(self, path: str) -> Tensor:
        """Return the vector of a picture."""
        pixels = read_picture(path)
        saturation = pixels.max(dim=0, keepdim=True).values - pixels.min(dim=0, keepdim=True).values
        filtered = torch.relu(self.filters(pixels[None]))[0]
        planes = [plane.flatten(start_dim=1) for plane in (pixels, saturation, filtered)]
        means = [plane.mean(dim=1) for plane in planes]
        spreads = [plane.std(dim=1, correction=0) for plane in planes]
        return torch.cat([*means, *spreads])


def read_picture(path: str) -> Tensor:
    """Return the pixels of a picture from 0 to 1, with shape (3, rows, columns)."""
    read = matplotlib.image.imread(path)
    pixels = read.astype(np.float32) / (255 if read.dtype == np.uint8 else 1)
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    return torch.from_numpy(np.ascontiguousarray(pixels[:, :, :3])).permute(2, 0, 1)


def make_pictures(folder: Path, count: int, seed: int) -> pd.DataFrame:
    """Write pictures, and return their paths and how colourful they are, from 0 to 1."""
    rng = np.random.default_rng(seed)
    colourful = rng.random(count)
    paths = []
    for number in range(count):
        corners = rng.random((2, 2, 3))
        grey = corners.mean(axis=2, keepdims=True)
        corners = grey + colourful[number] * (corners - grey)
        across, down = np.meshgrid(np.linspace(0, 1, SIZE), np.linspace(0, 1, SIZE))
        weights = np.stack([(1 - across) * (1 - down), across * (1 - down), (1 - across) * down, across * down])
        pixels = np.einsum("kij,kc->ijc", weights, corners.reshape(4, 3))
        paths.append(str(folder / f"{seed}-{number}.png"))
        matplotlib.image.imsave(paths[-1], np.clip(pixels, 0, 1))
    return pd.DataFrame({"id": range(count), "photo": paths, "colourful": colourful})


def judge(pictures: pd.DataFrame, count: int, seed: int) -> pd.DataFrame:
    """Return noisy answers from -3 to 3, which say how much more colourful the second picture is."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, len(pictures), count)
    right = (left + rng.integers(1, len(pictures), count)) % len(pictures)
    colourful = pictures["colourful"].to_numpy()
    answers = np.clip(np.round(4 * (colourful[right] - colourful[left]) + rng.normal(0, 0.7, count)), -3, 3)
    return pd.DataFrame({"left": left, "right": right, "difference": answers})


def main() -> None:
    """Make pictures, learn from comparisons, save the model and score new pictures."""
    network = PictureNetwork()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pictures = make_pictures(folder, 150, seed=0)
        items = pictures[["id", "photo"]]
        model = fit_comparisons(items, judge(pictures, 900, seed=1), link="score", encoders={"photo": network})
        assert model.validation is not None
        print(f"pairwise accuracy on held-out pairs: {model.validation.test.pairwise_accuracy:.2f}")
        model.save(folder / "model")

        new = make_pictures(folder, 100, seed=2)
        loaded = load_model(folder / "model", encoders={"photo": network})
        scores = loaded.decision_function(new[["photo"]])
        correlation = np.corrcoef(scores, new["colourful"])[0, 1]
        print(f"correlation of the scores of new pictures with their colourfulness: {correlation:.2f}")


if __name__ == "__main__":
    main()
