"""The pictures of docs/labelling.md are taken from the pages as they are, and are small."""

import runpy

import pytest
from PIL import Image

from labelling.proxies import DEPLOY

IMAGES = DEPLOY.parent / "docs" / "images"
NAMES = ("labelling.png", "labelling-dark.png", "labelling-phone.png", "labelling-owner.png")
MOST_BYTES = 150_000
LEAST_COLOURS = 30  # an empty page has fewer


def loaded(path):
    with Image.open(path) as picture:
        return picture.convert("RGB")


def brightness(path):
    grey = loaded(path).convert("L")
    return sum(level * count for level, count in enumerate(grey.histogram())) / (grey.width * grey.height)


def test_the_pictures_can_be_taken(tmp_path, playwright):
    script = runpy.run_path(str(IMAGES / "labelling.py"))
    paths = script["take_pictures"](tmp_path, playwright)
    assert sorted(path.name for path in paths) == sorted(NAMES)
    for path in paths:
        picture = loaded(path)
        assert picture.size == loaded(IMAGES / path.name).size, f"take {path.name} again"
        assert len(picture.getcolors(100_000)) > LEAST_COLOURS, path.name
        assert path.stat().st_size < MOST_BYTES, path.name
    assert brightness(tmp_path / "labelling-dark.png") < 100 < 200 < brightness(tmp_path / "labelling.png")


@pytest.mark.parametrize("name", NAMES)
def test_the_pictures_of_the_guide_are_small(name):
    assert (IMAGES / name).stat().st_size < MOST_BYTES
