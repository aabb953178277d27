"""Save trees of tensors and plain values as safetensors files, which load without executing code."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

from confdiff.io.atomic import atomic_file

_TENSOR = "__tensor__"


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


def load_tree(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Load a file that :func:`save_tree` wrote. Nothing in the file is executed.

    The file is opened once: another process may replace it between two openings.
    """
    try:
        contents = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(f"the file {os.fspath(path)} does not exist.") from error
    except IsADirectoryError as error:
        raise IsADirectoryError(f"{os.fspath(path)} is not a file that confdiff saved: it is a folder.") from error
    try:
        tensors = load(contents)
        header_size = int.from_bytes(contents[:8], "little")
        header = json.loads(contents[8 : 8 + header_size])["__metadata__"]["tree"]
        tree: dict[str, Any] = _with_tensors(json.loads(header), tensors)
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{os.fspath(path)} is not a file that confdiff saved, or it is damaged: {error}.") from error
    return tree


def _without_tensors(node: Any, tensors: dict[str, Tensor]) -> Any:
    """Return the tree with each tensor moved to ``tensors`` and replaced by a reference."""
    if isinstance(node, Tensor):
        name = str(len(tensors))
        tensors[name] = node.detach().cpu().clone(memory_format=torch.contiguous_format)
        return {_TENSOR: name}
    if isinstance(node, dict):
        # a list of items, as JSON would turn whole-number keys into strings
        return {"__dict__": [[key, _without_tensors(value, tensors)] for key, value in node.items()]}
    if isinstance(node, list | tuple):
        return [_without_tensors(value, tensors) for value in node]
    return node


def _with_tensors(node: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(node, list):
        return [_with_tensors(value, tensors) for value in node]
    if isinstance(node, dict) and _TENSOR in node:
        return tensors[node[_TENSOR]]
    if isinstance(node, dict):
        return {key: _with_tensors(value, tensors) for key, value in node["__dict__"]}
    return node
