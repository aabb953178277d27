"""Tasks: the sampling rules of both protocols, to the item."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from confdiff.datasets import DATASETS, Dataset, load
from confdiff.pairs import NOISES
from confdiff.pairs.describe import describe_pairs
from confdiff.tasks import PROTOCOLS, TaskSpec, make_task, read_truth, save_task, split
from confdiff.training import Recipe

QUICK = TaskSpec("digits", model="linear")


@pytest.fixture(scope="module", autouse=True)
def _quick_teacher():
    """Sampling does not depend on how long the teacher is trained."""
    patch = pytest.MonkeyPatch()
    patch.setattr("confdiff.tasks.spec.TEACHER_RECIPE", Recipe(epochs=1))
    yield
    patch.undo()


def positives(task):
    return int(task.pairs.targets("labels").sum())


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_a_task_at_a_prior(protocol, prior):
    task = make_task(replace(QUICK, prior=prior, protocol=protocol))
    assert len(task.pairs) == 400
    assert positives(task) == int(800 * prior)
    assert len(task.pairs.items) == 800
    r, r_prime = task.pairs.targets("posteriors")
    assert torch.equal(task.pairs.difference, r_prime - r)
    assert float(task.test_labels.mean()) == pytest.approx(prior, abs=0.005)
    assert not set(task.rows.tolist()) & set(task.test_rows.tolist())
    assert torch.equal(task.test_items, torch.from_numpy(task.data.items)[task.test_rows])
    assert torch.equal(task.pairs.items, torch.from_numpy(task.data.items)[task.rows])
    assert torch.equal(task.pairs.labels, torch.from_numpy(task.data.labels)[task.rows])
    assert task.prior == prior


def test_the_seed_decides_everything_and_nothing_else_does():
    first, same, other = (make_task(replace(QUICK, seed=seed), keep_teacher=False) for seed in (3, 3, 4))
    for name in ("rows", "test_rows", "test_items"):
        assert torch.equal(getattr(first, name), getattr(same, name))
        assert not torch.equal(getattr(first, name), getattr(other, name))
    assert torch.equal(first.pairs.difference, same.pairs.difference)
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002 - whatever a caller did
    assert torch.equal(make_task(replace(QUICK, seed=3), keep_teacher=False).pairs.difference, first.pairs.difference)


def test_the_teacher_and_the_pairs_are_shared_by_what_does_not_touch_them():
    """The same items and the same grades at any noise; the same teacher at any prior."""
    plain = make_task(QUICK)
    noisy = make_task(replace(QUICK, noise="additive", noise_amount=0.1))
    assert torch.equal(plain.rows, noisy.rows)
    assert torch.equal(plain.pairs.posteriors, noisy.pairs.posteriors)
    assert not torch.equal(plain.pairs.difference, noisy.pairs.difference)
    skewed = make_task(replace(QUICK, prior=0.2))
    shared = np.intersect1d(plain.rows, skewed.rows)
    assert len(shared) > 100
    grades = [dict(zip(task.rows.tolist(), task.pairs.posteriors.tolist(), strict=True)) for task in (plain, skewed)]
    assert all(grades[0][row] == grades[1][row] for row in shared.tolist())


def test_a_fraction_is_part_of_a_larger_one():
    tasks = [make_task(replace(QUICK, fraction=fraction)) for fraction in (0.1, 0.4, 1.0)]
    assert [len(task.pairs) for task in tasks] == [40, 160, 400]
    compared = [
        set(map(tuple, task.rows[torch.stack([task.pairs.left, task.pairs.right]).T].tolist())) for task in tasks
    ]
    assert compared[0] < compared[1] < compared[2]
    assert all(torch.equal(task.test_rows, tasks[0].test_rows) for task in tasks)


def test_options_reach_what_they_name():
    assert make_task(replace(QUICK, n_pairs=90, partners=3)).pairs.n_components() == 1
    assert make_task(replace(QUICK, n_pairs=90, partners=3, fraction=0.5)).pairs.n_components() == 1
    assert len(make_task(replace(QUICK, n_pairs=2000, replacement=True)).pairs) == 2000
    assert make_task(replace(QUICK, prior_factor=1.2)).prior == pytest.approx(0.6)
    likert = make_task(replace(QUICK, noise="likert", noise_amount=5.0)).pairs.difference
    assert set(likert.tolist()) <= {-1.0, -0.5, 0.0, 0.5, 1.0}
    wild = make_task(replace(QUICK, noise="multiplicative", noise_amount=2.0)).pairs.difference  # as the paper has it
    tame = make_task(replace(QUICK, noise="multiplicative", noise_amount=2.0, clip=True)).pairs.difference
    assert wild.abs().max() > 1 == tame.abs().max()
    labels = make_task(replace(QUICK, noise="labels")).pairs
    assert torch.equal(labels.difference, labels.targets("labels")[1] - labels.targets("labels")[0])
    ordered = make_task(replace(QUICK, pcomp="discard")).pairs
    assert (ordered.targets("labels")[0] >= ordered.targets("labels")[1]).all()
    assert 250 < len(ordered) < 350  # a quarter is lost
    adjusted, plain = (make_task(replace(QUICK, prior=0.2, adjusted=flag)).pairs.posteriors for flag in (True, False))
    assert (adjusted <= plain).all()
    assert adjusted.mean() < plain.mean()


def test_too_few_items_are_noticed_before_the_teacher_is_trained(monkeypatch):
    monkeypatch.setattr("confdiff.tasks.task.teach", None)
    with pytest.raises(ValueError, match=r"20 items at prior 0\.01 are all of one class"):
        make_task(replace(QUICK, n_pairs=10, prior=0.01))
    with pytest.raises(ValueError, match="it would hold only one class"):
        make_task(replace(QUICK, n_pairs=250, prior=0.002))
    with pytest.raises(ValueError, match="takes 800 positives, and there are 712"):
        make_task(replace(QUICK, n_pairs=500, prior=0.8))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataset": "minst"}, "Did you mean 'mnist'"),
        ({"dataset": "ukpconvarg1"}, "ukpconvarg1 holds comparisons"),
        ({"protocol": "mine"}, "unknown protocol"),
        ({"prior": 1.0}, "prior must be a probability"),
        ({"prior_factor": 3.0}, "prior must be a probability strictly between 0 and 1, such as 0.2; got 1.5"),
        ({"prior_factor": 0.0}, "prior_factor must be a finite number above 0"),
        ({"fraction": 0.0}, "fraction must be a number above 0 and at most 1"),
        ({"fraction": 2}, "fraction must be"),
        ({"noise": "white"}, "unknown noise"),
        ({"noise_amount": 0.2}, "noise_amount=0.2 needs a kind of noise"),
        ({"noise": "additive"}, "noise='additive' needs its amount, sigma"),
        ({"pcomp": "turn"}, "unknown strategy"),
        ({"model": "resnet"}, "unknown model"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"n_pairs": -5}, "n_pairs must be a whole number"),
        ({"partners": 0}, "partners must be a whole number"),
        ({"folds": 0}, "folds must be a whole number"),
        ({"clip": True}, "clip=True needs noise"),
        ({"dataset": "cifar10h", "model": None, "folds": 5}, "graded by people"),
    ],
)
def test_mistakes_in_a_specification(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(QUICK, **changes)


@pytest.mark.parametrize("noise", [*NOISES, "labels"])
def test_a_specification_is_plain_data(noise):
    amount = {"likert": 7, "labels": None}.get(noise, 0.5)
    spec = TaskSpec("letter", 0.2, "authors", 3, noise=noise, noise_amount=amount)
    assert TaskSpec(**json.loads(json.dumps(asdict(spec)))) == spec


def test_networks_and_recipes_of_the_protocols():
    assert TaskSpec("mnist").network == "mlp"
    assert TaskSpec("mnist", protocol="authors").network == "authors-mlp"
    assert TaskSpec("cifar10").network == "resnet34"
    assert TaskSpec("cifar10", protocol="authors").network == "resnet32"
    learning = TaskSpec("cifar10", protocol="authors", seed=7).learning()
    assert (learning.epochs, learning.batch_size, learning.learning_rate, learning.weight_decay) == (
        200,
        128,
        5e-4,
        1e-5,
    )
    assert (learning.forward_passes, learning.seed) == (2, 7)
    assert TaskSpec("mnist").learning().forward_passes == 1
    assert TaskSpec("mnist").learning(5).epochs == 5
    teaching = TaskSpec("mnist", seed=7).teaching.recipe
    assert 2 * teaching.batch_size == 256  # items
    assert teaching.seed not in (7, TaskSpec("mnist", seed=8).teaching.recipe.seed)


# What the paper prints for each data set: pairs, size of a batch of pairs.
PRINTED = {
    "mnist": (15_000, 256),
    "kmnist": (15_000, 256),
    "fashion": (15_000, 256),
    "cifar10": (10_000, 128),
    "optdigits": (1_200, 128),
    "usps": (2_000, 128),
    "pendigits": (2_500, 128),
    "letter": (4_000, 128),
}


@pytest.mark.parametrize("name", PRINTED)
def test_settings_are_those_of_the_appendix(name):
    setting = DATASETS[name].setting
    assert (setting.n_pairs, setting.batch_size) == PRINTED[name]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "n_train", "n_test"),
    [("optdigits", 4_495, 1_125), ("usps", 7_437, 1_861), ("pendigits", 8_793, 2_199), ("letter", 16_000, 4_000)],
)
def test_splits_have_the_printed_sizes(name, n_train, n_test):
    data = load(name)
    train, test = split(data, seed=1)
    assert (len(train), len(test)) == (n_train, n_test)
    assert sorted(torch.cat([train, test]).tolist()) == list(range(n_train + n_test))
    share = data.labels[train].sum() / data.labels.sum()
    assert share == pytest.approx(0.8, abs=0.001)
    assert not torch.equal(train, split(data, seed=2)[0])


@pytest.fixture
def untaught(monkeypatch):
    """Tasks whose teacher says .5 of everything: the sampling does not depend on it."""
    from confdiff.teacher import Grades

    monkeypatch.setattr(
        "confdiff.tasks.task.teach", lambda items, labels, **_: Grades(torch.zeros(len(items)), 0.5, 1.0)
    )
    return make_task


@pytest.mark.data
@pytest.mark.parametrize("name", [name for name in PRINTED if name != "cifar10"])
@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_counts_of_pairs_and_test_items(untaught, name, prior, protocol):
    task = untaught(TaskSpec(name, prior, protocol))
    n = PRINTED[name][0]
    assert len(task.pairs) == n
    assert positives(task) == int(2 * n * prior)
    assert len(task.pairs.items) == 2 * n  # without replacement
    n_positive, n_negative = int(task.test_labels.sum()), int((1 - task.test_labels).sum())
    if task.data.n_train is not None:
        parts = task.data.labels[task.data.n_train :]
    else:
        parts = task.data.labels[split(task.data, 0)[1]]
    all_positive, all_negative = int(parts.sum()), int((1 - parts).sum())
    expected = {
        0.2: (all_negative // 4, all_negative),
        0.5: (min(all_positive, all_negative), min(all_positive, all_negative)),
        0.8: (all_positive, all_positive // 4),
    }
    assert (n_positive, n_negative) == expected[prior]


@pytest.mark.data
def test_the_authors_take_the_first_test_items_in_the_order_of_their_classes(untaught):
    def classes(name, prior, protocol):
        task = untaught(TaskSpec(name, prior, protocol))
        return np.bincount(task.data.classes[task.test_rows], minlength=10).tolist()

    assert classes("fashion", 0.2, "authors") == [1000, 1000, 250, 1000, 0, 1000, 0, 1000, 0, 1000]
    assert classes("fashion", 0.8, "authors") == [1000, 1000, 1000, 250, 1000, 0, 1000, 0, 1000, 0]
    assert classes("kmnist", 0.5, "authors") == [1000] * 10
    at_random = classes("fashion", 0.2, "paper")
    assert sum(at_random[0::2]) == 1250
    assert min(at_random[0::2]) > 200
    assert at_random[1::2] == [1000] * 5


@pytest.mark.data
def test_the_authors_call_odd_pen_digits_positive(untaught):
    authors, paper = (untaught(TaskSpec("pendigits", 0.2, protocol)) for protocol in ("authors", "paper"))
    assert authors.data.positive == (1, 3, 5, 7, 9)
    assert paper.data.positive == (0, 2, 4, 6, 8)


@pytest.mark.data
def test_the_authors_scramble_the_colours_of_cifar10(untaught):
    spec = TaskSpec("cifar10", n_pairs=50, incomplete=True)
    paper, authors = (untaught(replace(spec, protocol=protocol)) for protocol in ("paper", "authors"))
    original = paper.data.items[authors.rows[0]].reshape(3, 32, 32)
    pixels = original.transpose(1, 2, 0)  # height x width x channel, as images are stored
    assert authors.pairs.items[0].numpy().reshape(3, 32, 32).tolist() == pixels.reshape(3, 32, 32).tolist()
    assert paper.pairs.items[0].tolist() == paper.data.items[paper.rows[0]].tolist()
    with pytest.raises(ValueError, match="and there are"):
        untaught(replace(spec, n_pairs=None))  # half of the printed number of pairs is not here


@pytest.mark.data
@pytest.mark.parametrize("name", ["optdigits", "usps", "pendigits", "letter"])
@pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
def test_every_teacher_can_be_adjusted(name, prior):
    task = make_task(TaskSpec(name, prior, adjusted=True, model="linear"))
    assert 0 <= task.pairs.posteriors.min() < task.pairs.posteriors.max() <= 1
    plain = make_task(TaskSpec(name, prior, model="linear")).pairs.posteriors
    moved = float((task.pairs.posteriors - plain).mean())
    assert (moved < -0.04, moved > 0.04) == (prior == 0.2, prior == 0.8)


@pytest.mark.data
def test_people_grade_cifar10h(monkeypatch):
    monkeypatch.setattr("confdiff.tasks.task.teach", None)
    task = make_task(TaskSpec("cifar10h", 0.5))
    votes = task.data.votes[task.rows]
    assert task.pairs.posteriors.numpy() == pytest.approx(votes[:, 2:8].sum(1) / votes.sum(1), abs=1e-6)
    assert len(task.pairs) == 2000
    assert task.teacher_accuracy > 0.98


def test_an_exact_teacher_gives_exact_differences(monkeypatch):
    """A finite distribution: five kinds of items whose posteriors are known exactly."""
    from confdiff.teacher import Grades

    r = np.array([0.0, 0.125, 0.5, 0.75, 1.0], dtype=np.float32)
    kind = np.random.default_rng(0).integers(0, 5, 4000)
    classes = (np.random.default_rng(1).random(4000) < r[kind]).astype(np.uint8)
    data = Dataset("digits", kind[:, None].astype(np.uint8), classes, ("no", "yes"), positive=(1,))
    monkeypatch.setattr("confdiff.tasks.task.load", lambda name, **_: data)
    exact = torch.logit(torch.from_numpy(r[kind]))
    monkeypatch.setattr("confdiff.tasks.task.teach", lambda items, labels, **_: Grades(exact, float(r.mean()), 1.0))
    pairs = make_task(TaskSpec("digits", 0.5)).pairs
    left, right = pairs.items[pairs.left, 0].long(), pairs.items[pairs.right, 0].long()
    assert torch.allclose(pairs.difference, torch.from_numpy(r)[right] - torch.from_numpy(r)[left], atol=1e-7)
    assert pairs.labels.mean() == 0.5


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "csv.gz", "json"])
def test_saved_and_read_again(tmp_path, ending):
    task = make_task(replace(QUICK, prior=0.3))
    files = save_task(task, tmp_path / f"pairs.{ending}")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in files.values())
    again = read_truth(files["pairs"])
    assert len(again) == len(task.pairs)
    assert torch.allclose(again.difference, task.pairs.difference, atol=1e-6)
    assert torch.equal(again.items[again.left], task.pairs.items[task.pairs.left].to(again.items.dtype))
    assert torch.equal(again.items[again.right], task.pairs.items[task.pairs.right].to(again.items.dtype))
    assert torch.allclose(again.targets("posteriors"), task.pairs.targets("posteriors"), atol=1e-6)
    assert torch.equal(again.targets("labels"), task.pairs.targets("labels"))
    assert len(again.items) == 800 + len(task.test_rows)
    description = json.loads(files["description"].read_text())
    assert TaskSpec(**description["specification"]) == task.spec
    assert description["prior"] == pytest.approx(0.3)
    files["truth"].unlink()
    assert read_truth(files["pairs"]).labels is None


def test_noise_beyond_the_range_comes_back_too(tmp_path):
    task = make_task(replace(QUICK, noise="multiplicative", noise_amount=2.0))
    files = save_task(task, tmp_path / "pairs.parquet")
    assert torch.equal(read_truth(files["pairs"]).difference, task.pairs.difference)
    assert describe_pairs(task.pairs).beyond > 0.1


def test_a_truth_that_belongs_to_other_items_is_noticed(tmp_path):
    files = save_task(make_task(replace(QUICK, n_pairs=20)), tmp_path / "pairs.csv")
    lines = files["truth"].read_text().splitlines(keepends=True)
    files["truth"].write_text("".join(lines[:-3]))
    with pytest.raises(ValueError, match=r"pairs-items\.csv, column 'id', row \d+: the id \d+ is not among"):
        read_truth(files["pairs"])
    files["truth"].write_text("".join(line.replace("posterior", "p") for line in lines))
    with pytest.raises(ValueError, match=r"pairs-truth\.csv must have a column 'posterior'"):
        read_truth(files["pairs"])


def test_saving_where_a_folder_stands_writes_nothing(tmp_path):
    (tmp_path / "pairs-truth.csv").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save_task(make_task(QUICK), tmp_path / "pairs.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["pairs-truth.csv"]
