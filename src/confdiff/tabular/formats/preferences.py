"""Preferences and how strong they are, as judges of answers give them: JSON lines with chosen, rejected and margin."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.io.atomic import atomic_file
from confdiff.io.lookup import rows_of_ids
from confdiff.io.tables import check_table_file
from confdiff.randomness import derived_seed
from confdiff.tabular.tables import Columns

Line = tuple[str, dict[str, Any]]  # where it stands, and what it holds
_SIDES = ("chosen", "rejected")
_MOST_POINTS = 10  # of a margin in whole points


def read_preferences(
    path: str | os.PathLike[str], *, ids: bool = False, most: float | None = None, seed: int = 0
) -> tuple[Columns, Columns]:
    """Items and judged pairs, as :func:`~confdiff.fit_comparisons` takes them, from preferences in JSON lines.

    A line has ``chosen`` and ``rejected``, which are texts, and it may have a ``margin`` of 0 or above (how much better
    the chosen one is; certain if none is given), a ``prompt``, which becomes the group, and a ``judge``. In such a file
    the better one always stands first, so the two are turned round by a coin.

    ids: chosen and rejected are ids, and the items, in a table of their own, are not returned but for these.
    most: the margin that stands for certainty. If not given, 1 where all are up to 1, the greatest one where they are
    whole numbers up to 10, and 100 where they go beyond that, up to 100.
    seed: decides the coin.
    Returns: the columns of the items (id, text), the same text once, and of the pairs (left, right, difference, and
    group, prompt and judge where there are any).

    >>> import tempfile
    >>> line = '{"chosen": "a long answer", "rejected": "a short one", "margin": 4}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "judged.jsonl"
    ...     _ = path.write_text(line)
    ...     items, pairs = read_preferences(path, most=5)
    >>> items["text"].tolist(), abs(pairs["difference"]).tolist()
    (['a long answer', 'a short one'], [0.8])
    """
    lines = _read(Path(path))
    values = [_value(where, line, side, ids) for side in _SIDES for where, line in lines]
    chosen, rejected = values[: len(lines)], values[len(lines) :]
    for (where, _), one, other in zip(lines, chosen, rejected, strict=True):
        if one == other:
            raise ValueError(f"{where}: chosen and rejected are the same. Drop the line.")
    if not ids:
        _check_texts(path, values)
    names = _names(values) if ids else _column([_digest("t", text) for text in values])
    pairs = _turned(names.reshape(2, -1), _strength(path, lines, most), seed)
    return _items(names, None if ids else values), pairs | _context(lines)


def _read(path: Path) -> list[Line]:
    if path.suffix.lower() != ".jsonl":
        raise ValueError(f"preferences are JSON lines, in a file whose name ends in .jsonl; got {path.name!r}.")
    with check_table_file(path).open("rb") as file:
        lines = [_parsed(f"{path}, line {number}", line) for number, line in enumerate(file, 1) if line.strip()]
    if not lines:
        raise ValueError(f"{path} must have at least one line.")
    return lines


def _parsed(where: str, line: bytes) -> Line:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{where} is no JSON: {error}. Mend it or drop the line.") from error
    if not isinstance(value, dict):
        raise ValueError(f'{where} must be a JSON object, such as {{"chosen": ..., "rejected": ...}}.')
    return where, value


def _value(where: str, line: dict[str, Any], side: str, ids: bool) -> Any:
    """What stands in a line as chosen or rejected: a text, or an id, which may be a whole number."""
    if side not in line:
        raise ValueError(f"{where} must have {side!r}; it has {', '.join(map(repr, line)) or 'nothing'}.")
    value = line[side]
    if ids and isinstance(value, int) and not isinstance(value, bool):
        return value
    if not isinstance(value, str):
        hint = " If these are ids, pass --ids (ids=True)." if isinstance(value, int) else ""
        raise ValueError(f"{where}: {side!r} must be {'an id' if ids else 'a text'}; got {value!r:.60}.{hint}")
    if not value.strip():
        raise ValueError(f"{where}: {side!r} is empty.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{where}: {side!r} holds half of a character, a lone surrogate, which no file can.")
    return value


def _check_texts(path: str | os.PathLike[str], texts: list[str]) -> None:
    if all(text.isascii() and len(text.split()) == 1 for text in texts):
        raise ValueError(
            f"{os.fspath(path)}: chosen and rejected, such as {texts[0]!r:.60}, look like ids, not like texts: there "
            "is nothing in them to learn from. Pass --ids (ids=True), and items with these ids to `fit`."
        )


def _names(ids: list[Any]) -> NDArray[Any]:
    """Ids, which must be of one kind to be compared: all numbers, or all text."""
    return np.array(ids) if all(isinstance(value, int) for value in ids) else _column([str(value) for value in ids])


def _digest(letter: str, text: str) -> str:
    """A name for a text; it begins with a letter, so that no table takes it for a number."""
    return letter + hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def _items(names: NDArray[Any], texts: list[str] | None) -> Columns:
    """Each name once, where it stands first, with its text."""
    first = np.sort(np.unique(names, return_index=True)[1])
    items = {"id": names[first]}
    return items if texts is None else items | {"text": _column([texts[row] for row in first])}


def _column(values: list[Any]) -> NDArray[Any]:
    """Texts of any length, each by itself: an array of texts would give all of them the length of the longest."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _strength(path: str | os.PathLike[str], lines: list[Line], most: float | None) -> NDArray[np.float64]:
    """(n,) how much better each chosen one is, from 0 to 1; 1 where nothing is said about it."""
    margins = np.array([_margin(*line) for line in lines])
    most = _most(path, margins[~np.isnan(margins)]) if most is None else most
    if not (np.isfinite(most) and most > 0):
        raise ValueError(f"the margin that stands for certainty must be above 0; got {most:g}.")
    beyond = np.flatnonzero(margins > most * (1 + 1e-6))
    if len(beyond):
        where, line = lines[beyond[0]]
        raise ValueError(f"{where}: the margin {line['margin']:g} lies above {most:g}, which stands for certainty.")
    return np.where(np.isnan(margins), 1, np.minimum(margins / most, 1))


def _margin(where: str, line: dict[str, Any]) -> float:
    value = line.get("margin")
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{where}: 'margin' must be a number; got {value!r:.60}.")
    if value < 0:
        raise ValueError(f"{where}: the margin {value:g} is negative, but chosen is the better one: turn them round.")
    return float(value)


def _most(path: str | os.PathLike[str], margins: NDArray[np.float64]) -> float:
    greatest = float(margins.max(initial=0))
    if greatest <= 1:
        return 1.0
    if greatest <= _MOST_POINTS and not np.any(margins % 1):
        return greatest
    if _MOST_POINTS < greatest <= 100:
        return 100.0
    raise ValueError(
        f"{os.fspath(path)}: which margin stands for certainty cannot be told; they go up to {greatest:g}. "
        "Pass --most MARGIN (most=)."
    )


def _turned(names: NDArray[Any], strength: NDArray[np.float64], seed: int) -> Columns:
    """Pairs in which a coin decides if the chosen one stands second. names: (2, n), the chosen ones first."""
    chosen, rejected = names
    second = np.random.default_rng(derived_seed(seed, "orientation")).random(len(chosen)) < 0.5
    return {
        "left": np.where(second, rejected, chosen),
        "right": np.where(second, chosen, rejected),
        "difference": np.where(second, strength, -strength) + 0.0,  # -0 becomes 0
    }


def _context(lines: list[Line]) -> Columns:
    """The prompts and the judges, where any line has one; the group is a digest, as a prompt may be a long text."""
    found = {
        name: ["" if line.get(name) is None else str(line[name]) for _, line in lines] for name in ("prompt", "judge")
    }
    columns = {name: _column(values) for name, values in found.items() if any(values)}
    if "prompt" not in columns:
        return columns
    return {"group": _column([_digest("p", prompt) for prompt in found["prompt"]])} | columns


def write_preferences(path: str | os.PathLike[str], items: Any, pairs: Any, probability: ArrayLike) -> None:
    """Write pairs as preferences by the probabilities of their items: chosen, rejected, and margin = abs(p' - p).

    items, pairs: the columns that :func:`read_preferences` gives, or data frames with these: id and text (without it,
    ids are written); left, right and, if there is one, prompt. The pairs need not be judged.
    probability: (N,) of the items, such as ``model.predict_proba(items)[:, 1]``.
    """
    ids, p = np.asarray(items["id"]), np.asarray(probability, dtype=np.float64)
    if p.shape != ids.shape:
        raise ValueError(f"there must be one probability an item, shape {ids.shape}; got {p.shape}.")
    rows = np.stack(
        [rows_of_ids(ids, np.asarray(pairs[side]), name=f"the pairs, column {side!r}") for side in ("left", "right")]
    )
    shown = np.asarray(items["text" if "text" in items else "id"]).tolist()
    prompts = np.asarray(pairs["prompt"]).tolist() if "prompt" in pairs else None
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for line in _preferences(rows, p, shown, prompts):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def _preferences(
    rows: NDArray[np.int64], p: NDArray[np.float64], shown: list[Any], prompts: list[Any] | None
) -> Iterator[dict[str, Any]]:
    for row, (left, right) in enumerate(rows.T.tolist()):
        better, worse = (right, left) if p[right] >= p[left] else (left, right)
        line = {"chosen": shown[better], "rejected": shown[worse], "margin": round(float(p[better] - p[worse]), 6)}
        yield line if prompts is None else {"prompt": prompts[row]} | line
