"""Scales of judgements that are recognised or given."""

import re

import numpy as np
import pytest

from confdiff.tabular.scales import SAATY_SCALE, parse_scale, possible_scales, recognise_scale


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.5, -1], -1, 1),
        ([-1, 0, 1], -1, 1),
        ([-2, 0, 1], -2, 2),
        ([-3, 3], -3, 3),
        ([1, 4, 7], 1, 7),
        ([1, 2, 5], 1, 5),
        ([-4, 4], -4, 4),
        ([-1.0, -0.5], -1, 1),
        ([0.0, 0.3], -1, 1),
        ([], -1, 1),
        ([-10, 6], -10, 10),
        ([-100, 50], -100, 100),
        ([-12.5, 50], -100, 100),
    ],
)
def test_scales_are_recognised(values, low, high):
    scale = recognise_scale(values)
    assert (scale.low, scale.high) == (low, high)


UNKNOWN = [
    *([0.2, 1.7], [0, 100], [-250, 3], [0, 5], [1.5, 3], [-6.5, 3]),
    *([4, 4, 4], [2, 5], [1, 2], [1, 4, 9], [0, 10], [-8, 6], [-12.5, 3], [0.5, 60]),  # several scales are possible
    *([0, 1], [0.3, 9], [0.111, 10], [1 / 3, 0, 3]),
]


@pytest.mark.parametrize("values", UNKNOWN)
def test_scales_that_cannot_be_recognised(values):
    assert recognise_scale(values) is None


@pytest.mark.parametrize("values", UNKNOWN)
def test_possible_scales_contain_the_values_and_have_conventional_ends(values):
    """The ends never come from the values: the middle of such a scale would mean nothing."""
    conventional = {"(low, high)", "'saaty'"} | {
        str(ends)
        for ends in [(1, 2), (0, 1), (-1, 1), (1, 5), (1, 7), (1, 9), (0, 10), (-10, 10), (0, 100), (-100, 100)]
    }
    options = re.findall(r"scale=(\([^)]*\)|'saaty')", possible_scales(values))
    assert options
    assert set(options) <= conventional
    for ends in options:
        if ends != "(low, high)":
            assert not parse_scale(ends.strip("()'").replace(" ", "")).is_outside(values).any()


@pytest.mark.parametrize(
    "values",
    [[1 / 9, 1, 9], [0.333, 5], [0.2, 5], [0.14, 0.11, 0.13, 0.2, 0.5, 2], [0.12, 1.0, 7], [0.3333333, 0.25, 1, 3]],
)
def test_ratios_and_their_reciprocals_are_those_of_saaty(values):
    scale = recognise_scale(values)
    assert scale == SAATY_SCALE
    assert not scale.is_outside(values).any()
    assert np.abs(scale.differences(values)).max() < 1.01


def test_the_differences_of_ratios_are_logarithms():
    k = np.arange(1.0, 10.0)
    c = SAATY_SCALE.differences(k)
    assert c[0] == 0
    assert c[-1] == 1
    assert SAATY_SCALE.differences(1 / k) == pytest.approx(-c)
    assert c[2] + c[2] == pytest.approx(c[8])  # three times three times as much is nine times as much
    assert parse_scale("saaty,reversed").differences(k) == pytest.approx(-c)
    assert np.isnan(SAATY_SCALE.differences([0, -3])).all()
    assert SAATY_SCALE.is_outside([0, -3, 0.09, 10, 0.11, 9]).tolist() == [True, True, True, True, False, False]


def test_a_reversed_scale_favours_the_first_item():
    scale = parse_scale("1,7,reversed")
    assert scale.differences([1, 4, 7]).tolist() == [1, 0, -1]
    assert scale.formula == "c = -(value - 4) / 3"
    assert scale.meaning.startswith("4 means equal (c = 0), 7 that the first item is higher (c = -1)")
    assert parse_scale(scale.option) == scale
    assert not parse_scale("-1,1,reversed").is_plain


@pytest.mark.parametrize("option", ["-1.4,1.4", "saaty", "0,100", "0.1,0.30000000000000004", "saaty,reversed"])
def test_the_option_of_a_scale_is_read_back(option):
    assert parse_scale(parse_scale(option).option) == parse_scale(option)


@pytest.mark.parametrize("text", ["1", "7,1", "a,1", "nan,1", "reversed", "", "satay"])
def test_scales_that_are_none(text):
    with pytest.raises(ValueError, match="a scale must be two numbers, the lower first"):
        parse_scale(text)
