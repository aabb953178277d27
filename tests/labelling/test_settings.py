import json

import pytest

from confdiff.labelling import StudySettings


def settings(**changes):
    return StudySettings(**({"question": "Which is larger?"} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"question": " "}, "question must be"),
        ({"question": None}, "question must be a text"),
        ({"points": 4}, "points must be 3, 5, 7 or 9, or 0 for a fine scale; got 4"),
        ({"points": True}, "points must be"),
        ({"words": ("worse", "better")}, "words must be 7, one for each of 7 points; got 2"),
        ({"words": ("a", "b", "c"), "points": 0}, "words must be 2, one for each of the two ends"),
        ({"words": ("a", "b", "a"), "points": 3}, "words must be distinct"),
        ({"words": ("a", "", "c"), "points": 3}, "words must be texts that are not empty"),
        ({"words": "abc", "points": 3}, "words must be a sequence of texts"),
        ({"show": (1,)}, "show must be texts"),
        ({"kinds": {"x": "video"}}, "unknown kind of the column 'x' 'video'"),
        ({"same_class": 1.2}, "same_class must be a fraction from 0 to 1"),
        ({"same_class": -0.1}, "same_class must be a fraction"),
        ({"repeats": float("nan")}, "repeats must be a fraction"),
        ({"repeats": 0.5, "reserve": 0.6}, "must add up to at most 1; got 1.2"),
        ({"pairs_per_item": 0}, "pairs_per_item must be a finite number above 0"),
        ({"judges": 0}, "judges must be a whole number of at least 1"),
        ({"design": "best"}, "unknown design 'best'"),
        ({"quota": -1}, "quota must be"),
        ({"lease_seconds": 0}, "lease_seconds must be"),
        ({"language": "English!"}, "language must be a code such as 'en'"),
        ({"gold": (("a", "b"),)}, "gold must be pairs"),
        ({"gold": (("a", "b", 2.0),)}, "gold must have differences from -1"),
        ({"gold": (("a", "b", float("nan")),)}, "gold must have differences from -1"),
        ({"examples": (("a", "a", 0.5),)}, "examples must compare different items; got 'a' twice"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        settings(**changes)


def test_settings_survive_json():
    full = settings(
        points=3,
        words=("worse", "same", "better"),
        show=("text",),
        kinds={"text": "markdown"},
        gold=(("a", "b", 0.5),),
        examples=[["a", "b", -1]],
        quota=7,
        media="/media",
    )
    again = StudySettings.from_json(full.to_json())
    assert again == full
    assert again.examples == (("a", "b", -1.0),)


def test_settings_of_a_later_version_can_be_read():
    text = json.dumps({"question": "Which?", "not_yet_invented": 1})
    assert StudySettings.from_json(text) == StudySettings(question="Which?")
