"""The pages of reports in a real browser: sorting, filtering, the keyboard, dark mode, narrow windows."""

import pytest

from browser import needs_browser, problems_of
from confdiff.experiments.comparing.writing import write_comparison
from confdiff.experiments.report.writing import report_blocks, report_html
from made_up_comparisons import records_of, results_of
from trial_records import trial

pytestmark = needs_browser


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    return write_comparison(results_of(), folder)["page"].as_uri()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "results.html"
    records = [
        trial(method, seed, accuracy + 0.002 * seed, dataset=dataset)
        for dataset in ("usps", "letter")
        for seed in range(3)
        for method, accuracy in (("confdiff-abs", 0.95), ("pcomp-teacher", 0.9), ("oracle-soft", 0.98))
    ]
    path.write_text(report_html(report_blocks([*records, *records_of_study()])))
    return path.as_uri()


def records_of_study():
    return [record for record in records_of(results_of().plan) if record.dataset == "usps"]


def table_with(page, title):
    return page.locator("table", has=page.get_by_role("button", name=title, exact=True)).last


def column(table, number):
    return [text.strip() for text in table.locator(f"tbody tr:visible td:nth-child({number})").all_inner_texts()]


def settings_table(page):
    return page.locator("#settings ~ .scroll table").first


def test_a_click_sorts_by_numbers_and_a_second_one_reverses(tab, comparison):
    tab.goto(comparison)
    table = settings_table(tab)
    button = table.get_by_role("button", name="difference", exact=True)
    button.click()
    assert table.locator("th[aria-sort=ascending]").inner_text().startswith("difference")
    values = [float(text.split()[0]) for text in column(table, 7) if text]
    assert values == sorted(values)
    assert len(values) == 48
    assert column(table, 7)[-16:] == [""] * 16  # the reference has no difference, and comes last
    button.click()
    values = [float(text.split()[0]) for text in column(table, 7) if text]
    assert values == sorted(values, reverse=True)
    assert column(table, 7)[-1] == ""
    assert tab.problems == []
    assert tab.asked == [comparison]


def test_words_sort_as_words_and_groups_show_their_names(tab, comparison):
    tab.goto(comparison)
    table = settings_table(tab)
    assert column(table, 1)[:5] == ["Optdigits", "", "", "", "Optdigits"]  # once per group: data set, prior and noise
    table.get_by_role("button", name="method", exact=True).click()
    methods = column(table, 4)
    assert methods == sorted(methods, key=str.lower)
    assert "" not in column(table, 1)


def test_words_filter_rows(tab, comparison):
    tab.goto(comparison)
    table = settings_table(tab)
    box = tab.get_by_label("Filter").last
    box.fill("letter additive")
    assert column(table, 1) == ["Letter"] * 4
    assert column(table, 3) == ["additive:0.3"] * 4
    assert tab.get_by_role("status").last.inner_text() == "4 of 64 rows"
    box.fill("no such row")
    assert column(table, 1) == []
    box.fill("")
    assert len(column(table, 1)) == 64


def test_the_keyboard_sorts_and_filters(tab, comparison):
    tab.goto(comparison)
    table = settings_table(tab)
    box = tab.get_by_label("Filter").last
    box.focus()
    tab.keyboard.type("wine")
    tab.keyboard.press("Tab")  # the table, which can be scrolled
    tab.keyboard.press("Tab")  # its first title
    assert tab.evaluate("document.activeElement.textContent") == "data set"
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert table.locator("th[aria-sort=ascending]").inner_text().startswith("noise")
    assert column(table, 3) == ["additive:0.3"] * 4 + ["exact"] * 4


@pytest.mark.parametrize("width", [500, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["comparison", "report"])
def test_pages_are_accessible_and_fit_the_window(request, inspected, page, scheme, width):
    tab = inspected(width, scheme)
    tab.goto(request.getfixturevalue(page))
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert problems_of(tab) == []
    assert tab.problems == []
    colour = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 29)"}[scheme]


def test_headline_and_chart_are_on_the_first_screen(tab, comparison):
    tab.set_viewport_size({"width": 1200, "height": 1000})
    tab.goto(comparison)
    assert tab.locator(".opening p").count() == 3
    box = tab.locator(".chart").first.bounding_box()
    assert box["y"] + box["height"] < 1000


def test_without_scripts_the_tables_are_still_there(browser, comparison):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(comparison)
    assert page.locator("#settings ~ .scroll table tbody tr").count() == 64
    context.close()
