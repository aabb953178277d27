"""Save the background items of explanations in a model folder."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.io.documents import inside
from confdiff.io.tensors import check_tensor, load_tree, save_tree
from confdiff.tabular.model.manifest import REMEDY

_BACKGROUND = "background.safetensors"


def write_background(folder: Path, background: NDArray[np.float32] | None) -> None:
    """Write background items to a model folder that is not yet complete; models that need none have no such file."""
    if background is not None:
        save_tree(folder / _BACKGROUND, {"items": torch.from_numpy(background)})


def read_background(folder: Path, files: list[str]) -> NDArray[np.float32] | None:
    """Return the background items of a model folder with these files, or None.

    Raises
    ------
    ValueError
        They are not a matrix of finite 32-bit floats.
    """
    if _BACKGROUND not in files:
        return None
    items: Any = load_tree(inside(folder, _BACKGROUND), remedy=REMEDY)["items"]
    shape = tuple(getattr(items, "shape", ()))
    if len(shape) != 2 or 0 in shape:
        raise ValueError(f"background items must be a matrix; got the shape {shape}")
    background: NDArray[np.float32] = check_tensor("background items", items, torch.empty(shape)).numpy()
    return background
