"""Write numbers as reports show them."""

from confdiff.experiments.statistics import MeanInterval, Trials


def accuracy_text(value: float, std: float | None = None) -> str:
    """Return a number as the paper prints it.

    >>> accuracy_text(0.9873, 0.0021), accuracy_text(0.5)
    ('.987 ± .002', '.500')
    """
    text = f"{value:.3f}" + ("" if std is None else f" ± {std:.3f}")
    return text.replace("0.", ".")


def optional_text(value: float | None) -> str:
    """Return a number as the paper prints it, or nothing for None."""
    return "" if value is None else accuracy_text(value)


def signed_text(difference: float | None) -> str:
    """Return a difference with its sign, or nothing for None.

    >>> signed_text(-0.0123), signed_text(0.02), signed_text(-0.0001), signed_text(None)
    ('-.012', '+.020', '.000', '')
    """
    if difference is None:
        return ""
    text = f"{difference:+.3f}".replace("0.", ".", 1)
    return text if text.strip("+-.0") else ".000"


def p_text(p_value: float | None) -> str:
    """Return a p-value with two digits, or nothing for None.

    >>> p_text(0.0312), p_text(None)
    ('0.031', '')
    """
    return "" if p_value is None else f"{p_value:.2g}"


def trials_text(trials: Trials) -> str:
    """Return mean and standard deviation of trials, and their number; nothing for no trials.

    >>> trials_text(Trials({0: 0.98, 1: 0.96})), trials_text(Trials({0: 0.98}))
    ('.970 ± .014 (2)', '.980 (1, no interval)')
    """
    if not trials.n:
        return ""
    count = f"{trials.n}" if trials.n > 1 else "1, no interval"
    return f"{accuracy_text(trials.mean, trials.std)} ({count})"


def count_text(trials: Trials) -> str:
    """Return the number of trials and the interval of their mean, cut at 0 and 1.

    >>> count_text(Trials({0: 0.98, 1: 0.96, 2: 0.97})), count_text(Trials({0: 0.98}))
    ('(3: .945 to .995)', '(1, no interval)')
    """
    if trials.interval is None:
        return f"({trials.n}, no interval)"
    return f"({trials.n}: {interval_text(trials)})"


def interval_text(trials: Trials) -> str:
    """Return the interval of a mean accuracy, cut at 0 and 1; nothing for fewer than two trials.

    >>> interval_text(Trials({0: 0.98, 1: 0.96, 2: 0.99}))
    '.939 to 1.000'
    """
    if trials.interval is None:
        return ""
    low, high = trials.interval
    return f"{accuracy_text(max(0.0, low))} to {accuracy_text(min(1.0, high))}"


def gain_text(interval: MeanInterval | None) -> str:
    """Return the interval of a difference, or that it has none.

    >>> gain_text((-0.0104, 0.02)), gain_text(None)
    ('-.010 to +.020', 'no interval')
    """
    return "no interval" if interval is None else f"{signed_text(interval[0])} to {signed_text(interval[1])}"


def digits(value: float | None) -> str | None:
    """Return a measured number with five digits, as CSV files have it.

    >>> digits(0.95), digits(None)
    ('0.95000', None)
    """
    return None if value is None else f"{value:.5f}"
