"""Strengths that are recognised, and their confidences."""

import numpy as np
import pytest

from confdiff.datasets.interactions import from_columns
from confdiff.recommender.confidence import grade_interactions, recognise_confidence


@pytest.mark.parametrize(
    ("strengths", "name", "kind", "confidences"),
    [
        ([0.2, 1.7, 40], "watch_ratio", "watch-ratio", [0.1, 0.85, 1]),
        ([1, 3, 5], "rating", "rating", [0, 0.5, 1]),
        ([2, 4, 5], "rating", "rating", [0.25, 0.75, 1]),
        ([0.5, 2.75, 5], "rating", "rating", [0, 0.5, 1]),
        ([1, 4.5, 5], "x", "rating", [0, 0.875, 1]),
        ([1, 5.5, 10], "score", "rating", [0, 0.5, 1]),
        ([-9.95, 0, 9.3], "rating", "rating", [0.0025, 0.5, 0.965]),
        ([0, 1, 1], "clicked", "click", [0, 1, 1]),
        ([1, 7, 300], "plays", "count", [1 / 6, 0.5, 5 / 6]),
        ([1, 3, 5], "plays", "count", [1 / 6, 0.5, 5 / 6]),
    ],
)
def test_strengths_are_recognised(strengths, name, kind, confidences):
    assert recognise_confidence(np.array(strengths, dtype=float), name) == kind
    graded = grade_interactions(from_columns([1, 1, 1], [1, 2, 3], strengths), kind)
    assert graded.confidence == pytest.approx(confidences, abs=1e-6)


@pytest.mark.parametrize(
    ("strengths", "name", "message"),
    [
        ([0.2, 3.1], "liked", "column 'liked' are not recognised: they range from 0.2 to 3.1"),
        ([-3, 40], "rating", "are not recognised"),
        ([1, 2, 300], "strength", "are not recognised"),
        ([1, 1], "clicked", "must differ; got 1 in all interactions"),
    ],
)
def test_strengths_that_are_not_recognised_are_errors(strengths, name, message):
    with pytest.raises(ValueError, match=message):
        recognise_confidence(np.array(strengths, dtype=float), name)


@pytest.mark.parametrize(("kind", "message"), [("rating", "ratings must be on a scale"), ("click", "clicks must be 0")])
def test_an_explicit_kind_checks_the_strengths(kind, message):
    with pytest.raises(ValueError, match=message):
        grade_interactions(from_columns([1, 1], [1, 2], [-300, 7]), kind)


def test_times_may_be_dates():
    when = np.array(["2024-01-02", "2024-01-01", "NaT"], dtype="datetime64[D]")
    interactions = from_columns([1, 1, 1], [7, 7, 8], [1.0, 2.0, 3.0], when)
    assert interactions.strength.tolist() == [1]  # the latest of the repeated rows
    assert (interactions.missing, interactions.repeated) == (1, 1)
