"""Rebuild dataclasses from JSON values; the annotations of the fields are the schema that is checked."""

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

T = TypeVar("T")

_MAX_COUNT = 2**63  # of a whole number, which NumPy and PyTorch could not take


def decode_fields(cls: type[T], values: Any, **known: Any) -> T:
    """Return an instance of a dataclass from a JSON object, with the type of every field checked.

    Parameters
    ----------
    cls : type
        A dataclass whose fields are plain values, tuples, mappings and other such dataclasses.
    values : dict
        JSON values of its fields. Fields with a default may be missing; unknown fields are refused.
    **known
        Fields that the caller has decoded already.

    Raises
    ------
    ValueError
        If a field is missing, unknown, or has a value of another type. Numbers must be finite.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: float
    ...     names: tuple[str, ...] = ()
    >>> decode_fields(Point, {"x": 1, "names": ["a"]})
    Point(x=1, names=('a',))
    >>> decode_fields(Point, {"x": "1"})
    Traceback (most recent call last):
    ...
    ValueError: x must be a number; got '1'
    """
    values = check_object(cls.__name__, values)
    annotations = typing.get_type_hints(cls)
    own = {item.name: item for item in fields(cls) if item.init}  # type: ignore[arg-type]  # cls is a dataclass
    unknown = [name for name in values if name not in own]
    if unknown:
        raise ValueError(f"{cls.__name__} has no field {unknown[0]!r:.60}")
    missing = [name for name, item in own.items() if name not in {*values, *known} and _is_needed(item)]
    if missing:
        raise ValueError(f"the field {missing[0]!r} is missing")
    decoded = {name: decode(annotations[name], value, name) for name, value in values.items() if name not in known}
    return cls(**decoded, **known)


def _is_needed(item: Field[Any]) -> bool:
    return item.default is MISSING and item.default_factory is MISSING


def decode(annotation: Any, value: Any, name: str) -> Any:
    """Return a JSON value as the type of an annotation; lists become tuples.

    Parameters
    ----------
    annotation : type
        ``bool``, ``int``, ``float`` (finite, whole numbers included), ``str``, ``None``, a union, a literal,
        ``tuple[X, ...]``, ``tuple[X, Y]``, ``dict[str, X]``, ``Mapping[str, X]``, a dataclass or
        ``Any``.
    value : object
        The JSON value.
    name : str
        The field, for messages.
    """
    if annotation is Any:
        return value
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _decode_union(arguments, value, name)
    if origin is typing.Literal:
        return _decode_literal(arguments, value, name)
    if origin is tuple:
        return _decode_tuple(arguments, value, name)
    if origin in (dict, Mapping):
        return {
            key: decode(arguments[1], entry, f"{name}[{key!r:.60}]") for key, entry in check_object(name, value).items()
        }
    if annotation in _SCALARS:
        return _decode_scalar(annotation, value, name)
    return decode_fields(annotation, value)


_SCALARS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", types.NoneType: "null"}
"""Types of single values, and their names in messages."""


def _decode_scalar(annotation: type, value: Any, name: str) -> Any:
    kinds = (int, float) if annotation is float else (annotation,)
    if type(value) not in kinds:
        raise ValueError(f"{name} must be {_SCALARS[annotation]}; got {value!r:.60}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be finite; got {value!r}")
    if isinstance(value, int) and abs(value) >= _MAX_COUNT:
        raise ValueError(f"{name} must be below 2**63; got a number of {value.bit_length()} bits")
    return value


def _decode_union(choices: tuple[Any, ...], value: Any, name: str) -> Any:
    """Return the value as the first of the types that it has."""
    if value is None and types.NoneType in choices:
        return None
    choices = tuple(choice for choice in choices if choice is not types.NoneType)
    for choice in choices[:-1]:
        try:
            return decode(choice, value, name)
        except ValueError:
            continue
    return decode(choices[-1], value, name)


def _decode_literal(choices: tuple[Any, ...], value: Any, name: str) -> Any:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r:.60}")
    return value


def _decode_tuple(arguments: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} must be a list; got {value!r:.60}")
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0],) * len(value)
    if len(arguments) != len(value):
        raise ValueError(f"{name} must have {len(arguments)} entries; got {len(value)}")
    return tuple(
        decode(kind, entry, f"{name}[{index}]")
        for index, (kind, entry) in enumerate(zip(arguments, value, strict=True))
    )


def check_object(name: str, value: Any) -> dict[str, Any]:
    """Return a JSON object, whose keys are texts."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"{name} must be an object; got {value!r:.60}")
    return value
