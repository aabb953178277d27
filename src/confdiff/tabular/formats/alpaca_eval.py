"""Annotations of AlpacaEval: outputs of two models for an instruction, with a preference from 1 to 2.

1 means that the first output is better, 2 that the second one is, and 1.5 (or 0, in old files) that they are equal.
"""

from collections.abc import Iterable, Iterator

from confdiff.tabular.formats.comparison_format import (
    ComparisonFormat,
    FormatOptions,
    JsonRecord,
    others,
    with_pair_columns,
)
from confdiff.tabular.formats.judgement import Judgement, Skipped
from confdiff.tabular.formats.models import model_columns, model_of, sides_of_models
from confdiff.tabular.formats.rows import FileRow
from confdiff.tabular.formats.texts import text_of

_USED = ("instruction", "output_1", "output_2", "generator_1", "generator_2", "preference", "annotator")
_EQUAL = 1.5


def _is_alpaca_eval(row: FileRow) -> bool:
    return row.has("preference") and (row.has("output_1", "output_2") or row.has("generator_1", "generator_2"))


def _read(rows: Iterator[FileRow], options: FormatOptions) -> Iterator[Judgement | Skipped]:
    for row in rows:
        preference = row.number("preference")
        if preference is None:
            yield Skipped("annotations without a preference")
            continue
        preference = preference or _EQUAL
        if not 1 <= preference <= 2:
            raise row.error(f"'preference' must be from 1 to 2; got {preference:g}")
        texts = (row.optional_text("output_1"), row.optional_text("output_2"))
        models = (row.optional_text("generator_1"), row.optional_text("generator_2"))
        left, right = sides_of_models(row, texts, models, options)
        yield Judgement(
            left=left,
            right=right,
            value=2 * (preference - _EQUAL),
            prompt=row.optional_text("instruction"),
            columns={
                "annotator": row.optional_text("annotator") or None,
                **model_columns(models, left),
                **others(row, *_USED),
            },
        )


def _write(judgements: Iterable[Judgement], options: FormatOptions) -> Iterator[JsonRecord]:
    for judgement in judgements:
        columns = dict(judgement.columns)
        record = {
            "instruction": judgement.prompt,
            "output_1": text_of(judgement.left) if judgement.left.values else "",
            "output_2": text_of(judgement.right) if judgement.right.values else "",
            "generator_1": model_of(judgement.left, columns, "left_model"),
            "generator_2": model_of(judgement.right, columns, "right_model"),
            "preference": _EQUAL + judgement.value / 2,
            "annotator": columns.pop("annotator", ""),
        }
        yield with_pair_columns(record, columns)


ALPACA_EVAL = ComparisonFormat(
    name="alpaca-eval",
    summary="AlpacaEval: instruction, output_1, output_2, generator_1, generator_2; preference from 1 to 2",
    recognise=_is_alpaca_eval,
    read=_read,
    write=_write,
    item_kinds=("answers", "models"),
)
