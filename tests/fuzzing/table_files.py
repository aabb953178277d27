"""Tables of users as targets: the bytes of every format, and the parts of workbooks and compressed files."""

import gzip
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

from confdiff.io.batches import count_rows, read_batches, read_column_names
from confdiff.io.table_formats.registry import TABLE_FORMATS
from confdiff.io.tables import write_table
from confdiff.io.typed_table import read_table
from fuzzing.forging import forge_bytes, forge_entry
from fuzzing.target import Target

Preparation = Callable[[Path], object]
Forgery = Callable[[Path, random.Random], str]

COLUMNS = {
    "id": list(range(1, 31)),
    "size": [number / 8 for number in range(30)],
    "name": ["a;b", "c,d", "=e", "f\ng", 'say "h"'] * 6,
    "flag": [True, False, True] * 10,
    "day": [f"2024-05-{day:02}" for day in range(1, 31)],
}
DIALECTS = {
    "german": 'id;größe;note\r\n7;1,5;"a;b"\r\n8;-12;\r\n9;1.234,25;c\r\n'.encode("utf-8-sig"),
    "utf-16": "sep=;\r\nid;size;\r\n7;1,5;\r\n".encode("utf-16"),
}


def open_table(path: Path) -> None:
    """Read a table in every way."""
    names = read_column_names(path)
    count_rows(path)
    read_table(path)
    for batch in read_batches(path, names[:2], rows=7):
        batch.validate(full=True)


def _target(name: str, file_name: str, prepare: Preparation, forge: Forgery) -> Target:
    return Target(
        name=f"table {name}",
        prepare=lambda folder: prepare(folder / file_name),
        forge=lambda folder, rng: forge(folder / file_name, rng),
        open=lambda folder: open_table(folder / file_name),
    )


def _forge_file(path: Path, rng: random.Random) -> str:
    return forge_entry(path, rng) if rng.random() < 0.05 else forge_bytes(path, rng)


def _forge_inside_gzip(path: Path, rng: random.Random) -> str:
    """Damage the text inside a compressed file."""
    path.write_bytes(gzip.decompress(path.read_bytes()))
    damage = forge_bytes(path, rng)
    path.write_bytes(gzip.compress(path.read_bytes()))
    return damage


def _forge_inside_workbook(path: Path, rng: random.Random) -> str:
    """Damage one part of a workbook, whose archive stays intact."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(sorted(parts))
    part = path.with_name("part")
    part.write_bytes(parts[name])
    damage = forge_bytes(part, rng)
    parts[name] = part.read_bytes()
    part.unlink()
    with zipfile.ZipFile(path, "w") as archive:
        for part_name, contents in parts.items():
            archive.writestr(part_name, contents)
    return f"{name} of {damage}"


def _write(path: Path) -> None:
    write_table(path, COLUMNS)


def _writer_of(contents: bytes) -> Preparation:
    return lambda path: path.write_bytes(contents)


TABLE_FILES: tuple[Target, ...] = (
    *(_target(ending, f"items{ending}", _write, _forge_file) for ending in TABLE_FORMATS),
    *(_target(name, "items.csv", _writer_of(contents), _forge_file) for name, contents in DIALECTS.items()),
    _target("inside .csv.gz", "items.csv.gz", _write, _forge_inside_gzip),
    _target("inside .xlsx", "items.xlsx", _write, _forge_inside_workbook),
)
