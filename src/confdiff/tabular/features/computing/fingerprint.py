"""Identify a function of the user by its code, and by all values and weights that it refers to."""

import copyreg
import functools
import hashlib
import inspect
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

from confdiff.tabular.features.computing.code_names import global_values, is_installed

_SIZE = 16  # bytes of a digest
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type(...), type(NotImplemented), range, slice)
_PROTOCOL = 4  # of pickle, for the values that an object consists of
_MODE = "training"  # of a module of torch, which is always evaluated


def fingerprint_of(function: Any) -> str:
    """Return a digest of a function, a torch module or another callable object.

    It covers the code of a function, its defaults and attributes, the values that it encloses, and the global values,
    functions, classes and modules that its code names; of objects their class and all their values, and of modules of
    torch all weights and buffers. Functions and classes of installed packages count by their names. The code is
    compiled, so that another version of Python gives another digest.

    Raises
    ------
    ValueError
        If a value has no content that can be read, such as an open connection.

    Examples
    --------
    >>> fingerprint_of(len) == fingerprint_of(len), fingerprint_of(len) == fingerprint_of(max)
    (True, False)
    """
    try:
        return _Digests().of(function).hex()
    except RecursionError as error:
        raise ValueError("it refers to values that are nested too deeply") from error


class _Digests:
    """The digests of values. An object that is met again has the same digest, also within itself."""

    def __init__(self) -> None:
        self._digests: dict[int, bytes] = {}
        self._objects: list[Any] = []  # kept alive, so that no other object gets their ids
        self._depth = 0

    def of(self, value: Any) -> bytes:
        """Return the digest of a value."""
        if type(value) in _PLAIN:
            return _joined([_name(type(value)), repr(value).encode("utf-8", "surrogatepass")])
        if id(value) not in self._digests:
            self._digests[id(value)] = f"at depth {self._depth}".encode()  # where it contains itself
            self._objects.append(value)
            self._depth += 1
            self._digests[id(value)] = self._digest(value)
            self._depth -= 1
        return self._digests[id(value)]

    def _digest(self, value: Any) -> bytes:
        if isinstance(value, set | frozenset):
            return _joined([_name(type(value)), *sorted(map(self.of, value))])
        digests = (part if isinstance(part, _Content) else self.of(part) for part in _parts(value))
        return _joined([_name(type(value)), *digests])


class _Content(bytes):
    """Bytes that are part of a digest as they are."""


def _parts(value: Any) -> Iterable[Any]:
    """Return what a value consists of: content, and other values."""
    match value:
        case torch.jit.ScriptModule():
            return [str(value.inlined_graph), dict(value.state_dict())]
        case torch.nn.Module():
            return _parts_of_module(value)
        case torch.Tensor():
            content = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            return [tuple(value.shape), str(value.dtype), _Content(content.tobytes())]
        case np.ndarray() if not value.dtype.hasobject:
            return [value.shape, value.dtype.descr, _Content(np.ascontiguousarray(value).tobytes())]
        case np.ndarray():
            return [value.shape, value.ravel().tolist()]
        case dict() | MappingProxyType() if type(value) in (dict, MappingProxyType):
            return [part for item in value.items() for part in item]
        case list() | tuple() if type(value) in (list, tuple):
            return value
        case MethodType():
            return [value.__func__, value.__self__]
        case BuiltinFunctionType():
            is_bound = value.__self__ is not None and not inspect.ismodule(value.__self__)
            return [_Content(_name(value)), *([value.__self__] if is_bound else [])]
        case FunctionType():
            return _parts_of_function(value)
        case CodeType():
            return _parts_of_code(value)
        case type():
            return _parts_of_class(value)
        case ModuleType():
            return [value.__name__]
        case staticmethod() | classmethod():
            return [value.__func__]
        case property():
            return [value.fget, value.fset]
        case functools.cached_property():
            return [value.func]
        case functools.partial():
            return [value.func, value.args, value.keywords]
    if isinstance(value, functools._lru_cache_wrapper):
        return [value.__wrapped__]
    return _reduced(value)


def _parts_of_module(module: torch.nn.Module) -> list[Any]:
    """Return the class of a module of torch, and its weights, buffers, modules and other attributes."""
    original = getattr(module, "_orig_mod", None)
    if isinstance(original, torch.nn.Module):  # of torch.compile
        return [original]
    return [type(module), {name: value for name, value in vars(module).items() if name != _MODE}]


def _parts_of_function(function: FunctionType) -> list[Any]:
    """Return the code and values of a function; those of an installed package are its name and what it encloses."""
    enclosed = [_content_of_cell(cell) for cell in function.__closure__ or ()]
    if is_installed(function):
        return [_Content(_name(function)), *enclosed, *([vars(function)] if enclosed else [])]
    defaults = [function.__defaults__, function.__kwdefaults__]
    return [function.__code__, *defaults, *enclosed, vars(function), global_values(function)]


def _content_of_cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # no value yet
        return None


def _parts_of_code(code: CodeType) -> list[Any]:
    """Return what code does, without its place in a file."""
    names = [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
    return [code.co_code, code.co_exceptiontable, code.co_consts, *names, *counts]


def _parts_of_class(kind: type) -> list[Any]:
    """Return the name of a class, and of one that is not installed its bases, methods and attributes."""
    if is_installed(kind):
        return [_Content(_name(kind))]
    attributes = {
        name: value
        for name, value in vars(kind).items()
        if callable(value) or isinstance(value, classmethod) or not name.startswith(("__", "_abc_"))
    }
    return [_Content(_name(kind)), kind.__bases__, {name: attributes[name] for name in sorted(attributes)}]


def _reduced(value: Any) -> list[Any]:
    """Return the values that an object consists of, as pickle finds them."""
    reduce = copyreg.dispatch_table.get(type(value))
    try:
        reduced = value.__reduce_ex__(_PROTOCOL) if reduce is None else reduce(value)
    except Exception as error:
        raise ValueError(f"it refers to a value whose content cannot be read, {value!r:.60}: {error}") from error
    if isinstance(reduced, str):
        return [reduced]
    return [list(part) if isinstance(part, Iterator) else part for part in reduced]


def _joined(parts: Iterable[bytes]) -> bytes:
    """Return the digest of some bytes and their lengths."""
    digest = hashlib.blake2b(digest_size=_SIZE)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _name(value: Any) -> bytes:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}".encode()
