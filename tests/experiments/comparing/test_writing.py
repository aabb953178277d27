"""The page, the Markdown and the tables of a comparison."""

import csv
import json

import pytest

from confdiff.experiments.comparing.plan import ComparisonPlan
from confdiff.experiments.comparing.results import ComparisonResults
from confdiff.experiments.comparing.section import comparison_blocks
from confdiff.experiments.comparing.wording import headline
from confdiff.experiments.comparing.writing import comparison_files, write_comparison
from confdiff.experiments.report.markdown import as_markdown
from made_up_comparisons import DATASETS, METHODS, PLAN, records_of, results_of


def headline_of(**changes):
    plan = ComparisonPlan(**({"methods": METHODS, "datasets": DATASETS, "trials": 5} | changes))
    return headline(results_of(plan))


def text_of(results):
    return " ".join(as_markdown("", comparison_blocks(results)).split())


def test_the_headline_has_three_sentences():
    best, lead, others = headline_of()
    assert best.startswith("ConfDiff-Regression has the highest mean accuracy of three methods that learn from")
    assert best.endswith("over 8 settings of 8 data sets, with 5 trials each.")
    assert lead.startswith("It is .0")
    assert "above ConfDiff-ABS (95 % interval +.0" in lead
    assert lead.endswith(" on these settings); it is significantly above all of the two others.")
    assert others == "Over the eight data sets, it is significantly above ConfDiff-ABS and Pcomp-ABS."


@pytest.mark.parametrize(
    ("changes", "sentence", "text"),
    [
        ({"trials": 2}, 1, "without a test: a test over seeds needs three trials."),
        ({"trials": 1}, 0, "with 1 trial each."),
        ({"datasets": DATASETS[:1]}, 2, "One data set allows no test of what holds on others."),
        (
            {"datasets": DATASETS[:4]},
            2,
            "With four data sets, no difference can be significant over data sets: the smallest possible p-value is "
            "0.75.",
        ),
        ({"methods": ("oracle-soft", "confdiff-abs")}, 1, "All other methods are oracles"),
    ],
)
def test_headlines_state_the_lack_of_evidence(changes, sentence, text):
    assert text in headline_of(**changes)[sentence]


def test_equal_methods_are_not_called_different():
    plan = ComparisonPlan(METHODS[:2], DATASETS)
    results = ComparisonResults.of(plan, records_of(plan, dict.fromkeys(METHODS, 0.0)))
    assert headline(results)[2] == "Over the eight data sets, it is significantly above no other method."
    assert not any(cell.outcome and cell.outcome.direction == "above" for cell in results.cells)


def test_the_page_states_its_assumptions_and_commands():
    text = text_of(results_of())
    assert "widens the intervals of 5 trials by a factor of 1.5" in text  # sqrt(1 + 5 / 4)
    assert "Holm p is corrected for all 6 pairs of methods" in text
    assert f"Hochberg for all {3 * 16} tests of the table" in text
    assert PLAN.command in text
    assert "320 trials, seeds 0 to 4" in text
    assert "Nemenyi's critical difference of mean ranks is 1.66" in text  # Demsar: 2.569 sqrt(4 5 / (6 8))


def test_one_trial_says_that_it_has_no_interval():
    plan = ComparisonPlan(METHODS, DATASETS, trials=1)
    text = text_of(ComparisonResults.of(plan, records_of(plan)))
    assert "One trial has no interval and no test." in text
    methods = len(METHODS)
    cells = (2 * methods - 1) * len(DATASETS)  # accuracies, and differences from the reference
    assert text.count("| no interval |") == cells + methods + methods * (methods - 1) // 2
    assert "32 trials, seed 0," in text


def test_missing_trials_are_named():
    missing = PLAN.spec(PLAN.settings[0], "pcomp-abs", 2).key
    results = ComparisonResults.of(PLAN, [record for record in records_of(PLAN) if record.key != missing])
    text = text_of(results)
    assert "1 trial of the plan could not be run." in text
    assert "without all trials: Optdigits at 0.3, exact." in text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparison")
    write_comparison(results_of(), folder)
    return folder


def test_the_files(folder):
    names = ["comparison.html", "comparison.json", "comparison.md", "images", "pairs.csv", "settings.csv"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert sorted(path.name for path in (folder / "images").iterdir()) == [
        f"{name}.{ending}" for name in ("gains", "ranks") for ending in ("png", "svg")
    ]
    assert set(comparison_files(folder).values()) == {path for path in folder.rglob("*") if path.is_file()}


def test_json_has_every_accuracy_and_the_statistics(folder):
    values = json.loads((folder / "comparison.json").read_text())
    results = results_of()
    assert values["headline"] == headline(results)
    assert values["plan"]["noise"] == ["exact", "additive:0.3"]
    assert len(values["cells"]) == len(results.cells)
    cell = values["cells"][1]
    trials = results.trials[PLAN.settings[0], cell["method"]]
    assert cell["by_seed"] == {str(seed): value for seed, value in trials.by_seed.items()}
    assert cell["against_reference"]["seeds"] == 5
    assert values["ranks"]["mean_ranks"] == results.ranks.ranks
    assert [pair["holm_p"] for pair in values["over_datasets"]] == [p.adjusted_p for p in results.over_datasets]


def test_csv_has_a_row_per_setting_and_method_and_per_pair(folder):
    rows = list(csv.DictReader((folder / "settings.csv").read_text().splitlines()))
    assert len(rows) == len(PLAN.settings) * len(METHODS)
    assert (rows[0]["dataset"], rows[0]["noise"], rows[0]["method"]) == ("optdigits", "exact", "confdiff-abs")
    assert rows[0]["difference"] == ""  # the reference itself
    assert float(rows[1]["difference_low"]) < float(rows[1]["difference"]) < float(rows[1]["difference_high"])
    pairs = list(csv.DictReader((folder / "pairs.csv").read_text().splitlines()))
    assert len(pairs) == 6
    assert float(pairs[0]["signed_rank_holm_p"]) == pytest.approx(results_of().over_datasets[0].adjusted_p)


def test_the_page_asks_nobody_for_anything(folder):
    page = (folder / "comparison.html").read_text()
    assert "default-src 'none'" in page
    assert 'src="http' not in page
    assert 'href="http' not in page
    assert page.count("<svg ") == 2


def test_a_second_run_replaces_the_page_and_a_foreign_file_is_kept(folder, tmp_path):
    write_comparison(results_of(), folder)
    (tmp_path / "comparison.html").write_text("mine")
    with pytest.raises(FileExistsError, match=r"comparison\.html already exists"):
        write_comparison(results_of(), tmp_path)
