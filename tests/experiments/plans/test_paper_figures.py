"""Figures 1 to 3: grids, points, claims and pictures."""

import pytest

from confdiff.experiments.plans.figure1 import FIGURE1_PLAN
from confdiff.experiments.plans.figure2 import FIGURE2_PLAN, FRACTIONS
from confdiff.experiments.plans.figure3 import CONFDIFF_METHODS, EPSILONS, FIGURE3_PLAN, SIGMAS
from confdiff.experiments.plans.figure_results import FigureResults, claim_results, figure_points, figure_results
from confdiff.experiments.plans.figure_section import draw_points, figure_blocks, points_file
from confdiff.experiments.plans.figures import figure_grid
from confdiff.experiments.plans.paper_tables import table_grid
from confdiff.experiments.report.csv import as_csv
from confdiff.experiments.report.writing import report_html, report_markdown, write_report
from confdiff.experiments.trials.store import Store
from trial_records import record_of

FIGURES = {plan.name: plan for plan in (FIGURE1_PLAN, FIGURE2_PLAN, FIGURE3_PLAN)}


def grid_of(name, **options):
    return figure_grid(FIGURES[name], **options)


def made_up(name, trials=2, **options):
    return [
        record_of(spec, 0.8 + 0.01 * spec.task.seed + 0.1 * spec.task.fraction)
        for spec in grid_of(name, trials=trials, **options)
    ]


def curves(name, records):
    return FigureResults(FIGURES[name], "authors", 200, figure_points(FIGURES[name], records))


def results_of(name, records):
    return figure_results(FIGURES[name], records)


def test_the_grids_are_the_paper_s_and_share_trials_with_the_tables():
    one, two, three = (grid_of(name) for name in FIGURES)
    assert len(one) == 4 * 3 * 5
    assert len(two) == 4 * (3 * len(FRACTIONS) + 1) * 5
    assert len(three) == 2 * 4 * (len(EPSILONS) + len(SIGMAS) - 1) * 5  # what is exact stands in both panels
    table = {spec.key for spec in table_grid("table2")}
    assert len({spec.key for spec in one} & table) == 4 * 2 * 5
    assert len({spec.key for spec in two} & table) == 4 * 3 * 5
    assert {spec.task.prior for spec in grid_of("figure2", priors=[0.2, 0.8])} == {0.2, 0.8}
    assert len(grid_of("figure2", datasets=["mnist"], trials=1)) == 3 * len(FRACTIONS) + 1  # where asked for
    with pytest.raises(ValueError, match="unknown data set of figure3 'usps'"):
        grid_of("figure3", datasets=["usps"])


def test_a_few_points_only():
    ends = grid_of("figure3", datasets=["pendigits"], points=[0.8, 1.2, 0.5], trials=1)
    assert len(ends) == 4 * 3
    assert {(spec.task.prior_factor, spec.task.noise_amount) for spec in ends} == {(0.8, None), (1.2, None), (1, 0.5)}
    with pytest.raises(ValueError, match=r"unknown point of figure3 '0.85'"):
        grid_of("figure3", points=[0.85])


def test_only_a_level_is_a_line_across():
    """Pcomp-Teacher has one point and is compared with; a curve of which one point is run is a point."""
    plan = FIGURES["figure2"]
    assert {place.curve for place in plan.places if plan.is_level(place)} == {"pcomp-teacher"}
    few = curves("figure3", made_up("figure3", datasets=["mnist"], points=[0.8]))
    (axes,) = draw_points(few).axes
    assert [len(line.get_xdata()) for line in axes.lines] == [1] * 4
    assert len(axes.get_xticks()) > 0


@pytest.mark.parametrize("name", FIGURES)
def test_points_and_pictures(name):
    plan = FIGURES[name]
    points = figure_points(plan, made_up(name))
    assert len(points) == len(plan.datasets) * len(plan.places)
    assert all(point.trials.n == 2 for point in points)
    assert points[0].trials.std == pytest.approx(0.00707, abs=1e-4)
    results = FigureResults(plan, "authors", 200, points)
    figure = draw_points(results)
    assert len(figure.axes) == len(plan.datasets) * len({point.place.panel for point in points})
    assert len(as_csv(points_file(name, points)).splitlines()) == len(points) + 1
    page = report_html(figure_blocks(results))
    assert plan.title in page
    assert page.count("data:image/png;base64,") == 1


def test_what_the_tables_have_anyway_is_no_figure():
    plain = [record_of(spec, 0.9) for spec in table_grid("table2")]
    assert figure_points(FIGURE2_PLAN, plain) != []
    assert [results_of(name, plain) for name in FIGURES] == [None, None, None]
    more = made_up("figure2", datasets=["usps"])
    assert {point.dataset for point in results_of("figure2", plain + more).points} == {"usps"}


def test_a_figure_is_shown_by_the_protocol_and_epochs_that_it_has_most_of():
    few = made_up("figure1", trials=1, datasets=["usps"], epochs=50, priors=[0.3])
    results = results_of("figure1", few)
    assert (results.protocol, results.epochs, {point.prior for point in results.points}) == ("authors", 50, {0.3})
    assert results.commands == [
        "confdiff reproduce figure1 --datasets usps --priors 0.3 --protocol authors --epochs 50 --trials 1"
    ]
    assert results_of("figure1", few + made_up("figure1")).epochs == 200


def test_the_commands_of_a_figure_make_what_it_shows_and_nothing_else():
    specs = grid_of("figure3", datasets=["pendigits"], trials=2)
    specs += grid_of("figure3", datasets=["mnist"], methods=["confdiff-abs"], points=[0.8, 0.5, 1.0, 0.0], trials=1)
    results = results_of("figure3", [record_of(spec, 0.9) for spec in specs])
    made = []
    for command in results.commands:
        _, _, name, *options = command.split()
        flags = dict(zip(options[::2], options[1::2], strict=True))
        words = {flag: flags[f"--{flag}"].split(",") for flag in ("datasets", "methods") if f"--{flag}" in flags}
        points = [float(x) for x in flags["--points"].split(",")] if "--points" in flags else None
        made += grid_of(name, **words, points=points, trials=int(flags["--trials"]), protocol=flags["--protocol"])
    assert sorted(spec.key for spec in made) == sorted({spec.key for spec in specs})
    assert len(results.commands) == 2
    whole = results_of("figure2", made_up("figure2"))
    assert whole.commands == ["confdiff reproduce figure2 --protocol authors --epochs 200 --trials 2"]


def test_a_curve_is_of_the_seeds_that_all_its_points_have():
    """A table has more trials than the figure: the others would bend its curve."""
    records = [record_of(spec, 0.9) for spec in grid_of("figure3", datasets=["mnist"], trials=1)]
    table = table_grid("table1", datasets=["mnist"], methods=["confdiff-abs"], priors=[0.5], trials=3)
    records += [record_of(spec, 0.6) for spec in table if spec.task.seed > 0]
    results = results_of("figure3", records)
    assert {(point.trials.n, point.trials.mean) for point in results.points} == {(1, 0.9)}
    assert results.commands == [
        "confdiff reproduce figure3 --datasets mnist --protocol authors --epochs 200 --trials 1",
    ]


def with_accuracies(accuracy):
    """Points of Figure 2 on USPS: five trials, accuracy(method, fraction, seed)."""
    specs = grid_of("figure2", datasets=["usps"])
    return curves("figure2", [record_of(s, accuracy(s.method, s.task.fraction, s.task.seed)) for s in specs])


@pytest.mark.parametrize(
    ("gap", "verdicts"),
    [(0.05, ["holds", "does not hold"]), (0.0, ["holds", "does not hold"]), (-0.05, ["does not hold"] * 2)],
)
def test_claims_are_tested_by_a_paired_test(gap, verdicts):
    def accuracy(method, fraction, seed):
        wobble = 0.002 * (seed % 2) * (fraction < 1)
        return 0.9 + 0.01 * seed + wobble + {"confdiff-abs": gap, "confdiff-relu": -0.1}.get(method, 0)

    results = with_accuracies(accuracy)
    outcomes = claim_results(results)
    assert [outcome.printed for outcome in outcomes] == [0.86, 0.86]  # Pcomp-Teacher on USPS in Table 2
    assert [outcome.verdict for outcome in outcomes] == verdicts
    assert outcomes[0].outcome.difference == pytest.approx(gap + 0.0008)
    assert outcomes[0].outcome.seeds == 5
    page = report_html(figure_blocks(results))
    text = report_markdown(figure_blocks(results))
    for report in (page, text):
        assert "ConfDiff-ABS with 10 % of the pairs at or above Pcomp-Teacher with all" in report
        assert report.count("does not hold") == verdicts.count("does not hold")
    row = next(line for line in text.splitlines() if line.startswith("| USPS | 0.5 | ConfDiff-ABS |"))
    assert row.count("(5)") == len(FRACTIONS)


@pytest.mark.parametrize(("gain", "verdict"), [(0.02, "holds"), (0.0, "not clear"), (-0.02, "does not hold")])
def test_what_should_be_above_and_is_not_clearly_so(gain, verdict):
    specs = grid_of("figure1", datasets=["usps"])
    records = [
        record_of(s, 0.9 + (0.001 * (-1) ** s.task.seed + gain if s.method == "confdiff-abs" else 0)) for s in specs
    ]
    similar, *above = claim_results(curves("figure1", records))
    assert similar.verdict == "holds"
    assert [outcome.verdict for outcome in above] == [verdict] * 2


def test_too_few_trials_have_no_verdict():
    few = made_up("figure1", trials=2, datasets=["usps"])
    assert [outcome.verdict for outcome in claim_results(curves("figure1", few))] == ["", "", ""]
    assert claim_results(curves("figure1", few[:1])) == []


@pytest.mark.parametrize(
    ("gap", "wobble", "verdict"),
    [(0.005, 0.001, "holds"), (0.03, 0.001, "does not hold"), (0.03, 0.05, "not clear")],
)
def test_similar_is_within_a_hundredth(gap, wobble, verdict):
    def accuracy(spec):
        return 0.9 + (gap + wobble * (-1) ** spec.task.seed if dict(vars(spec.task))["pcomp"] == "discard" else 0)

    specs = [spec for spec in grid_of("figure1", datasets=["usps"]) if spec.method == "pcomp-teacher"]
    (similar,) = claim_results(curves("figure1", [record_of(spec, accuracy(spec)) for spec in specs]))
    assert similar.verdict == verdict


def test_degeneration_by_a_wrong_prior():
    def accuracy(spec):
        harmed = spec.task.prior_factor == 0.8 and spec.method == CONFDIFF_METHODS[2]
        return 0.9 + 0.001 * (spec.task.seed % 3) - 0.1 * harmed

    records = [record_of(spec, accuracy(spec)) for spec in grid_of("figure3", datasets=["pendigits"])]
    outcomes = {
        outcome.claim.text.split(" (")[0]: outcome.verdict for outcome in claim_results(curves("figure3", records))
    }
    assert len(outcomes) == 6
    assert outcomes.pop("ConfDiff-ABS degenerates at epsilon 0.8") == "holds"
    assert set(outcomes.values()) == {"not clear"}


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="unknown method of figure1 'confdif-abs'"):
        grid_of("figure1", methods=["confdif-abs"])


def test_the_files_of_a_figure(tmp_path):
    store = Store(tmp_path / "results")
    for record in made_up("figure1", datasets=["usps"]):
        store.save(record)
    files = write_report(store, tmp_path / "report")
    assert {path.name for path in (tmp_path / "report" / "images").iterdir()} == {"figure1.png", "figure1.svg"}
    assert files["figure1"].read_text().count("usps,0.5") == 3
    assert "![Figure 1: discarding or reversing (-, +) pairs](images/figure1.png)" in files["markdown"].read_text()
