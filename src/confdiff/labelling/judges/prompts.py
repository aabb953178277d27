"""Prompts: the question of a study about two items, as messages of a chat."""

import hashlib
from typing import TYPE_CHECKING

from confdiff.labelling.app.items_view import cell_text, columns_of
from confdiff.labelling.app.texts import page_texts
from confdiff.labelling.judges.reply_scale import REPLY_FORM, ReplyScale, reply_scales
from confdiff.labelling.judges.templates import Message, filled, uses

if TYPE_CHECKING:
    from confdiff.labelling.study import Study

_Cells = dict[str, str]


class Prompts:
    """The prompts of one judge.

    Parameters
    ----------
    study : Study
        The study.
    template : str
        A template that :func:`~confdiff.labelling.judges.templates.check_template` accepts.

    Raises
    ------
    ValueError
        If the study shows images or sounds.
    """

    def __init__(self, study: "Study", template: str) -> None:
        self.scales = reply_scales(study.settings)
        self._study = study
        self._template = template
        self._columns = _text_columns(study)
        self._questions = {
            "difference": study.settings.question,
            "same": study.settings.same_question or page_texts(study.settings.language)["same"]["question"],
        }

    def scale(self, asks: str) -> ReplyScale:
        """Return the scale of a kind of question."""
        return self.scales[asks]

    def messages(self, first: int, second: int, asks: str) -> list[Message]:
        """Return the prompt about two items, by their numbers, in this order."""
        cells = [self._cells(number) for number in (first, second)]
        shared = self._shared(cells[0], cells[1])
        marks = _mark(cells)
        values = {
            "question": self._questions[asks],
            "instructions": self._study.settings.instructions.strip(),
            "scale": self.scales[asks].text(),
            "reply": REPLY_FORM,
            "shared": _delimited("shared", marks, shared) if shared else "",
        }
        for name, own in zip(("first", "second"), cells, strict=True):
            values[name] = _delimited(name, marks, {column: own[column] for column in own if column not in shared})
        return filled(self._template, values)

    def _cells(self, number: int) -> _Cells:
        item = self._study.item(number)
        return {column: cell_text(item.get(column)) for column in self._columns}

    def _shared(self, first: _Cells, second: _Cells) -> _Cells:
        """Return the cells that both items share, unless the template cannot show them, or nothing else remains."""
        equal = {column: text for column, text in first.items() if text == second[column]}
        return equal if uses(self._template, "shared") and len(equal) < len(first) else {}


def _text_columns(study: "Study") -> list[str]:
    for column, kind in columns_of(study):
        if kind in ("image", "audio"):
            raise ValueError(
                f"LLM judges read texts and numbers; the study shows the column {column!r}, which holds files of "
                f"kind {kind}."
            )
    return [column for column, _ in columns_of(study)]


def _mark(cells: list[_Cells]) -> str:
    """Return a mark that an item cannot contain on purpose, because it depends on both items; equal in both orders."""
    texts = sorted("\0".join(own.values()) for own in cells)
    return hashlib.sha256("\0\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _delimited(name: str, mark: str, cells: _Cells) -> str:
    """Return cells between two lines that mark their beginning and their end."""
    texts = cells.values() if len(cells) == 1 else (f"{column}: {text}" for column, text in cells.items())
    body = "\n".join(texts)
    return f"<{name} {mark}>\n{body}\n</{name} {mark}>"
