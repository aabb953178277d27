"""Hand objects over to other processes of this machine: large arrays are written once and mapped by every process."""

import io
import pickle
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np

_LEAST_BYTES = 2**20
"""Smaller arrays are pickled like everything else."""


def dump_shared(value: Any, folder: Path) -> Path:
    """Write an object for other processes, and return the path of its file.

    Parameters
    ----------
    value : object
        Anything that cloudpickle can send.
    folder : Path
        An empty folder, which must exist until the others have ended. Arrays and tensors of a megabyte and more become
        files of their own in it, each once, even if it occurs several times.

    Returns
    -------
    Path
        A file in the folder, for :func:`load_shared`.
    """
    path = folder / "value.pickle"
    with path.open("wb") as file:
        _SharingPickler(file, folder).dump(value)
    return path


def load_shared(path: Path) -> Any:
    """Read an object; its large arrays are mapped into memory, and a write to them changes only the own copy.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_shared(dump_shared({"a": np.arange(3)}, Path(folder)))
    {'a': array([0, 1, 2])}
    """
    with path.open("rb") as file:
        return pickle.load(file)


class _SharingPickler(cloudpickle.Pickler):  # type: ignore[misc]  # joblib is untyped
    def __init__(self, file: io.BufferedWriter, folder: Path) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._folder = folder
        self._paths: dict[tuple[Any, ...], Path] = {}
        self._alive: list[Any] = []  # addresses identify arrays only as long as these exist

    def reducer_override(self, value: Any) -> Any:
        if type(value) in (np.ndarray, np.memmap) and not value.dtype.hasobject and value.nbytes >= _LEAST_BYTES:
            return _map_array, (str(self._written(value)),)
        if _is_plain_tensor(value) and value.numel() * value.element_size() >= _LEAST_BYTES:
            return _map_tensor, (str(self._written(_as_array(value))), value.dtype)
        return super().reducer_override(value)

    def _written(self, array: Any) -> Path:
        """Return the file of an array, which is written at its first occurrence."""
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        if key not in self._paths:
            path = self._folder / f"array-{len(self._paths)}.npy"
            np.save(path, array)
            self._paths[key] = path
            self._alive.append(array)
        return self._paths[key]


def _is_plain_tensor(value: Any) -> bool:
    """Return whether a value is a tensor on the CPU that is not a parameter and has no gradient."""
    import torch

    return type(value) is torch.Tensor and value.device.type == "cpu" and not value.requires_grad and _is_dense(value)


def _is_dense(tensor: Any) -> bool:
    import torch

    return bool(tensor.layout == torch.strided and not tensor.is_quantized)


def _as_array(tensor: Any) -> Any:
    """Return the values of a tensor as an array; types that NumPy does not have become bytes of their width."""
    import torch

    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy()
    return tensor.numpy()


def _map_array(path: str) -> Any:
    return np.asarray(np.load(path, mmap_mode="c"))


def _map_tensor(path: str, dtype: Any) -> Any:
    import torch

    return torch.from_numpy(np.asarray(np.load(path, mmap_mode="c"))).view(dtype)
