"""Numbers and tables as reports show them."""

from collections.abc import Iterable, Sequence
from statistics import mean, stdev

from confdiff.experiments.comparison import Trials


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table.

    >>> table(["method", "accuracy"], [["ABS", ".950"]])
    ['| method | accuracy |', '|---|---|', '| ABS | .950 |']
    """
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]


def signed(difference: float) -> str:
    """A difference of accuracies.

    >>> signed(-0.0123), signed(0.02), signed(-0.0001)
    ('-.012', '+.020', '.000')
    """
    text = f"{difference:+.3f}".replace("0.", ".", 1)
    return text if text.strip("+-.0") else ".000"


def number(value: float, std: float | None) -> str:
    """As the paper prints it.

    >>> number(0.9873, 0.0021), number(0.5, None)
    ('.987 ± .002', '.500')
    """
    text = f"{value:.3f}" + ("" if std is None else f" ± {std:.3f}")
    return text.replace("0.", ".")


def chance(p_value: float | None) -> str:
    """A p-value, if there is one.

    >>> chance(0.0312), chance(None)
    ('0.031', '')
    """
    return "" if p_value is None else f"{p_value:.2g}"


def mean_of(trials: Trials) -> str:
    """Mean and standard deviation of trials, and their number.

    >>> mean_of({0: 0.98, 1: 0.96})
    '.970 ± .014 (2)'
    """
    if not trials:
        return ""
    return f"{number(mean(trials.values()), stdev(trials.values()) if len(trials) > 1 else None)} ({len(trials)})"
