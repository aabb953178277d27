"""Verdicts of arenas: winners of two models, or labels such as A>>B, A>B and A=B of an LLM judge."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from confdiff.tabular.formats.comparison_format import (
    ComparisonFormat,
    FormatOptions,
    JsonRecord,
    others,
    with_pair_columns,
)
from confdiff.tabular.formats.conversations import ASSISTANT, USER, as_text, read_messages, split_conversations
from confdiff.tabular.formats.judgement import Judgement, Skipped, as_shown
from confdiff.tabular.formats.models import model_columns, model_of, sides_of_models
from confdiff.tabular.formats.rows import FileRow
from confdiff.tabular.formats.texts import text_of

_LABELS = {"A>>B": -1.0, "A>B": -0.5, "A=B": 0.0, "B>A": 0.5, "B>>A": 1.0, "A<B": 0.5, "A<<B": 1.0, "B=A": 0.0}
_WINNERS = {"model_a": -1.0, "model_b": 1.0, "tie": 0.0, "tie (bothbad)": 0.0, "both_bad": 0.0, "bothbad": 0.0}
_VERDICTS = ("verdict", "score", "winner")  # keys, the finest first
_SHOWN_FIRST = "shown_first"  # a key of records whose order is not that of the format
_ONE_HOT = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
_USED = (
    *("model_a", "model_b", "model", "baseline", "judge", "games", "prompt", _SHOWN_FIRST, *_ONE_HOT),
    *("response_a", "response_b", "conversation_a", "conversation_b"),
)
_EXPECTED = "one of A>>B, A>B, A=B, B>A and B>>A, or a winner: model_a, model_b, tie or tie (bothbad)"


def _is_arena(row: FileRow) -> bool:
    has_verdict = any(row.has(name) for name in (*_VERDICTS, *_ONE_HOT))
    return (row.has("model_a", "model_b") and has_verdict) or row.has("model", "games")


def _read(rows: Iterator[FileRow], options: FormatOptions) -> Iterator[Judgement | Skipped]:
    for row in rows:
        if "games" in row:
            yield from _games(row)
        else:
            yield _battle(row, options)


def _battle(row: FileRow, options: FormatOptions) -> Judgement | Skipped:
    key, verdict = _verdict(row)
    if not verdict:
        return Skipped("battles without a verdict")
    value = _value(row, verdict)
    prompt, texts = _texts(row)
    models = (row.optional_text("model_a"), row.optional_text("model_b"))
    left, right = sides_of_models(row, texts, models, options)
    columns = _present(
        annotator=row.optional_text("judge"),
        shown_first=row.values.get(_SHOWN_FIRST, "left"),
        verdict=verdict,
        **model_columns(models, left),
    )
    return Judgement(
        left=left,
        right=right,
        value=value,
        prompt=prompt,
        columns=with_pair_columns(columns, others(row, *_USED, key, *_repeating(row, value))),
    )


def _games(row: FileRow) -> Iterator[Judgement | Skipped]:
    """Yield the two games of a model and the baseline: in the first one the baseline is A, in the second one B."""
    model = row.name("model")
    baseline = row.optional_text("baseline") or "baseline"
    for number, value in enumerate(row.list_of("games", dict), 1):
        game = row.part(f"game {number}", value)
        verdict = game.optional_text("score")
        if not verdict:
            yield Skipped("games without a verdict")
            continue
        models = (baseline, model) if number % 2 else (model, baseline)
        left, right = sides_of_models(row, ("", ""), models, FormatOptions(item_kind="models"))
        yield Judgement(
            left=left,
            right=right,
            value=_value(game, verdict),
            prompt=row.optional_text("prompt"),
            columns={
                "annotator": row.optional_text("judge") or None,
                "shown_first": "left",
                "verdict": verdict,
                **others(row, *_USED),
                **others(game, "score"),
            },
        )


def _verdict(row: FileRow) -> tuple[str, str]:
    """Return the key and the text of the verdict of a row; empty without one."""
    texts = {name: str(row.values[name]) for name in _VERDICTS if name in row}
    for name, text in texts.items():
        if _value_of(text) is not None:
            return name, text
    winner = next((winner for name, winner in _ONE_HOT.items() if row.number(name)), "")
    return next(iter(texts.items()), ("winner", winner))


def _repeating(row: FileRow, value: float) -> list[str]:
    """Return the keys of verdicts that are those of a finer one, or are empty."""
    return [
        name for name in _VERDICTS if name not in row or _value_of(str(row.values[name])) == (value > 0) - (value < 0)
    ]


def _value(row: FileRow, verdict: str) -> float:
    value = _value_of(verdict)
    if value is None:
        raise row.error(f"the verdict must be {_EXPECTED}; got {verdict!r:.60}")
    return value


def _value_of(verdict: str) -> float | None:
    """Return the difference that a label or a winner means."""
    label = re.sub(r"[\[\]\s]", "", verdict).upper()
    return _LABELS.get(label, _WINNERS.get(verdict.strip().lower()))


def _texts(row: FileRow) -> tuple[str, tuple[str, str]]:
    """Return the prompt and the two answers of a battle; empty where there are none."""
    if isinstance(row.values.get("conversation_a"), list):
        pair = (read_messages(row, "conversation_a"), read_messages(row, "conversation_b"))
        shared, left, right = split_conversations(*pair)
        prompt = as_text(shared, USER) if shared else row.optional_text("prompt")
        return prompt, (as_text(left, ASSISTANT), as_text(right, ASSISTANT))
    return row.optional_text("prompt"), (row.optional_text("response_a"), row.optional_text("response_b"))


def _write(judgements: Iterable[Judgement], options: FormatOptions) -> Iterator[JsonRecord]:
    for judgement in map(as_shown, judgements):
        columns = dict(judgement.columns)
        record: JsonRecord = {
            "model_a": model_of(judgement.left, columns, "left_model"),
            "model_b": model_of(judgement.right, columns, "right_model"),
            **_written_verdict(judgement.value, _popped_verdict(columns)),
        }
        if judgement.left.values:
            record |= {"response_a": text_of(judgement.left), "response_b": text_of(judgement.right)}
        if columns.pop("shown_first", None) is None:
            record[_SHOWN_FIRST] = None  # it is not known, although the format states one
        record |= _present(prompt=judgement.prompt, judge=columns.pop("annotator", None))
        yield with_pair_columns(record, columns)


def _present(**values: Any) -> JsonRecord:
    return {name: value for name, value in values.items() if value}


def _popped_verdict(columns: JsonRecord) -> str | None:
    """Remove a verdict from the columns, and return it; other values of a column of that name remain."""
    verdict = str(columns.get("verdict", ""))
    return None if _value_of(verdict) is None else str(columns.pop("verdict"))


def _written_verdict(value: float, verdict: str | None) -> JsonRecord:
    """Return the winner of a difference, and its label; a verdict that was read is kept if it means the same."""
    winner = "tie" if value == 0 else "model_a" if value < 0 else "model_b"
    if verdict is not None and _value_of(verdict) == value:
        is_winner = verdict.strip().lower() in _WINNERS
        return {"winner": verdict} if is_winner else {"winner": winner, "verdict": verdict}
    label = min(list(_LABELS)[:5], key=lambda name: abs(_LABELS[name] - value))
    return {"winner": winner, "verdict": label}


ARENA = ComparisonFormat(
    name="arena",
    summary="arena verdicts: model_a, model_b; winner (model_a, model_b, tie) or a label (A>>B, A>B, A=B); Arena-Hard",
    recognise=_is_arena,
    read=_read,
    write=_write,
    points=2,
    item_kinds=("answers", "models"),
)
