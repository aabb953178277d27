"""Label Studio: exported annotations in; tasks and a labelling configuration out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.tabular.formats.comparison_format import (
    ComparisonFormat,
    FormatOptions,
    JsonRecord,
    ReadDifferences,
    others,
    with_pair_columns,
)
from confdiff.tabular.formats.judgement import PROMPT, Item, Judgement, Skipped, as_shown
from confdiff.tabular.formats.label_studio_config import WORDS, kind_of_text, labelling_config
from confdiff.tabular.formats.rows import FileRow
from confdiff.tabular.notation import normal_word
from confdiff.tabular.scales import Scale, parse_scale, possible_scales, recognise_scale

_TYPES = ("choices", "pairwise")  # of results that compare
_SELECTED = {"left": -1.0, "right": 1.0}
_NUMBERED = ("text", "answer", "response", "item", "image", "audio")  # such as text1 and text2, or image_a and image_b
_ENDS = (("1", "2"), ("_1", "_2"), ("_a", "_b"))
_SIDES = (
    ("left", "right"),
    ("first", "second"),
    ("a", "b"),
    *((name + end, name + other) for name in _NUMBERED for end, other in _ENDS),
)
_ANSWERS = ("choices", "selected", "text", "rating", "number", "datetime")  # keys of the values of results
_OF_JUDGEMENTS = ("annotator", "time", "seconds", "same", "shown_first")  # columns that tasks do not have
_PROMPTS = (PROMPT, "question", "instruction")


def _is_label_studio(row: FileRow) -> bool:
    return row.has("data", "annotations")


def _read(rows: Iterator[FileRow], options: FormatOptions) -> Iterator[Judgement | Skipped]:
    for row in rows:
        data = row.part("'data'", row.need("data"))
        annotations = row.list_of("annotations", dict)
        if not annotations:
            yield Skipped("tasks without annotations")
        for number, value in enumerate(annotations, 1):
            annotation = row.part(f"annotation {number}", value)
            yield _skipped(annotation) or _judgement(data, annotation, options)


def _skipped(annotation: FileRow) -> Skipped | None:
    if annotation.values.get("was_cancelled"):
        return Skipped("cancelled annotations")
    if not any(result.get("type") in _TYPES for result in annotation.list_of("result", dict)):
        return Skipped("annotations without a choice")
    return None


def _judgement(data: FileRow, annotation: FileRow, options: FormatOptions) -> Judgement:
    left, right = _sides(data, options)
    prompt = next((name for name in _PROMPTS if name in data and name not in (left, right)), "")
    return Judgement(
        left=_item(data, left),
        right=_item(data, right),
        value=_choice(annotation, options),
        prompt=data.optional_text(prompt) if prompt else "",
        columns={
            "annotator": _annotator(annotation),
            "shown_first": "left",
            "time": annotation.optional_text("created_at") or None,
            "seconds": annotation.number("lead_time"),
            **others(data, left, right, f"{left}_id", f"{right}_id", PROMPT, prompt),
            **_other_answers(annotation, options),
        },
    )


def _sides(data: FileRow, options: FormatOptions) -> tuple[str, str]:
    """Return the keys of both items in the data of a task."""
    if options.left is not None and options.right is not None:
        return options.left, options.right
    if options.left is not None or options.right is not None:
        raise ValueError("left='...' and right='...' belong together: pass both, or neither.")
    for sides in _SIDES:
        if data.has(*sides):
            return sides
    raise data.error(
        f"the two items are not recognised; the keys are {listed(map(repr, data.values))}",
        "Name them with left='...' and right='...'.",
    )


def _item(data: FileRow, name: str) -> Item:
    """Return an item: a text, an address of media, or a table row, with its id if the task has one."""
    value = data.need(name)
    values = value if isinstance(value, dict) else {kind_of_text([value]): data.text(name)}
    return Item(values=values, id=_id(data, f"{name}_id"))


def _id(data: FileRow, name: str) -> str | int | None:
    """Return the id of an item; None if the task has none."""
    if name not in data:
        return None
    value = data.values[name]
    if type(value) is int:
        return value
    return data.name(name)


def _other_answers(annotation: FileRow, options: FormatOptions) -> dict[str, Any]:
    """Return the answers to other questions, such as comments, by their names."""
    answers: dict[str, Any] = {}
    for number, value in enumerate(annotation.list_of("result", dict), 1):
        result = annotation.part(f"result {number}", value)
        name = result.optional_text("from_name")
        is_other = result.values.get("type") not in _TYPES or options.difference not in (None, name)
        if is_other and name:
            answers[name] = _answer(result)
    return answers


def _answer(result: FileRow) -> Any:
    """Return an answer as a cell: a number, or texts in one; otherwise as it is."""
    value = result.part("'value'", result.values.get("value") or {})
    cell = next((value.values[key] for key in _ANSWERS if key in value), None)
    if isinstance(cell, list) and all(isinstance(text, str) for text in cell):
        cell = "\n".join(cell)
    return result.encodable("'value'", cell) if isinstance(cell, str) else cell


def _choice(annotation: FileRow, options: FormatOptions) -> float | str:
    """Return -1 or 1 for a selected side, or the text of a choice."""
    results = [
        annotation.part(f"result {number}", value)
        for number, value in enumerate(annotation.list_of("result", dict), 1)
        if value.get("type") in _TYPES and options.difference in (None, value.get("from_name"))
    ]
    names = {str(result.values.get("from_name")) for result in results}
    if len(names) != 1:
        raise annotation.error(
            f"there must be one question; got {listed(sorted(names)) or 'none of this name'}",
            "Name it with difference='...'.",
        )
    result = results[-1]
    value = result.part("'value'", result.need("value"))
    if result.values["type"] == "pairwise":
        return _selected(value)
    choices = value.list_of("choices", str)
    if len(choices) != 1:
        raise value.error(f"'choices' must be one choice; got {choices!r:.60}")
    return choices[0]


def _selected(value: FileRow) -> float:
    side = value.values.get("selected")
    if side not in _SELECTED:
        raise value.error(f"'selected' must be 'left' or 'right'; got {side!r:.60}")
    return _SELECTED[side]


def _annotator(annotation: FileRow) -> str | None:
    """Return who annotated: a number, or the address or the number of an object."""
    who = annotation.values.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    return None if who is None else annotation.encodable("'completed_by'", str(who))


def _differences(values: list[Any], positions: list[str], options: FormatOptions) -> ReadDifferences:
    """Return sides and choices as differences; choices are words or numbers of one scale."""
    differences = np.array([value if isinstance(value, float) else np.nan for value in values])
    rows = np.flatnonzero(np.isnan(differences))
    if not len(rows):
        return ReadDifferences(differences)
    choices = [values[row] for row in rows]
    scale = _scale(choices, options)
    points = _points(choices, [positions[row] for row in rows], scale)
    outside = np.flatnonzero(scale.is_outside(points))
    if len(outside):
        raise ValueError(
            f"{positions[rows[outside[0]]]}: the choice {choices[outside[0]]!r} is outside {scale.name}. "
            "Pass scale=(low, high) with the ends of the scale."
        )
    differences[rows] = scale.differences(points).clip(-1, 1) + 0.0
    return ReadDifferences(differences, f"the choices are {scale.name}")


def _scale(choices: list[str], options: FormatOptions) -> Scale:
    """Return the scale that was given, that of the configuration that confdiff writes, or one of numbers."""
    if options.scale is not None:
        return parse_scale(options.scale)
    if {normal_word(choice) for choice in choices} <= set(WORDS):
        return parse_scale(WORDS)
    numbers = [number for number in map(_as_float, choices) if number is not None]
    if len(numbers) < len(choices):
        words = listed(dict.fromkeys(map(repr, choices)))
        raise ValueError(
            f"the choices {words} have no known order. Pass them in their order, such as "
            "scale='lowest,middle,highest'. The lowest one favours the left item most."
        )
    scale = recognise_scale(numbers)
    if scale is None:
        raise ValueError(f"the scale of the choices is not certain. Pass {possible_scales(numbers)}.")
    return scale


def _points(choices: list[str], positions: list[str], scale: Scale) -> NDArray[np.float64]:
    words = {normal_word(word): float(number) for number, word in enumerate(scale.words)}
    points = [words.get(normal_word(choice)) if words else _as_float(choice) for choice in choices]
    for point, choice, position in zip(points, choices, positions, strict=True):
        if point is None:
            expected = f"one of {listed(map(repr, scale.words))}" if words else "a number"
            raise ValueError(f"{position}: the choice must be {expected}; got {choice!r:.60}.")
    return np.array(points, dtype=np.float64)


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _write(judgements: Iterable[Judgement], options: FormatOptions) -> Iterator[JsonRecord]:
    """Yield one task per pair, with the item that is shown first on the left.

    Further judgements of a pair are the same question.
    """
    written = set()
    for judgement in map(as_shown, judgements):
        pair = (judgement.left.id, judgement.right.id, judgement.prompt)
        if pair in written:
            continue
        written.add(pair)
        data = {
            "left": _shown(judgement.left),
            "right": _shown(judgement.right),
            "left_id": judgement.left.id,
            "right_id": judgement.right.id,
            PROMPT: judgement.prompt,
        }
        columns = {name: cell for name, cell in judgement.columns.items() if name not in _OF_JUDGEMENTS}
        yield {"data": with_pair_columns(data, columns)}


def _shown(item: Item) -> Any:
    """Return an item as the page shows it: its text, its picture or its sound, or all columns as a table."""
    values = {name: value for name, value in item.values.items() if name != PROMPT}
    if not values:
        return str(item.id)
    only = next(iter(values.values()))
    return only if len(values) == 1 and isinstance(only, str) and kind_of_text([only]) in values else values


LABEL_STUDIO = ComparisonFormat(
    name="label-studio",
    summary="Label Studio: exported annotations (choices, pairwise) in; tasks and a labelling configuration out",
    recognise=_is_label_studio,
    read=_read,
    write=_write,
    differences=_differences,
    reading_options=frozenset({"left", "right", "difference", "scale"}),
    writing_options=frozenset({"question"}),
    needs_differences=False,
    companion=labelling_config,
)
