"""Save trees of tensors and plain values as safetensors files, which load without executing code."""

import json
import os
from collections.abc import Mapping
from typing import Any, BinaryIO

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

from confdiff.io.atomic import atomic_file
from confdiff.io.damage import reporting_damage
from confdiff.io.decoding import check_object, decode
from confdiff.io.documents import MAX_JSON_BYTES, open_regular, parse_document

_TENSOR = "__tensor__"
_DICT = "__dict__"
_REMEDY = "Restore it, or make it again."


def save_tree(path: str | os.PathLike[str], tree: dict[str, Any]) -> None:
    """Save nested dictionaries and lists of tensors and plain values as one safetensors file.

    Tensors are stored as they are, everything else as JSON in the header of the file.
    """
    tensors: dict[str, Tensor] = {}
    header = json.dumps(_without_tensors(tree, tensors))
    with atomic_file(path) as temporary:
        try:
            save_file(tensors, temporary, metadata={"tree": header})
        except SafetensorError as error:  # such as a full disk
            raise OSError(f"{os.fspath(path)} cannot be written: {error}.") from error


def load_tree(path: str | os.PathLike[str], *, remedy: str = _REMEDY) -> dict[str, Any]:
    """Load a file that :func:`save_tree` wrote. Nothing in the file is executed.

    The file is opened once: another process may replace it between two openings.

    Parameters
    ----------
    path : path
        The file.
    remedy : str
        What the user can do if the file is damaged, as a sentence.

    Raises
    ------
    DamagedFile
        If the contents are not those of such a file.
    OSError
        If the file does not exist, is not a regular file, or cannot be read.
    """
    with open_regular(path) as file, reporting_damage(path, remedy):
        header = _read_header(file)
        tensors = load(file.read())
        metadata = check_object("__metadata__", header["__metadata__"])
        tree = parse_document(metadata["tree"], allow_nan=True)
        return check_tree("the contents", _with_tensors(tree, tensors))


def _read_header(file: BinaryIO) -> dict[str, Any]:
    """Return the header of a safetensors file, and leave the file at its start.

    The sizes in the header are compared with the size of the file, before more of it is read.
    """
    file_size = file.seek(0, os.SEEK_END)
    file.seek(0)
    header_size = int.from_bytes(file.read(8), "little")
    if file_size < 8 or header_size > min(file_size - 8, MAX_JSON_BYTES):
        raise ValueError(f"its {file_size:,} bytes are not a file that confdiff saved")
    header = check_object("the header", parse_document(file.read(header_size)))
    ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    if 8 + header_size + max(ends, default=0) != file_size:
        raise ValueError(f"it has {file_size:,} bytes, and its header describes another size")
    file.seek(0)
    return header


def check_tree(name: str, node: Any) -> dict[str, Any]:
    """Return a dictionary of a tree, which may have whole numbers as keys."""
    if not isinstance(node, dict):
        raise ValueError(f"{name} must be a dictionary; got {node!r:.60}")
    return node


def check_tensors(name: str, tensors: Any, expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a saved network, which must have the expected names, shapes, types and finite values.

    Parameters
    ----------
    name : str
        What the tensors are, for messages.
    tensors : dict
        The tensors that were read.
    expected : mapping
        Tensors of the same names, shapes and types; they may be on the meta device, without values.
    """
    tensors = check_tree(name, tensors)
    different = sorted(map(str, set(tensors) ^ set(expected)))
    if different:
        raise ValueError(f"{name} do not fit the description; missing or unknown: {different[0]!r:.60}")
    return {key: check_tensor(f"{key} of {name}", tensor, expected[key]) for key, tensor in tensors.items()}


def check_tensor(name: str, tensor: Any, expected: Tensor) -> Tensor:
    """Return a finite tensor that has the shape and the type of the expected one."""
    if not isinstance(tensor, Tensor):
        raise ValueError(f"{name} must be a tensor; got {tensor!r:.60}")
    if tensor.shape != expected.shape or tensor.dtype != expected.dtype:
        shapes = f"{tuple(expected.shape)} of {expected.dtype}; got {tuple(tensor.shape)} of {tensor.dtype}"
        raise ValueError(f"{name} must have the shape {shapes}")
    if tensor.is_floating_point() and not torch.isfinite(tensor).all():
        raise ValueError(f"{name} must hold finite numbers")
    return tensor


def _without_tensors(node: Any, tensors: dict[str, Tensor]) -> Any:
    """Return the tree with each tensor moved to ``tensors`` and replaced by a reference."""
    if isinstance(node, Tensor):
        name = str(len(tensors))
        tensors[name] = node.detach().cpu().clone(memory_format=torch.contiguous_format)
        return {_TENSOR: name}
    if isinstance(node, dict):
        # a list of items, as JSON would turn whole-number keys into strings
        return {_DICT: [[key, _without_tensors(value, tensors)] for key, value in node.items()]}
    if isinstance(node, list | tuple):
        return [_without_tensors(value, tensors) for value in node]
    return node


def _with_tensors(node: Any, tensors: dict[str, Tensor]) -> Any:
    """Return the tree from which :func:`_without_tensors` moved the tensors."""
    if isinstance(node, list):
        return [_with_tensors(value, tensors) for value in node]
    if not isinstance(node, dict):
        return node
    if set(node) == {_TENSOR}:
        return tensors[decode(str, node[_TENSOR], "the name of a tensor")]
    items = [decode(tuple[str | int, Any], item, "an item of a dictionary") for item in node[_DICT]]
    values = {key: _with_tensors(value, tensors) for key, value in items}
    if len(values) < len(items):
        raise ValueError("a dictionary has a key twice")
    return values
