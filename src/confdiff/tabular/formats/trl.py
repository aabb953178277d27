"""Preference data of TRL: chosen and rejected texts or conversations, with margins or scores.

LLM judges write such files too. The better text always comes first, so a random half of the pairs is swapped.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.randomness import derived_seed
from confdiff.tabular.formats.comparison_format import (
    ComparisonFormat,
    FormatOptions,
    JsonRecord,
    ReadDifferences,
    others,
    with_pair_columns,
)
from confdiff.tabular.formats.conversations import (
    ASSISTANT,
    USER,
    as_messages,
    as_text,
    read_conversation,
    read_messages,
    split_conversations,
)
from confdiff.tabular.formats.judgement import Item, Judgement, answer
from confdiff.tabular.formats.rows import FileRow
from confdiff.tabular.formats.texts import text_of

_USED = (
    *("prompt", "chosen", "rejected", "margin", "score_chosen", "score_rejected", "judge", "shown_first"),
    *("chosen_model", "rejected_model"),
)
_MOST_POINTS = 10  # of a margin in integer points


def _is_trl(row: FileRow) -> bool:
    return row.has("chosen", "rejected")


def _read(rows: Iterator[FileRow], options: FormatOptions) -> Iterator[Judgement]:
    rng = np.random.default_rng(derived_seed(options.seed, "orientation"))
    for row in rows:
        prompt, chosen, rejected = _sides(row, options)
        is_second = rng.random() < 0.5
        yield Judgement(
            left=rejected if is_second else chosen,
            right=chosen if is_second else rejected,
            value=(1 if is_second else -1, _margin(row)),
            prompt=prompt,
            columns=_columns(row, is_second),
        )


def _sides(row: FileRow, options: FormatOptions) -> tuple[str, Item, Item]:
    """Return the prompt, the chosen and the rejected item."""
    prompt = read_conversation(row, "prompt", USER)
    if options.item_kind == "ids":
        return prompt, _item_with_id(row, "chosen"), _item_with_id(row, "rejected")
    if not isinstance(row.need("chosen"), list):
        return prompt, answer(_text(row, "chosen")), answer(_text(row, "rejected"))
    if not isinstance(row.need("rejected"), list):
        raise row.error("'chosen' and 'rejected' must both be texts or both be conversations")
    shared, chosen, rejected = split_conversations(read_messages(row, "chosen"), read_messages(row, "rejected"))
    if not chosen or not rejected:
        raise row.error("'chosen' and 'rejected' must have a message each")
    if shared and as_text(shared, USER) != prompt:
        prompt = as_text([*(as_messages(prompt, USER) if prompt else []), *shared], USER)
    return prompt, answer(as_text(chosen, ASSISTANT)), answer(as_text(rejected, ASSISTANT))


def _columns(row: FileRow, is_second: bool) -> JsonRecord:
    """Return the columns of a pair whose chosen item is the second one, or the first one."""
    chosen, rejected = ("right", "left") if is_second else ("left", "right")
    side = {"chosen": chosen, "rejected": rejected}.get(row.optional_text("shown_first"))
    scores = {chosen: row.number("score_chosen"), rejected: row.number("score_rejected")}
    return {
        "annotator": row.optional_text("judge") or None,
        "shown_first": side,
        "left_score": scores["left"],
        "right_score": scores["right"],
        f"{chosen}_model": row.optional_text("chosen_model") or None,
        f"{rejected}_model": row.optional_text("rejected_model") or None,
        **others(row, *_USED),
    }


def _text(row: FileRow, name: str) -> str:
    if isinstance(row.need(name), int):
        raise row.error(
            f"{name!r} must be a text; got {row.values[name]!r:.60}. If these are ids, pass item_kind='ids'"
        )
    return row.text(name)


def _item_with_id(row: FileRow, name: str) -> Item:
    value = row.need(name)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return Item(id=value if is_number else row.name(name))


def _margin(row: FileRow) -> float | None:
    """Return the margin by which the chosen text is better, from the scores if there is none; None without both."""
    margin = row.number("margin")
    name = "margin"
    if margin is None:
        chosen = row.number("score_chosen")
        rejected = row.number("score_rejected")
        if chosen is None or rejected is None:
            return None
        margin = chosen - rejected
        name = "score_chosen - score_rejected"
    if margin < 0:
        raise row.error(
            f"{name!r} must be at least 0, because chosen is the better one; got {margin:g}",
            "Swap chosen and rejected.",
        )
    return margin


def _differences(values: list[Any], positions: list[str], options: FormatOptions) -> ReadDifferences:
    """Return signed margins as differences; a preference without a margin is certain."""
    signs = np.array([sign for sign, _ in values], dtype=np.float64)
    margins = np.array([np.nan if margin is None else margin for _, margin in values], dtype=np.float64)
    most = options.max_margin
    if most is None:
        most = _recognised_max_margin(margins[~np.isnan(margins)])
    if not (np.isfinite(most) and most > 0):
        raise ValueError(f"max_margin must be above 0; got {most:g}.")
    too_large = np.flatnonzero(margins > most * (1 + 1e-6))
    if len(too_large):
        raise ValueError(
            f"{positions[too_large[0]]}: the margin {margins[too_large[0]]:g} is above {most:g}. "
            f"Pass a larger margin, such as max_margin={margins[too_large].max():g}."
        )
    strengths = np.where(np.isnan(margins), 1, np.minimum(margins / most, 1))
    note = "" if np.isnan(margins).all() else f"a margin of {most:g} means certainty"
    return ReadDifferences(signs * strengths + 0.0, note)  # -0 becomes 0


def _recognised_max_margin(margins: NDArray[np.float64]) -> float:
    largest = float(margins.max(initial=0))
    if largest <= 1:
        return 1.0
    if largest <= _MOST_POINTS and not np.any(margins % 1):
        return largest
    if _MOST_POINTS < largest <= 100:
        return 100.0
    raise ValueError(
        f"the margin that means certainty was not recognised; the largest margin is {largest:g}. "
        f"Pass it, such as max_margin={largest:g}."
    )


def _write(judgements: Iterable[Judgement], options: FormatOptions) -> Iterator[JsonRecord]:
    for judgement in judgements:
        is_second = judgement.value > 0
        sides = (judgement.left, judgement.right)
        better, worse = reversed(sides) if is_second else sides
        record = {
            **({"prompt": _written(judgement.prompt, USER, options)} if judgement.prompt else {}),
            "chosen": _written(text_of(better), ASSISTANT, options),
            "rejected": _written(text_of(worse), ASSISTANT, options),
            "margin": abs(judgement.value),
        }
        yield with_pair_columns(record, _written_columns(judgement, is_second))


def _written(text: Any, speaker: str, options: FormatOptions) -> Any:
    return as_messages(str(text), speaker) if options.chat else text


def _written_columns(judgement: Judgement, is_second: bool) -> JsonRecord:
    """Return the columns of a pair under the names that :func:`_columns` reads."""
    columns = dict(judgement.columns)
    chosen, rejected = ("right", "left") if is_second else ("left", "right")
    known = {
        "judge": columns.pop("annotator", None),
        "shown_first": {chosen: "chosen", rejected: "rejected"}.get(columns.pop("shown_first", "")),
        "score_chosen": columns.pop(f"{chosen}_score", None),
        "score_rejected": columns.pop(f"{rejected}_score", None),
        "chosen_model": columns.pop(f"{chosen}_model", None),
        "rejected_model": columns.pop(f"{rejected}_model", None),
    }
    return with_pair_columns({name: value for name, value in known.items() if value is not None}, columns)


TRL = ComparisonFormat(
    name="trl",
    summary="TRL and LLM judges: prompt, chosen, rejected; texts or chat; margin, or score_chosen and score_rejected",
    recognise=_is_trl,
    read=_read,
    write=_write,
    differences=_differences,
    reading_options=frozenset({"max_margin", "seed"}),
    item_kinds=("answers", "ids"),
    writing_options=frozenset({"chat"}),
)
