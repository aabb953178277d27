"""Functions of the user that map files, such as pictures, to vectors."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.tabular.features.computing.fingerprint import fingerprint_of
from confdiff.tabular.features.computing.vector_function import CellError, VectorFunction
from confdiff.validation import check_count

_BATCH = 64  # files that are encoded before their vectors are written to the cache
_PART = 2**20  # bytes of a file to read at once
_PASS_VERSION = "pass FileEncoder(function, version='1'), and another version when its vectors change"


class FileEncoder(VectorFunction):
    """A function from files to vectors, for ``encoders={"photo": FileEncoder(function)}``.

    A plain function or module of torch is the same as ``FileEncoder(function)``. Vectors are kept in the cache: a
    file with the same content is encoded once.

    Parameters
    ----------
    function : callable
        Maps a path (str) to a vector: an array, a tensor or a list of numbers. With ``batch_size`` it maps a list of
        paths to a matrix with one row per path. A module of torch is used in evaluation mode, without gradients.
    batch_size : int, optional
        The maximum number of paths in a list.
    folder : path, optional
        The folder that relative paths refer to; by default the current folder.
    name : str, optional
        The name of the encoder in messages and in the model; by default that of the function.
    version : str, optional
        Identifies the function and its weights, together with the name. By default it is a digest of the code of the
        function, of all values and weights that it refers to, and of functions that it calls; installed packages
        count by the names of what is used. The digest must not change while files are encoded.

    Raises
    ------
    ValueError
        The function refers to a value whose content cannot be read, such as an open connection. Pass a version.

    Examples
    --------
    >>> FileEncoder(os.path.getsize, name="bytes", version="1").name
    'bytes'
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        *,
        batch_size: int | None = None,
        folder: str | os.PathLike[str] | None = None,
        name: str | None = None,
        version: str | None = None,
    ) -> None:
        if not callable(function):
            raise ValueError(f"an encoder must be a function from a path to a vector; got {function!r:.80}.")
        name = name or _name_of(function)
        batch = _BATCH if batch_size is None else check_count("batch_size", batch_size)
        self._content = _identified(function, name) if version is None else None
        identity = f"file {name}\0{version if self._content is None else self._content}"
        fingerprint = hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()
        super().__init__(name=name, fingerprint=fingerprint, noun="files", batch=batch)
        self.function = function
        self.takes_lists = batch_size is not None
        self.folder = Path() if folder is None else Path(folder)

    def check_unchanged(self) -> None:
        """Check that the function refers to the same values as when it was passed, unless it has a version."""
        if self._content is not None and self._content != _identified(self.function, self.name):
            raise ValueError(
                f"the encoder {self.name!r} refers to a value that has changed since it was passed, such as the "
                f"weights of a network. Pass it again and fit again. If its vectors are the same as before, "
                f"{_PASS_VERSION}."
            )

    def digest(self, cell: str) -> str:
        """Return a digest of the file that a cell names."""
        digest = hashlib.blake2b(digest_size=16)
        path = Path(self._path(cell))
        try:
            if path.exists() and not path.is_file():  # a pipe would block, and a device may never end
                raise OSError("it is not a regular file")
            with path.open("rb") as file:
                while part := file.read(_PART):
                    digest.update(part)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CellError(cell, f"the file {self._path(cell)} cannot be read: {reason}.") from error
        return digest.hexdigest()

    def compute(self, cells: Sequence[str]) -> Any:
        """Return the vectors of some files."""
        if not self.takes_lists:
            return self._stacked(cells)
        try:
            return _as_numbers(self._call([self._path(cell) for cell in cells]))
        except Exception as error:
            for cell in cells:  # the file at fault raises the error again
                self._called(cell, [self._path(cell)])
            files = f"the {len(cells)} files from {self._path(cells[0])} to {self._path(cells[-1])}"
            raise ValueError(f"the encoder {self.name!r} failed for {files}: {error}") from error

    def _stacked(self, cells: Sequence[str]) -> Any:
        vectors = [self._called(cell, self._path(cell)) for cell in cells]
        for cell, vector in zip(cells, vectors, strict=True):
            if vector.ndim != 1 or vector.shape != vectors[0].shape:
                expected = "a vector" if vector.ndim != 1 else f"{len(vectors[0]):,} numbers, as for other files"
                raise CellError(
                    cell,
                    f"the encoder {self.name!r} must return {expected}; got the shape {vector.shape} for the file "
                    f"{self._path(cell)}.",
                )
        return np.stack(vectors)

    def _called(self, cell: str, argument: Any) -> NDArray[Any]:
        """Return what the function returns for one file; an error names the file."""
        try:
            return _as_numbers(self._call(argument))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            message = f"the encoder {self.name!r} failed for the file {self._path(cell)}: {reason:.300}"
            raise CellError(cell, message) from error

    def _call(self, argument: Any) -> Any:
        if not isinstance(self.function, torch.nn.Module):
            return self.function(argument)
        was_training = self.function.training
        self.function.eval()
        try:
            with torch.inference_mode():
                return self.function(argument)
        finally:
            self.function.train(was_training)

    def _path(self, cell: str) -> str:
        return str(self.folder / cell)


def check_encoders(encoders: Any) -> None:
    """Check that encoders are a mapping from columns to functions, or None."""
    if not (encoders is None or isinstance(encoders, Mapping)):
        raise ValueError(
            "encoders must be a mapping from columns to functions, such as {'photo': function}; got "
            f"{encoders!r:.80}."
        )


def file_encoders(encoders: Mapping[str, Any] | None) -> dict[str, VectorFunction]:
    """Return the encoder of each column; a function is the same as a :class:`FileEncoder` of it."""
    check_encoders(encoders)
    return {
        name: encoder if isinstance(encoder, VectorFunction) else FileEncoder(encoder)
        for name, encoder in (encoders or {}).items()
    }


def _identified(function: Any, name: str) -> str:
    try:
        return fingerprint_of(function)
    except ValueError as error:
        raise ValueError(
            f"the encoder {name!r} cannot be identified: {error}. If it is to be used, {_PASS_VERSION}."
        ) from error


def _as_numbers(value: Any) -> NDArray[Any]:
    if isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        value = (value.float() if value.is_floating_point() else value).numpy()
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"it must return numbers; got {type(value).__name__}")
    return array


def _name_of(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))
