"""Files that are written whole or not at all, and trees of tensors that load without executing code."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save_file
from torch import Tensor

_TENSOR = "__tensor__"


def cache_folder() -> Path:
    """Where what can be had again is kept: ``CONFDIFF_CACHE`` if that is set, else the user's cache folder."""
    chosen = os.environ.get("CONFDIFF_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("confdiff"))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside ``path`` to write to; it takes the place of ``path`` if the block succeeds.

    Readers, and a process that is killed half-way, see the old file or the new one and nothing in between.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=f".tmp{target.suffix}")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """A temporary folder beside ``path`` to write into; it becomes ``path`` if the block succeeds.

    A folder that is there already is an error, unless it may be overwritten; a file of that name always is.
    """
    target = Path(path)
    check_new_folder(target, overwrite=overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp"))
    before = temporary.with_suffix(".old")
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if target.exists():
            target.rename(before)
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(before, ignore_errors=True)


def check_new_folder(path: Path, *, overwrite: bool = False) -> None:
    """A folder that can be written: not there yet, or empty, or one that may be overwritten."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file; a folder of that name cannot be written.")
    if path.is_dir() and any(path.iterdir()) and not overwrite:
        raise FileExistsError(f"{path} is there already. Choose another name, or pass --overwrite to replace it.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def save_tree(path: str | os.PathLike[str], tree: dict[str, Any]) -> None:
    """Save nested dictionaries and lists of tensors and plain values as one safetensors file.

    The tensors stand in the file as they are, everything else as JSON in its header.
    """
    tensors: dict[str, Tensor] = {}
    header = json.dumps(_without_tensors(tree, tensors))
    with replacing(path) as temporary:
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
