"""The report: what trials say beside the paper's numbers, and the commands that make them."""

import csv
from dataclasses import replace

import pytest

from command import confdiff
from confdiff.experiments.cells import Cell, cells_of
from confdiff.experiments.comparison import duels, mean_ranks
from confdiff.experiments.findings import Findings, findings_of
from confdiff.experiments.markdown import as_markdown
from confdiff.experiments.paper import METHODS_OF_THE_PAPER, TABLES, Printed, table_grid
from confdiff.experiments.parts import part_rows
from confdiff.experiments.report import as_csv, as_html, as_parts_csv
from confdiff.experiments.sections import sections_of


def cell(accuracies, mean, std):
    printed = Printed("table2", "usps", 0.5, "confdiff-abs", "accuracy", mean, std)
    return Cell("authors", "table2", "usps", 0.5, "confdiff-abs", 200, accuracies, 1.0, printed)


@pytest.mark.parametrize(
    ("accuracies", "mean", "std", "verdict"),
    [
        ((0.95, 0.95, 0.95), 0.959, 0.0, "within"),  # .01
        ((0.95, 0.95, 0.95), 0.961, 0.0, "below"),
        ((0.95, 0.95, 0.95), 0.939, 0.0, "above"),
        ((0.95, 0.95, 0.95), 0.970, 0.011, "within"),  # two printed deviations
        ((0.93, 0.95, 0.97), 0.985, 0.0, "within"),  # two of ours
        ((0.93, 0.95, 0.97), 0.991, 0.0, "below"),
        ((0.93, 0.95, 0.97), 0.995, 0.015, "within"),  # both combined are .025: twice that is more than .045
        ((0.93, 0.95, 0.97), 1.001, 0.015, "below"),  # and less than .051
        ((0.95, 0.95), 0.95, 0.0, ""),  # too few trials
    ],
)
def test_verdicts(accuracies, mean, std, verdict):
    assert cell(accuracies, mean, std).verdict == verdict
    assert replace(cell(accuracies, mean, std), epochs=50).verdict == ""  # not the paper's


def made_up_records():
    """Three methods on two data sets, where the first always wins by .02 and the third always loses by .05."""
    records = []
    for dataset in TABLES["table2"]:
        for prior in (0.2, 0.5):
            for seed in range(3):
                for method, shift in (("confdiff-abs", 0.02), ("pcomp-teacher", 0.0), ("pcomp-abs", -0.05)):
                    accuracy = 0.9 + shift + 0.001 * seed
                    records.append(
                        {
                            "key": f"{dataset}{prior}{seed}{method}", "dataset": dataset, "prior": prior,
                            "protocol": "authors", "seed": seed, "method": method, "epochs": 200, "accuracy": accuracy,
                            "seconds": 2.0, "curve": [[1, 0.5], [200, accuracy]],
                        }
                    )  # fmt: skip
    return records


def test_comparisons():
    (teacher, other) = duels(made_up_records(), "confdiff-abs", ["pcomp-teacher", "pcomp-abs"])
    assert (teacher.won, teacher.tied, teacher.lost) == (24, 0, 0)
    assert other.mean_difference == pytest.approx(0.07)
    assert teacher.p_value == pytest.approx(2 / 2**8)  # all eight cells on one side
    ranks = mean_ranks(made_up_records(), ["pcomp-abs", "confdiff-abs", "pcomp-teacher"])
    assert ranks.ranks == {"confdiff-abs": 1.0, "pcomp-teacher": 2.0, "pcomp-abs": 3.0}
    assert ranks.cells == 8
    # Demsar 2006, Table 5: q = 2.343 for three methods at the 5 % level.
    assert ranks.critical_difference == pytest.approx(2.343 * (3 * 4 / (6 * 8)) ** 0.5, abs=0.002)
    assert ranks.p_value < 0.01


def test_the_report_reads_the_store_alone():
    records = made_up_records()
    (section,) = sections_of(records)
    assert (section.title, section.datasets, section.priors) == (
        "Table 2, protocol authors, 200 epochs", list(TABLES["table2"]), [0.2, 0.5],
    )  # fmt: skip
    assert section.best("usps", 0.2) == "confdiff-abs"
    rows = list(csv.DictReader(as_csv([section]).splitlines()))
    assert len(rows) == len(section.cells) == 24
    usps = next(row for row in rows if (row["dataset"], row["prior"], row["method"]) == ("usps", "0.5", "confdiff-abs"))
    assert (usps["trials"], usps["mean"], usps["printed_mean"]) == ("3", "0.92100", "0.959")
    text = as_markdown(Findings([section]))
    assert "**.921 ± .001** (3)<br>.959 ± .004, -.038 -" in text
    assert "confdiff reproduce table2 --protocol authors --trials 3" in text
    assert "| Pcomp-ABS | 24 | 0 | 0 | +0.0700 | 0.0078 |" in text
    page = as_html(Findings([section]))
    assert "<td>Pcomp-ABS</td><td>24</td><td>0</td><td>0</td>\n<td>+0.0700</td>" in page
    assert '<td class="below">\n<b>.921 ± .001</b>' in page
    for each in (text, page):
        assert "72 trials, 0.04 hours of training in all, 2.0 s a trial" in each
        assert "ConfDiff-ABS 1.00, Pcomp-Teacher 2.00, Pcomp-ABS 3.00. Critical difference" in each
    assert page.count("data:image/png;base64,") == 2
    assert 'src="http' not in page
    assert 'href="http' not in page
    assert "<b>.921 ± .001</b>" in page


def test_the_paper_s_order_of_methods_up_to_one_deviation():
    records = made_up_records()
    for record in made_up_records():
        if record["method"] == "pcomp-abs":  # .07 below ABS, and of a deviation of .001
            records.append(record | {"method": "confdiff-relu", "key": record["key"] + "r"})
            above = 0.0005 if record["dataset"] == "usps" else 0.01
            records.append(record | {"method": "confdiff-unbiased", "accuracy": record["accuracy"] + above, "key": "u"})
    (section,) = sections_of([record | {"key": str(number)} for number, record in enumerate(records)])
    (abs_relu, relu_unbiased) = section.orderings
    assert abs_relu[2:] == (8, [])
    assert relu_unbiased[2] == 2
    assert {cell.dataset for cell in relu_unbiased[3]} == {"optdigits", "pendigits", "letter"}
    text = as_markdown(Findings([section]))
    order = "up to one standard deviation, in"
    assert f"ConfDiff-ABS >= ConfDiff-ReLU, {order} 8 of 8 cells." in text
    assert f"ConfDiff-ReLU >= ConfDiff-Unbiased, {order} 2 of 8 cells; not in Optdigits at 0.2" in text


def table_1_in_pieces():
    """All nine methods at .5, four of them at the other priors; some of our own methods here and there."""
    four = ("confdiff-abs", "confdiff-relu", "oracle-soft", "pcomp-teacher")
    sets = ("mnist", "kmnist", "fashion")
    cells = [(dataset, 0.5, method, 1) for dataset in sets for method in METHODS_OF_THE_PAPER if method not in four]
    cells += [(dataset, prior, method, 1) for dataset in sets for prior in (0.2, 0.5, 0.8) for method in four]
    cells += [("kmnist", 0.5, "confdiff-projection", 1), ("mnist", 0.2, "confdiff-regression", 2)]
    cells += [("fashion", 0.8, "confdiff-regression", 1)]
    return [
        made_up_records()[0] | {"dataset": dataset, "prior": prior, "method": method, "seed": seed, "key": str(place)}
        for place, (dataset, prior, method, trials) in enumerate(cells)
        for seed in range(trials)
    ]


def test_the_commands_of_a_section_make_what_it_shows_and_nothing_else():
    records = table_1_in_pieces()
    (section,) = sections_of(records)
    made = []
    for command in section.commands:
        _, _, table, *options = command.split()
        told = dict(zip(options[::2], options[1::2], strict=True))
        lists = {name: told[f"--{name}"].split(",") for name in ("datasets", "methods") if f"--{name}" in told}
        priors = [float(prior) for prior in told.get("--priors", "0.2,0.5,0.8").split(",")]
        made += table_grid(table, **lists, priors=priors, trials=int(told["--trials"]), protocol=told["--protocol"])
    asked = sorted((s.task.dataset, s.task.prior, s.method, s.task.seed) for s in made)
    assert asked == sorted((r["dataset"], r["prior"], r["method"], r["seed"]) for r in records)
    assert len(section.commands) == 5
    (whole,) = sections_of(
        made_up_records()[0]
        | {"dataset": spec.task.dataset, "prior": spec.task.prior, "seed": spec.task.seed, "method": spec.method}
        for spec in table_grid("table2", trials=5) + table_grid("table2", methods=["confdiff-regression"], trials=2)
    )
    command = "confdiff reproduce table2 --protocol authors --trials"
    assert whole.commands == [f"{command} 5", f"{command} 2 --methods confdiff-regression"]


def test_without_three_trials_there_is_no_verdict():
    findings = Findings(sections_of(table_1_in_pieces()))
    assert not findings.sections[0].is_judged
    for text in (as_markdown(findings), as_html(findings)):
        assert "No verdicts: these take three trials" in text
        assert "| ConfDiff-ABS | 0 | 0 | 0 |" not in text
        assert "<td>ConfDiff-ABS</td><td>0</td><td>0</td><td>0</td>" not in text
        assert "up to one standard deviation" not in text  # which is not known


def test_methods_with_few_cells_do_not_spoil_the_ranks():
    """Nine methods at one prior and four at all: ranked are those with trials in all nine cells, oracles apart."""
    (section,) = sections_of(table_1_in_pieces())
    assert section.methods_at(0.2) == [
        "confdiff-relu",
        "confdiff-abs",
        "confdiff-regression",
        "pcomp-teacher",
        "oracle-soft",
    ]
    assert section.ranks.cells == 9
    assert set(section.ranks.ranks) == {"confdiff-abs", "confdiff-relu", "pcomp-teacher"}
    assert section.ranks.p_value == 1  # these records are all alike
    text = as_markdown(Findings([section]))
    assert "| 0.2 | Pcomp-ABS |" not in text
    assert "Mean ranks over 9 cells, of the methods with trials in each: ConfDiff-" in text


def test_at_a_glance():
    """One line a section: trials, verdicts, and which of the paper's methods is best how often."""
    others = [
        record | {"method": "confdiff-regression", "accuracy": 0.99, "key": record["key"] + "r"}
        for record in made_up_records()
        if record["method"] == "confdiff-abs" and record["dataset"] == "usps"
    ]  # not the paper's, so that it wins nothing here
    (section,) = sections_of(made_up_records() + others)
    assert section.winners == {"confdiff-abs": 8}
    assert section.best("usps", 0.5) == "confdiff-regression"
    (alone,) = sections_of(record for record in made_up_records() if record["method"] == "confdiff-abs")
    assert alone.winners == {}
    counts = [sum(cell.verdict == name for cell in section.cells.values()) for name in ("within", "above", "below")]
    assert sum(counts) == 24
    assert list(section.tally.values()) == counts
    row = f"| Table 2, protocol authors, 200 epochs | 78 | {counts[0]} | {counts[1]} | {counts[2]} | ConfDiff-ABS 8 |"
    assert row in as_markdown(Findings([section]))
    assert f'<td class="above">{counts[1]}</td>' in as_html(Findings([section]))


def test_a_part_of_the_data_is_shown_apart_and_not_judged():
    record = made_up_records()[0] | {
        "dataset": "cifar10", "prior": 0.5, "epochs": 2, "accuracy": 0.7, "curve": [[1, 0.6], [2, 0.8]],
        "network": "resnet32", "teacher_accuracy": 0.85, "n_pairs": 4000, "incomplete": True,
    }  # fmt: skip
    findings = findings_of([record, record | {"seed": 1, "key": "other"}, record | {"fraction": 0.1, "key": "third"}])
    assert findings.sections == []
    (row,) = findings.parts
    assert row.command == (
        "confdiff run cifar10 --protocol authors --incomplete --n-pairs 4000 --prior 0.5 "
        "--method confdiff-abs --epochs 2 --trials 2"
    )
    line = (
        "| CIFAR-10 | 0.5 | ConfDiff-ABS | resnet32 | 4,000 | 2 | .700 ± .000 (2) | .800 ± .000 (2) | .850 | .843 | 2 |"
    )
    assert line in as_markdown(findings)
    page = as_html(findings)
    assert "<td>4,000</td>" in page
    assert row.command in page
    (told,) = csv.DictReader(as_parts_csv(findings.parts).splitlines())
    assert (told["trials"], told["mean"], told["mean_after_the_last_epoch"]) == ("2", "0.70000", "0.80000")
    assert part_rows(made_up_records()) == []


def test_one_trial_alone_is_compared_with_nothing():
    findings = findings_of([made_up_records()[0] | {"epochs": 1}])
    for text in (as_markdown(findings), as_html(findings)):
        assert "protocol authors, 1 epoch" in text
        assert "1 epochs" not in text
        assert "1 trial, 0.00 hours" in text
        assert "ranks" not in text
        assert "against" not in text


def test_trials_with_options_are_no_cells_of_the_tables():
    record = made_up_records()[0]
    assert len(cells_of([record])) == 1
    assert cells_of([record | {"fraction": 0.1}]) == []
    assert cells_of([record | {"dataset": "digits"}]) == []


def test_report_as_a_command(tmp_path):
    """What is run on other data than the paper's is shown too, with the command that makes it."""
    command = "run digits --protocol paper --prior 0.5 --method confdiff-abs --epochs 2 --trials 1"
    told = confdiff(*command.split(), cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    assert "confdiff report --results results" in told.stdout
    result = confdiff("report", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    names = ["parts.csv", "results.csv", "results.html", "results.md"]
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == names
    (row,) = csv.DictReader((tmp_path / "report" / "parts.csv").read_text().splitlines())
    for text in ((tmp_path / "report" / name).read_text() for name in names[2:]):
        assert f"confdiff {command}" in text
        assert f"{float(row['mean']):.3f} (1)".removeprefix("0") in text


def test_a_report_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert confdiff("run", "digits", "--epochs", "1", cwd=tmp_path).returncode == 0
    result = confdiff("report", "-o", "file", cwd=tmp_path)
    assert result.returncode == 2
    assert "--output must name a folder; file is a file." in result.stderr
