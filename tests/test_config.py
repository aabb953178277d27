"""The file of roles and options that all commands read."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confdiff.config import CONFIG_NAME, Config, find_config, load_config, optional_config

NAMES = st.text(st.characters(codec="utf-8"), max_size=12)
COLUMNS = ("id", "left", "right", "difference", "weight", "annotator", "time", "group", "scale", "labels")
JUDGES = st.dictionaries(NAMES, NAMES | st.integers(0, 99) | st.floats(0, 1), min_size=1)
CONFIGS = st.builds(
    Config,
    **{name: st.none() | NAMES for name in COLUMNS},
    prior=st.none() | st.floats(0, 1) | st.just("estimate"),
    ignore=st.lists(NAMES, max_size=3).map(tuple),
    kinds=st.dictionaries(NAMES, NAMES, max_size=3),
    judges=st.lists(st.dictionaries(NAMES, NAMES | st.integers(0, 99) | st.floats(0, 1), min_size=1), max_size=2).map(
        tuple
    ),
)


@given(config=CONFIGS)
def test_what_is_written_is_read_again(config, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / CONFIG_NAME
    path.write_text(config.to_toml(), encoding="utf-8", newline="")
    assert load_config(path) == config


@pytest.mark.parametrize(
    "name", ['a"b', "back\\slash", "two\nlines", "\x1b[31mred", "[kinds]", "=", "# no", "ä 名", ""]
)
def test_names_cannot_escape_from_their_string(name, tmp_path):
    config = Config(id=name, ignore=(name, "x"), kinds={name: "category"})
    path = tmp_path / "any.toml"
    path.write_text(config.to_toml(), encoding="utf-8", newline="")
    assert load_config(path) == config
    assert set(tomllib.loads(config.to_toml())) == {"id", "ignore", "kinds"}
    assert "\x1b" not in config.to_toml()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('lef = "a"', r"unknown key 'lef'. Did you mean 'left'"),
        ("id = 3", "id must be the name of a column; got 3"),
        ('ignore = "name"', r"ignore must be a list of columns, such as \['name', 'notes'\]; got 'name'"),
        ('kinds = ["ward"]', "kinds must be a table of columns and their kinds"),
        ("judges = 3", "judges must be a list of tables, such as"),
        ("[[judges]]\nmodel = ['a']", "judges must be a list of tables, such as"),
        ("[[judges]]\nkey = 'sk-5'\nfast = true", "with texts and numbers only; got other values."),
        ("prior = true", "prior must be a fraction, such as 0.3, or 'estimate'; got True"),
        ("scale = 7", r"scale must be a scale, such as '1,7', .*; got 7"),
        ("id = ", "cannot be read as TOML"),
        ("[[id]]", "id must be the name of a column"),
        ("id = " + "[" * 50_000, "cannot be read as TOML"),
        ("id = '\udcff'", "cannot be read as TOML"),
    ],
)
def test_mistakes_are_named(text, message, tmp_path):
    path = tmp_path / CONFIG_NAME
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=message) as raised:
        load_config(path)
    assert str(path) in str(raised.value)


def test_scales_may_be_lists(tmp_path):
    (tmp_path / CONFIG_NAME).write_text("scale = [1, 7]\nprior = 1")
    assert load_config(tmp_path / CONFIG_NAME) == Config(scale="1,7", prior=1.0)


def test_the_file_is_found_in_the_folder_of_the_table(tmp_path):
    assert find_config(tmp_path / "items.csv") is None
    (tmp_path / CONFIG_NAME).write_text('id = "sku"')
    assert find_config(tmp_path / "items.csv") == tmp_path / CONFIG_NAME
    assert find_config(tmp_path / "items.csv", "other.toml").name == "other.toml"
    assert optional_config(None) == Config()
    with pytest.raises(FileNotFoundError, match=r"the file absent.toml does not exist \(config='absent.toml'\)"):
        load_config("absent.toml")


def test_arguments_win():
    config = Config(id="sku", left="a", ignore=("name",))
    assert config.fill(id=None, left="b", right=None, ignore=()) == {
        "id": "sku",
        "left": "b",
        "right": None,
        "ignore": ("name",),
    }
