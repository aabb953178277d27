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

    The tensors stand in the file as they are, everything else as JSON in its header.
    """
    tensors: dict[str, Tensor] = {}
    header = json.dumps(_without_tensors(tree, tensors))
    with atomic_file(path) as temporary:
        try:
            save_file(tensors, temporary, metadata={"tree": header})
        except SafetensorError as error:  # a full disk, say
            raise OSError(f"{os.fspath(path)} cannot be written: {error}.") from error


def load_tree(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Load what :func:`save_tree` saved. Nothing in the file is executed.

    The file is read once and whole: who opens it twice may see two files, as another process may replace it.
    """
    contents = Path(path).read_bytes()
    try:
        tensors = load(contents)
        length = int.from_bytes(contents[:8], "little")  # of the header, which the tensors follow
        header = json.loads(contents[8 : 8 + length])["__metadata__"]["tree"]
        tree: dict[str, Any] = _with_tensors(json.loads(header), tensors)
    except (SafetensorError, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{os.fspath(path)} is not a file that confdiff saved, or it is damaged: {error}.") from error
    return tree


def _without_tensors(node: Any, tensors: dict[str, Tensor]) -> Any:
    """The tree with each tensor moved to ``tensors`` and a reference left in its place."""
    if isinstance(node, Tensor):
        name = str(len(tensors))
        tensors[name] = node.detach().cpu().clone(memory_format=torch.contiguous_format)
        return {_TENSOR: name}
    if isinstance(node, dict):
        # A list of items, as JSON would turn whole-number keys into strings.
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
