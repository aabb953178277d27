"""The numbers of the owner's page, on studies whose judges are known."""

import json

import numpy as np
import pytest

from confdiff.labelling.annotator_rows import grade_counts
from confdiff.labelling.judged_tables import RESERVE, AnswerTable
from confdiff.labelling.report import MOST_RANKED, owner_report
from confdiff.labelling.reserve import reserve_quality
from confdiff.labelling.simulating import SimulatedJudge
from confdiff.ranking.ranking_items import rank_items
from confdiff.tabular.checks.report import check_comparisons
from labelling.simulated import JUDGES, SETTINGS, answer_directly, simulated_study


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    study = simulated_study(tmp_path_factory.mktemp("report") / "sizes.db")
    yield study
    study.close_connections()


@pytest.fixture(scope="module")
def report(judged):
    return owner_report(judged)


def test_counts_are_those_of_the_study(judged, report):
    answers = judged.answers()
    assert report.answers == len(answers["left"])
    assert report.graded == np.isfinite(answers["difference"]).sum()
    assert report.same_class == np.isfinite(answers["same"]).sum() > 0
    assert report.cannot_say == sum(reason == "cannot say" for reason in answers["reason"]) > 0
    assert report.graded + report.same_class + report.cannot_say == report.answers
    assert {row.name: row.answered for row in report.annotators} == {a.name: a.answered for a in judged.annotators()}


def test_grades_are_counted_as_on_the_screen(judged, report):
    answers = judged.answers()
    row = next(row for row in report.annotators if row.name == "Cleo")
    rows = (answers["annotator"] == "Cleo") & np.isfinite(answers["difference"])
    sign = np.where(answers["shown_first"] == answers["left"], 1, -1)
    on_screen = (answers["difference"] * sign)[rows]
    assert sum(row.grades) == rows.sum()
    assert sum(row.grades[4:]) == (on_screen > 0).sum()


def test_known_judges_are_recognised(report):
    rows = {row.name: row.judged for row in report.annotators}
    assert rows["Bob"].slope == pytest.approx(0.5, abs=0.15)
    assert rows["Cleo"].bias == pytest.approx(0.3, abs=0.1)
    assert abs(rows["Ann"].bias) < 0.1
    assert any("shown second" in text for text in rows["Cleo"].deviations)
    assert {finding.kind for finding in report.findings} >= {"annotator"}
    assert report.side_bias.value == pytest.approx(0.3 / 4, abs=0.05)


def test_the_ranking_is_that_of_the_command(judged, report):
    ranking = rank_items(AnswerTable.of(judged).columns(), scale=(-1, 1))
    assert report.ranking.id.tolist() == ranking.id.tolist()
    assert report.ranking.score == pytest.approx(ranking.score)
    order = [int(name[-3:]) for name in report.ranking.id]
    assert np.corrcoef(order, np.arange(len(order))[::-1])[0, 1] > 0.97


def test_measures_are_those_of_check(judged, report):
    measures = check_comparisons(judged.items(), judged.pairs(), scale=(-1, 1), id="id").measures
    assert [row.judged for row in report.annotators] == sorted(measures["annotators"], key=lambda row: row.name)
    assert report.components == measures["components"]
    assert report.repeats == measures["repeats"]
    assert report.learning_curve == measures["learning_curve"]
    assert report.learning_curve.projection


def test_repeats_are_compared_in_the_order_of_the_screen(tmp_path):
    """A judge who always presses the same key contradicts nobody but himself, on every repeat."""
    stubborn = SimulatedJudge("Sid", scale=0.0, noise=0.0, side_bias=1.0)
    study = simulated_study(tmp_path / "s.db", judges=(stubborn,), settings=_one_judge())
    repeats = owner_report(study).annotators[0].repeats
    study.close_connections()
    assert repeats.pairs == repeats.both_orders == repeats.contradictions > 0
    assert repeats.asymmetry == 2
    assert repeats.position_bias == 1


def test_a_judge_without_noise_never_contradicts_himself(tmp_path):
    study = simulated_study(tmp_path / "s.db", judges=(SimulatedJudge("Ida", noise=0.0),), settings=_one_judge())
    repeats = owner_report(study).annotators[0].repeats
    study.close_connections()
    assert repeats.both_orders > 0
    assert repeats.contradictions == 0
    assert repeats.asymmetry == 0


def _one_judge():
    return type(SETTINGS)(question="Which is larger?", judges=1, pairs_per_item=8, repeats=0.2)


def test_quality_is_measured_on_the_reserve_only(judged, report):
    """Reversed answers to all other questions make a ranking that the reserve contradicts, and not the reverse."""
    table = AnswerTable.of(judged)
    good = report.quality.agreement
    assert good.pairs == report.quality.answers == (table.is_reserve & table.is_graded).sum()
    assert good.pairwise_accuracy > 0.85
    difference = np.where(table.is_reserve, table.difference, -table.difference)
    reversed_table = AnswerTable(**{**_columns(table), "difference": difference})
    assert reserve_quality(reversed_table).agreement.pairwise_accuracy == pytest.approx(
        1 - good.pairwise_accuracy, abs=0.1
    )


def test_answers_to_pairs_of_the_reserve_are_never_in_the_ranking(judged):
    """Where the only other answers are to the pairs of the reserve, nothing is left to rank by."""
    table = AnswerTable.of(judged)
    reserve = table[table.is_reserve]
    columns = _columns(reserve)
    doubled = {name: np.concatenate([column, column]) for name, column in columns.items() if name != "ids"}
    doubled["kind"][len(reserve) :] = "design"
    assert (doubled["kind"] == RESERVE).sum() == len(reserve)
    assert reserve_quality(AnswerTable(ids=table.ids, **doubled)).agreement is None


def _columns(table):
    return {name: value for name, value in vars(table).items() if name != "check_data"}


def test_time_left_is_the_rest_of_the_quota(tmp_path):
    study = simulated_study(tmp_path / "s.db", n_answers=60)
    report = owner_report(study)
    study.revoke("Dan")
    later = owner_report(study)
    study.close_connections()
    for row in report.annotators:
        assert row.seconds_left == pytest.approx(row.seconds_per_answer * (row.quota - row.answered))
    assert report.seconds_left == max(row.seconds_left for row in report.annotators) > 0
    assert later.annotators[-1].seconds_left is None
    assert later.quota < report.quota


def test_taken_back_answers_are_not_counted(tmp_path):
    study = simulated_study(tmp_path / "s.db", n_answers=20)
    before = owner_report(study).answers
    study.undo("Ann")
    assert owner_report(study).answers == before - 1
    study.close_connections()


@pytest.mark.parametrize("n_answers", range(8))
def test_a_study_with_few_answers_has_a_report(tmp_path, n_answers):
    study = simulated_study(tmp_path / "s.db", n_answers=n_answers)
    report = owner_report(study)
    study.close_connections()
    assert report.answers == n_answers
    assert report.quality.agreement is None
    json.dumps(report.as_dict(), allow_nan=False)


def test_a_study_without_annotators_has_a_report(tmp_path):
    study = simulated_study(tmp_path / "s.db", judges=())
    report = owner_report(study)
    study.close_connections()
    assert report.annotators == ()
    assert report.seconds_left is None
    assert report.as_dict()["ranking"] is None


def test_ties_only_have_a_report(tmp_path):
    study = simulated_study(tmp_path / "s.db", n_answers=40, judges=(SimulatedJudge("Tia", scale=0, noise=0),))
    report = owner_report(study)
    study.close_connections()
    assert report.ranking is None
    assert report.annotators[0].grades[3] == report.graded == 40 - report.same_class


def test_separate_components_are_reported_and_not_raised(tmp_path):
    study = simulated_study(tmp_path / "s.db", n_answers=9, n_items=60)
    report = owner_report(study)
    study.close_connections()
    assert report.components.count > 1
    assert any("connected components" in note for note in report.notes)


def test_json_has_no_nan_and_few_items(tmp_path):
    study = simulated_study(tmp_path / "s.db", n_items=80, n_answers=300)
    content = owner_report(study).as_dict()
    study.close_connections()
    json.dumps(content, allow_nan=False)
    items = content["ranking"]["items"]
    assert content["ranking"]["count"] == 80
    assert len(items) == MOST_RANKED
    assert items[0]["rank"] == 1
    assert items[-1]["rank"] == 80
    assert items[0]["text"] == f"Text {items[0]['number']}"
    assert [row["name"] for row in content["annotators"]] == [judge.name for judge in JUDGES]


def test_the_report_grows_with_the_study(tmp_path):
    study = simulated_study(tmp_path / "s.db", n_answers=50)
    first = owner_report(study)
    answer_directly(study, JUDGES, 40, 50, seed=1)
    second = owner_report(study)
    study.close_connections()
    assert (first.answers, second.answers) == (50, 100)
    assert second.made_at > first.made_at


@pytest.mark.parametrize(
    ("grades", "points", "counts"),
    [
        ([-1, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, 1], 7, (1,) * 7),
        ([1, 1, np.nan], 5, (0, 0, 0, 0, 2)),
        ([], 3, (0, 0, 0)),
        ([-1, -0.9, 0, 0.99, 1], 0, (2, 0, 0, 1, 0, 0, 2)),
    ],
)
def test_grades_per_point(grades, points, counts):
    assert grade_counts(np.array(grades, dtype=float), points) == counts
