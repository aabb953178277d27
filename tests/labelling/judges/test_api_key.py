import pytest

from confdiff.labelling.judges.api_key import ApiKey, key_of
from confdiff.labelling.judges.judge_settings import JudgeSettings
from labelling.judges.server import KEY


def settings(**values):
    return JudgeSettings(model="small", **values)


def test_the_key_of_openai_is_the_default(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    assert key_of(settings()).header() == {"Authorization": f"Bearer {KEY}"}
    assert key_of(settings(base_url="http://127.0.0.1:8000/v1")) is None
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ValueError, match="OPENAI_API_KEY with the API key is not set"):
        key_of(settings())


def test_a_named_variable(monkeypatch):
    monkeypatch.setenv("MINE", KEY)
    assert key_of(settings(key="MINE", base_url="https://host.example/v1")).header()["Authorization"].endswith(KEY)
    with pytest.raises(ValueError, match="OTHER with the API key is not set"):
        key_of(settings(key="OTHER"))
    with pytest.warns(UserWarning, match="has no TLS"):
        key_of(settings(key="MINE", base_url="http://host.example/v1"))


@pytest.mark.parametrize("key", [KEY, "gsk_5eCrEt0f7he3ndpo1nt", "two words", "", 5])
def test_a_key_instead_of_the_name_of_its_variable_is_not_shown(key):
    with pytest.raises(ValueError, match=r"^key(=\'\.\.\.\')? must (be the )?name") as raised:
        key_of(settings(key=key))
    assert "5eCrEt" not in str(raised.value)


@pytest.mark.parametrize("value", ["sk-ä", "two words", "a\x00b", "line\nbreak"])
def test_a_value_that_cannot_be_sent_is_not_shown(value, monkeypatch):
    if "\0" not in value:
        monkeypatch.setenv("MINE", value)
    else:
        monkeypatch.setattr("os.environ", {"MINE": value})
    with pytest.raises(ValueError, match="MINE must hold an API key") as raised:
        key_of(settings(key="MINE"))
    assert value not in str(raised.value)


def test_the_key_is_in_no_representation():
    key = ApiKey('sk-"quoted"')
    assert "quoted" not in repr(key) + str(key)
    assert key.removed_from('{"echo": "sk-\\"quoted\\""}') == '{"echo": "[key]"}'
    assert ApiKey("x").removed_from("next") == "next"
