"""The owner's page in a real browser: live, by keyboard, inert texts, narrow screens, dark mode, accessible."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from browser import needs_browser, watched
from confdiff.labelling import StudySettings
from labelling.browsers import serving
from labelling.simulated import JUDGES, answer_directly, simulated_study

pytestmark = needs_browser
EVIL = "<img src=x onerror=document.title='hacked'>"
SETTINGS = StudySettings(
    question=f"Which is larger? {EVIL}", title=f"Sizes {EVIL}", judges=len(JUDGES), same_class=0.05, reserve=0.2
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    study = simulated_study(tmp_path_factory.mktemp("owner") / "s.db", settings=SETTINGS, n_answers=150)
    study.invite(EVIL)
    with serving(study) as server:
        yield server
    study.close_connections()


def open_page(page, server, *, has_report=True):
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/owner/join/{server.study.owner_token()}")
    page.wait_for_selector("#ranking-rows tr" if has_report else "#annotator-rows tr")
    return page


def test_the_page_shows_the_report(tab, server):
    page = open_page(tab, server)
    assert page.url == f"{server.url}/owner"
    figures = page.inner_text("#figures")
    assert re.search(r"Answers\s+150", figures)
    assert re.search(r"Pairwise accuracy\s+\d+ %", figures)
    names = page.locator("#annotator-rows .name").all_inner_texts()
    assert names == [*(judge.name for judge in JUDGES), EVIL]
    assert page.locator("#annotator-rows svg").count() == len(JUDGES)
    assert page.locator("#ranking-rows tr").count() == 25
    assert "favours the item shown second" in page.inner_text("#findings")
    assert page.problems == []
    assert {re.match(r"http://[^/]+", url)[0] for url in page.asked} == {server.url}


def test_texts_are_inert(tab, server):
    page = open_page(tab, server)
    assert page.locator("img[src=x]").count() == 0
    assert EVIL in page.inner_text("h1")
    assert not page.title().startswith("hacked")
    assert page.problems == []


def test_the_page_is_live(tab, server):
    page = open_page(tab, server, has_report=False)
    row = page.locator("#annotator-rows tr").first
    before = row.locator("td").first.inner_text()
    answer_directly(server.study, JUDGES, 40, 4, seed=2)
    page.wait_for_function("old => document.querySelector('#annotator-rows td').innerText !== old", arg=before)


def test_links_quotas_and_states_by_keyboard(tab, server):
    page = open_page(tab, server, has_report=False)
    page.focus("#invite-name")
    page.keyboard.type("Kim")
    page.keyboard.press("Tab")
    page.keyboard.type("9")
    page.keyboard.press("Enter")
    page.wait_for_selector("#link:not([hidden])")
    link = page.input_value("#link-address")
    assert link.startswith(f"{server.url}/join/")
    other = watched(page.context.browser.new_page())
    other.goto(link)
    assert other.url == f"{server.url}/"
    other.close()
    row = page.locator("#annotator-rows tr", has_text="Kim")
    assert "0 of 9" in row.inner_text()
    row.locator("summary").press("Enter")
    row.locator("input").fill("12")
    row.locator("input").press("Enter")
    row.get_by_text("0 of 12").wait_for()
    row.get_by_role("button", name="Revoke").press("Enter")
    page.wait_for_selector("#confirm[open]")
    page.keyboard.press("Escape")
    assert not server.study.annotators()[-1].revoked
    row.get_by_role("button", name="Revoke").press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").press("Enter")
    page.wait_for_selector("tr.revoked")
    assert server.study.annotators()[-1].revoked
    page.locator("#pause").press("Enter")
    page.wait_for_selector("#resume:not([hidden])")
    assert server.study.state == "paused"
    page.locator("#resume").press("Enter")
    page.wait_for_selector("#pause:not([hidden])")
    assert server.study.state == "open"
    assert page.problems == []
    server.study.delete_annotator("Kim")


def test_exports_are_downloads(tab, server):
    page = open_page(tab, server, has_report=False)
    with page.expect_download() as download:
        page.get_by_role("link", name="Answers (CSV)").click()
    assert download.value.suggested_filename.endswith("pairs.csv")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_cut_off(tab, server, width):
    tab.set_viewport_size({"width": width, "height": 800})
    page = open_page(tab, server)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_violation(context, server, scheme):
    page = context.new_page()
    page.emulate_media(color_scheme=scheme)
    open_page(page, server)
    page.locator("details.help summary").click()
    page.locator(".manage summary").first.click()
    violations = Axe().run(page).response["violations"]
    serious = [
        (v["id"], [n["html"] for n in v["nodes"]][:3]) for v in violations if v["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_a_lost_connection_is_announced(tab, server):
    page = open_page(tab, server, has_report=False)
    page.context.set_offline(True)
    page.wait_for_selector("#problem:not([hidden])")
    assert "does not answer" in page.inner_text("#problem")
    page.context.set_offline(False)
    page.wait_for_selector("#problem", state="hidden")
