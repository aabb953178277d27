"""Give columns their roles by name: the ids of items; left, right, difference and others of pairs."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from confdiff.display.text import listed
from confdiff.tabular.row_numbers import TableSource
from confdiff.validation import check_choice

ID = ("id", "item", "item_id", "name", "key")
"""The lower-case names by which a column of ids of the items is recognised."""

WINNER = ("winner", "winner_id", "preferred")
"""The lower-case names by which a column of the favoured items is recognised."""

LOSER = ("loser", "loser_id")
"""The lower-case names by which a column of the less favoured items is recognised."""

ROLES = {
    "left": ("left", "first", "a", "item_a", "item1", "item_1", "id1", "x", *LOSER),
    "right": ("right", "second", "b", "item_b", "item2", "item_2", "id2", "x_prime", *WINNER),
    "difference": ("difference", "c", "diff", "rating", "judgement", "judgment", "strength", "preference"),
    "same": ("same", "same_class"),
    "weight": ("weight", "w"),
    "annotator": ("annotator", "annotator_id", "rater", "judge", "worker", "assessor"),
    "time": ("time", "timestamp", "date"),
    "group": ("group", "topic", "query", "prompt", "session"),
    "shown_first": ("shown_first",),
    "winner": WINNER,
    "tie": ("tie", "is_tie", "draw"),
}
"""The roles of columns of pairs, each with the lower-case names by which its column is recognised."""

NEEDED = ("left", "right", "difference")
"""The roles that every table of pairs must have; a winner or a same-class answer may replace the difference."""

OF_WINNERS = ("winner", "tie")
"""The roles of columns that are recognised only in tables without a difference."""


def pair_roles(source: TableSource, names: Collection[str], chosen: Mapping[str, str | None]) -> dict[str, str]:
    """Return role -> column of the pairs, for the roles that are needed, chosen or recognised.

    Parameters
    ----------
    source
        The table of the pairs, for messages.
    names
        Its columns.
    chosen
        Role -> the column that the user named, or None.

    Raises
    ------
    ValueError
        A role is unknown, its column is missing, or one column has two roles.
    """
    check_roles(chosen)
    roles: dict[str, str] = {}
    for role, column in chosen.items():
        if column is not None:
            roles[role] = check_column(source, names, column, role)
    _check_one_role_each(source, roles)
    for role, usual in ROLES.items():
        if role in roles or (role in OF_WINNERS and "difference" in roles):
            continue
        column = recognised([name for name in names if name not in roles.values()], usual)
        if column is not None:
            roles[role] = column
        elif role in ("left", "right"):
            raise _no_column(source, names, role, roles)
    if not ({"difference", "winner", "same"} & set(roles) or wins_by_position(roles)):
        raise _no_column(source, names, "difference", roles)
    return {role: roles[role] for role in ROLES if role in roles}


def wins_by_position(roles: Mapping[str, str]) -> bool:
    """Return whether the two items of a pair are the loser and the winner, by the names of their columns.

    >>> wins_by_position({"left": "Loser", "right": "Winner"})
    True
    """
    return _is_usual(roles.get("left"), LOSER) and _is_usual(roles.get("right"), WINNER)


def _is_usual(name: str | None, usual: Iterable[str]) -> bool:
    return name is not None and name.lower().strip() in usual


def check_roles(chosen: Iterable[str]) -> None:
    """Check that all roles exist."""
    for role in chosen:
        check_choice("role of a column", role, ROLES)


def _check_one_role_each(source: TableSource, roles: Mapping[str, str]) -> None:
    repeated = [column for column, count in Counter(roles.values()).items() if count > 1]
    if repeated:
        arguments = " and ".join(f"{role}={column!r}" for role, column in roles.items() if column == repeated[0])
        raise ValueError(f"{source}: one column cannot have two roles; got {arguments}.")


def _no_column(source: TableSource, names: Iterable[str], role: str, roles: Mapping[str, str]) -> ValueError:
    """Return the error for a role without a column; it says if a column with a usual name has another role."""
    taken = [f"{other}={column!r}" for other, column in roles.items() if column.lower().strip() in ROLES[role]]
    reason = f" ({taken[0]} takes {roles[taken[0].split('=')[0]]!r})" if taken else ""
    return ValueError(
        f"no column of {source} is named {role!r}{reason}; the columns are {listed(names)}. "
        f"Name the right one with {role}='...'."
    )


def check_column(source: TableSource | Path, columns: Iterable[str], name: str, argument: str) -> str:
    """Check that a table has the column that an argument names, and return its name."""
    if name not in columns:
        raise ValueError(
            f"no column of {source} is named {name!r} ({argument}={name!r}); the columns are {listed(columns)}."
        )
    return name


def recognised(names: Iterable[str], usual: Iterable[str]) -> str | None:
    """Return the first usual name among the names: exactly, else ignoring case and blanks around them.

    >>> recognised(["age", " ID "], ("id", "item"))
    ' ID '
    """
    exact = set(names)
    by_name = {name.lower().strip(): name for name in exact}
    for name in usual:
        if name in exact:
            return name
        if name.lower().strip() in by_name:
            return by_name[name.lower().strip()]
    return None
