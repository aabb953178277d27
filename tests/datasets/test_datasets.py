import numpy as np
import pytest

from confdiff.datasets import DATASETS, load


def test_digits():
    data = load("digits")
    assert data.items.shape == (1797, 64)
    assert data.items.dtype == np.float32
    assert (data.labels == (data.classes % 2 == 0)).all()
    assert data.labels.sum() == 891


@pytest.mark.parametrize("name", DATASETS)
def test_every_data_set_is_called_by_its_name(name):
    assert load(name).name == name


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'digits'"):
        load("digit")
