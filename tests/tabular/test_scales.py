"""Scales of judgements that are recognised or given."""

import pytest

from confdiff.tabular.scales import parse_scale, recognise_scale


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0.5, -1], -1, 1),
        ([-1, 0, 1], -1, 1),
        ([-2, 0, 1], -2, 2),
        ([-3, 3], -3, 3),
        ([1, 4, 7], 1, 7),
        ([2, 5], 1, 5),
        ([-10, 6], -10, 10),
        ([-100, 50], -100, 100),
        ([-12.5, 50], -100, 100),
    ],
)
def test_scales_are_recognised(values, low, high):
    scale = recognise_scale(values)
    assert (scale.low, scale.high) == (low, high)


@pytest.mark.parametrize("values", [[0.2, 1.7], [0, 100], [-250, 3], [0, 5], [1.5, 3], [-6.5, 3]])
def test_scales_that_cannot_be_recognised(values):
    assert recognise_scale(values) is None


@pytest.mark.parametrize("text", ["1", "7,1", "a,b", "1,2,3", "nan,1"])
def test_scales_that_are_none(text):
    with pytest.raises(ValueError, match="a scale must be two numbers, the lower first"):
        parse_scale(text)
