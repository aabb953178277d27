"""Columns of interactions that are recognised by their names."""

import pytest

from confdiff.recommender.columns import recognise_columns


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        (["user_id", "video_id", "watch_ratio"], ["user_id", "video_id", "watch_ratio", None]),
        (["user", "item", "rating", "timestamp"], ["user", "item", "rating", "timestamp"]),
        (["userId", "movieId", "rating", "timestamp"], ["userId", "movieId", "rating", "timestamp"]),
        (["reviewerID", "asin", "overall", "unixReviewTime"], ["reviewerID", "asin", "overall", "unixReviewTime"]),
        (["User-ID", "ISBN", "Book-Rating", "rating"], ["User-ID", "ISBN", "rating", None]),
        (["date", "timestamp", "uid", "song_id", "plays"], ["uid", "song_id", "plays", "timestamp"]),
    ],
)
def test_usual_names_are_recognised(names, roles):
    assert list(recognise_columns("table.csv", names, {}).values()) == roles


def test_chosen_columns_win():
    chosen = {"user": "user", "item": "b", "strength": "item", "time": None}
    assert recognise_columns("table.csv", ["user", "item", "b", "rating"], chosen) == chosen


@pytest.mark.parametrize(
    ("names", "chosen", "message"),
    [
        (["user", "item"], {}, "none is recognised as the strength. Its columns are user and item"),
        (["a", "b", "rating"], {}, "none is recognised as the user or the item"),
        (["user", "user_id", "item", "rating"], {}, "several columns that may be the user: user and user_id"),
        (["user", "item", "rating", "plays"], {}, "several columns that may be the strength: rating and plays"),
        (["user", "item", "rating"], {"item": "film"}, r"no column of table.csv is named 'film' \(item='film'\)"),
    ],
)
def test_columns_that_are_not_clear_are_errors(names, chosen, message):
    with pytest.raises(ValueError, match=message):
        recognise_columns("table.csv", names, chosen)
