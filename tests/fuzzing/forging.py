"""Damage files: bytes, JSON values, tensors, and what the file system can hold under the name of a file.

Every function takes a ``random.Random`` and returns a short description of the damage, so that a failure can be read.
"""

import copy
import json
import os
import random
import shutil
import struct
from pathlib import Path

DEEP = 100_000
DECOY = "decoy.txt"
"""A file outside of the damaged folder that links lead to; ``cases.py`` makes it, and checks that it stays the same."""
TEXTS = ("", "a", "../../escaped", "/no/such/place", "\x1b[31mred", "x\0y", "\ud800", "é" * 300, "NaN", "[bold]", "a/b")
NUMBERS = (0, 1, -1, 2, 7, 0.5, -0.5, 1e308, 1e-320, 2**31, 2**53 + 1, 2**63, 10**400, -(10**400), 10**12)
CONSTANTS = (None, True, False, float("nan"), float("inf"), float("-inf"))
CONTAINERS = ([], {}, [[]], [1, "a", None], {"a": 1}, {"__tensor__": "0"}, {"__tensor__": "nine"}, [[0] * 3] * 3)
INSERTED = (b"\0", b"\xff\xfe", b'"', b"{", b"[" * 2000, b"\r\n", b"\x1b[2J", b"PAR1", b"1e999", b",", b"NaN")


def forge_bytes(path: Path, rng: random.Random) -> str:
    """Truncate, empty, flip, repeat, insert or replace bytes."""
    contents = path.read_bytes()
    damaged, what = _damaged(contents, rng)
    path.write_bytes(damaged)
    return f"{path.name}: {what}"


def _damaged(contents: bytes, rng: random.Random) -> tuple[bytes, str]:
    place = rng.randrange(len(contents) + 1)
    kind = rng.choice(["truncate", "empty", "zeros", "flip", "flip", "insert", "insert", "repeat", "random", "swap"])
    if kind == "truncate":
        return contents[:place], f"truncated at {place}"
    if kind == "empty":
        return b"", "empty"
    if kind == "zeros":
        return bytes(len(contents)), "zero bytes"
    if kind == "flip":
        flipped = bytearray(contents)
        for _ in range(rng.choice([1, 1, 4, 20])):
            flipped[rng.randrange(len(flipped))] = rng.randrange(256)
        return bytes(flipped), "changed bytes"
    if kind == "insert":
        return contents[:place] + rng.choice(INSERTED) + contents[place:], f"bytes inserted at {place}"
    if kind == "repeat":
        end = min(len(contents), place + rng.randrange(1, 200))
        return contents[:end] + contents[place:], f"bytes {place} to {end} repeated"
    if kind == "swap":
        return contents[place:] + contents[:place], f"halves swapped at {place}"
    return rng.randbytes(rng.randrange(1, 300)), "random bytes"


def forge_entry(path: Path, rng: random.Random) -> str:
    """Replace a file by something else of the same name: nothing, a folder, a loop of links, a pipe, another file."""
    kind = rng.choice(["missing", "folder", "loop", "pipe", "outside link", "foreign JSON", "deep JSON"])
    path.unlink()
    if kind == "folder":
        path.mkdir()
        (path / "inside.txt").write_text("x")
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "outside link":
        path.symlink_to(next(parent / DECOY for parent in path.parents if (parent / DECOY).is_file()))
    elif kind == "foreign JSON":
        path.write_text(rng.choice(['{"a": 1}', "[]", "null", "3", '"text"', '[{"id": 1}]', '{"a": 1, "a": 2}', "{"]))
    elif kind == "deep JSON":
        opening, closing = rng.choice([("[", "]"), ('{"a":', "}")])
        path.write_text(opening * DEEP + "1" + closing * DEEP)
    return f"{path.name}: {kind}"


def forge_value(value: object, rng: random.Random) -> tuple[object, str]:
    """Return a copy of a JSON value in which one place is removed, added, or replaced by another value."""
    value = copy.deepcopy(value)
    places = list(_places(value))
    if not places:
        return _other_value(rng), "the whole value"
    container, key, trail = rng.choice(places)
    kind = rng.choice(["remove", "replace", "replace", "replace", "add", "grow"])
    if kind == "remove":
        del container[key]
    elif kind == "add" and isinstance(container, dict):
        container[rng.choice(["unknown", "", "__dict__", "key", *list(container)[:1]])] = _other_value(rng)
    elif kind == "grow" and isinstance(container[key], list) and container[key]:
        container[key].append(copy.deepcopy(rng.choice(container[key])))
    else:
        container[key] = _other_value(rng)
    return value, f"{kind} {trail}"


def _other_value(rng: random.Random) -> object:
    return copy.deepcopy(rng.choice(rng.choice([TEXTS, NUMBERS, CONSTANTS, CONTAINERS])))


def _places(value: object, trail: str = "") -> "list[tuple[object, object, str]]":
    """Return (container, key, path in words) of every place in a JSON value, without recursion."""
    places = []
    nodes = [(value, trail)]
    while nodes:
        node, trail = nodes.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key, f"{trail}/{key}"))
            nodes.append((node[key], f"{trail}/{key}"))
    return places


def as_json(value: object) -> str:
    """Return JSON with whole numbers of any length, which Python refuses to write."""
    import sys

    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(value)
    finally:
        sys.set_int_max_str_digits(limit)


def forge_json(path: Path, rng: random.Random) -> str:
    """Change one place of a JSON file."""
    value, what = forge_value(json.loads(path.read_text()), rng)
    path.write_text(as_json(value))
    return f"{path.name}: {what}"


def forge_tree(path: Path, rng: random.Random) -> str:
    """Change the plain values, the shape, the type or the numbers of a file of tensors."""
    contents = path.read_bytes()
    size = struct.unpack("<Q", contents[:8])[0]
    header = json.loads(contents[8 : 8 + size])
    data = bytearray(contents[8 + size :])
    kind = rng.choice(["tree", "tree", "tree", "header", "numbers"])
    if kind == "tree":
        tree, what = forge_value(json.loads(header["__metadata__"]["tree"]), rng)
        header["__metadata__"]["tree"] = as_json(tree)
    elif kind == "header":
        header, what = _forged_header(header, rng)
    else:
        names = [name for name in header if name != "__metadata__"]
        start, end = header[rng.choice(names)]["data_offsets"]
        pattern = struct.pack("<f", rng.choice([float("nan"), float("inf"), -1.0, 1e38, 0.0]))
        data[start:end] = (pattern * (end - start))[: end - start]
        what = f"numbers from {start} to {end}"
    text = as_json(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(data))
    return f"{path.name}: {kind} {what}"


def _forged_header(header: dict, rng: random.Random) -> tuple[object, str]:
    """Change the shape, the type or the place of a tensor so that it stays consistent, or anything of the header."""
    names = [name for name in header if name != "__metadata__"]
    entry = header[rng.choice(names)]
    kind = rng.choice(["flatten", "dtype", "empty", "anything"])
    if kind == "flatten":
        count = 1
        for extent in entry["shape"]:
            count *= extent
        entry["shape"] = [count, 1] if entry["shape"] != [count, 1] else [1, count]
    elif kind == "dtype":
        entry["dtype"] = {"F32": "I32", "I64": "F64", "U8": "I8"}.get(entry["dtype"], "BOOL")
    elif kind == "empty":
        entry["shape"] = [0, *entry["shape"][1:]]
    else:
        return forge_value(header, rng)
    return header, kind


def remove(path: Path) -> None:
    """Remove a file or a folder, whatever it is now."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
