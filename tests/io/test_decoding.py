"""The annotations of a dataclass are the schema of its JSON values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from confdiff.io.decoding import decode, decode_fields


@dataclass(frozen=True)
class Inner:
    x: float


@dataclass(frozen=True)
class Outer:
    count: int
    name: str
    inner: Inner
    flag: bool = False
    maybe: float | str | None = None
    points: tuple[tuple[float, int], ...] = ()
    kinds: Mapping[str, str] | None = None
    unit: Literal["a", "b"] = "a"
    versions: dict[str, Any] = field(default_factory=dict)


WHOLE = {"count": 3, "name": "n", "inner": {"x": 1}}


def test_values_of_the_annotated_types_are_taken():
    more = {"flag": True, "maybe": "estimate", "points": [[0.5, 1]], "kinds": {"a": "b"}, "unit": "b"}
    outer = decode_fields(Outer, WHOLE | more)
    assert outer == Outer(
        count=3, name="n", inner=Inner(x=1), flag=True, maybe="estimate", points=((0.5, 1),), kinds={"a": "b"}, unit="b"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": "3"}, "count must be a whole number; got '3'"),
        ({"count": 3.0}, "count must be a whole number"),
        ({"count": True}, "count must be a whole number"),
        ({"count": 2**70}, r"count must be below 2\*\*63"),
        ({"name": None}, "name must be a text; got None"),
        ({"inner": {"x": float("nan")}}, "x must be finite"),
        ({"inner": {"x": float("inf")}}, "x must be finite"),
        ({"inner": {}}, "the field 'x' is missing"),
        ({"inner": [1]}, r"Inner must be an object; got \[1\]"),
        ({"inner": {"x": 1, "y": 2}}, "Inner has no field 'y'"),
        ({"flag": 1}, "flag must be true or false"),
        ({"maybe": []}, "maybe must be a text"),
        ({"points": {"a": 1}}, "points must be a list"),
        ({"points": [[1, 2, 3]]}, r"points\[0\] must have 2 entries; got 3"),
        ({"points": [[1, 2], ["a", 2]]}, r"points\[1\]\[0\] must be a number"),
        ({"kinds": {"a": 1}}, r"kinds\['a'\] must be a text"),
        ({"unit": "c"}, "unit must be one of 'a', 'b'"),
        ({"unit": ["a"]}, "unit must be one of"),
    ],
)
def test_values_of_other_types_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        decode_fields(Outer, WHOLE | change)


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="the field 'name' is missing"):
        decode_fields(Outer, {"count": 3, "inner": {"x": 1}})
    assert decode_fields(Inner, {}, x=2.0) == Inner(x=2.0)
    assert decode(Any, {"as": "it is"}, "value") == {"as": "it is"}
