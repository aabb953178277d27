"""Blocks, rendered as Markdown, HTML and CSV."""

from confdiff.display.figures import new_figure
from confdiff.experiments.plans.figure3 import FIGURE3_PLAN
from confdiff.experiments.plans.figure_results import Point
from confdiff.experiments.report.blocks import Cell, Commands, CsvFile, Heading, Paragraph, Picture, Table
from confdiff.experiments.report.csv import TRIAL_COLUMNS, as_csv, attributes, csv_file
from confdiff.experiments.report.html import as_html
from confdiff.experiments.report.markdown import as_markdown
from confdiff.experiments.statistics import Trials

BLOCKS = [
    Heading("Accuracies", anchor="here", link="short"),
    Paragraph("Made by `confdiff report` & co."),
    Commands(("confdiff run digits", "confdiff report")),
    Table(
        ["prior", "accuracy"],
        [["0.2", Cell(".95", detail="(3)", note=".94, +.01", sign="=", shade="within", bold=True)], ["0.2", ".90"]],
        group_columns=1,
    ),
    Picture("A figure", lambda: new_figure(1, 1)[0], name="figure"),
    Picture("Only on pages", lambda: new_figure(1, 1)[0]),
]


def test_markdown():
    assert as_markdown("Results", BLOCKS).splitlines() == [
        "# Results",
        "",
        "## Accuracies",
        "",
        "Made by `confdiff report` & co.",
        "",
        "    confdiff run digits",
        "    confdiff report",
        "",
        "| prior | accuracy |",
        "|---|---|",
        "| 0.2 | **.95** (3)<br>.94, +.01 = |",
        "| 0.2 | .90 |",
        "",
        "![A figure](images/figure.png)",
    ]


def test_long_texts_are_wrapped():
    lines = as_markdown("Results", [Paragraph("word " * 60)]).splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) > 3


def test_html():
    page = as_html("Results", "A line.", BLOCKS)
    assert '<h2 id="here">Accuracies</h2>' in page
    assert '<a href="#here">short</a>' in page
    assert "<p>Made by <code>confdiff report</code> &amp; co.</p>" in page
    assert "<code>confdiff run digits</code><br><code>confdiff report</code>" in page
    assert '<td class="within"><b>.95</b> (3)<small>.94, +.01 =</small></td>' in page
    assert '<tr class="first"><td>0.2</td>' in page
    assert '<tr><td class="repeat"><span>0.2</span></td><td>.90</td></tr>' in page  # the prior is shown once per group
    assert page.count("data:image/png;base64,") == 2


def test_csv():
    assert as_csv(CsvFile("x", ["a", "b"], [[1, None], ["two, three", 0.5]])) == 'a,b\n1,\n"two, three",0.5\n'


def test_columns_of_tables_for_programs():
    columns = {**attributes("dataset"), **TRIAL_COLUMNS}
    point = Point("usps", 0.5, FIGURE3_PLAN.places[0], Trials({0: 0.5, 1: 0.75}))
    assert (
        as_csv(csv_file("x", columns, [point]))
        == "dataset,trials,mean,std,low,high\nusps,2,0.62500,0.17678,-0.96328,2.21328\n"
    )
    head = "dataset,trials,mean,std,low,high\n"
    assert as_csv(csv_file("x", columns, [point])) == f"{head}usps,2,0.62500,0.17678,-0.96328,2.21328\n"
    assert as_csv(csv_file("x", columns, [])) == head
