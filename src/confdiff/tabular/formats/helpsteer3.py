"""Preferences of HelpSteer3: two responses to a context, with whole points from -3 to 3."""

from collections.abc import Iterable, Iterator
from typing import Any

from confdiff.tabular.formats.comparison_format import (
    ComparisonFormat,
    FormatOptions,
    JsonRecord,
    others,
    with_pair_columns,
)
from confdiff.tabular.formats.conversations import USER, as_messages, read_conversation
from confdiff.tabular.formats.judgement import Judgement, Skipped, answer
from confdiff.tabular.formats.rows import FileRow
from confdiff.tabular.formats.texts import text_of

_USED = ("context", "response1", "response2", "overall_preference", "individual_preference")
_MOST = 3  # points


def _is_helpsteer3(row: FileRow) -> bool:
    return row.has("response1", "response2", "overall_preference")


def _read(rows: Iterator[FileRow], options: FormatOptions) -> Iterator[Judgement | Skipped]:
    for row in rows:
        left = answer(row.text("response1"))
        right = answer(row.text("response2"))
        prompt = read_conversation(row, "context", USER)
        for points, columns in _individual(row) if options.individual else _overall(row):
            if points is None:
                yield Skipped("preferences without a number")
                continue
            yield Judgement(left=left, right=right, value=points / _MOST, prompt=prompt, columns=columns)


def _overall(row: FileRow) -> list[tuple[float | None, dict[str, Any]]]:
    columns = others(row, *(name for name in _USED if name != "individual_preference"))
    return [(row.within("overall_preference", -_MOST, _MOST), columns)]


def _individual(row: FileRow) -> list[tuple[float | None, dict[str, Any]]]:
    """Return the points of each annotator of a row, whose names are not known."""
    parts = [
        row.part(f"individual preference {number}", value)
        for number, value in enumerate(row.list_of("individual_preference", dict), 1)
    ]
    return [(part.within("score", -_MOST, _MOST), others(row, *_USED) | others(part, "score")) for part in parts]


def _write(judgements: Iterable[Judgement], options: FormatOptions) -> Iterator[JsonRecord]:
    for judgement in judgements:
        record = {
            "context": as_messages(judgement.prompt, USER) if judgement.prompt else [],
            "response1": text_of(judgement.left),
            "response2": text_of(judgement.right),
            "overall_preference": round(_MOST * judgement.value),
        }
        yield with_pair_columns(record, judgement.columns)


HELPSTEER3 = ComparisonFormat(
    name="helpsteer3",
    summary="HelpSteer3: context, response1, response2; overall_preference and individual_preference from -3 to 3",
    recognise=_is_helpsteer3,
    read=_read,
    write=_write,
    points=_MOST,
    reading_options=frozenset({"individual"}),
)
