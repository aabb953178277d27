"""Write items and judged pairs as a file of another tool."""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confdiff.io.atomic import atomic_files
from confdiff.io.outputs import check_new_files
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.tabular.formats.comparison_format import ComparisonFormat, FormatOptions, JsonRecord
from confdiff.tabular.formats.judged_table import read_judged_table
from confdiff.tabular.formats.registry import find_format

_ENDINGS = (".jsonl", ".json")


@dataclass(frozen=True)
class ExportedJudgements:
    """What was written.

    Attributes
    ----------
    files
        Kind -> path.
    pairs
        The number of pairs that were read.
    records
        The number of records that were written.
    without_difference
        The number of pairs without a difference, which were left out.
    rounded
        The number of judgements that the format holds only approximately.
    """

    files: dict[str, Path]
    pairs: int
    records: int
    without_difference: int
    rounded: int


@takes_encoding
def export_judgements(
    path: str | os.PathLike[str],
    items: Any,
    pairs: Any,
    *,
    format: str,
    id: str | None = None,
    left: str | None = None,
    right: str | None = None,
    difference: str | None = None,
    scale: Any = None,
    inputs: Iterable[str | os.PathLike[str]] = (),
    overwrite: bool = False,
    encoding: str | None = None,
    **options: Any,
) -> ExportedJudgements:
    """Write items and judged pairs as a file of another tool.

    Parameters
    ----------
    path : path
        The file to write: JSON lines (.jsonl) or a JSON array (.json). Some formats write a second file next to it.
    items : path, data frame, mapping of columns, or None
        The items; None if the pairs name models or other items without features.
    pairs : path, data frame or mapping of columns
        The judged pairs. Columns without a meaning for the format are written under their names.
    format : str
        A name of :data:`~confdiff.tabular.formats.registry.COMPARISON_FORMATS`.
    id, left, right, difference : str, optional
        Columns of the tables; recognised if None.
    scale : optional
        The scale of the differences, such as ``(1, 7)``; recognised if None.
    inputs : iterable of paths, default=()
        Further files that must not be replaced, such as the study of the tables.
    overwrite : bool, default=False
        Whether existing files may be replaced.
    encoding : str, optional
        The encoding of text files that are read.
    **options
        Options of the format, see :class:`~confdiff.tabular.formats.comparison_format.FormatOptions`.

    Returns
    -------
    ExportedJudgements

    Raises
    ------
    ValueError
        A row cannot be used, or an option has no effect.

    Examples
    --------
    >>> import tempfile
    >>> items = {"id": ["a", "b"], "text": ["a long answer", "a short one"]}
    >>> pairs = {"left": ["a"], "right": ["b"], "difference": [-0.8]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = export_judgements(Path(folder) / "judged.jsonl", items, pairs, format="trl")
    ...     print(written.files["trl"].read_text().strip())
    {"chosen": "a long answer", "rejected": "a short one", "margin": 0.8}
    """
    known = find_format(format)
    given = FormatOptions(**options)
    given.check_used(known.writing_options, f"write files of {known.name}")
    target = Path(path)
    if target.suffix.lower() not in _ENDINGS:
        raise ValueError(f"the name of the file must end in {' or '.join(_ENDINGS)}; got {target.name!r}.")
    sources = [source for source in (items, pairs) if isinstance(source, str | os.PathLike)]
    files = {known.name: target}
    if known.companion is not None:
        files["configuration"] = target.with_suffix(known.companion([], given)[0])
    check_new_files(files, inputs=[*inputs, *sources], overwrite=overwrite)
    columns = {"left": left, "right": right, "difference": difference}
    table = read_judged_table(
        items, pairs, needs_differences=known.needs_differences, id=id, columns=columns, scale=scale
    )
    records = _write_records(files, known, known.write(table.judgements(), given), given)
    return ExportedJudgements(
        files=files,
        pairs=len(table),
        records=records,
        without_difference=len(table) - table.n_judged,
        rounded=table.count_rounded(known.points),
    )


def _write_records(
    files: dict[str, Path], known: ComparisonFormat, records: Iterator[JsonRecord], options: FormatOptions
) -> int:
    """Write records as JSON lines or as an array, and what belongs to them; return their number."""
    if known.companion is not None:
        in_memory = list(records)
        text = known.companion(in_memory, options)[1]
        records = iter(in_memory)
    with atomic_files(files) as temporary:
        if known.companion is not None:
            temporary["configuration"].write_text(text, encoding="utf-8")
        is_array = files[known.name].suffix.lower() == ".json"
        begin, separator, end = ("[\n", ",\n", "\n]\n") if is_array else ("", "\n", "\n")
        count = 0
        with temporary[known.name].open("w", encoding="utf-8") as file:
            for count, record in enumerate(records, 1):
                file.write(
                    (separator if count > 1 else begin) + json.dumps(record, ensure_ascii=False, allow_nan=False)
                )
            file.write(end if count else begin + end)
    return count
