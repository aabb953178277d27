"""Recognise the columns of a table of interactions by their names."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from confdiff.display.text import listed

USUAL_NAMES = {
    "user": ("user", "userid", "uid", "customer", "customerid", "reviewer", "reviewerid", "member", "memberid"),
    "item": (
        *("item", "itemid", "iid", "movie", "movieid", "video", "videoid", "product", "productid", "asin", "book"),
        *("bookid", "isbn", "song", "songid", "track", "trackid", "artist", "artistid", "joke", "jokeid", "article"),
        *("articleid", "business", "businessid"),
    ),
    "strength": (
        *(
            "strength",
            "watchratio",
            "rating",
            "ratings",
            "score",
            "stars",
            "overall",
            "grade",
            "like",
            "liked",
            "click",
        ),
        *("clicks", "clicked", "plays", "playcount", "listencount", "listens", "count", "views", "purchases"),
    ),
    "time": ("timestamp", "time", "datetime", "date", "unixtime", "unixreviewtime"),
}
"""Role -> usual names of its column, in lower case and without other characters than letters and digits."""

_NEEDED = ("user", "item", "strength")


def plain_name(name: str) -> str:
    """Return a name in lower case, without other characters than letters and digits.

    >>> plain_name("User_ID"), plain_name(" movieId ")
    ('userid', 'movieid')
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def recognise_columns(
    source: Path | str, names: Iterable[str], chosen: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Return the column of each role: the chosen one, or the one with a usual name.

    Parameters
    ----------
    source : Path or str
        The table, for messages.
    names : iterable of str
        The columns of the table.
    chosen : mapping of str to str or None
        Role (``user``, ``item``, ``strength`` or ``time``) -> column; None where it is to be recognised.

    Returns
    -------
    dict of str to str or None
        Role -> column; the time is None if no column has a usual name.

    Raises
    ------
    ValueError
        A chosen column does not exist, or a role has no column or several.

    Examples
    --------
    >>> recognise_columns("ratings.csv", ["userId", "movieId", "rating", "timestamp"], {})
    {'user': 'userId', 'item': 'movieId', 'strength': 'rating', 'time': 'timestamp'}
    """
    columns = list(names)
    for role, name in chosen.items():
        if name is not None and name not in columns:
            raise ValueError(
                f"no column of {source} is named {name!r} ({role}={name!r}); the columns are {listed(columns)}."
            )
    roles: dict[str, str | None] = {}
    for role, usual in USUAL_NAMES.items():
        free = [name for name in columns if name not in chosen.values()]
        roles[role] = chosen.get(role) or _recognised(source, role, free, usual)
    absent = [role for role in _NEEDED if roles[role] is None]
    if absent:
        raise ValueError(
            f"{source} must have columns of the user, the item and the strength; none is recognised as the "
            f"{' or the '.join(absent)}. Its columns are {listed(columns)}. "
            "Name the right ones with user='...', item='...' and strength='...'."
        )
    return roles


def _recognised(source: Path | str, role: str, names: list[str], usual: tuple[str, ...]) -> str | None:
    """Return the column with a usual name; if several times are usual, the first in the order of the usual names."""
    matches = [name for name in names if plain_name(name) in usual]
    if len(matches) > 1 and role != "time":
        raise ValueError(
            f"{source} has several columns that may be the {role}: {listed(matches)}. Name one with {role}='...'."
        )
    return min(matches, key=lambda name: usual.index(plain_name(name)), default=None)
