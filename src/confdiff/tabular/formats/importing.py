"""Read judged pairs from a file of another tool, as the tables that ``check``, ``fit`` and ``rank`` read."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from confdiff.config import Config
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.tabular.formats.collecting import CollectedJudgements
from confdiff.tabular.formats.comparison_format import FormatOptions
from confdiff.tabular.formats.judgement import TEXT
from confdiff.tabular.formats.registry import checked_format, recognised_format
from confdiff.tabular.formats.rows import FileRow, read_rows
from confdiff.tabular.scales import PLAIN_SCALE, recognise_scale
from confdiff.tabular.tables import Columns
from confdiff.validation import check_choice, warn_user

ITEM_KINDS = ("answers", "models", "ids")
"""What the items of a file can be."""

PROMPTS = ("group", "feature", "both")
"""The uses of a prompt."""


@dataclass(frozen=True, eq=False)
class ImportedJudgements:
    """Items and judged pairs of a file of another tool.

    Attributes
    ----------
    format
        The name of the format.
    items
        Columns of the items: ``id`` and, unless the items are models or ids, their features.
    pairs
        Columns of the pairs: ``left``, ``right``, ``difference``, and those that the file has of ``group``, ``prompt``,
        ``annotator``, ``shown_first``, ``time``, ``seconds`` and others.
    rows
        The number of records that were read.
    skipped
        What was skipped -> how often.
    left_out
        Keys whose values are lists or objects, which tables cannot hold.
    note
        How the judgements were read, if that was recognised.
    """

    format: str
    items: Columns
    pairs: Columns
    rows: int
    skipped: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    note: str = ""

    @property
    def has_features(self) -> bool:
        """Whether the items have columns besides their ids."""
        return len(self.items) > 1

    @property
    def config(self) -> Config | None:
        """The scale, if it is not recognised from the differences: 0 and 1 alone could mean several things."""
        return None if recognise_scale(self.pairs["difference"]) == PLAIN_SCALE else Config(scale=PLAIN_SCALE.option)

    @property
    def tables(self) -> dict[str, Columns]:
        """The tables to write: ``items``, if they have features, and ``pairs``."""
        return {"items": self.items, "pairs": self.pairs} if self.has_features else {"pairs": self.pairs}


@takes_encoding
def import_judgements(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    prompt: str = "group",
    encoding: str | None = None,
    **options: Any,
) -> ImportedJudgements:
    """Read judged pairs from a file of another tool.

    Parameters
    ----------
    path : path
        JSON lines (read line by line), a JSON array, Parquet, or another table.
    format : str, optional
        A name of :data:`~confdiff.tabular.formats.registry.COMPARISON_FORMATS`. If None, it is recognised by the keys
        of the first record.
    prompt : {"group", "feature", "both"}, default="group"
        Whether the prompt is the group of a pair, a feature of its items, or both. As a feature, it is part of an item:
        the same text for two prompts is two items.
    encoding : str, optional
        The encoding of text files, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.
    **options
        Options of the format, see :class:`~confdiff.tabular.formats.comparison_format.FormatOptions`.

    Returns
    -------
    ImportedJudgements

    Raises
    ------
    ValueError
        A record cannot be used (the message names its line), the format is not certain, or an option has no effect.

    Examples
    --------
    >>> import tempfile
    >>> line = '{"chosen": "a long answer", "rejected": "a short one", "margin": 4}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "judged.jsonl"
    ...     _ = path.write_text(line)
    ...     imported = import_judgements(path, max_margin=5)
    >>> sorted(imported.items["text"].tolist()), abs(imported.pairs["difference"]).tolist()
    (['a long answer', 'a short one'], [0.8])
    """
    check_choice("prompt", prompt, PROMPTS)
    given = FormatOptions(**options)
    if given.item_kind is not None:
        check_choice("item_kind", given.item_kind, ITEM_KINDS)
    rows = _CountedRows(read_rows(Path(path)))
    known = recognised_format(rows.first) if format is None else checked_format(rows.first, format)
    options_used = known.reading_options | ({"item_kind"} if len(known.item_kinds) > 1 else set())
    given.check_used(options_used, f"read files of {known.name}")
    if given.item_kind not in (None, *known.item_kinds):
        kinds = " or ".join(known.item_kinds)
        raise ValueError(f"the items of files of {known.name} are {kinds}; got item_kind={given.item_kind!r}.")
    collected = CollectedJudgements(
        prompt_is_group=prompt in ("group", "both"), prompt_is_feature=prompt in ("feature", "both")
    )
    for part in known.read(iter(rows), given):
        collected.add(part, rows.position)
    if not collected.values:
        skipped = "; ".join(f"{what}: {count:,}" for what, count in collected.skipped.items())
        raise ValueError(f"{os.fspath(path)} has no judgement that can be used; skipped: {skipped}.")
    items = collected.items()
    if "ids" in known.item_kinds and given.item_kind is None:
        _warn_of_ids(os.fspath(path), items)
    differences = known.differences(collected.values, collected.positions, given)
    return ImportedJudgements(
        format=known.name,
        items=items,
        pairs=collected.pairs(differences.values),
        note=differences.note,
        rows=rows.count,
        skipped=dict(collected.skipped),
        left_out=tuple(collected.left_out),
    )


class _CountedRows:
    """Rows whose first one can be looked at, and whose number and position are known while they are read."""

    def __init__(self, rows: Iterator[FileRow]) -> None:
        self.first = next(rows)
        self.position = self.first.position
        self.count = 0
        self._rows = chain([self.first], rows)

    def __iter__(self) -> Iterator[FileRow]:
        for row in self._rows:
            self.count += 1
            self.position = row.position
            yield row


def _warn_of_ids(path: str, items: Columns) -> None:
    texts = [str(text) for text in items.get(TEXT, [])]
    if texts and all(text.isascii() and text.isalnum() and any(map(str.isdigit, text)) for text in texts):
        warn_user(
            f"{path}: the answers, such as {texts[0]!r:.60}, look like ids. "
            "If they are ids of items that you have, pass item_kind='ids'."
        )
