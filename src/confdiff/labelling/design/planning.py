"""Plan all questions of a study."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.design.balanced import balanced_pairs, extended_pairs
from confdiff.labelling.design.counts import QuestionCounts, count_questions
from confdiff.labelling.design.pair_keys import number_of_pairs, pair_keys, turned_at_random
from confdiff.labelling.design.questions import PairDesign, PlannedQuestion
from confdiff.labelling.design.random_pairs import random_pairs
from confdiff.labelling.design.repeats import planned_repeats
from confdiff.labelling.design.spreading import (
    copies_for_others,
    positions_in_slots,
    shared_questions,
    slots_in_blocks,
)
from confdiff.labelling.design.triangles import closing_pairs
from confdiff.randomness import derived_seed
from confdiff.validation import check_choice

_DESIGNS = ("balanced", "random", "uncertain")

_Ints = NDArray[np.int64]


def design_pairs(n_items: int, **options: Any) -> list[PlannedQuestion]:
    """Plan the questions of a study, in the order of asking within each slot.

    Parameters
    ----------
    n_items : int
        Number of items.
    **options
        As in :func:`plan_design`.

    Returns
    -------
    list of PlannedQuestion

    Examples
    --------
    >>> questions = design_pairs(30, pairs_per_item=4, judges=2)
    >>> len(questions), questions[0].kind, {question.slot for question in questions}
    (60, 'design', {0, 1})
    """
    return plan_design(n_items, **options).questions()


def plan_design(
    n_items: int,
    *,
    pairs_per_item: float = 10.0,
    judges: int = 5,
    design: str = "balanced",
    repeats: float = 0.08,
    reserve: float = 0.12,
    triangles: float = 0.10,
    same_class: float = 0.0,
    shared: float = 0.05,
    gold: Sequence[tuple[Any, ...]] = (),
    groups: Any = None,
    seed: int = 0,
) -> PairDesign:
    """Plan the questions of a study, as columns.

    The fractions are fractions of all questions; what remains is the design. No pair has two kinds. A pair is asked
    once, unless it is shared, repeated, gold, or there are fewer pairs than questions. In that case pairs are asked of
    several annotators.

    Parameters
    ----------
    n_items : int
        Number of items, at least 2.
    pairs_per_item : float, default=10
        How often an item is asked about on average: there are ``n_items * pairs_per_item / 2`` questions, and the gold
        questions.
    judges : int, default=5
        Number of annotators that the questions are spread over.
    design : {"balanced", "random", "uncertain"}, default="balanced"
        ``"balanced"`` connects all items and asks about each equally often; ``"random"`` draws pairs uniformly.
        ``"uncertain"`` starts with the balanced plan; a study plans its second half again while answers come in.
    repeats : float, default=0.08
        Fraction of repeats: the same annotator, later, items the other way round.
    reserve : float, default=0.12
        Fraction of purely random pairs (kind ``"random"``). Report quality on these only.
    triangles : float, default=0.1
        Fraction of pairs that close triangles.
    same_class : float, default=0
        Fraction of questions whether both items are of the same class, about purely random pairs.
    shared : float, default=0.05
        Fraction of questions that repeat a pair of the design with another annotator, so that scales can be compared.
    gold : sequence of tuple, default=()
        Pairs ``(left, right, ...)`` of item numbers that every annotator is asked.
    groups : array-like, shape (n_items,), optional
        Group of each item. Most pairs of the design are within a group; groups are connected with each other.
    seed : int, default=0
        Seed of all random numbers.

    Returns
    -------
    PairDesign

    Raises
    ------
    ValueError
        If a value is out of range.

    Examples
    --------
    >>> plan = plan_design(100, seed=1)
    >>> kinds, counts = np.unique(plan.kind, return_counts=True)
    >>> dict(zip(kinds.tolist(), counts.tolist()))
    {'design': 350, 'random': 60, 'repeat': 40, 'triangle': 50}
    """
    fractions = {
        "triangle": triangles,
        "random": reserve,
        "same-class": same_class,
        "shared": shared,
        "repeat": repeats,
    }
    _check_options(n_items, pairs_per_item, judges, design, fractions)
    gold_pairs = _gold_pairs(gold, n_items)
    group_numbers = _group_numbers(groups, n_items)
    total = min(round(n_items * pairs_per_item / 2), number_of_pairs(n_items) * judges)
    counts = count_questions(n_items, max(total, 1), judges, fractions=fractions, connected=design != "random")

    def rng_of(step: str) -> np.random.Generator:
        return np.random.default_rng(derived_seed(seed, "pair design", step))

    pairs = _pairs_by_kind(n_items, counts, design, group_numbers, gold_pairs, rng_of)
    return _ordered(n_items, pairs, counts, gold_pairs, judges, rng_of)


def _check_options(n_items: int, pairs_per_item: float, judges: int, design: str, fractions: dict[str, float]) -> None:
    if n_items < 2:
        raise ValueError(f"a design needs at least 2 items, got {n_items}")
    if not 0 < pairs_per_item < np.inf:
        raise ValueError(f"pairs_per_item must be a positive number, got {pairs_per_item}")
    if judges < 1:
        raise ValueError(f"judges must be at least 1, got {judges}")
    check_choice("design", design, _DESIGNS)
    names = {"triangle": "triangles", "random": "reserve", "same-class": "same_class", "repeat": "repeats"}
    for kind, fraction in fractions.items():
        if not 0 <= fraction < 1:
            raise ValueError(f"{names.get(kind, kind)} must be a fraction from 0 to below 1, got {fraction}")
    if sum(fractions.values()) > 0.9:
        listed = ", ".join(f"{names.get(kind, kind)} {fraction:.0%}" for kind, fraction in fractions.items())
        raise ValueError(f"at least 10% of the questions must be left for the design; got {listed}.")


def _gold_pairs(gold: Sequence[tuple[Any, ...]], n_items: int) -> _Ints:
    pairs = np.array([pair[:2] for pair in gold], dtype=np.int64).reshape(-1, 2)
    if len(pairs) and (pairs.min() < 0 or pairs.max() >= n_items):
        raise ValueError(f"gold pairs must have item numbers from 0 to {n_items - 1}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError("a gold pair must have two different items")
    if len(np.unique(pair_keys(pairs, n_items))) < len(pairs):
        raise ValueError("a gold pair occurs twice; list each pair once")
    return pairs


def _group_numbers(groups: Any, n_items: int) -> _Ints | None:
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_items,):
        raise ValueError(f"groups must have one value per item ({n_items}), got an array of shape {values.shape}")
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _pairs_by_kind(
    n_items: int,
    counts: QuestionCounts,
    design: str,
    groups: _Ints | None,
    gold_pairs: _Ints,
    rng_of: Callable[[str], np.random.Generator],
) -> dict[str, _Ints]:
    """Return the different pairs of each kind, those of the design in the order of asking."""
    designed, closing = _designed_pairs(n_items, counts, design, groups, rng_of)
    pairs = {"design": designed, "triangle": closing}
    taken = pair_keys(np.concatenate([designed, closing, gold_pairs]), n_items)
    for kind in ("random", "same-class"):
        free = number_of_pairs(n_items) - len(np.unique(taken))
        drawn = random_pairs(n_items, min(counts.pairs[kind], free), rng_of(kind), taken)
        pairs[kind] = drawn
        taken = np.concatenate([taken, pair_keys(drawn, n_items)])
    return {kind: turned_at_random(drawn, rng_of(f"order in {kind}")) for kind, drawn in pairs.items()}


def _designed_pairs(
    n_items: int,
    counts: QuestionCounts,
    design: str,
    groups: _Ints | None,
    rng_of: Callable[[str], np.random.Generator],
) -> tuple[_Ints, _Ints]:
    """Return the pairs of the design, and the pairs that close triangles of them."""
    n_design = counts.pairs["design"]
    n_closing = counts.pairs["triangle"]
    if design == "random":
        designed = random_pairs(n_items, n_design, rng_of("design"), np.empty(0, dtype=np.int64))
        return designed, _closing_pairs(designed, n_items, n_closing, rng_of("triangles"))
    if n_closing == 0 or 2 * (n_design + n_closing) > number_of_pairs(n_items):
        both = balanced_pairs(n_items, n_design + n_closing, rng_of("design"), groups)
        return both[:n_design], both[n_design:]
    n_first = max(min(n_design, n_items - 1), n_design // 2)
    first = balanced_pairs(n_items, n_first, rng_of("design"), groups)
    closing = _closing_pairs(first, n_items, n_closing, rng_of("triangles"))
    before = np.concatenate([first, closing])
    rest = extended_pairs(before, n_items, n_design - n_first, rng_of("rest of the design"), groups)
    return np.concatenate([first, rest]), closing


def _closing_pairs(pairs: _Ints, n_items: int, count: int, rng: np.random.Generator) -> _Ints:
    """Return pairs that close triangles, filled up with least-seen pairs if there are too few triangles."""
    closing = closing_pairs(pairs, n_items, count, rng)
    before = np.concatenate([pairs, closing])
    return np.concatenate([closing, extended_pairs(before, n_items, count - len(closing), rng)])


def _ordered(
    n_items: int,
    pairs: dict[str, _Ints],
    counts: QuestionCounts,
    gold_pairs: _Ints,
    judges: int,
    rng_of: Callable[[str], np.random.Generator],
) -> PairDesign:
    """Give every question a slot and a time, add shared, gold and repeated questions, and sort by time."""
    rng = rng_of("spreading")
    asked = {"design": counts.design, "triangle": counts.triangles, "random": counts.reserve}
    parts = []
    for kind, count in (asked | {"same-class": counts.same_class}).items():
        drawn = pairs[kind]
        slots = slots_in_blocks(len(drawn), judges, rng)
        numbers, copied_slots = copies_for_others(min(count, len(drawn) * judges), len(drawn), slots, judges)
        times = (np.arange(len(numbers)) + 0.5) / max(len(numbers), 1)
        parts.append((drawn[numbers], kind, copied_slots, times if kind == "design" else rng.random(len(numbers))))
        if kind == "design":
            chosen, others = shared_questions(counts.shared, copied_slots, judges, rng)
            parts.append((drawn[chosen], kind, others, times[chosen]))
    gold_numbers = np.tile(np.arange(len(gold_pairs)), judges)
    gold_slots = np.repeat(np.arange(judges), len(gold_pairs))
    parts.append((gold_pairs[gold_numbers], "gold", gold_slots, rng.random(len(gold_numbers))))
    plan = _without_doubles(_joined(parts), n_items)
    return _with_repeats(plan, counts.repeats, judges, rng)


def _joined(parts: list[tuple[_Ints, str, _Ints, NDArray[np.float64]]]) -> PairDesign:
    """Return all parts as one design, sorted by position within the slot, then by slot."""
    drawn = np.concatenate([part[0] for part in parts])
    kinds = np.concatenate([np.full(len(part[0]), part[1]) for part in parts])
    slots = np.concatenate([part[2] for part in parts])
    times = np.concatenate([part[3] for part in parts])
    order = np.lexsort([slots, positions_in_slots(times, slots)])
    return PairDesign(left=drawn[order, 0], right=drawn[order, 1], kind=kinds[order], slot=slots[order])


def _without_doubles(plan: PairDesign, n_items: int) -> PairDesign:
    """Drop questions about a pair that the same annotator is asked already; a gold question wins."""
    keys = pair_keys(np.stack([plan.left, plan.right], axis=1), n_items)
    order = np.lexsort([plan.kind != "gold", keys, plan.slot])
    first = np.ones(len(plan), dtype=bool)
    first[order[1:]] = (np.diff(keys[order]) != 0) | (np.diff(plan.slot[order]) != 0)
    return PairDesign(left=plan.left[first], right=plan.right[first], kind=plan.kind[first], slot=plan.slot[first])


def _with_repeats(plan: PairDesign, count: int, judges: int, rng: np.random.Generator) -> PairDesign:
    positions = positions_in_slots(np.arange(len(plan), dtype=np.float64), plan.slot)
    repeatable = np.isin(plan.kind, ["design", "triangle"])
    numbers, times = planned_repeats(count, positions, plan.slot, repeatable, judges, rng)
    originals = np.stack([plan.left, plan.right], axis=1)
    first = [
        (originals[plan.kind == kind], kind, plan.slot[plan.kind == kind], positions[plan.kind == kind].astype(float))
        for kind in np.unique(plan.kind).tolist()
    ]
    return _joined([*first, (originals[numbers, ::-1], "repeat", plan.slot[numbers], times)])
