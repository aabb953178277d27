"""Every data set, on the real files where there are any: shapes and counts as the paper's appendix has them."""

import csv
import gzip
import io
import pickle
import shutil
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from confdiff.datasets import (
    DATASETS,
    ComparisonDataset,
    Dataset,
    Interactions,
    cifar,
    fetch,
    load,
    names_of_kind,
    uci_and_usps,
    whereabouts,
)
from confdiff.datasets.sources import md5_of_bytes

LABELLED = names_of_kind("labelled")
IN_FILES = [name for name in (*LABELLED, *names_of_kind("comparisons")) if DATASETS[name].forms]


def load_any(name, **how):
    return load(name, incomplete=DATASETS[name].optional_files, **how)


def test_digits():
    data = load("digits")
    assert data.items.shape == (1797, 64)
    assert data.items.dtype == np.uint8
    assert (data.labels == (data.classes % 2 == 0)).all()
    assert data.labels.sum() == 891
    assert data.n_train is None
    assert data.posteriors is None


def test_other_classes_can_be_positive():
    data = load("digits").with_positive("3", "8")
    assert data.positive == (3, 8)
    assert (data.labels == np.isin(data.classes, [3, 8])).all()
    assert data.with_positive("3", "3").positive == (3,)
    with pytest.raises(ValueError, match="unknown class 'eight'"):
        data.with_positive("eight")
    with pytest.raises(ValueError, match="some classes must be positive and some negative; got 0 of 10"):
        data.with_positive()


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'digits'"):
        load("digit")


def test_without_files_every_data_set_says_where_to_put_them(tmp_path, monkeypatch):
    monkeypatch.delenv("CONFDIFF_DATA", raising=False)
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing is fetched from anywhere
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert all(whereabouts(name) == [] for name in DATASETS)
    for name in ("usps", "ukpconvarg1"):  # those of which the form that is fetched is not the first
        with pytest.raises(FileNotFoundError, match=rf"{name} is missing(.|\n)*put them, compressed or not, into"):
            load(name)


# The paper's appendix, Table "Characteristics", and the published counts of each class.
APPENDIX = {
    "mnist": (70_000, 784, [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]),
    "kmnist": (70_000, 784, [7000] * 10),
    "fashion": (70_000, 784, [7000] * 10),
    "optdigits": (4_495 + 1_125, 62, [554, 571, 557, 572, 568, 558, 558, 566, 554, 562]),
    "usps": (7_437 + 1_861, 256, [1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821]),
    "pendigits": (8_793 + 2_199, 16, [1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055]),
    "letter": (20_000, 16, None),
}


@pytest.mark.data
@pytest.mark.parametrize("name", APPENDIX)
def test_shapes_and_counts_are_those_of_the_appendix(name):
    data = load(name)
    n, d, counts = APPENDIX[name]
    assert data.items.shape == (n, d)
    assert counts is None or np.bincount(data.classes).tolist() == counts
    assert np.ptp(data.items, axis=0).all() or name in ("mnist", "kmnist", "fashion")  # no column is constant


@pytest.mark.data
@pytest.mark.parametrize("name", LABELLED)
def test_the_table_says_what_is_loaded(name):
    data, entry = load_any(name), DATASETS[name]
    assert isinstance(data, Dataset)
    assert data.name == name
    assert data.items.shape[1] == entry.n_features
    assert (data.class_names, data.positive) == (entry.class_names, entry.positive)
    assert data.items.flags.c_contiguous
    assert data.classes.shape == (len(data.items),)
    assert set(data.classes) == set(range(len(data.class_names)))
    if not entry.optional_files:  # some may be missing
        assert len(data.items) == entry.n_train + (entry.n_test or 0)
    if entry.n_test:
        assert len(data.items) - data.n_train == entry.n_test
    if data.picture is not None:
        assert data.picture(data.items[0]).dtype == np.uint8


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "positive"),
    [
        ("mnist", "0 2 4 6 8"),
        ("kmnist", "o su na ma re"),
        ("fashion", "T-shirt pullover coat shirt bag"),
        ("cifar10", "bird cat deer dog frog horse"),
        ("letter", "A B C D E F G H I J K L M"),
    ],
)
def test_the_partition_is_the_paper_s(name, positive):
    data = load_any(name)
    assert [data.class_names[k] for k in data.positive] == positive.split()


@pytest.mark.data
def test_letter_counts():
    counts = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.bincount(load("letter").classes), strict=True))
    assert (counts["A"], counts["H"], counts["U"]) == (789, 734, 813)  # as published with the data


@pytest.mark.data
def test_optdigits_has_the_digits_of_scikit_learn():
    data, digits = load("optdigits"), load("digits")
    assert (data.items[3823:] == np.delete(digits.items, [0, 39], axis=1)).all()
    assert (data.classes[3823:] == digits.classes).all()
    assert (data.picture(data.items[3823]) == digits.picture(digits.items[0])).all()


@pytest.mark.data
def test_cifar10h_votes_agree_with_the_labels():
    data = load("cifar10h")
    assert data.votes.shape == (10_000, 10)
    assert (data.votes.argmax(1) == data.classes).mean() == pytest.approx(0.9921, abs=1e-4)
    assert 47 <= data.votes.sum(1).min() <= data.votes.sum(1).max() <= 63
    assert data.class_posteriors.sum(1) == pytest.approx(1)
    animals = data.votes[:, 2:8].sum(1) / data.votes.sum(1)
    assert data.posteriors == pytest.approx(animals, abs=1e-6)
    assert ((data.posteriors > 0.5) == (data.labels > 0)).mean() > 0.99


@pytest.mark.data
def test_arguments():
    data = load("ukpconvarg1")
    assert isinstance(data, ComparisonDataset)
    assert len(data.pairs) == 16_927
    assert len(data.texts) == len(data.ids) == len(data.pairs.items) == 1_052
    assert len(data.group_names) == len(data.pairs.group.unique()) == data.pairs.n_components() == 32
    assert Counter(data.votes.sum(1).tolist()) == {5: 16_737, 4: 190}
    assert np.isnan(data.verdict).sum() == 16_927 - 16_081
    assert "atheism" in data.pairs.feature_names
    assert data.pairs.items.norm(dim=1).numpy() == pytest.approx(1, abs=1e-5)


@pytest.mark.data
def test_the_sign_of_an_argument_s_difference_follows_the_votes(real_data):
    data = load("ukpconvarg1")
    with (real_data / "ukpconvarg1" / "pairs_votes.csv").open(newline="") as file:
        first = next(csv.DictReader(file))
    assert (first["n_a1"], first["n_a2"], first["n_equal"]) == ("1", "3", "1")
    items = [data.ids.index(first[side]) for side in ("arg1", "arg2")]
    row = int(((data.pairs.left == items[0]) & (data.pairs.right == items[1])).nonzero())
    assert data.pairs.difference[row] == pytest.approx(0.4)
    clear = data.difference[data.verdict == 1]
    assert (clear > 0).mean() > 0.9 > 0.1 > (clear < 0).mean()  # gold labels weigh the voters, c does not


@pytest.mark.data
@pytest.mark.parametrize("name", IN_FILES)
def test_files_are_checked_not_trusted(name, real_data, tmp_path, monkeypatch):
    """A copy in which one file lost its end, or was changed in the middle, is refused, and the file is named."""
    monkeypatch.delenv("CONFDIFF_DATA")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    for folder in {path.parent for path in whereabouts(name, folder=real_data)} or {real_data / name}:
        shutil.copytree(folder, tmp_path / folder.name)
    load_any(name, folder=tmp_path)
    files = whereabouts(name, folder=tmp_path, incomplete=DATASETS[name].optional_files)
    victim = max(files, key=lambda path: path.stat().st_size)
    victim.chmod(0o644)
    whole = victim.read_bytes()
    middle = len(whole) // 2
    for contents in (whole[:-1000], whole[:middle] + b"\x07\x07\x07\x07" + whole[middle + 4 :], b"", b"junk\n"):
        victim.write_bytes(contents)
        with pytest.raises(ValueError, match=r"is damaged: .*truncated, altered or another file") as caught:
            load_any(name, folder=tmp_path)
        assert str(tmp_path) in str(caught.value)


@pytest.mark.data
@pytest.mark.parametrize(("name", "theirs"), [("mnist", "MNIST/raw"), ("fashion", "FashionMNIST/raw")])
def test_the_layout_that_torchvision_leaves_behind(name, theirs, real_data, tmp_path, monkeypatch):
    """There the files lie unpacked in a folder called raw."""
    monkeypatch.delenv("CONFDIFF_DATA")
    (tmp_path / theirs).mkdir(parents=True)
    for path in whereabouts(name, folder=real_data):
        (tmp_path / theirs / path.stem).write_bytes(gzip.decompress(path.read_bytes()))
    data = load(name, folder=tmp_path)
    assert (data.items == load(name, folder=real_data).items).all()
    assert [path.parent for path in fetch(name, folder=tmp_path)] == [tmp_path / theirs] * 4


@pytest.mark.data
def test_the_layout_that_the_uci_repository_leaves_behind(real_data, tmp_path, monkeypatch):
    monkeypatch.delenv("CONFDIFF_DATA")
    folder = tmp_path / "pen+based+recognition+of+handwritten+digits"
    folder.mkdir()
    for path in (real_data / "pendigits").iterdir():
        (folder / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert (load("pendigits", folder=tmp_path).items == load("pendigits", folder=real_data).items).all()
    assert (load("pendigits", folder=folder).items == load("pendigits", folder=real_data).items).all()


@pytest.mark.data
def test_usps_is_the_same_from_either_publisher(real_data, tmp_path, monkeypatch):
    """LIBSVM has grey levels from -1 to 1 and digits from 1 to 10, as text."""
    monkeypatch.delenv("CONFDIFF_DATA")
    ours = load("usps", folder=real_data)
    order = np.random.default_rng(0).permutation(9298)  # in which order is the publisher's affair
    mixed = ours.items[order], ours.classes[order]
    for name, part in (("usps", slice(0, 7291)), ("usps.t", slice(7291, None))):
        dump_svmlight_file(
            (mixed[0][part].astype(np.float64) * 2 - 1).round(6), mixed[1][part] + 1, str(tmp_path / name),
            zero_based=False,
        )  # fmt: skip
    theirs = load("usps", folder=tmp_path)
    assert (theirs.items == ours.items).all()
    assert (theirs.classes == ours.classes).all()
    text = (tmp_path / "usps").read_text()
    (tmp_path / "usps").write_text(text.replace("1:-1", "1:-0.5", 1))
    with pytest.raises(ValueError, match="not those of USPS"):
        load("usps", folder=tmp_path)
    assert uci_and_usps.USPS[1].sources[0].url.endswith("usps.bz2")


class Python2Pickler(pickle._Pickler):
    """Writes bytes as the text of Python 2, in which the published pickles were made."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_text(self, data):
        self.write(b"T" + len(data).to_bytes(4, "little") + data)
        self.memoize(data)

    dispatch[bytes] = save_text


def as_python_2_would(batch):
    contents = io.BytesIO()
    Python2Pickler(contents, protocol=2).dump(batch)
    return contents.getvalue().replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


@pytest.mark.data
def test_cifar10_as_pickles(real_data, tmp_path, monkeypatch):
    """The layout of torchvision: the same pictures in pickles, of which nothing but arrays is taken."""
    monkeypatch.delenv("CONFDIFF_DATA")
    ours = load("cifar10", folder=real_data, incomplete=True)
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for number, name in enumerate(("data_batch_1", "test_batch")):
        part = slice(number * 10_000, (number + 1) * 10_000)
        batch = {b"data": ours.items[part], b"labels": ours.classes[part].tolist(), b"batch_label": b"one"}
        contents = as_python_2_would(batch)
        (folder / name).write_bytes(contents)
        source = next(source for source in cifar.CIFAR10[1].sources if source.name == name)
        monkeypatch.setitem(source.__dict__, "md5", md5_of_bytes(contents))
    theirs = load("cifar10", folder=tmp_path, incomplete=True)
    assert (theirs.items == ours.items).all()
    assert (theirs.classes == ours.classes).all()


class Harmful:
    def __reduce__(self):
        return Path.touch, (Path("harm"),)


@pytest.mark.parametrize("harm", [Harmful(), np.load, Path("x"), {"data": Harmful()}])
def test_pickles_execute_nothing(harm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="is not allowed in a file of pictures"):
        cifar._ArraysOnly(io.BytesIO(pickle.dumps(harm, protocol=2)), encoding="bytes").load()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.data
def test_arguments_as_published(real_data, tmp_path, monkeypatch):
    """The home publishes XML files, a topic each: the same judgements and the same texts come out of them."""
    monkeypatch.delenv("CONFDIFF_DATA")
    ours = load("ukpconvarg1", folder=real_data)
    folder = tmp_path / "UKPConvArg1-full-XML"
    folder.mkdir()
    topics = {}
    for row in range(len(ours.pairs)):
        topics.setdefault(ours.group_names[ours.pairs.group[row]], []).append(row)
    for topic, rows in reversed(topics.items()):
        root = ElementTree.Element("list")
        for row in rows:
            pair = ElementTree.SubElement(root, "annotatedArgumentPair")
            for tag, item in (("arg1", ours.pairs.left[row]), ("arg2", ours.pairs.right[row])):
                argument = ElementTree.SubElement(pair, tag)
                ElementTree.SubElement(argument, "text").text = ours.texts[item]
                ElementTree.SubElement(argument, "id").text = ours.ids[item]
            votes = ElementTree.SubElement(pair, "mTurkAssignments")
            for value, count in zip(("a1", "a2", "equal"), ours.votes[row], strict=True):
                for _ in range(count):
                    ElementTree.SubElement(ElementTree.SubElement(votes, "mTurkAssignment"), "value").text = value
            if ours.verdict[row] in (-1, 0, 1):
                gold = {-1: "a1", 0: "equal", 1: "a2"}[ours.verdict[row]]
                ElementTree.SubElement(pair, "goldLabel").text = gold
        ElementTree.ElementTree(root).write(folder / f"{topic}.xml")
    theirs = load("ukpconvarg1", folder=tmp_path)
    assert theirs.texts == ours.texts
    assert (theirs.votes == ours.votes).all()
    assert (theirs.pairs.left == ours.pairs.left).all()
    assert (theirs.pairs.difference == ours.pairs.difference).all()


def test_every_entry_is_complete_for_its_kind():
    for name, entry in DATASETS.items():
        assert all((entry.label, entry.title, entry.licence, entry.home)), name
        assert (entry.builtin is None) == bool(entry.forms), name
        assert (entry.setting is not None) == (entry.kind == "labelled") == bool(entry.positive), name
        assert (entry.ranking is not None) == (entry.kind == "interactions"), name
        assert (entry.layout is not None) == (entry.network == "picture"), name
        assert entry.layout is None or np.prod(entry.layout) == entry.n_features, name
    assert DATASETS["cifar10"].network == DATASETS["cifar10h"].network == "picture"
    assert DATASETS["cifar10"].optional_files


def test_the_documentation_has_every_data_set():
    page = (Path(__file__).parent.parent.parent / "docs" / "data.md").read_text()
    rows = " ".join(line.split("|")[1] for line in page.splitlines() if line.startswith("|"))
    assert set(DATASETS) <= set(rows.replace(",", " ").split())


@pytest.mark.data
@pytest.mark.parametrize("name", names_of_kind("interactions"))
def test_interactions_are_loaded_by_name(name, real_data):
    data = load(name)
    assert isinstance(data, Interactions)
    assert len(data.item_ids) <= DATASETS[name].n_train
    assert whereabouts(name)[0].parent == real_data / name
