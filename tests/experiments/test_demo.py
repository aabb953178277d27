from confdiff.experiments.demo import SHOWN, run_demo, save_demo
from confdiff.experiments.report.plots import demo_figure
from confdiff.experiments.report.style import colour_of, label_of
from confdiff.methods import METHODS


def test_the_seed_decides_and_every_method_is_there():
    outcomes = []
    first, same = (run_demo(seed=3, epochs=6, done=outcomes.append) for _ in range(2))
    assert [outcome.method for outcome in first.outcomes] == list(SHOWN)
    assert [o.accuracy for o in first.outcomes] == [o.accuracy for o in same.outcomes]
    assert len(outcomes) == 2 * len(SHOWN)
    assert len(first.test_labels) == len(first.outcomes[0].probabilities) == 358
    figure = demo_figure(first)
    assert len(figure.axes[0].lines) == len(SHOWN)


def test_every_method_has_a_colour_and_a_label_of_its_own():
    assert len({colour_of(name) for name in METHODS}) == len(METHODS)
    assert len({label_of(name) for name in METHODS}) == len(METHODS)


def test_a_demo_of_one_epoch(tmp_path):
    files = save_demo(run_demo(epochs=1), tmp_path)
    assert all(path.stat().st_size > 0 for path in files.values())
