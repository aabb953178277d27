"""Check functions of the user that map files to vectors."""

import functools
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from confdiff import FileEncoder, ItemFeatures, fit_comparisons, load_model

N_FILES = 30
SIZES = np.random.default_rng(0).permutation(N_FILES) + 1


class Calls(list):
    """A log of calls, which says nothing about what is computed."""

    def __reduce_ex__(self, protocol):
        return "CALLS"


CALLS = Calls()


def size_of(path):
    """Return a vector with the size of a file."""
    with open(path, "rb") as file:  # noqa: PTH123
        content = file.read()
    if content.startswith(b"broken"):
        raise OSError("cannot identify image file")
    CALLS.append(path)
    return [len(content), len(content) ** 2, 1.0]


class Sizes(torch.nn.Module):
    """A network on the size of a file."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(1, 4)
        self.dropout = torch.nn.Dropout(0.9)

    def forward(self, path):
        return self.dropout(self.layer(torch.tensor([size_of(path)[0] / N_FILES])))


@pytest.fixture
def items(tmp_path):
    CALLS.clear()
    for number, size in enumerate(SIZES):
        (tmp_path / f"{number}.jpg").write_bytes(b"x" * size)
    return pd.DataFrame({"id": range(N_FILES), "photo": [str(tmp_path / f"{n}.jpg") for n in range(N_FILES)]})


@pytest.fixture
def pairs():
    rng = np.random.default_rng(1)
    left = rng.integers(0, N_FILES, 200)
    right = (left + rng.integers(1, N_FILES, 200)) % N_FILES
    return {"left": left, "right": right, "difference": (SIZES[right] - SIZES[left]) / N_FILES}


@pytest.fixture
def fit(items, pairs):
    return functools.partial(fit_comparisons, items, pairs, model="linear", link="score", validation_fraction=0)


def test_files_are_scored_by_their_vectors(fit, items):
    model = fit(encoders={"photo": size_of})
    assert model.features.kinds_ == {"photo": "encoded"}
    assert np.corrcoef(model.decision_function(items), SIZES)[0, 1] > 0.99


def test_a_clone_is_fitted_with_the_same_functions(fit, items, pairs, tmp_path):
    model = fit(encoders={"photo": size_of})
    model.save(tmp_path / "model")
    for source in (model, load_model(tmp_path / "model", encoders={"photo": size_of})):
        again = clone(source).fit(items, pairs)
        np.testing.assert_array_equal(again.decision_function(items), model.decision_function(items))


def test_a_file_is_encoded_once_by_its_content(fit, items, tmp_path):
    first = fit(encoders={"photo": size_of})
    n_calls = len(CALLS)
    renamed = tmp_path / "renamed.jpg"
    renamed.write_bytes(b"x" * SIZES[0])
    scores = first.decision_function(pd.DataFrame({"photo": [str(renamed)]}))
    assert scores == first.decision_function(items)[0]
    fit(encoders={"photo": size_of})
    assert len(CALLS) == n_calls <= N_FILES
    renamed.write_bytes(b"x" * 77)
    first.decision_function(pd.DataFrame({"photo": [str(renamed)]}))
    assert len(CALLS) == n_calls + 1


def test_the_model_holds_no_function(fit, items, tmp_path):
    model = fit(encoders={"photo": size_of})
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"by the function 'size_of', .* Pass it: load_model\(..., encoders="):
        load_model(tmp_path / "model").decision_function(items)
    loaded = load_model(tmp_path / "model", encoders={"photo": size_of})
    np.testing.assert_array_equal(loaded.decision_function(items), model.decision_function(items))


def test_another_function_is_refused(fit, tmp_path):
    fit(encoders={"photo": size_of}).save(tmp_path / "model")
    for other in (len, Sizes(), FileEncoder(size_of, version="2"), lambda path: [0.0]):
        with pytest.raises(ValueError, match="the encoder of 'photo' must be the one of the training, 'size_of'"):
            load_model(tmp_path / "model", encoders={"photo": other})
    with pytest.raises(ValueError, match="the model has no encoder of 'size'"):
        load_model(tmp_path / "model", encoders={"size": size_of})
    with pytest.raises(ValueError, match="would not be used: the model has none"):
        load_model(tmp_path / "model", text_encoder="folder")


def test_a_version_identifies_a_function(fit, tmp_path):
    fit(encoders={"photo": FileEncoder(size_of, name="sizes", version="1")}).save(tmp_path / "model")
    same = FileEncoder(lambda path: size_of(path), name="sizes", version="1")
    load_model(tmp_path / "model", encoders={"photo": same})


def test_a_network_is_used_in_evaluation_mode_and_told_by_its_weights(fit, items, tmp_path):
    network = Sizes()
    network.train()
    model = fit(encoders={"photo": network})
    assert network.training
    assert np.corrcoef(model.decision_function(items), SIZES)[0, 1] > 0.99  # without dropout
    model.save(tmp_path / "model")
    load_model(tmp_path / "model", encoders={"photo": Sizes()})
    with torch.no_grad():
        network.layer.weight += 1
    with pytest.raises(ValueError, match="has other weights"):
        load_model(tmp_path / "model", encoders={"photo": network})


def test_a_network_that_changes_is_not_used_with_vectors_of_before(items):
    network = Sizes()
    features = ItemFeatures(encoders={"photo": network}).fit(items[["photo"]])
    with torch.no_grad():
        network.layer.weight += 1
    with pytest.raises(ValueError, match="the encoder 'Sizes' refers to a value that has changed since it was passed"):
        features.encode(items)


def test_vectors_of_an_encoder_that_changes_while_it_encodes_are_not_kept(items):
    factor = [1.0]

    def encode(path):
        factor[0] += 1
        return [factor[0]]

    for _ in range(2):
        with pytest.raises(ValueError, match=r"has changed .* pass FileEncoder\(function, version='1'\)"):
            ItemFeatures(encoders={"photo": encode}).fit(items[["photo"]])
    ItemFeatures(encoders={"photo": FileEncoder(encode, version="1")}).fit(items[["photo"]])


def test_a_function_that_cannot_be_identified_needs_a_version(items):
    lock = threading.Lock()

    def encode(path):
        with lock:
            return size_of(path)

    with pytest.raises(ValueError, match=r"the encoder '.*encode' cannot be identified: .* pass FileEncoder\("):
        ItemFeatures(encoders={"photo": encode}).fit(items[["photo"]])
    ItemFeatures(encoders={"photo": FileEncoder(encode, version="1")}).fit(items[["photo"]])


def test_a_file_that_changes_while_it_is_encoded_is_refused(items):
    def encode(path):
        with open(path, "ab") as file:  # noqa: PTH123
            file.write(b"x")
        return [1.0]

    with pytest.raises(ValueError, match=r"row \d+: .*\.jpg' changed while it was encoded"):
        ItemFeatures(encoders={"photo": encode}).fit(items[["photo"]])


def test_pipes_and_folders_are_refused(items, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        items.loc[3, "photo"] = str(path)
        with pytest.raises(ValueError, match=r"row 3: the file .* cannot be read: it is not a regular file"):
            ItemFeatures(encoders={"photo": size_of}).fit(items[["photo"]])


def test_errors_name_the_row_of_the_table_if_only_some_are_learned_from(items, tmp_path):
    (tmp_path / "5.jpg").unlink()
    with pytest.raises(ValueError, match=r"row 5: the file .*5\.jpg cannot be read"):
        ItemFeatures(encoders={"photo": size_of}).fit(items[["photo"]], rows=np.array([4, 5]))


def test_lists_of_files_are_encoded_together(items):
    sizes = Calls()

    def of_list(paths):
        sizes.append(len(paths))
        return np.array([size_of(path) for path in paths])

    together = ItemFeatures(encoders={"photo": FileEncoder(of_list, batch_size=8)}).fit(items[["photo"]])
    assert sizes == [8, 8, 8, 6]
    alone = ItemFeatures(encoders={"photo": size_of}).fit(items[["photo"]])
    np.testing.assert_array_equal(together.encode(items), alone.encode(items))


def test_relative_paths_refer_to_a_folder(items, tmp_path):
    relative = items.assign(photo=[f"{number}.jpg" for number in range(N_FILES)])
    encoder = FileEncoder(size_of, folder=tmp_path)
    features = ItemFeatures(encoders={"photo": encoder}).fit(relative[["photo"]])
    absolute = ItemFeatures(encoders={"photo": size_of}).fit(items[["photo"]])
    np.testing.assert_array_equal(features.encode(relative), absolute.encode(items))


def test_a_missing_file_name_is_a_missing_vector(items):
    items.loc[2, "photo"] = None
    features = ItemFeatures(encoders={"photo": size_of}).fit(items[["photo"]])
    np.testing.assert_array_equal(features.encode(items)[2], [0, 0, 0, 1])


@pytest.mark.parametrize("batch_size", [None, 4])
def test_errors_name_the_file(items, tmp_path, batch_size):
    (tmp_path / "5.jpg").write_bytes(b"broken")

    def encode(paths):
        return size_of(paths) if batch_size is None else [size_of(path) for path in paths]

    encoder = FileEncoder(encode, batch_size=batch_size, name="size")
    with pytest.raises(ValueError, match=r"row 5: the encoder 'size' failed for the file .*5\.jpg: OSError: cannot id"):
        ItemFeatures(encoders={"photo": encoder}).fit(items[["photo"]])
    (tmp_path / "5.jpg").unlink()
    with pytest.raises(ValueError, match=r"row 5: the file .*5\.jpg cannot be read: No such file"):
        ItemFeatures(encoders={"photo": encoder}).fit(items[["photo"]])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda path: [float("nan")], "returned a vector that is not finite"),
        (lambda path: [1.0] * (1 + path.endswith("7.jpg")), "must return 1 numbers, as for other files"),
        (lambda path: [[1.0]], r"must return a vector; got the shape \(1, 1\)"),
        (lambda path: "x", "failed for the file .* it must return numbers"),
        (lambda path: torch.ones(2, dtype=torch.complex64), "failed for the file .* it must return numbers"),
        (lambda path: [1e300], "returned a vector that is not finite"),
        (lambda path: [], r"got the shape \(30, 0\)"),
        (lambda path: None, "failed for the file .* it must return numbers"),
        (FileEncoder(lambda paths: [[1.0]] * 7 + [[1.0, 2.0]], batch_size=8), "failed for the file .* inhomogeneous"),
        (FileEncoder(lambda paths: np.ones((2, 3)), batch_size=8), r"with shape \(8, d\); got the shape \(2, 3\)"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(items, function, message):
    with pytest.raises(ValueError, match=message):
        ItemFeatures(encoders={"photo": function}).fit(items[["photo"]])


def test_encoders_must_be_functions_of_columns(items):
    with pytest.raises(ValueError, match="an encoder must be a function from a path to a vector; got 3"):
        ItemFeatures(encoders={"photo": 3}).fit(items)
    with pytest.raises(ValueError, match=r"encoders must be a mapping from columns to functions, .*; got <function"):
        ItemFeatures(encoders=size_of).fit(items)
    with pytest.raises(ValueError, match="no column of the items is named 'photos'"):
        ItemFeatures(encoders={"photos": size_of}).fit(items)
