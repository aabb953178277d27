"""A data set is a function or a folder; what it holds is checked when it is loaded."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from confdiff.datasets import DATASETS, load, portable_files
from confdiff.plugins import RegistrationError, load_plugins
from confdiff.plugins.registering import _owners
from confdiff.registration import register_dataset
from confdiff.tasks import TaskSpec, make_task
from plugged import DATA, plugged, unload_all, write

ITEMS = np.random.default_rng(0).normal(size=(60, 2))
LABELS = np.tile([0, 1, 1], 20)


@pytest.fixture(autouse=True)
def _removed():
    names = set(DATASETS)
    yield
    unload_all() if not set(_owners.values()) <= {None} else None
    for name in set(DATASETS) - names:
        del DATASETS[name]
    _owners.clear()


def registered(items, labels, **options):
    register_dataset("mine", lambda: (items, labels), n_pairs=8, **options)
    return load("mine")


def test_a_function_is_a_data_set(tmp_path):
    with plugged(write(tmp_path, "blobs.py", DATA)):
        task = make_task(TaskSpec("my-blobs", prior=0.3), keep_teacher=False)
        assert len(task.pairs) == 60
        assert task.pairs.items.shape[1] == 3
        assert task.spec.teaching.recipe.batch_size == 8
        assert task.spec.plugins == {"blobs": "0.2"}
        assert load("my-blobs") is load("my-blobs")


@pytest.mark.parametrize(
    ("labels", "positive", "names"),
    [
        (LABELS, None, ("0", "1")),
        (LABELS.astype(bool), None, ("0", "1")),
        (2.0 * LABELS - 1, None, ("-1", "1")),
        (LABELS + 3, [4], ("3", "4")),
        (np.where(LABELS, "dog", "cat"), ["dog"], ("cat", "dog")),
        (np.where(LABELS, "dog", "cat").astype(object), ["dog"], ("cat", "dog")),
    ],
)
def test_labels_are_numbers_or_texts(labels, positive, names):
    data = registered(ITEMS, labels, positive=positive)
    assert data.class_names == names
    assert data.labels.tolist() == LABELS.tolist()


def test_bytes_stay_bytes_and_a_test_set_may_be_published():
    data = registered((10 * ITEMS).astype(np.uint8), LABELS, n_train=40)
    assert data.items.dtype == np.uint8
    assert data.n_train == 40


@pytest.mark.parametrize(
    ("items", "labels", "options", "message"),
    [
        (ITEMS, LABELS[1:], {}, r"the data set 'mine': labels must be one for each of 60 items; got .*\(59,\)"),
        (ITEMS[:, 0], LABELS, {}, "the data set 'mine': items must be"),
        (ITEMS * np.nan, LABELS, {}, "the data set 'mine': items"),
        (ITEMS, LABELS + 0.5, {}, "labels must be whole numbers or texts"),
        (ITEMS, np.ones(60), {}, "labels must have from 2 to 256 different values; got 1"),
        (ITEMS, np.arange(60) % 3, {}, "labels other than 0/1 and -1/.1 need positive=..."),
        (ITEMS, LABELS, {"positive": [2]}, "positive must be some of the labels 0, 1; got 2"),
        (ITEMS, LABELS, {"positive": [0, 1]}, "positive must be some of the labels"),
        (ITEMS, LABELS, {"n_train": 60}, "n_train must leave items for the test set; got 60 of 60"),
    ],
)
def test_contents_that_cannot_be_used(items, labels, options, message):
    with pytest.raises(ValueError, match=message):
        registered(items, labels, **options)


def test_a_function_that_raises_is_named():
    register_dataset("mine", lambda: 1 / 0, n_pairs=8)
    with pytest.raises(ValueError, match=r"the function of the data set 'mine' raised ZeroDivisionError instead"):
        load("mine")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_pairs": 0}, "the data set 'mine': n_pairs must be a whole number"),
        ({"n_pairs": 8, "batch_size": 1}, "batch_size must be a whole number of at least 2"),
        ({"n_pairs": 8, "priors": (1.5,)}, "prior must be a probability"),
        ({"n_pairs": 8, "epochs": 0}, "epochs must be"),
        ({"n_pairs": 8, "learning_rate": 0}, "learning_rate must be"),
    ],
)
def test_settings_that_cannot_be(options, message):
    with pytest.raises(RegistrationError, match=message):
        register_dataset("mine", lambda: None, **options)


FOLDER = """
from pathlib import Path
from confdiff import register_dataset

register_dataset("mine", Path(__file__).parent / "data", n_pairs=8, positive=["dog"])
"""


def write_folder(folder, *, labels="labels.csv", names=None):
    folder.mkdir(exist_ok=True)
    ids = np.arange(60)
    pq.write_table(pa.table({"id": ids, "x": ITEMS[:, 0], "y": ITEMS[:, 1]}), folder / "items.parquet")
    names = np.where(LABELS, "dog", "cat") if names is None else names
    if labels.endswith("csv"):
        (folder / labels).write_text(
            "id,label\n" + "".join(f"{k},{name}\n" for k, name in zip(ids, names, strict=True))
        )
    else:
        pq.write_table(pa.table({"label": names}), folder / labels)


@pytest.mark.parametrize("labels", ["labels.csv", "labels.parquet"])
def test_a_folder_is_a_data_set_whose_files_are_sent_to_workers(tmp_path, labels):
    write_folder(tmp_path / "data", labels=labels)
    load_plugins(write(tmp_path, "folder.py", FOLDER))
    data = load("mine")
    np.testing.assert_allclose(data.items, ITEMS, rtol=1e-6)
    assert data.labels.tolist() == LABELS.tolist()
    sent = portable_files("mine")
    assert sorted(sent) == ["plugins/mine/items.parquet", f"plugins/mine/{labels}"]
    for name, path in sent.items():  # a worker elsewhere has only these
        (tmp_path / "worker" / name).parent.mkdir(parents=True, exist_ok=True)
        path.rename(tmp_path / "worker" / name)
    assert load("mine", folder=tmp_path / "worker").labels.tolist() == LABELS.tolist()


def test_the_version_changes_with_the_files_of_a_folder(tmp_path):
    versions = set()
    for names in (np.where(LABELS, "dog", "cat"), np.where(LABELS, "cat", "dog")):
        write_folder(tmp_path / "data", names=names)
        (plugin,) = load_plugins(write(tmp_path, "folder.py", FOLDER))
        versions.add(plugin.version)
    assert len(versions) == 2


def test_folders_that_cannot_be_used(tmp_path):
    path = write(tmp_path, "folder.py", FOLDER)
    with pytest.raises(FileNotFoundError, match=r"the plug-in .*folder.py needs the file .*items.parquet"):
        load_plugins(path)
    write_folder(tmp_path / "data")
    load_plugins(path)
    (tmp_path / "data" / "labels.csv").write_text("id,label\n" + "".join(f"{k + 1},dog\n" for k in range(60)))
    with pytest.raises(ValueError, match=r"labels.csv is damaged: its ids are not those of .*items.parquet"):
        load("mine")
    (tmp_path / "data" / "labels.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="it needs a column 'label'; it has a, b"):
        load("mine")
    pq.write_table(pa.table({"x": ["a"] * 60}), tmp_path / "data" / "items.parquet")
    with pytest.raises(ValueError, match="column 'x' does not hold numbers"):
        load("mine")
