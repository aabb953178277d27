"""Models with a method or a network of a plug-in: loading executes nothing, and asks for what is missing by name."""

import json

import pytest

from command import confdiff
from confdiff import methods
from confdiff.methods import METHODS, find_method
from confdiff.models import MODELS
from confdiff.plugins import load_plugins, loaded_plugins
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model import plugin_parts
from confdiff.tabular.model.model import load_model
from plugged import NETWORK, method_file, plugged, unload_all, write
from tabular.people import FRAME, JUDGED

FIT = {"prior": 0.4, "epochs": 2}


@pytest.fixture(autouse=True)
def _unloaded():
    yield
    unload_all()
    methods._EXPECTED.clear()
    plugin_parts._expected.clear()


@pytest.fixture
def saved(tmp_path):
    """A model that was trained by a method of a plug-in, and what it predicts."""
    with plugged(method_file(tmp_path)):
        model = fit_comparisons(FRAME, JUDGED, method="my-squares", **FIT)
        model.save(tmp_path / "model")
    return tmp_path / "model", model.predict_proba(FRAME)


def test_a_model_with_a_built_in_network_needs_no_plugin(saved):
    folder, probabilities = saved
    model = load_model(folder)
    assert loaded_plugins() == ()
    assert "my-squares" not in METHODS
    assert (model.predict_proba(FRAME) == probabilities).all()
    assert model.about.options.method == "my-squares"
    with pytest.raises(
        ValueError, match=r"the method 'my-squares' of this model comes from the plug-in mine 1.0, which"
    ):
        model.fit(FRAME, JUDGED)


def test_a_model_that_was_loaded_without_the_plugin_is_saved_again(saved, tmp_path):
    folder, _ = saved
    load_model(folder).save(tmp_path / "again")
    assert (tmp_path / "again" / "model.json").read_bytes() == (folder / "model.json").read_bytes()


def test_a_model_is_fitted_again_with_the_plugin(saved, tmp_path):
    folder, probabilities = saved
    load_model(folder)
    load_plugins(method_file(tmp_path))
    model = load_model(folder)
    assert find_method("my-squares") is METHODS["my-squares"]
    assert (model.fit(FRAME, JUDGED).predict_proba(FRAME) == probabilities).all()


def test_another_version_of_the_plugin_is_a_warning(saved, tmp_path):
    folder, _ = saved
    load_plugins(method_file(tmp_path, version="2.0"))
    with pytest.warns(UserWarning, match=r"comes from the plug-in mine 1.0, and mine 2.0 is loaded"):
        load_model(folder)


def test_a_model_with_a_network_of_a_plugin_asks_for_it(tmp_path):
    path = write(tmp_path, "net.py", NETWORK)
    with plugged(path):
        model = fit_comparisons(FRAME, JUDGED, model="tiny", **FIT)
        model.save(tmp_path / "model")
        assert (load_model(tmp_path / "model").predict_proba(FRAME) == model.predict_proba(FRAME)).all()
    path.write_text("raise SystemExit('executed')")
    with pytest.raises(
        ValueError, match=r"^the network 'tiny' of this model comes from the plug-in net 3, which is not"
    ):
        load_model(tmp_path / "model")
    assert "tiny" not in MODELS


def test_models_without_plugins_do_not_mention_them(tmp_path):
    fit_comparisons(FRAME, JUDGED, model="mlp", method="confdiff-abs", **FIT).save(tmp_path / "model")
    assert "plugins" not in json.loads((tmp_path / "model" / "model.json").read_text())


def test_commands_with_plugins(tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.to_csv(tmp_path / "pairs.csv", index=False)
    method_file(tmp_path)
    write(tmp_path, "net.py", NETWORK)
    plugins = ("--plugin", "mine.py", "--plugin", "net.py")
    fit = (
        "fit",
        "items.csv",
        "pairs.csv",
        "--method",
        "my-squares",
        "--model",
        "tiny",
        "--prior",
        ".4",
        "--epochs",
        "2",
    )
    fitted = confdiff(*fit, *plugins, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    shown = confdiff("show", "model", *plugins, cwd=tmp_path)
    assert "network tiny by my-squares, 2 epochs" in shown.stdout
    predicted = confdiff("predict", "model", "items.csv", "--plugin", "net.py", cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    refused = confdiff("predict", "model", "items.csv", "-o", "other.csv", cwd=tmp_path)
    assert (refused.returncode, refused.stderr) == (
        2,
        "error: the network 'tiny' of this model comes from the plug-in net 3, which is not loaded: load it first by "
        "--plugin FILE.py.\n",
    )


def test_two_workers_load_plugins_and_train_the_same_model(tmp_path):
    """The model is an object of a class of the plug-in, which members must know before they unpickle it."""
    paths = [method_file(tmp_path), write(tmp_path, "net.py", NETWORK)]
    with plugged(*paths):
        options = FIT | {"method": "my-squares", "model": "tiny"}
        one = fit_comparisons(FRAME, JUDGED, **options)
        two = fit_comparisons(FRAME, JUDGED, workers=2, **options)
        assert two.predict_proba(FRAME) == pytest.approx(one.predict_proba(FRAME), abs=1e-5)


def test_resume_compares_the_formula_and_asks_for_an_unknown_method(tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.to_csv(tmp_path / "pairs.csv", index=False)
    with plugged(method_file(tmp_path)) as _:
        method = METHODS["my-squares"]
        from confdiff.training.checkpoint import _method_text

        first = _method_text(method)
    text = method_file(tmp_path).read_text().replace("** 2)", "** 4)")
    with plugged(write(tmp_path, "mine.py", text)):
        assert _method_text(METHODS["my-squares"]) != first
    result = confdiff("fit", "items.csv", "pairs.csv", "--method", "my-squares", "--resume", cwd=tmp_path)
    assert result.returncode == 2
    assert "unknown method 'my-squares'" in result.stderr
    assert "load that plug-in first: --plugin FILE.py." in result.stderr
