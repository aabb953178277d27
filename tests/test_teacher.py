import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import log_loss

from confdiff.io.tensors import save_tree
from confdiff.teacher import _VERSION, Teaching, fit_teacher, grade, teach
from confdiff.training import Recipe
from easy import easy_pairs

RECIPE = Recipe(epochs=30, batch_size=32, learning_rate=0.02)
QUICK = Teaching("linear", Recipe(epochs=3, batch_size=32, learning_rate=0.02))

GRADES = {
    (1, False): [0.1955, 0.1500, 0.5617, -0.9501],
    (1, True): [0.7644, 0.5502, 3.9930, -4.0142],
    (2, False): [-0.0041, 0.0628, 0.2326, -0.2208],
    (2, True): [-0.0164, 0.2513, 0.9306, -0.8831],
}
"""(folds, calibrated) -> the first scores of a small teacher, version 1."""


@pytest.mark.parametrize("n_items", [300, 299])
def test_a_teacher_learns_the_posteriors(n_items):
    pairs = easy_pairs(n_items=n_items)
    teacher = fit_teacher(pairs.items.numpy(), pairs.labels, model="linear", recipe=RECIPE)
    graded = grade(teacher, pairs.items.numpy())
    assert graded.shape == (n_items,)
    assert (graded - pairs.posteriors).abs().mean() < 0.08


def test_the_seed_determines_the_teacher():
    pairs = easy_pairs()
    first, same = (grade(fit_teacher(pairs.items.numpy(), pairs.labels), pairs.items.numpy()) for _ in range(2))
    assert torch.equal(first, same)


def test_labels_must_be_two_classes():
    with pytest.raises(ValueError, match="labels must be 0/1 or"):
        fit_teacher(np.zeros((3, 1)), [0, 1, 2])


def test_pixels_are_graded_as_numbers():
    pixels = np.random.default_rng(0).integers(0, 256, (60, 5), dtype=np.uint8)
    labels = pixels[:, 0] > 100
    as_bytes = teach(pixels, labels, teaching=QUICK).posteriors
    as_floats = teach(pixels.astype(np.float32), labels, teaching=QUICK).posteriors
    assert torch.equal(as_bytes, as_floats)


def test_only_the_given_rows_are_trained_on_and_all_items_are_graded():
    pairs = easy_pairs()
    labels = pairs.labels.clone()
    rows = torch.arange(0, 300, 2)
    before = teach(pairs.items, labels, rows=rows, teaching=QUICK)
    labels[1::2] = 1 - labels[1::2]
    after = teach(pairs.items, labels, rows=rows, teaching=QUICK)
    assert torch.equal(before.posteriors, after.posteriors)
    assert before.posteriors.shape == (300,)
    assert before.prior == pytest.approx(float(labels[rows].mean()))


def test_no_item_is_graded_by_a_teacher_trained_on_it():
    """Were its label another, an item's grade would be the same, and others would not."""
    pairs = easy_pairs(n_items=60)
    teaching = Teaching("linear", RECIPE, folds=5)
    first = teach(pairs.items, pairs.labels, teaching=teaching).posteriors
    changed = []
    for item in range(3):
        labels = pairs.labels.clone()
        labels[item] = 1 - labels[item]
        other = teach(pairs.items, labels, teaching=teaching).posteriors
        assert other[item] == first[item]
        changed.append((other != first).sum())
    assert min(changed) > 40
    in_sample = teach(pairs.items, labels, teaching=replace(teaching, folds=1)).posteriors
    assert in_sample[2] != teach(pairs.items, pairs.labels, teaching=replace(teaching, folds=1)).posteriors[2]


def test_items_outside_of_the_folds_are_graded_by_all():
    pairs = easy_pairs()
    teaching = Teaching("linear", RECIPE, folds=3)
    grades = teach(pairs.items, pairs.labels, rows=range(200), teaching=teaching)
    assert (grades.posteriors[200:] - pairs.posteriors[200:]).abs().mean() < 0.1


def test_too_many_folds():
    pairs = easy_pairs(n_items=10)
    with pytest.raises(ValueError, match="folds=6 needs at least two items per fold, 12; got 10"):
        teach(pairs.items, pairs.labels, teaching=replace(QUICK, folds=6))


@pytest.mark.parametrize("folds", [1, 4])
def test_calibration_corrects_an_overconfident_teacher(folds):
    """A wide network that learns a few hundred noisy labels by heart says 0 or 1 of nearly everything."""
    pairs = easy_pairs(n_items=2000)
    rows = range(500)
    teaching = Teaching("mlp", Recipe(epochs=100, batch_size=64), folds=folds)
    plain, mended = (
        teach(pairs.items, pairs.labels, rows=rows, teaching=replace(teaching, calibrated=flag))
        for flag in (False, True)
    )
    assert plain.temperature == 1 < mended.temperature
    unseen = slice(500, None) if folds == 1 else slice(0, 500)  # in folds each item is unseen by its own teacher
    losses = [log_loss(pairs.labels[unseen], grades.posteriors[unseen].double()) for grades in (plain, mended)]
    assert losses[1] < 0.8 * losses[0]


def test_an_unusable_cache_warns(tmp_path):
    pairs = easy_pairs(n_items=40)
    expected = teach(pairs.items, pairs.labels, teaching=QUICK, cache_folder=tmp_path).posteriors
    (file,) = tmp_path.iterdir()
    other = tmp_path / "other.safetensors"
    save_tree(other, {"something": "else"})
    for contents in (b"nonsense", file.read_bytes()[:-20], other.read_bytes()):
        file.write_bytes(contents)
        with pytest.warns(UserWarning, match="training the teacher again, because .* is damaged"):
            again = teach(pairs.items, pairs.labels, teaching=QUICK, cache_folder=tmp_path)
        assert torch.equal(again.posteriors, expected)
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="cannot cache the grades in"):
        teach(pairs.items, pairs.labels, teaching=QUICK, cache_folder=tmp_path / "file")


def test_too_few_items_to_calibrate():
    pairs = easy_pairs(n_items=8)
    with pytest.raises(ValueError, match="calibrated=True needs at least 10 items; got 8"):
        teach(pairs.items, pairs.labels, teaching=replace(QUICK, calibrated=True))


def test_the_cache_key_covers_everything_that_determines_grades(tmp_path):
    pairs = easy_pairs(n_items=40)
    labels = pairs.labels.clone()

    def files(**changes):
        given = {"items": pairs.items, "labels": labels, "rows": range(30), "teaching": QUICK} | changes
        grades = teach(
            given["items"], given["labels"], rows=given["rows"], teaching=given["teaching"], cache_folder=tmp_path
        )
        return grades, len(list(tmp_path.iterdir()))

    first, count = files()
    assert count == 1
    again, count = files()
    assert count == 1
    assert torch.equal(first.posteriors, again.posteriors)
    assert (first.prior, first.temperature) == (again.prior, again.temperature)
    other_labels = labels.clone()
    other_labels[0] = 1 - labels[0]
    recipe = QUICK.recipe
    changes = [
        {"items": pairs.items + 1},
        {"labels": other_labels},
        {"rows": range(29)},
        {"teaching": replace(QUICK, model="mlp")},
        {"teaching": replace(QUICK, folds=2)},
        {"teaching": replace(QUICK, calibrated=True)},
        {"teaching": replace(QUICK, recipe=replace(recipe, seed=1))},
        {"teaching": replace(QUICK, recipe=replace(recipe, epochs=4))},
        {"teaching": replace(QUICK, recipe=replace(recipe, learning_rate=0.01))},
    ]
    for number, change in enumerate(changes, start=2):
        assert files(**change)[1] == number, change


def test_the_version_is_part_of_the_key(tmp_path, monkeypatch):
    pairs = easy_pairs(n_items=40)
    for number, version in enumerate((1, 2), start=1):
        monkeypatch.setattr("confdiff.teacher._VERSION", version)
        teach(pairs.items, pairs.labels, teaching=QUICK, cache_folder=tmp_path)
        assert len(list(tmp_path.iterdir())) == number


@pytest.mark.parametrize(("folds", "calibrated"), [(1, False), (1, True), (2, False), (2, True)])
def test_grades_match_their_version(folds, calibrated):
    """Whoever changes these numbers raises ``_VERSION`` in teacher.py, or caches would hold grades of older code."""
    pairs = easy_pairs(n_items=40)
    recipe = Recipe(epochs=5, batch_size=10, seed=3)
    grades = teach(pairs.items, pairs.labels, teaching=Teaching("mlp", recipe, folds, calibrated))
    assert _VERSION == 1
    assert grades.scores[:4].tolist() == pytest.approx(GRADES[folds, calibrated], abs=5e-3)


def test_a_cached_teacher_is_not_trained_again(tmp_path, monkeypatch):
    pairs = easy_pairs(n_items=40)
    kept = teach(pairs.items, pairs.labels, teaching=QUICK, cache_folder=tmp_path)
    monkeypatch.setattr("confdiff.teacher.fit_teacher", None)
    assert torch.equal(
        teach(pairs.items, pairs.labels, teaching=QUICK, cache_folder=tmp_path).posteriors, kept.posteriors
    )


def test_a_teacher_without_a_name_cannot_be_cached(tmp_path):
    pairs = easy_pairs(n_items=40)
    nameless = replace(QUICK, model=torch.nn.Linear(3, 1))
    assert teach(pairs.items, pairs.labels, teaching=nameless).posteriors.shape == (40,)
    with pytest.raises(ValueError, match="pass cache_folder=None"):
        teach(pairs.items, pairs.labels, teaching=nameless, cache_folder=tmp_path)


THREADS = """
import sys, zlib, torch
from confdiff.tasks import TaskSpec, make_task
spec = TaskSpec("digits", prior=0.3, seed=4, noise="additive", noise_amount=0.1)
for threads in map(int, sys.argv[1:]):
    torch.set_num_threads(threads)
    task = make_task(spec, keep_teacher=False)
    assert torch.get_num_threads() == threads
    print(zlib.crc32(task.pairs.difference.numpy().tobytes() + task.rows.numpy().tobytes()))
"""


def test_the_same_pairs_whatever_the_number_of_threads_or_processes():
    commands = [[sys.executable, "-c", THREADS, *threads] for threads in ("12", "31")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    said = [process.communicate()[0].split() for process in running]
    assert [len(digests) for digests in said] == [2, 2]
    assert len({digest for digests in said for digest in digests}) == 1
