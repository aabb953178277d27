import numpy as np
import pytest
import torch

from confdiff.teacher import fit_teacher, grade
from confdiff.training import Recipe
from easy import easy_pairs

RECIPE = Recipe(epochs=30, batch_size=32, learning_rate=0.02)


@pytest.mark.parametrize("n_items", [300, 299])
def test_a_teacher_learns_the_posteriors(n_items):
    pairs = easy_pairs(n_items=n_items)
    teacher = fit_teacher(pairs.items.numpy(), pairs.labels, model="linear", recipe=RECIPE)
    graded = grade(teacher, pairs.items.numpy())
    assert graded.shape == (n_items,)
    assert (graded - pairs.posteriors).abs().mean() < 0.08


def test_the_seed_decides():
    pairs = easy_pairs()
    first, same = (grade(fit_teacher(pairs.items.numpy(), pairs.labels), pairs.items.numpy()) for _ in range(2))
    assert torch.equal(first, same)


def test_labels_must_be_two_classes():
    with pytest.raises(ValueError, match="labels must be 0/1 or"):
        fit_teacher(np.zeros((3, 1)), [0, 1, 2])
