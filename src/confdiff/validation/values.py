"""Check single values: choices, counts, numbers, priors and fractions.

Each function returns the value in its standard type, or raises ``ValueError`` with a message that names the argument.
"""

import math
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return ``value`` if it is one of ``choices``; otherwise suggest the nearest one.

    >>> check_choice("method", "confdif-abs", ["confdiff-abs", "confdiff-relu"])
    Traceback (most recent call last):
    ...
    ValueError: unknown method 'confdif-abs'. Did you mean 'confdiff-abs'? Known: confdiff-abs, confdiff-relu.
    """
    allowed = list(choices)
    if isinstance(value, str) and value in allowed:
        return value
    nearest = get_close_matches(str(value).lower(), allowed, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    raise ValueError(f"unknown {name} {value!r}.{hint} Known: {', '.join(allowed)}.")


def check_count(name: str, value: object, *, least: int = 1) -> int:
    """Return a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def check_number(name: str, value: object, *, above: float | None = None, least: float | None = None) -> float:
    """Return a finite real number, above ``above`` or at least ``least`` where these are given."""
    bound = ""
    if above is not None:
        bound = f" above {above:g}"
    elif least is not None:
        bound = f" of at least {least:g}"
    message = f"{name} must be a finite number{bound}; got {value!r}."
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(message)
    number = float(value)
    if (above is not None and number <= above) or (least is not None and number < least):
        raise ValueError(message)
    return number


def check_prior(prior: object, name: str = "prior") -> float:
    """Return the class prior p(y = +1), a number strictly between 0 and 1.

    >>> check_prior(20)
    Traceback (most recent call last):
    ...
    ValueError: prior must be a probability strictly between 0 and 1, such as 0.2; got 20.
    """
    if isinstance(prior, bool) or not isinstance(prior, Real) or not 0 < float(prior) < 1:
        raise ValueError(f"{name} must be a probability strictly between 0 and 1, such as 0.2; got {prior!r}.")
    return float(prior)


def check_fraction(name: str, value: object) -> float:
    """Return a fraction, a number above 0 and at most 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be a number above 0 and at most 1, such as 0.1; got {value!r}.")
    return float(value)
