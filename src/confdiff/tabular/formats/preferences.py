"""Preferences with margins, as judges of answers give them: JSON lines with chosen, rejected and margin."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.display.text import listed
from confdiff.io.atomic import atomic_file
from confdiff.io.lookup import rows_of_ids
from confdiff.io.table_formats.encodings import open_text, takes_encoding
from confdiff.io.table_formats.json_values import parse_json
from confdiff.io.tables import check_table_file
from confdiff.randomness import derived_seed
from confdiff.tabular.tables import Columns

_Line = tuple[str, dict[str, Any]]  # position in the file, for messages, and content
_Path = str | os.PathLike[str]
_GREATEST_MARGIN = 1e100
_MOST_POINTS = 10  # of a margin in integer points


@takes_encoding
def read_preferences(
    path: _Path,
    *,
    ids: bool = False,
    max_margin: float | None = None,
    seed: int = 0,
    encoding: str | None = None,
) -> tuple[Columns, Columns]:
    """Read preferences from JSON lines as the items and judged pairs that :func:`~confdiff.fit_comparisons` takes.

    Each line has ``chosen`` and ``rejected``. It may have a ``margin`` of at least 0 by which the chosen text is
    better; without it, the preference is certain. It may also have a ``prompt``, which becomes the group, and a
    ``judge``. The better text always comes first in such a file, so a random half of the pairs is swapped.

    Parameters
    ----------
    path : path of a .jsonl file
        The preferences.
    ids : bool, default=False
        Whether ``chosen`` and ``rejected`` are ids of items in a table that you have, instead of texts.
    max_margin : float or None, default=None
        Margin that means certainty. If None, it is recognised: 1 if all margins are at most 1, and the largest margin
        if all are integers up to 10. It is 100 if the largest is above 10 and at most 100.
    seed : int, default=0
        Seed of the random swaps.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.

    Returns
    -------
    items : dict of str to ndarray
        Columns ``id`` and, unless ``ids`` is true, ``text``; each text once.
    pairs : dict of str to ndarray
        Columns ``left``, ``right``, ``difference``, and ``group``, ``prompt`` and ``judge`` if the lines have them.

    Raises
    ------
    ValueError
        If a line cannot be used; the message names the line.

    Examples
    --------
    >>> import tempfile
    >>> line = '{"chosen": "a long answer", "rejected": "a short one", "margin": 4}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "judged.jsonl"
    ...     _ = path.write_text(line)
    ...     items, pairs = read_preferences(path, max_margin=5)
    >>> items["text"].tolist(), abs(pairs["difference"]).tolist()
    (['a long answer', 'a short one'], [0.8])
    """
    lines = _read_lines(Path(path))
    chosen = [_value(position, line, "chosen", ids) for position, line in lines]
    rejected = [_value(position, line, "rejected", ids) for position, line in lines]
    for (position, _), better, worse in zip(lines, chosen, rejected, strict=True):
        if better == worse:
            raise ValueError(f"{position}: chosen and rejected are the same. Drop the line.")
    values = chosen + rejected
    if not ids:
        _check_texts(path, values)
    names = _as_ids(values) if ids else _as_column([_digest("t", text) for text in values])
    strength = _strengths(path, lines, max_margin)
    pairs = _swapped_at_random(names[: len(lines)], names[len(lines) :], strength, seed)
    return _items(names, None if ids else values), pairs | _context(lines)


def _read_lines(path: Path) -> list[_Line]:
    if path.suffix.lower() != ".jsonl":
        raise ValueError(f"preferences must be JSON lines in a file whose name ends in .jsonl; got {path.name!r}.")
    check_table_file(path)
    with open_text(path) as file:
        lines = [_parsed(f"{path}, line {number}", line) for number, line in enumerate(file, 1) if line.strip()]
    if not lines:
        raise ValueError(f"{path} must have at least one line.")
    return lines


def _parsed(position: str, line: str) -> _Line:
    try:
        value = parse_json(line, position)
    except ValueError as error:
        raise ValueError(f"{error} Correct or drop the line.") from error
    if not isinstance(value, dict):
        raise ValueError(f'{position} must be a JSON object, such as {{"chosen": ..., "rejected": ...}}.')
    return position, value


def _value(position: str, line: dict[str, Any], side: str, ids: bool) -> Any:
    """Return the chosen or rejected text of a line, or its id, which may be an integer."""
    if side not in line:
        raise ValueError(f"{position} must have {side!r}; it has {listed(map(repr, line)) or 'nothing'}.")
    value = line[side]
    if ids and isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        hint = " If these are ids, pass ids=True." if isinstance(value, int) else ""
        raise ValueError(f"{position}: {side!r} must be {'an id' if ids else 'a text'}; got {value!r:.60}.{hint}")
    if not value.strip():
        raise ValueError(f"{position}: {side!r} is empty.")
    return _encodable(position, side, value)


def _encodable(position: str, name: str, text: str) -> str:
    """Check that a text can be written as UTF-8, and return it."""
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"{position}: {name!r} contains a lone surrogate, which cannot be written as UTF-8.")
    return text


def _check_texts(path: _Path, texts: list[str]) -> None:
    if all(text.isascii() and len(text.split()) == 1 for text in texts):
        raise ValueError(
            f"{os.fspath(path)}: chosen and rejected, such as {texts[0]!r:.60}, look like ids instead of texts. "
            "Nothing can be learned from them alone: pass ids=True, and pass items with these ids to `fit`."
        )


def _as_ids(ids: list[Any]) -> NDArray[Any]:
    """Return ids as integers if all are integers of 64 bits, else as text."""
    if all(isinstance(value, int) and -(2**63) <= value < 2**63 for value in ids):
        return np.array(ids)
    return _as_column([str(value) for value in ids])


def _digest(letter: str, text: str) -> str:
    """Return an id for a text. It begins with a letter, so that it is never read as a number."""
    return letter + hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def _items(names: NDArray[Any], texts: list[str] | None) -> Columns:
    """Return the distinct names in the order of their first occurrence, with their texts."""
    first = np.sort(np.unique(names, return_index=True)[1])
    items = {"id": names[first]}
    return items if texts is None else items | {"text": _as_column([texts[row] for row in first])}


def _as_column(values: list[Any]) -> NDArray[Any]:
    """Return values as objects: an array of text would give each of them the length of the longest."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _strengths(path: _Path, lines: list[_Line], max_margin: float | None) -> NDArray[np.float64]:
    """Return the margin of each chosen text as a difference from 0 to 1; 1 if it has no margin. Shape: (n,)."""
    margins = np.array([_margin(*line) for line in lines])
    most = _recognised_max_margin(path, margins[~np.isnan(margins)]) if max_margin is None else max_margin
    if not (np.isfinite(most) and most > 0):
        raise ValueError(f"max_margin must be above 0; got {most:g}.")
    too_large = np.flatnonzero(margins > most * (1 + 1e-6))
    if len(too_large):
        position, line = lines[too_large[0]]
        raise ValueError(
            f"{position}: the margin {line['margin']:g} is above {most:g}. Pass a larger margin, "
            f"such as max_margin={margins[too_large].max():g}."
        )
    return np.where(np.isnan(margins), 1, np.minimum(margins / most, 1))


def _margin(position: str, line: dict[str, Any]) -> float:
    value = line.get("margin")
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _GREATEST_MARGIN:
        raise ValueError(f"{position}: 'margin' must be a number up to {_GREATEST_MARGIN:g}; got {value!r:.60}.")
    if value < 0:
        raise ValueError(
            f"{position}: 'margin' must be at least 0, because chosen is the better one; got {value:g}. "
            "Swap chosen and rejected."
        )
    return float(value)


def _recognised_max_margin(path: _Path, margins: NDArray[np.float64]) -> float:
    largest = float(margins.max(initial=0))
    if largest <= 1:
        return 1.0
    if largest <= _MOST_POINTS and not np.any(margins % 1):
        return largest
    if _MOST_POINTS < largest <= 100:
        return 100.0
    raise ValueError(
        f"{os.fspath(path)}: the margin that means certainty was not recognised; the largest margin is {largest:g}. "
        f"Pass it, such as max_margin={largest:g}."
    )


def _swapped_at_random(
    chosen: NDArray[Any], rejected: NDArray[Any], strength: NDArray[np.float64], seed: int
) -> Columns:
    """Return pairs with the chosen item first or second at random."""
    is_second = np.random.default_rng(derived_seed(seed, "orientation")).random(len(chosen)) < 0.5
    return {
        "left": np.where(is_second, rejected, chosen),
        "right": np.where(is_second, chosen, rejected),
        "difference": np.where(is_second, strength, -strength) + 0.0,  # -0 becomes 0
    }


def _context(lines: list[_Line]) -> Columns:
    """Return the prompts and judges if any line has one. The group is a digest, because a prompt may be long."""
    columns = {}
    for name in ("prompt", "judge"):
        values = [_context_value(position, line, name) for position, line in lines]
        if any(values):
            columns[name] = _as_column(values)
    if "prompt" not in columns:
        return columns
    return {"group": _as_column([_digest("p", prompt) for prompt in columns["prompt"]])} | columns


def _context_value(position: str, line: dict[str, Any], name: str) -> str:
    value = line.get(name)
    return "" if value is None else _encodable(position, name, str(value))


def write_preferences(path: _Path, items: Any, pairs: Any, probability: ArrayLike) -> None:
    """Write pairs as preferences according to the probabilities of their items, with margin = abs(p' - p).

    Parameters
    ----------
    path : path
        File to write, as JSON lines.
    items : mapping of columns or data frame
        Columns ``id`` and ``text``, as :func:`read_preferences` returns them; ids are written if ``text`` is missing.
    pairs : mapping of columns or data frame
        Columns ``left`` and ``right``, and ``prompt`` if there is one. They need not be judged.
    probability : array-like, shape (N,)
        Probabilities of the items, such as ``model.predict_proba(items)[:, 1]``.
    """
    ids = np.asarray(items["id"])
    p = np.asarray(probability, dtype=np.float64)
    if p.shape != ids.shape:
        raise ValueError(f"probability must have one value per item, shape {ids.shape}; got {p.shape}.")
    left = rows_of_ids(ids, np.asarray(pairs["left"]), name="the pairs, column 'left'")
    right = rows_of_ids(ids, np.asarray(pairs["right"]), name="the pairs, column 'right'")
    values = np.asarray(items["text" if "text" in items else "id"]).tolist()
    prompts = np.asarray(pairs["prompt"]).tolist() if "prompt" in pairs else None
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for line in _preferences(left.tolist(), right.tolist(), p, values, prompts):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _preferences(
    lefts: list[int], rights: list[int], p: NDArray[np.float64], values: list[Any], prompts: list[Any] | None
) -> Iterator[dict[str, Any]]:
    for row, (left, right) in enumerate(zip(lefts, rights, strict=True)):
        better, worse = (right, left) if p[right] >= p[left] else (left, right)
        margin = round(float(p[better] - p[worse]), 6)
        line = {"chosen": values[better], "rejected": values[worse], "margin": margin}
        yield line if prompts is None else {"prompt": prompts[row]} | line
