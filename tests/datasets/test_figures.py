import numpy as np
import pytest

from confdiff.datasets import DATASETS, load, names_of_kind
from confdiff.datasets.figures import comparisons_figure, dataset_figure, pairs_figure
from confdiff.pairs.describe import describe_pairs
from easy import easy_pairs


def pixels(figure):
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def test_digits_are_shown_by_class():
    figure = dataset_figure(load("digits"))
    assert figure.get_suptitle() == "digits: 0, 2, 4, 6, 8 against the rest"
    positive, negative = figure.axes
    assert [label.get_text() for label in positive.get_yticklabels()] == ["0", "2", "4", "6", "8"]
    assert negative.get_title() == "negative: 906 of 1,797"
    first, same, other = (pixels(dataset_figure(load("digits"), seed=seed)) for seed in (0, 0, 1))
    assert (first == same).all()
    assert (first != other).any()


def test_differences_are_shown_with_ties_and_prior():
    description = describe_pairs(easy_pairs())
    figure = pairs_figure(description, "easy")
    bars = [bar.get_height() for bar in figure.axes[0].patches]
    assert sum(bars) == pytest.approx(1)
    assert f"{description.near_ties:.0%} near ties" in figure.axes[0].get_title()
    assert pixels(figure).std() > 0


@pytest.mark.data
@pytest.mark.parametrize("name", [*names_of_kind("labelled"), *names_of_kind("comparisons")])
def test_every_data_set_has_a_picture(name):
    data = load(name, incomplete=DATASETS[name].optional_files)
    figure = comparisons_figure(data) if DATASETS[name].kind == "comparisons" else dataset_figure(data)
    assert name in figure.get_suptitle()
    assert pixels(figure).std() > 0
