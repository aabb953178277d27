"""Plan the questions of a study: store them, replace those that nobody was asked, and keep equal pairs separate."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, select

from confdiff.labelling.schema import assignments, items, questions
from confdiff.labelling.settings import StudySettings

if TYPE_CHECKING:
    from confdiff.labelling.design import PlannedQuestion

Choice = Callable[["list[PlannedQuestion]", "list[PlannedQuestion]"], "list[PlannedQuestion]"]
"""``(questions that somebody was asked, questions that nobody was asked) -> questions instead of the latter``."""

_KINDS = ("random", "design", "repeat", "gold", "triangle", "same-class", "adaptive")
_BATCH = 5000


def planned_questions(settings: StudySettings, ids: Sequence[str]) -> "list[PlannedQuestion]":
    """Return the questions that the design of a study plans for its items."""
    from confdiff.labelling.design import design_pairs

    rows = {name: row for row, name in enumerate(ids)}
    plan = design_pairs(
        len(ids),
        pairs_per_item=settings.pairs_per_item,
        judges=settings.judges,
        design=settings.design,
        repeats=settings.repeats,
        reserve=settings.reserve,
        triangles=settings.triangles,
        same_class=settings.same_class,
        gold=tuple((rows[left], rows[right]) for left, right, _ in settings.gold),
        seed=settings.seed,
    )
    return check_questions(plan, len(ids))


def check_questions(plan: "Iterable[PlannedQuestion]", n_items: int) -> "list[PlannedQuestion]":
    """Check planned questions, and keep questions about one pair of a slot separate."""
    checked = list(plan)
    for question in checked:
        ends = (question.left, question.right)
        if not all(0 <= end < n_items for end in ends) or ends[0] == ends[1]:
            raise ValueError(f"questions must compare two of {n_items} items by their numbers; got {question!r}.")
        if question.kind not in _KINDS or question.question not in ("difference", "same") or question.slot < 0:
            raise ValueError(f"questions must have a valid kind, question and slot; got {question!r}.")
    return _separated(checked)


def _separated(plan: "list[PlannedQuestion]") -> "list[PlannedQuestion]":
    """Return the plan without a pair twice in a row in its slot: the later question moves back, or is left out."""
    by_slot: dict[int, list[PlannedQuestion]] = {}
    for question in plan:
        by_slot.setdefault(question.slot, []).append(question)
    return [question for slot in sorted(by_slot) for question in _separated_slot(by_slot[slot])]


def _separated_slot(plan: "list[PlannedQuestion]") -> "list[PlannedQuestion]":
    ordered: list[PlannedQuestion] = []
    waiting: list[PlannedQuestion] = []
    for question in plan:
        waiting.append(question)
        position = 0
        while position < len(waiting):
            if ordered and _ends(ordered[-1]) == _ends(waiting[position]):
                position += 1
                continue
            ordered.append(waiting.pop(position))
            position = 0
    return ordered


def _ends(question: "PlannedQuestion") -> frozenset[int]:
    return frozenset((question.left, question.right))


def insert_questions(connection: Connection, plan: "Sequence[PlannedQuestion]", *, first: int, n_items: int) -> None:
    """Insert planned questions, whose positions begin with ``first``."""
    rows = [
        {
            "position": first + k,
            "slot": question.slot,
            "left": question.left,
            "right": question.right,
            "pair": pair_number(question.left, question.right, n_items),
            "kind": question.kind,
            "asks": question.question,
            "answered": False,
        }
        for k, question in enumerate(plan)
    ]
    for start in range(0, len(rows), _BATCH):
        connection.execute(insert(questions), rows[start : start + _BATCH])


def pair_number(left: int, right: int, n_items: int) -> int:
    """Return one number for a pair of items in both orders.

    >>> pair_number(2, 1, 10) == pair_number(1, 2, 10) == 12
    True
    """
    return min(left, right) * n_items + max(left, right)


def replace_questions(connection: Connection, plan: "Iterable[PlannedQuestion]") -> None:
    """Replace the questions that nobody was ever asked."""
    n_items = connection.execute(select(func.count()).select_from(items)).scalar_one()
    checked = check_questions(plan, n_items)
    connection.execute(delete(questions).where(_was_never_asked()))
    last = connection.execute(select(func.max(questions.c.position))).scalar()
    insert_questions(connection, checked, first=0 if last is None else last + 1, n_items=n_items)


def _was_never_asked() -> ColumnElement[bool]:
    asked = exists().where(assignments.c.question == questions.c.id)
    return questions.c.holder.is_(None) & questions.c.answered.is_(False) & ~asked


def replace_free_questions(connection: Connection, choose: Choice) -> None:
    """Replace the questions that nobody was ever asked by a choice that depends on them and on the others."""
    connection.execute(select(questions.c.id).where(_was_never_asked()).with_for_update())  # nobody gets them now
    free = read_plan(connection, _was_never_asked())
    asked = read_plan(connection, ~_was_never_asked())
    replace_questions(connection, choose(asked, free))


def read_plan(connection: Connection, *conditions: ColumnElement[bool]) -> "list[PlannedQuestion]":
    """Return the planned questions that meet some conditions, in their order."""
    from confdiff.labelling.design import PlannedQuestion

    rows = connection.execute(select(questions).where(*conditions).order_by(questions.c.position)).all()
    return [
        PlannedQuestion(left=row.left, right=row.right, kind=row.kind, question=row.asks, slot=row.slot) for row in rows
    ]
