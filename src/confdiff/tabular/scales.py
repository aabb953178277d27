"""The scales on which differences are judged, and their mapping to [-1, 1]."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.tabular.notation import Notation, normal_word

_TOLERANCE = 1e-6  # of the ends of a scale
_ROUNDING = 0.0055  # of ratios with two decimals: .14 is 1/7, and .33 is 1/3


@dataclass(frozen=True)
class Scale:
    """A scale of judgements from ``low`` to ``high``.

    Attributes
    ----------
    low, high
        The ends.
    name
        The scale in words.
    is_ratio
        Whether judgements are ratios, such as 3 and 1/3: then their logarithm is the difference.
    is_reversed
        Whether high judgements favour the first item instead of the second.
    words
        The judgements in their order, if they are words; ``low`` to ``high`` are then their positions, from 0.

    Examples
    --------
    >>> Scale(1, 7, "a 7-point scale from 1 to 7").differences([1, 4, 7])
    array([-1.,  0.,  1.])
    >>> SAATY_SCALE.differences([1 / 9, 1, 3, 9])
    array([-1. ,  0. ,  0.5,  1. ])
    """

    low: float
    high: float
    name: str
    is_ratio: bool = False
    is_reversed: bool = False
    words: tuple[str, ...] = ()

    def differences(self, values: ArrayLike) -> NDArray[np.float64]:
        """Map judgements to differences in [-1, 1]; values outside the scale become larger ones, or NaN."""
        judgements = np.asarray(values, dtype=np.float64)
        if self.is_ratio:
            positive = np.where(judgements > 0, judgements, np.nan)
            differences = np.log(positive) / np.log(self.high)
        else:
            differences = (judgements - self.equal) / self.unit
        signed: NDArray[np.float64] = -differences if self.is_reversed else differences
        return signed

    def is_outside(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Return a mask of the judgements that are not on the scale."""
        judgements = np.asarray(values, dtype=np.float64)
        tolerance = _ROUNDING if self.is_ratio else _TOLERANCE
        mask: NDArray[np.bool_] = (judgements < self.low - tolerance) | (judgements > self.high + _TOLERANCE)
        return mask

    @property
    def equal(self) -> float:
        """The judgement that means "no difference"."""
        return 1.0 if self.is_ratio else (self.low + self.high) / 2

    @property
    def unit(self) -> float:
        """The judged units of a difference of 1: half the width of the scale, and 1 for ratios.

        >>> Scale(1, 7, "a 7-point scale from 1 to 7").unit
        3.0
        """
        return 1.0 if self.is_ratio else (self.high - self.low) / 2

    @property
    def is_plain(self) -> bool:
        """Whether the judgements already are differences from -1 to 1."""
        return (self.low, self.high) == (-1, 1) and not self.is_reversed

    @property
    def option(self) -> str:
        """The text from which :func:`parse_scale` makes this scale.

        >>> PLAIN_SCALE.option, SAATY_SCALE.option
        ('-1,1', 'saaty')
        """
        if self.words:
            separator = ";" if any("," in word for word in self.words) else ","
            return separator.join([*self.words, "reversed"] if self.is_reversed else self.words)
        ends = "saaty" if self.is_ratio else f"{float(self.low):.17g},{float(self.high):.17g}"
        return f"{ends},reversed" if self.is_reversed else ends

    @property
    def formula(self) -> str:
        """The formula that converts judgements to differences.

        >>> Scale(1, 7, "a 7-point scale from 1 to 7").formula
        'c = (value - 4) / 3'
        >>> SAATY_SCALE.formula
        'c = log(value) / log(9)'
        """
        if self.words:
            differences = self.differences(np.arange(len(self.words))) + 0.0
            return "c = " + ", ".join(f"{c:.3g} for {w!r}" for w, c in zip(self.words, differences, strict=True))
        sign = "-" if self.is_reversed else ""
        if self.is_ratio:
            return f"c = {sign}log(value) / log({self.high:g})"
        shift = f" {'-' if self.equal > 0 else '+'} {abs(self.equal):g}"
        centred = "value" if self.equal == 0 else f"(value{shift})"
        return f"c = {sign}{centred}" + ("" if self.unit == 1 else f" / {self.unit:g}")

    @property
    def meaning(self) -> str:
        """The meaning of the ends and of the judgement "equal", in words.

        >>> SAATY_SCALE.meaning
        '1 means equal (c = 0), 9 that the second item is higher (c = 1), 1/9 that the first one is (c = -1)'
        """
        first, second = ("second", "first") if self.is_reversed else ("first", "second")
        high = f"{self.label(self.high)} that the {second} item is higher (c = {-1 if self.is_reversed else 1})"
        low = f"{self.label(self.low)} that the {first} one is (c = {1 if self.is_reversed else -1})"
        equal = f"{self.label(self.equal)} means equal (c = 0), " if self.label(self.equal) else "no word means equal; "
        return f"{equal}{high}, {low}"

    def label(self, value: float) -> str:
        """Return a judgement as it is written: a number, or a word; empty between two words.

        >>> parse_scale("worse,same,better").label(2)
        "'better'"
        """
        if not self.words:
            return _number(value)
        return repr(self.words[int(value)]) if value % 1 == 0 else ""

    def label_of(self, c: float) -> str:
        """Return the judgement that means a difference.

        >>> parse_scale("worse,same,better").label_of(1.0)
        "'better'"
        >>> SAATY_SCALE.label_of(0.5)
        '3'
        """
        signed = -c if self.is_reversed else c
        value = self.high**signed if self.is_ratio else self.equal + signed * self.unit
        return self.label(round(value, 4))


def _number(value: float) -> str:
    """Return a number in words: reciprocals as fractions."""
    ratio = Fraction(value).limit_denominator(9)
    is_reciprocal = ratio.numerator == 1 and ratio.denominator > 2 and abs(float(ratio) - value) < 1e-9
    return f"1/{ratio.denominator}" if is_reciprocal else f"{value:g}"


PLAIN_SCALE = Scale(-1, 1, "differences from -1 to 1")
SAATY_SCALE = Scale(1 / 9, 9, "Saaty's ratios from 1/9 to 9", is_ratio=True)
_PER_CENT = Scale(-100, 100, "per cent, from -100 to 100")
_FROM_ONE = (3, 5, 7, 11)  # points of common rating scales from 1; integers from 1 to 9 may also be Saaty's
_AROUND_ZERO = (2, 3, 4, 5, 10)  # ends of common rating scales around 0
_LEAST_PER_CENT = 25.0  # values that stay below may be on another scale


def recognise_scale(values: ArrayLike, notation: Notation = "number") -> Scale | None:
    """Return the scale that judgements are on, or None if it is unknown or if several are possible.

    Parameters
    ----------
    values
        The judgements.
    notation
        How they are written, see :mod:`confdiff.tabular.notation`. "8%" with a sign somewhere is per cent, however
        small; "1/3" may be a ratio, even if no judgement is above 1. Winners are differences of -1, 0 and 1.

    ========================================================================= ======================
    judgements                                                                scale
    ========================================================================= ======================
    within [-1, 1], except those that are all 0 or 1 (0 may mean "the first") differences
    integers with a negative one, the largest size is 2, 3, 4, 5 or 10        points around 0
    integers from 1 to 3, 5, 7 or 11, both ends occur                         points from 1
    1 to 9 and 1/2 to 1/9, possibly rounded, some below 1 and some above      Saaty's ratios
    some below 0, the largest size is from 25 to 100                          per cent
    ========================================================================= ======================

    Examples
    --------
    >>> recognise_scale([-3, 0, 2]).name
    'a 7-point scale from -3 to 3'
    >>> recognise_scale([-40, 12.5, 80]).name
    'per cent, from -100 to 100'
    >>> recognise_scale([1, 5, 0.33, 0.14]).name
    "Saaty's ratios from 1/9 to 9"
    >>> recognise_scale([4, 4]) is None
    True
    >>> recognise_scale([-8, 12], "per cent").name
    'per cent, from -100 to 100'
    """
    distinct = _distinct(values)
    if not len(distinct) or notation == "winner":
        return PLAIN_SCALE
    least = distinct[0]
    greatest = distinct[-1]
    reach = max(-least, greatest)
    if notation == "per cent":
        return _PER_CENT if least < 0 and reach <= _PER_CENT.high else None
    if notation == "fraction" and least > 0 and reach <= 1 and _are_reciprocals(distinct):
        return None
    if reach <= 1 + _TOLERANCE:
        return None if distinct.tolist() == [0, 1] else PLAIN_SCALE
    if not np.any(distinct % 1):
        if least < 0 and reach in _AROUND_ZERO:
            return _points(-int(reach), int(reach))
        if least == 1 and greatest in _FROM_ONE:
            return _points(1, int(greatest))
    if _are_saaty(distinct):
        return SAATY_SCALE
    if least < 0 and _LEAST_PER_CENT <= reach <= _PER_CENT.high:
        return _PER_CENT
    return None


def possible_scales(values: ArrayLike, notation: Notation = "number") -> str:
    """Return options for judgements whose scale is not recognised, each with the judgement that means "equal".

    >>> possible_scales([0, 30, 100])
    'scale=(0, 100) if 50 means equal, or scale=(-100, 100) if 0 means equal'
    >>> possible_scales([0.2, 370.0])
    'scale=(low, high) with the ends of the scale, whose middle means equal'
    """
    distinct = _distinct(values)
    if notation == "per cent" and len(distinct) and distinct[0] >= 0 and distinct[-1] <= _PER_CENT.high:
        return "scale=(0, 100) if 50% means equal, or scale=(-100, 100) if 0% means equal"
    candidates = [(1, 2), (0, 1), (-1, 1), (1, 5), (1, 7), (1, 9), (0, 10), (-10, 10), (0, 100), (-100, 100)]
    options = [
        f"scale=({low}, {high}) if {(low + high) / 2:g} means equal"
        for low, high in candidates
        if len(distinct) and low <= distinct[0] and distinct[-1] <= high and _uses(distinct, high)
    ]
    if len(distinct) and distinct[0] > 0 and _may_be_ratios(distinct, notation):
        options.append("scale='saaty' if 1 means equal and 3 three times as much")
    if len(options) < 2:
        options.append("scale=(low, high) with the ends of the scale, whose middle means equal")
    return ", or ".join([", ".join(options[:-1]), options[-1]]) if len(options) > 1 else options[0]


def _uses(distinct: NDArray[np.float64], high: float) -> bool:
    """Return whether judgements reach so far into a scale that it is a plausible one."""
    return bool(np.abs(distinct).max() > high / 10)


def _distinct(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    return np.unique(array[np.isfinite(array)])


def _points(low: int, high: int) -> Scale:
    return Scale(low, high, f"a {high - low + 1}-point scale from {low} to {high}")


def _are_saaty(distinct: NDArray[np.float64]) -> bool:
    """Return whether judgements are integers up to 9 and their reciprocals, and both occur."""
    if distinct[0] <= 0 or distinct[0] >= 1 or distinct[-1] <= 1:
        return False
    above = distinct[distinct >= 1]
    return bool(_are_reciprocals(distinct[distinct < 1]) and not np.any(above % 1) and above[-1] <= SAATY_SCALE.high)


def _are_reciprocals(distinct: NDArray[np.float64]) -> bool:
    """Return whether numbers are reciprocals of 1 to 9, possibly rounded."""
    ratios = np.array([1 / k for k in range(9, 0, -1)])
    return bool((np.abs(distinct[:, None] - ratios).min(axis=1) <= _ROUNDING).all())


def _may_be_ratios(distinct: NDArray[np.float64], notation: Notation) -> bool:
    """Return whether positive judgements may be ratios: some are above 1, or they are written as fractions."""
    return bool(distinct[-1] <= SAATY_SCALE.high and (distinct[-1] > 1 or notation == "fraction"))


def parse_scale(scale: str | Sequence[Any] | Scale) -> Scale:
    """Return a scale given by its two ends, by the name ``saaty``, or by its words in their order.

    ``reversed`` after it changes the sign. In text, commas separate the words, or semicolons if there are any. Three
    or more numbers are words too: grades of which only the order counts.

    Raises
    ------
    ValueError
        The scale is neither of these, or a word is empty or repeated.

    Examples
    --------
    >>> parse_scale("0,100").differences([0, 50, 75])
    array([-1. ,  0. ,  0.5])
    >>> parse_scale((0, 100)) == parse_scale("0,100")
    True
    >>> parse_scale("saaty,reversed").differences([9])
    array([-1.])
    >>> parse_scale("worse,same,better").formula
    "c = -1 for 'worse', 0 for 'same', 1 for 'better'"
    """
    if isinstance(scale, Scale):
        return scale
    parts = _parts(scale)
    is_reversed = len(parts) > 1 and parts[-1] == "reversed"
    if is_reversed:
        parts.pop()
    parsed = SAATY_SCALE if parts == ["saaty"] else _scale_of_parts(parts, scale)
    if not is_reversed:
        return parsed
    return replace(parsed, name=f"{parsed.name}, reversed", is_reversed=True)


def _parts(scale: str | Sequence[Any]) -> list[Any]:
    if not isinstance(scale, str):
        return list(scale)
    return [part.strip() for part in scale.split(";" if ";" in scale else ",")]


def _scale_of_parts(parts: list[Any], scale: Any) -> Scale:
    are_numbers = [_as_float(part) is not None for part in parts]
    if len(parts) >= 2 and (not any(are_numbers) or len(parts) > 2):
        return _scale_of_words([_as_word(part) for part in parts], scale)
    ends = [_as_float(part) for part in parts]
    low, high = ends if len(ends) == 2 else (None, None)
    if low is None or high is None or not (np.isfinite([low, high]).all() and low < high):
        expected = "two numbers, the lower first, such as scale=(1, 7), or scale='saaty', or words in their order"
        raise ValueError(f"a scale must be {expected}; got {scale!r}.")
    return Scale(low, high, f"a scale from {low:g} to {high:g}")


def _scale_of_words(words: list[str], scale: Any) -> Scale:
    distinct = {normal_word(word) for word in words}
    if "" in distinct or len(distinct) < len(words) or any(";" in word for word in words):
        expected = "different and not empty, without semicolons, from the one that favours the first item most"
        raise ValueError(f"the words of a scale must be {expected}; got {scale!r}.")
    name = f"{len(words)} words from {words[0]!r} to {words[-1]!r}"
    return Scale(0, len(words) - 1, name, words=tuple(words))


def _as_float(part: Any) -> float | None:
    try:
        return float(part)
    except (TypeError, ValueError):
        return None


def _as_word(part: Any) -> str:
    return part.strip() if isinstance(part, str) else str(part)
