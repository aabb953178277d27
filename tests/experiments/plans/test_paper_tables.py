"""Tables 1 and 2: our trials next to the paper's numbers, and the commands that run them."""

import csv
from dataclasses import replace

import pytest

from confdiff.experiments.plans import find_experiment
from confdiff.experiments.plans.other_data import other_data_rows
from confdiff.experiments.plans.paper_tables import PAPER_METHODS, PAPER_TABLES, table_cells, table_grid
from confdiff.experiments.plans.printed import printed_numbers
from confdiff.experiments.plans.table_results import table_results
from confdiff.experiments.report.csv import as_csv
from confdiff.experiments.report.writing import report_blocks, report_html, report_markdown
from trial_records import record_of, trial, with_task


def markdown_of(records):
    return " ".join(report_markdown(report_blocks(records)).split())


def html_of(records):
    return report_html(report_blocks(records))


def test_the_grid_of_table_2_is_the_paper_s():
    grid = table_grid("table2")
    assert len(grid) == len({spec.key for spec in grid}) == 4 * 3 * 9 * 5
    assert {spec.epochs for spec in grid} == {200}
    assert {spec.task.seed for spec in grid[:108]} == {0}  # a round of all cells before the next seed
    with pytest.raises(ValueError, match="unknown data set of table2 'mnist'"):
        table_grid("table2", datasets=["mnist"])


def test_the_printed_numbers():
    printed = {(p.dataset, p.prior, p.method): p for p in printed_numbers() if p.metric == "accuracy"}
    datasets = [name for names in PAPER_TABLES.values() for name in names]
    assert set(printed) == {(d, p, m) for d in datasets for p in (0.2, 0.5, 0.8) for m in PAPER_METHODS}
    assert printed["pendigits", 0.5, "oracle-hard"].mean == 0.997


def made_up_records():
    """Three methods on two data sets, where the first always wins by .02 and the third always loses by .05."""
    records = []
    for dataset in PAPER_TABLES["table2"]:
        for prior in (0.2, 0.5):
            for seed in range(3):
                for method, shift in (("confdiff-abs", 0.02), ("pcomp-teacher", 0.0), ("pcomp-abs", -0.05)):
                    accuracy = 0.9 + shift + 0.001 * seed
                    records.append(trial(method, seed, accuracy, dataset=dataset, prior=prior))
    return records


def test_the_report_reads_the_store_alone():
    records = made_up_records()
    (results,) = table_results(records)
    assert results.title == "Table 2, protocol authors, 200 epochs"
    assert (results.datasets, results.priors) == (list(PAPER_TABLES["table2"]), [0.2, 0.5])
    assert results.best("usps", 0.2) == "confdiff-abs"
    (file,) = find_experiment("overview").files(records)
    rows = list(csv.DictReader(as_csv(file).splitlines()))
    assert len(rows) == len(results.cells) == 24
    usps = next(row for row in rows if (row["dataset"], row["prior"], row["method"]) == ("usps", "0.5", "confdiff-abs"))
    assert (usps["trials"], usps["mean"], usps["printed_mean"]) == ("3", "0.92100", "0.959")
    text = markdown_of(records)
    assert "**.921 ± .001** (3: .919 to .923)<br>.959 ± .004, -.038 -" in text
    assert "confdiff reproduce table2 --protocol authors --trials 3" in text
    assert "| Pcomp-ABS | 24 | 0 | 0 | +0.0700 | 8 | +1.00 | 0.0078 | 0.016 |" in text
    page = html_of(records)
    assert "<td>Pcomp-ABS</td><td>24</td><td>0</td><td>0</td><td>+0.0700</td>" in page
    assert '<td class="below"><b>.921 ± .001</b>' in page
    for each in (text, page):
        assert "72 trials, 0.04 hours of training in all, 2.0 s per trial" in each
        assert "ConfDiff-ABS 1.00, Pcomp-Teacher 2.00, Pcomp-ABS 3.00. Critical difference" in each
    assert page.count("data:image/png;base64,") == 2
    assert 'src="http' not in page
    assert 'href="http' not in page
    assert "<b>.921 ± .001</b>" in page


def test_the_paper_s_order_of_methods_up_to_one_deviation():
    records = made_up_records()
    for record in made_up_records():
        if record.method == "pcomp-abs":  # .07 below ABS, and of a deviation of .001
            above = 0.0005 if record.dataset == "usps" else 0.01
            for method, gain in (("confdiff-relu", 0), ("confdiff-unbiased", above)):
                spec = replace(record.spec, method=method)
                records.append(record_of(spec, record.accuracy + gain))
    (results,) = table_results(records)
    abs_relu, relu_unbiased = results.orderings
    assert (abs_relu.holds, abs_relu.violations) == (8, [])
    assert relu_unbiased.holds == 2
    assert {cell.dataset for cell in relu_unbiased.violations} == {"optdigits", "pendigits", "letter"}
    text = markdown_of(records)
    order = "up to one standard deviation, in"
    assert f"ConfDiff-ABS >= ConfDiff-ReLU, {order} 8 of 8 cells." in text
    assert f"ConfDiff-ReLU >= ConfDiff-Unbiased, {order} 2 of 8 cells; not in Optdigits at 0.2" in text


def table_1_in_pieces():
    """All nine methods at .5, four of them at the other priors; some of our own methods here and there."""
    four = ("confdiff-abs", "confdiff-relu", "oracle-soft", "pcomp-teacher")
    sets = ("mnist", "kmnist", "fashion")
    cells = [(dataset, 0.5, method, 1) for dataset in sets for method in PAPER_METHODS if method not in four]
    cells += [(dataset, prior, method, 1) for dataset in sets for prior in (0.2, 0.5, 0.8) for method in four]
    cells += [("kmnist", 0.5, "confdiff-projection", 1), ("mnist", 0.2, "confdiff-regression", 2)]
    cells += [("fashion", 0.8, "confdiff-regression", 1)]
    return [
        trial(method, seed, 0.92, dataset=dataset, prior=prior)
        for dataset, prior, method, trials in cells
        for seed in range(trials)
    ]


def test_the_commands_of_a_section_make_what_it_shows_and_nothing_else():
    records = table_1_in_pieces()
    (results,) = table_results(records)
    made = []
    for command in results.commands:
        _, _, table, *options = command.split()
        flags = dict(zip(options[::2], options[1::2], strict=True))
        lists = {name: flags[f"--{name}"].split(",") for name in ("datasets", "methods") if f"--{name}" in flags}
        priors = [float(prior) for prior in flags.get("--priors", "0.2,0.5,0.8").split(",")]
        made += table_grid(table, **lists, priors=priors, trials=int(flags["--trials"]), protocol=flags["--protocol"])
    asked = sorted((s.task.dataset, s.task.prior, s.method, s.task.seed) for s in made)
    assert asked == sorted((r.dataset, r.prior, r.method, r.seed) for r in records)
    assert len(results.commands) == 5
    specs = table_grid("table2", trials=5) + table_grid("table2", methods=["confdiff-regression"], trials=2)
    (whole,) = table_results([record_of(spec) for spec in specs])
    command = "confdiff reproduce table2 --protocol authors --trials"
    assert whole.commands == [f"{command} 5", f"{command} 2 --methods confdiff-regression"]


def test_without_three_trials_there_is_no_verdict():
    records = table_1_in_pieces()
    assert not table_results(records)[0].has_verdicts
    for text in (markdown_of(records), html_of(records)):
        assert "No verdicts: a verdict needs three trials" in text.replace("&#39;", "'")
        assert "| ConfDiff-ABS | 0 | 0 | 0 |" not in text
        assert "<td>ConfDiff-ABS</td><td>0</td><td>0</td><td>0</td>" not in text
        assert "up to one standard deviation" not in text  # which is not known


def test_methods_with_few_cells_do_not_spoil_the_ranks():
    """Nine methods at one prior and four at all: ranked are those with trials in all nine cells, excluding oracles."""
    (results,) = table_results(table_1_in_pieces())
    assert results.methods_at(0.2) == [
        "confdiff-relu",
        "confdiff-abs",
        "confdiff-regression",
        "pcomp-teacher",
        "oracle-soft",
    ]
    assert results.ranks.cells == 9
    assert set(results.ranks.ranks) == {"confdiff-abs", "confdiff-relu", "pcomp-teacher"}
    assert results.ranks.p_value == 1  # these records are all alike
    text = markdown_of(table_1_in_pieces())
    assert "| 0.2 | Pcomp-ABS |" not in text
    assert "Mean ranks over 9 cells, of the methods with trials in each: ConfDiff-" in text


def test_at_a_glance():
    """One line per section: trials, verdicts, and which of the paper's methods is best how often."""
    records = made_up_records()
    records += [
        trial("confdiff-regression", record.seed, 0.99, dataset="usps", prior=record.prior)
        for record in made_up_records()
        if record.method == "confdiff-abs" and record.dataset == "usps"
    ]  # not the paper's, so that it wins nothing here
    (results,) = table_results(records)
    assert results.winners == {"confdiff-abs": 8}
    assert results.best("usps", 0.5) == "confdiff-regression"
    (alone,) = table_results([record for record in made_up_records() if record.method == "confdiff-abs"])
    assert alone.winners == {}
    counts = [sum(cell.verdict == name for cell in results.cells.values()) for name in ("within", "above", "below")]
    assert sum(counts) == 24
    assert list(results.tally.values()) == counts
    row = f"| Table 2, protocol authors, 200 epochs | 78 | {counts[0]} | {counts[1]} | {counts[2]} | ConfDiff-ABS 8 |"
    assert row in markdown_of(records)
    assert f'<td class="above">{counts[1]}</td>' in html_of(records)


def test_a_subset_of_the_data_has_a_section_of_its_own_without_verdicts():
    first = replace(
        trial("confdiff-abs", 0, 0.7, dataset="cifar10", prior=0.5, epochs=2, n_pairs=4000, incomplete=True),
        curve=((1, 0.6), (2, 0.8)),
        network="resnet32",
        teacher_accuracy=0.85,
    )
    second = replace(with_task(first, seed=1), key="second")
    records = [first, second, replace(with_task(first, fraction=0.1), key="third")]
    assert table_results(records) == []
    (row,) = other_data_rows(records)
    assert row.command == (
        "confdiff run cifar10 --protocol authors --incomplete --n-pairs 4000 --priors 0.5 "
        "--methods confdiff-abs --epochs 2 --trials 2"
    )
    line = (
        "| CIFAR-10 | 0.5 | ConfDiff-ABS | resnet32 | 4,000 | 2 | .700 ± .000 (2) | .800 ± .000 (2) | .850 | .843 | 2 |"
    )
    assert line in markdown_of(records)
    page = html_of(records)
    assert "<td>4,000</td>" in page
    assert row.command in page
    (file,) = find_experiment("other_data").files(records)
    (line,) = csv.DictReader(as_csv(file).splitlines())
    assert (line["trials"], line["mean"], line["mean_after_the_last_epoch"]) == ("2", "0.70000", "0.80000")
    assert other_data_rows(made_up_records()) == []


def test_one_trial_alone_is_compared_with_nothing():
    records = [trial("confdiff-abs", 0, 0.92, epochs=1)]
    for text in (markdown_of(records), html_of(records)):
        assert "protocol authors, 1 epoch" in text
        assert "1 epochs" not in text
        assert "1 trial, 0.00 hours" in text
        assert "ranks" not in text
        assert "against" not in text


def test_trials_with_options_are_no_cells_of_the_tables():
    assert len(table_cells([trial("confdiff-abs", 0, 0.9)])) == 1
    assert table_cells([trial("confdiff-abs", 0, 0.9, fraction=0.1)]) == []
    assert table_cells([trial("confdiff-abs", 0, 0.9, dataset="digits")]) == []
