import pytest

from confdiff.experiments.figures import EPSILONS, FIGURES, FRACTIONS, SIGMAS, figure_grid, figure_points
from confdiff.experiments.paper import table_grid
from confdiff.experiments.plots import points_figure
from confdiff.experiments.report import as_html, as_points_csv, curves_of
from confdiff.experiments.sections import TITLES


def made_up(name, trials=2, **options):
    return [
        {"key": spec.key, "accuracy": 0.8 + 0.01 * spec.task.seed + 0.1 * spec.task.fraction}
        for spec in figure_grid(name, trials=trials, **options)
    ]


def test_the_grids_are_the_paper_s_and_share_trials_with_the_tables():
    one, two, three = (figure_grid(name) for name in FIGURES)
    assert len(one) == 4 * 3 * 5
    assert len(two) == 4 * (2 * len(FRACTIONS) + 1) * 5
    assert len(three) == 2 * 4 * (len(EPSILONS) + len(SIGMAS) - 1) * 5  # what is exact stands in both panels
    table = {spec.key for spec in table_grid("table2")}
    assert len({spec.key for spec in one} & table) == 4 * 2 * 5
    assert len({spec.key for spec in two} & table) == 4 * 3 * 5
    assert {spec.task.prior for spec in figure_grid("figure2", priors=[0.2, 0.8])} == {0.2, 0.8}
    with pytest.raises(ValueError, match="unknown data set of figure3 'usps'"):
        figure_grid("figure3", datasets=["usps"])


@pytest.mark.parametrize("name", FIGURES)
def test_points_and_pictures(name):
    points = figure_points(name, made_up(name))
    plan = FIGURES[name]
    assert len(points) == len(plan.datasets) * len(plan.places)
    assert all(len(point.accuracies) == 2 for point in points)
    assert points[0].std == pytest.approx(0.00707, abs=1e-4)
    figure = points_figure(points, plan.x_name, TITLES)
    assert len(figure.axes) == len(plan.datasets) * len({point.panel for point in points})
    assert len(as_points_csv(points).splitlines()) == len(points) + 1
    page = as_html([], [], [], {name: points})
    assert plan.title in page
    assert page.count("data:image/png;base64,") == 1


def test_what_the_tables_have_anyway_is_no_figure():
    plain = [{"key": spec.key, "accuracy": 0.9} for spec in table_grid("table2")]
    assert figure_points("figure2", plain) != []
    assert [curves_of(name, plain) for name in FIGURES] == [[], [], []]
    assert curves_of("figure2", made_up("figure2")) != []
