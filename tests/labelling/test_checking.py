from dataclasses import replace

import pytest

from confdiff.labelling import create_study
from labelling.studies import ITEMS, SETTINGS


def refused(tmp_path, items, settings, message):
    """Check that a study is refused with one message, and that nothing was written."""
    folder = tmp_path / "studies"
    folder.mkdir()
    with pytest.raises(ValueError, match=message):
        create_study(folder / "animals.db", items, settings)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"show": ("text", "price")}, "show must name columns of the items, which has id, text and size; got 'price'"),
        ({"kinds": {"price": "text"}}, "no column of the items is named 'price'"),
        ({"gold": (("cow", "horse", 0.5),)}, "gold must name items of the items by their ids; 'horse' is not one"),
        ({"examples": (("horse", "cow", 0.5),)}, "examples must name items"),
        ({"media": "/no/such/folder"}, "media must be an existing folder"),
        ({"kinds": {"text": "image"}}, "name the folder of its files with media='...'"),
        ({"language": "xx"}, "language must be one of en"),
    ],
)
def test_settings_that_do_not_suit_the_items(tmp_path, changes, message):
    refused(tmp_path, ITEMS, replace(SETTINGS, **changes), message)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ({"id": ["a"], "x": [1]}, "at least two items to compare; got 1"),
        ({"id": ["a", "a"], "x": [1, 2]}, "ids must be unique; 'a'"),
        ({"id": ["a", None], "x": [1, 2]}, "the id is missing"),
        ({"id": ["a", "b"]}, "at least one column besides the ids"),
        ({"id": [], "x": []}, "at least one row"),
        ("no-such-file.csv", "no-such-file.csv does not exist"),
    ],
)
def test_items_that_cannot_be_compared(tmp_path, items, message):
    with pytest.raises((ValueError, OSError), match=message):
        create_study(tmp_path / "animals.db", items, SETTINGS)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def media(tmp_path):
    folder = tmp_path / "media"
    folder.mkdir()
    for name in ("a.png", "b.JPG", "a.mp3", "b.wav"):
        (folder / name).write_bytes(b"x")
    return folder


def test_kinds_are_recognised(tmp_path, media, closing_engines):
    items = {
        "id": ["a", "b"],
        "picture": ["a.png", "b.JPG"],
        "sound": ["a.mp3", "b.wav"],
        "text": ["a.png", "words"],
        "size": [1.5, 2.0],
    }
    settings = replace(SETTINGS, media=str(media), kinds={"text": "markdown"})
    study = create_study(tmp_path / "animals.db", items, settings)
    assert study.settings.kinds == {
        "id": "text",
        "picture": "image",
        "sound": "audio",
        "text": "markdown",
        "size": "number",
    }
    assert study.settings.media == str(media.resolve())


@pytest.mark.parametrize("name", ["missing.png", "../secret.png", "/etc/hostname", "link.png"])
def test_media_must_lie_inside_the_folder(tmp_path, media, name):
    (tmp_path / "secret.png").write_bytes(b"x")
    (media / "link.png").symlink_to(tmp_path / "secret.png")
    items = {"id": ["a", "b"], "picture": ["a.png", name]}
    settings = replace(SETTINGS, media=str(media), kinds={"picture": "image"})
    refused(tmp_path, items, settings, "must name files inside")
