"""The style that every page and plot shares."""

import inspect
import re

import pytest

from confdiff.display import palette
from confdiff.display.figures import check_figure_path, new_figure, save_figure
from confdiff.display.palette import family_colours
from confdiff.display.text import listed
from confdiff.methods import METHODS


def test_every_method_has_a_colour_of_its_own():
    colours = family_colours({method.name: method.family for method in METHODS.values()})
    assert len(set(colours.values())) == len(METHODS)
    assert colours["confdiff-abs"] == "#0072B2"
    assert colours["oracle-soft"] == "#444444"
    assert colours["mrl"] == "#661100"


def test_comments_of_the_palette_name_the_methods():
    comments = dict(re.findall(r'"(#\w{6})",  # (\w+(?:-\w+)?)$', inspect.getsource(palette), re.MULTILINE))
    colours = family_colours({method.name: method.family for method in METHODS.values()})
    assert comments == {colours[method.name]: method.label for method in METHODS.values()}


def test_a_method_beyond_its_family_takes_a_remaining_colour():
    families = {f"oracle-{k}": "oracle" for k in range(3)}
    assert list(family_colours(families).values()) == ["#999999", "#444444", "#117733"]


def test_long_lists_are_cut():
    assert listed([]) == ""
    assert listed(["a", "b"]) == "a and b"
    assert listed([f"x{k}" for k in range(1_234)], most=1) == "x0 and 1,233 more"


def test_the_ending_determines_the_format(tmp_path):
    figure, axes = new_figure(2, 2)
    axes.plot([0, 1])
    save_figure(figure, tmp_path / "a.svg")
    save_figure(figure, tmp_path / "a.png")
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "a.svg"]


def test_other_endings_and_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.png, \.svg or \.pdf"):
        check_figure_path(tmp_path / "a.gif")
    (tmp_path / "b.png").mkdir()
    with pytest.raises(IsADirectoryError, match="choose another name"):
        check_figure_path(tmp_path / "b.png")
