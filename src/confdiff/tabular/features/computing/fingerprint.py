"""Identify a function of the user by its source, and by the values and weights that it refers to."""

import functools
import hashlib
import inspect
import textwrap
from collections.abc import Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
import torch

_SIZE = 16  # bytes of a digest


def fingerprint_of(function: Any) -> str:
    """Return a digest of a function, a torch module or another callable object.

    It covers the source of a function, its defaults, the values that it encloses, the global values, functions and
    modules of torch that it names, and all weights of these. What installed packages do is not covered.

    >>> fingerprint_of(len) == fingerprint_of(len), fingerprint_of(len) == fingerprint_of(max)
    (True, False)
    """
    digest = hashlib.blake2b(digest_size=_SIZE)
    _add(digest, function, set())
    return digest.hexdigest()


def _add(digest: Any, value: Any, seen: set[int]) -> None:
    """Add a value, and what it refers to, to a digest. Each object is added once."""
    if id(value) in seen:
        return
    seen.add(id(value))
    digest.update(type(value).__qualname__.encode())
    for part in _parts(value):
        if isinstance(part, bytes):
            digest.update(len(part).to_bytes(8, "big"))
            digest.update(part)
        else:
            _add(digest, part, seen)


def _parts(value: Any) -> list[Any]:
    """Return the bytes that identify a value, and the values that it refers to."""
    match value:
        case str() | bytes() | int() | float() | complex() | bool() | None:
            return [repr(value).encode()]
        case torch.Tensor():
            values = value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy()
            return [values.tobytes(), repr((value.shape, value.dtype)).encode()]
        case np.ndarray():
            return [np.ascontiguousarray(value).tobytes(), repr((value.shape, str(value.dtype))).encode()]
        case torch.nn.Module():
            return [repr(value).encode(), *_flat(value.state_dict()), type(value)]
        case functools.partial():
            return [value.func, *value.args, *_flat(value.keywords)]
        case MethodType():
            return [value.__func__, value.__self__]
        case FunctionType():
            return _parts_of_function(value)
        case list() | tuple():
            return list(value)
        case Mapping():
            return _flat(value)
        case type():
            return [_name(value), *([_source(value)] if _is_own(value) else [])]
    if callable(value) and not isinstance(value, BuiltinFunctionType) and _is_own(type(value)):
        return [type(value), *_flat(getattr(value, "__dict__", {}))]
    return [_name(value) if hasattr(value, "__qualname__") else _name(type(value))]


def _parts_of_function(function: FunctionType) -> list[Any]:
    if not _is_own(function):
        return [_name(function)]
    enclosed = inspect.getclosurevars(function)
    used = {**enclosed.nonlocals, **enclosed.globals}
    values = {name: value for name, value in used.items() if not inspect.ismodule(value)}
    return [_source(function), *(function.__defaults__ or ()), *_flat(function.__kwdefaults__ or {}), *_flat(values)]


def _flat(values: Mapping[Any, Any]) -> list[Any]:
    """Return the keys and values of a mapping, in the order of the keys."""
    return [part for name in sorted(values, key=str) for part in (str(name), values[name])]


def _is_own(value: Any) -> bool:
    """Return whether a function or class is not that of an installed package."""
    try:
        file = inspect.getsourcefile(value)
    except TypeError:
        return False
    return file is None or "site-packages" not in file


def _source(value: Any) -> bytes:
    try:
        return textwrap.dedent(inspect.getsource(value)).encode()
    except (OSError, TypeError):
        return _code_bytes(getattr(value, "__code__", None)) + _name(value)


def _code_bytes(code: CodeType | None) -> bytes:
    return b"" if code is None else code.co_code + repr(code.co_names).encode()


def _name(value: Any) -> bytes:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}".encode()
