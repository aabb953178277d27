"""The global values that the code of a function names."""

import dis
import importlib
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_PACKAGES = ("site-packages", "dist-packages")  # folders of installed packages
_LIBRARY = Path(__file__).parents[3]  # confdiff itself


def global_values(function: FunctionType) -> dict[str, Any]:
    """Return the global values that a function names, in the order of their names.

    A module is replaced by those of its values that the function names, unless it is installed.

    Examples
    --------
    >>> global_values(is_installed).keys() >= {"sys", "_is_of_package"}
    True
    """
    codes = list(_codes(function.__code__))
    names = {name for code in codes for name in code.co_names}
    values: dict[str, Any] = {}
    for name, operation in sorted({(str(name), operation) for code in codes for operation, name in _uses(code)}):
        if operation == "IMPORT_NAME":
            values[f"import {name}"] = _imported(name, function.__globals__.get("__package__"))
        elif name in function.__globals__:
            values[name] = function.__globals__[name]
    return {name: _values_of(value, names, ()) for name, value in values.items()}


def is_installed(value: Any) -> bool:
    """Return whether a function, class or module is one of Python, of an installed package or of this library.

    >>> is_installed(len), is_installed(Path), is_installed(lambda path: 0)
    (True, True, False)
    """
    if isinstance(value, FunctionType):
        file = value.__code__.co_filename
        return file.startswith("<frozen") or _is_of_package(file)
    name = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
    if name.partition(".")[0] in sys.stdlib_module_names and name != "__main__":
        return True
    source = getattr(sys.modules.get(name), "__file__", None)
    return source is not None and _is_of_package(source)


def _is_of_package(file: str) -> bool:
    path = Path(file)
    standard = sysconfig.get_path("stdlib")
    return (
        any(name in path.parts for name in _PACKAGES) or path.is_relative_to(standard) or path.is_relative_to(_LIBRARY)
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _uses(code: CodeType) -> Iterator[tuple[str, str]]:
    """Yield the operation and the name of each use of a global value or a module."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "IMPORT_NAME"):
            yield instruction.opname, instruction.argval


def _imported(name: str, package: str | None) -> Any:
    """Return a module that a function imports, or None; a relative name belongs to the package of the function."""
    for full in [f"{package}.{name}"] * bool(package) + [name]:
        try:
            return importlib.import_module(full)
        except ImportError:
            continue
    return None


def _values_of(value: Any, names: set[str], inside: tuple[ModuleType, ...]) -> Any:
    """Return a value; for a module that is not installed, those of its values that have one of some names."""
    if not isinstance(value, ModuleType) or value in inside or is_installed(value):
        return value
    chosen = sorted(names & vars(value).keys())
    return {name: _values_of(vars(value)[name], names, (*inside, value)) for name in chosen}
