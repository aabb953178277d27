import pytest

from confdiff.experiments.figures import EPSILONS, FIGURES, FRACTIONS, SIGMAS, figure_grid, figure_points
from confdiff.experiments.markdown import as_markdown
from confdiff.experiments.paper import table_grid
from confdiff.experiments.plots import points_figure
from confdiff.experiments.readings import readings
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
    assert len(two) == 4 * (3 * len(FRACTIONS) + 1) * 5
    assert len(three) == 2 * 4 * (len(EPSILONS) + len(SIGMAS) - 1) * 5  # what is exact stands in both panels
    table = {spec.key for spec in table_grid("table2")}
    assert len({spec.key for spec in one} & table) == 4 * 2 * 5
    assert len({spec.key for spec in two} & table) == 4 * 3 * 5
    assert {spec.task.prior for spec in figure_grid("figure2", priors=[0.2, 0.8])} == {0.2, 0.8}
    assert len(figure_grid("figure2", datasets=["mnist"], trials=1)) == 3 * len(FRACTIONS) + 1  # where asked for
    with pytest.raises(ValueError, match="unknown data set of figure3 'usps'"):
        figure_grid("figure3", datasets=["usps"])


def test_a_few_points_only():
    ends = figure_grid("figure3", datasets=["pendigits"], points=[0.8, 1.2, 0.5], trials=1)
    assert len(ends) == 4 * 3
    assert {(spec.task.prior_factor, spec.task.noise_amount) for spec in ends} == {(0.8, None), (1.2, None), (1, 0.5)}
    with pytest.raises(ValueError, match=r"unknown point of figure3 '0.85'"):
        figure_grid("figure3", points=[0.85])


@pytest.mark.parametrize("name", FIGURES)
def test_points_and_pictures(name):
    points = figure_points(name, made_up(name))
    plan = FIGURES[name]
    assert len(points) == len(plan.datasets) * len(plan.places)
    assert all(len(point.trials) == 2 for point in points)
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
    more = made_up("figure2", datasets=["usps"])
    assert {point.dataset for point in curves_of("figure2", plain + more)} == {"usps"}


def with_accuracies(accuracy):
    """Points of Figure 2 on USPS: five trials, accuracy(method, share, seed)."""
    specs = figure_grid("figure2", datasets=["usps"])
    records = [{"key": s.key, "accuracy": accuracy(s.method, s.task.fraction, s.task.seed)} for s in specs]
    return figure_points("figure2", records)


@pytest.mark.parametrize(
    ("gap", "verdicts"),
    [(0.05, ["holds", "does not hold"]), (0.0, ["holds", "does not hold"]), (-0.05, ["does not hold"] * 2)],
)
def test_readings_are_judged_by_a_paired_test(gap, verdicts):
    def accuracy(method, share, seed):
        wobble = 0.002 * (seed % 2) * (share < 1)
        return 0.9 + 0.01 * seed + wobble + {"confdiff-abs": gap, "confdiff-relu": -0.1}.get(method, 0)

    points = with_accuracies(accuracy)
    found = readings("figure2", points)
    assert [reading.verdict for reading in found] == verdicts
    assert found[0].outcome.difference == pytest.approx(gap + 0.0008)
    assert found[0].outcome.seeds == 5
    page, text = as_html([], [], [], {"figure2": points}), as_markdown([], points={"figure2": points})
    for shown in (page, text):
        assert "ConfDiff-ABS with 10 % of the pairs at or above Pcomp-Teacher with all" in shown
        assert shown.count("does not hold") == verdicts.count("does not hold")
    row = next(line for line in text.splitlines() if line.startswith("| USPS | 0.5 | ConfDiff-ABS |"))
    assert row.count("(5)") == len(FRACTIONS)


@pytest.mark.parametrize(("gain", "verdict"), [(0.02, "holds"), (0.0, "not clear"), (-0.02, "does not hold")])
def test_what_should_be_above_and_is_not_clearly_so(gain, verdict):
    specs = figure_grid("figure1", datasets=["usps"])
    records = [
        {"key": s.key, "accuracy": 0.9 + (0.001 * (-1) ** s.task.seed + gain if s.method == "confdiff-abs" else 0)}
        for s in specs
    ]
    similar, *above = readings("figure1", figure_points("figure1", records))
    assert similar.verdict == "holds"
    assert [reading.verdict for reading in above] == [verdict] * 2


def test_too_few_trials_have_no_verdict():
    few = made_up("figure1", trials=2, datasets=["usps"])
    assert [reading.verdict for reading in readings("figure1", figure_points("figure1", few))] == ["", "", ""]
    assert readings("figure1", figure_points("figure1", few[:1])) == []
