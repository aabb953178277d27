"""Format numbers and lists for people."""

from collections.abc import Sequence
from typing import Any


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1.

    >>> plural(1, "pair"), plural(1200, "pair")
    ('1 pair', '1,200 pairs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[Any], most: int = 10) -> str:
    """Return names as a list in words, with the number of those beyond the first ``most``.

    >>> listed(["age"]), listed(["age", "sex", "city"])
    ('age', 'age, sex and city')
    >>> listed(range(30), most=2)
    '0, 1 and 28 more'
    """
    shown = [str(name) for name in names[:most]]
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most:,} more"
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
