"""Format numbers and lists for people."""

from collections.abc import Iterable

_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless the count is 1.

    >>> plural(1, "pair"), plural(1200, "pair")
    ('1 pair', '1,200 pairs')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_words(count: int) -> str:
    """Return a small count as a word, and one above twelve in digits.

    >>> in_words(3), in_words(40)
    ('three', '40')
    """
    return _WORDS[count] if 0 <= count < len(_WORDS) else f"{count:,}"


def listed(names: Iterable[object], most: int = 10) -> str:
    """Return names as a list in words, with the number of those beyond the first ``most``.

    >>> listed(["age"]), listed(["age", "sex", "city"])
    ('age', 'age, sex and city')
    >>> listed(range(30), most=2)
    '0, 1 and 28 more'
    """
    texts = [str(name) for name in names]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most:,} more"
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"
