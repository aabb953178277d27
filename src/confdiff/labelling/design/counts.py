"""Numbers of questions of each kind."""

from dataclasses import dataclass

from confdiff.labelling.design.pair_keys import number_of_pairs


@dataclass(frozen=True)
class QuestionCounts:
    """How many questions of each kind are asked, and about how many different pairs.

    Attributes
    ----------
    design, triangles, reserve, same_class : int
        Questions of these kinds.
    shared : int
        Further questions about pairs of the design, asked of a second annotator.
    repeats : int
        Repeated questions, asked of the same annotator.
    pairs : dict of str to int
        Kind of question -> number of different pairs. No pair has two kinds.
    """

    design: int
    triangles: int
    reserve: int
    same_class: int
    shared: int
    repeats: int
    pairs: dict[str, int]


def count_questions(
    n_items: int, total: int, judges: int, *, fractions: dict[str, float], connected: bool
) -> QuestionCounts:
    """Divide a number of questions among the kinds.

    Parameters
    ----------
    n_items, total, judges : int
        Numbers of items, questions and annotators.
    fractions : dict of str to float
        Fractions of ``triangle``, ``random``, ``same-class``, ``shared`` and ``repeat``; the rest is the design.
    connected : bool
        Whether the design gets at least ``n_items - 1`` pairs if pairs are scarce.

    Returns
    -------
    QuestionCounts
    """
    asked = {kind: round(fraction * total) for kind, fraction in fractions.items()}
    shared = asked.pop("shared") * (judges > 1)
    repeats = asked.pop("repeat")
    asked["design"] = total - shared - repeats - sum(asked[kind] for kind in ("triangle", "random", "same-class"))
    existing = number_of_pairs(n_items)
    if sum(asked.values()) > existing:
        asked["design"] += shared
        shared = 0
    pairs = _different_pairs(asked, existing, n_items - 1 if connected else 1)
    limited = {kind: min(number, pairs[kind] * judges) for kind, number in asked.items()}
    for kind in ("design", "triangle", "random"):
        missing = sum(asked.values()) - sum(limited.values())
        limited[kind] = min(limited[kind] + missing, pairs[kind] * judges)
    return QuestionCounts(
        design=limited["design"],
        triangles=limited["triangle"],
        reserve=limited["random"],
        same_class=limited["same-class"],
        shared=min(shared, pairs["design"]),
        repeats=repeats,
        pairs=pairs,
    )


def _different_pairs(asked: dict[str, int], existing: int, least_design: int) -> dict[str, int]:
    """Return how many different pairs each kind gets; where they are scarce, pairs are asked of several annotators."""
    rounds = -(-sum(asked.values()) // existing)
    if rounds <= 1:
        return dict(asked)
    pairs = {}
    free = existing - min(existing, least_design)
    for kind in ("random", "same-class", "triangle"):
        pairs[kind] = min(-(-asked[kind] // rounds), free)
        free -= pairs[kind]
    pairs["design"] = min(existing - sum(pairs.values()), asked["design"])
    return pairs
