"""Items of every kind, hostile ones too, on the annotator's page; its layout, and its accessibility."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from browser import needs_browser, problems_of
from confdiff.labelling.app.security import PAGE_POLICY
from labelling.browsers import ready, serving
from labelling.sites import QUESTION, audio_study, hostile_study, image_study, stored, table_study, text_study
from labelling.test_browser import screen_grades, wait_for_count

pytestmark = needs_browser
ANSWERS = {
    "id": [f"a{k}" for k in range(6)],
    "prompt": ["Explain to a child in two sentences why the sky is blue, without the word scattering."] * 6,
    "answer": [
        f"# Sky {k}\n\n**Blue** light [goes](https://example.org/{k}) everywhere.\n\n- one\n- two" for k in range(6)
    ],
}
STUDIES = {
    "text": text_study,
    "nine points": partial(text_study, points=9),
    "fine scale": partial(text_study, points=0),
    "same class": partial(text_study, same_class=0.7, repeats=0, reserve=0, triangles=0),
    "markdown": partial(text_study, items=ANSWERS, kinds={"answer": "markdown"}),
    "image": image_study,
    "audio": audio_study,
    "table": partial(table_study, highlight=True),
    "hostile": hostile_study,
}


def opened(server, page, name="Ann"):
    page.goto(server.link(name))
    ready(page)
    return page


@pytest.fixture
def site(tmp_path, closing_engines, tab):
    """Serve a study and open its page."""
    stack = []

    def start(make, **settings):
        study = make(tmp_path, **settings)
        server = serving(study, rates={})
        stack.append(server)
        opened(server.__enter__(), tab)
        return study, tab

    yield start
    for server in stack:
        server.__exit__(None, None, None)
    assert tab.problems == []


# Hostile items


def test_hostile_items_are_shown_as_text_and_do_nothing(tmp_path, closing_engines, tab):
    study = hostile_study(tmp_path)
    violations = []
    tab.on("console", lambda message: violations.append(message.text))
    with serving(study, rates={}) as server:
        response = tab.goto(server.link("Ann"))
        assert response.headers["content-security-policy"] == PAGE_POLICY
        seen = set()
        for number in range(6):
            ready(tab)
            seen |= set(tab.locator(".row").all_inner_texts())
            for tag in ("script", "img", "svg", "iframe", "a", "b"):
                assert tab.locator(f"#pair {tag}").count() == 0, tag
            tab.keyboard.press("2")
            tab.wait_for_timeout(350)
            if stored(study) < number + 1:
                break
        assert any("<script>alert(1)</script>" in text for text in seen)
        assert any("onerror=alert(2)" in text for text in seen)
        assert all(url.startswith(server.url) for url in tab.asked)
    assert tab.problems == []
    assert violations == []


def test_the_browser_enforces_the_policy(site):
    _, page = site(text_study)
    ends = []
    page.on("requestfailed", lambda request: ends.append((request.url, request.failure)))
    page.on("response", lambda response: ends.append((response.url, response.status)))
    ran = page.evaluate(
        """async () => {
          const blocked = [];
          document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
          const add = (tag, values) => document.body.append(Object.assign(document.createElement(tag), values));
          add("script", { textContent: "window.wasRun = true" });
          add("img", { src: "https://example.org/spy.png" });
          add("iframe", { src: "https://example.org/" });
          await new Promise((done) => setTimeout(done, 300));
          return [window.wasRun === true, blocked.sort()];
        }"""
    )
    assert ran[0] is False
    assert {"script-src-elem", "img-src", "frame-src"} <= set(ran[1])
    assert ends == [("https://example.org/spy.png", "csp")]


def test_markdown_is_formatted_and_its_links_lead_nowhere(site):
    _, page = site(STUDIES["markdown"])
    for side in ("left", "right"):
        box = page.locator(f"#{side} .prose")
        assert box.locator("strong").inner_text() == "Blue"
        assert box.locator("li").all_inner_texts() == ["one", "two"]
        assert box.locator("a").count() == 0
        assert box.locator(".link").inner_text() == "goes"
    address = page.url
    page.locator("#left .link").click()
    assert page.url == address
    assert all(url.startswith(address) for url in page.asked)


def test_a_text_that_both_items_have_is_shown_once(site):
    _, page = site(STUDIES["markdown"])
    assert page.locator("#shared").inner_text().startswith("prompt")
    assert ANSWERS["prompt"][0] in page.inner_text("#shared")
    assert ANSWERS["prompt"][0] not in page.inner_text("#pair")


# Media and tables


def test_images_are_shown_and_enlarged_on_a_click(site):
    study, page = site(image_study)
    sizes = page.evaluate("Array.from(document.querySelectorAll('#pair img'), (picture) => picture.naturalWidth)")
    assert len(sizes) == 2
    assert min(sizes) >= 320
    page.locator("#left .picture-button").click()
    expect(page.locator("#zoom")).to_be_visible()
    page.keyboard.press("3")
    page.keyboard.press("Escape")
    expect(page.locator("#zoom")).not_to_be_visible()
    assert stored(study) == 0
    assert page.evaluate("document.activeElement.className") == "picture-button"
    page.keyboard.press("3")
    wait_for_count(page, 1)
    assert screen_grades(study) == [pytest.approx(-1 / 3)]


def test_names_of_files_are_hidden(site):
    _, page = site(image_study)
    assert ".png" not in page.content()


def test_a_missing_image_is_reported_in_its_place(tmp_path, closing_engines, tab):
    study = image_study(tmp_path)
    for path in (tmp_path / "media").iterdir():
        path.unlink()
    with serving(study, rates={}) as server:
        opened(server, tab)
        expect(tab.locator("#left .cells")).to_have_text("This image could not be loaded.")
        ready(tab)
        tab.keyboard.press("0")
        wait_for_count(tab, 1)


def test_recordings_unlock_the_answers(site):
    study, page = site(audio_study)
    assert page.is_visible("#locked")
    page.keyboard.press("4")
    page.locator(".choice").nth(1).click(force=True)
    page.keyboard.press("l")
    expect(page.locator("#left audio")).to_have_js_property("ended", True)
    page.keyboard.press("4")
    page.wait_for_timeout(200)
    assert stored(study) == 0
    page.keyboard.press("r")
    expect(page.locator("#locked")).to_be_hidden()
    page.keyboard.press("4")
    wait_for_count(page, 1)
    assert screen_grades(study) == [0]
    assert page.is_visible("#locked")


def test_cannot_say_needs_no_listening(site):
    study, page = site(audio_study)
    page.keyboard.press("0")
    wait_for_count(page, 1)
    assert stored(study) == 1


def test_a_missing_recording_does_not_lock_the_answers(tmp_path, closing_engines, tab):
    study = audio_study(tmp_path)
    for path in (tmp_path / "media").iterdir():
        path.unlink()
    with serving(study, rates={}) as server:
        opened(server, tab)
        expect(tab.locator("#locked")).to_be_hidden()
        ready(tab)
        tab.keyboard.press("4")
        wait_for_count(tab, 1)


def test_tables_mark_cells_that_differ(site):
    _, page = site(table_study, highlight=True)
    rows = page.locator("#left .row")
    names = rows.locator("dt").all_inner_texts()
    assert names == ["age", "ward", "notes"]
    for k, name in enumerate(names):
        values = [
            page.locator(f"#{side} .row").nth(k).locator("dd > :first-child").inner_text() for side in ("left", "right")
        ]
        is_marked = "differs" in rows.nth(k).get_attribute("class")
        assert is_marked == (values[0] != values[1]), name
    tops = [[box.bounding_box()["y"] for box in page.locator(f"#{side} .row").all()] for side in ("left", "right")]
    assert tops[0] == pytest.approx(tops[1], abs=1)


def test_tables_mark_nothing_unless_asked(site):
    _, page = site(table_study)
    assert page.locator(".differs").count() == 0


def test_only_the_chosen_columns_are_shown(site):
    _, page = site(table_study, show=("ward", "age"))
    assert page.locator("#left dt").all_inner_texts() == ["ward", "age"]
    assert not re.search(r"\bp\d\b", page.inner_text("main"))


# Other questions


@pytest.mark.parametrize(("key", "same"), [("1", 1), ("2", 0), ("s", 1), ("d", 0)])
def test_same_class_questions(site, key, same):
    study, page = site(STUDIES["same class"])
    before = 0
    while page.inner_text("#question") == QUESTION:
        page.keyboard.press("4")
        before += 1
        wait_for_count(page, before)
    assert page.inner_text("#question") == "Do these two belong to the same class?"
    assert page.locator(".choice:visible").count() == 2
    page.keyboard.press(key)
    wait_for_count(page, before + 1)
    assert study.answers()["same"][-1] == same


def test_a_fine_scale_takes_a_click_and_a_confirmation(site):
    study, page = site(STUDIES["fine scale"])
    assert not page.is_visible("#mark")
    assert page.get_attribute("#line", "aria-valuetext") == "no mark yet"
    box = page.locator("#line").bounding_box()
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
    assert stored(study) == 0
    page.click("#save")
    wait_for_count(page, 1)
    assert screen_grades(study) == [pytest.approx(0.6, abs=0.02)]
    assert not page.is_visible("#mark")


def test_a_fine_scale_takes_keys(site):
    study, page = site(STUDIES["fine scale"])
    page.keyboard.press("Enter")
    assert stored(study) == 0
    page.keyboard.press("3")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#line", "aria-valuenow") == "-48"
    page.keyboard.press("Enter")
    wait_for_count(page, 1)
    assert screen_grades(study) == [pytest.approx(-0.48)]


# Layout and accessibility


@pytest.mark.parametrize("name", STUDIES)
def test_questions_are_accessible_and_fit_a_phone(tmp_path, closing_engines, inspected, name):
    with serving(STUDIES[name](tmp_path), rates={}) as server:
        link = server.link("Ann")
        for width in (1280, 360):
            for scheme in ("light", "dark"):
                page = inspected(width, scheme)
                page.goto(link)
                ready(page)
                assert problems_of(page) == []
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.problems == []


def test_the_other_pages_are_accessible_and_fit_a_phone(tmp_path, closing_engines, inspected):
    study = text_study(
        tmp_path, trained=False, examples=(("t0", "t1", 1),), same_class=0.1, instructions="# How\n\nRead."
    )
    with serving(study, rates={}) as server:
        for width in (1280, 360):
            for scheme in ("light", "dark"):
                page = inspected(width, scheme)
                for address in (server.url, f"{server.url}/join/unknown", server.link("Ann")):
                    page.goto(address)
                    page.wait_for_selector("h1:visible")
                    assert problems_of(page) == [], address
                    assert page.evaluate("document.documentElement.scrollWidth") <= width
                page.click("#start")
                ready(page)
                page.keyboard.press("4")
                page.wait_for_selector("#feedback:visible")
                assert problems_of(page) == []
                page.keyboard.press("?")
                page.wait_for_selector("#help:visible")
                assert problems_of(page) == []
                assert page.evaluate("document.documentElement.scrollWidth") <= width
        study.finish_training("Ann")
        study.pause()
        page = inspected()
        page.goto(server.link("Ann"))
        page.wait_for_selector("#message:visible")
        assert problems_of(page) == []


def luminance(page, selector, name):
    """Return the relative luminance of a colour, from 0 to 1."""
    colour = page.evaluate(f"getComputedStyle(document.querySelector('{selector}')).{name}")
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_dark_mode_follows_the_system(tmp_path, closing_engines, inspected):
    with serving(text_study(tmp_path), rates={}) as server:
        link = server.link("Ann")
        for scheme, is_dark in (("light", False), ("dark", True)):
            page = inspected(scheme=scheme)
            page.goto(link)
            ready(page)
            assert (luminance(page, "body", "backgroundColor") < luminance(page, "body", "color")) == is_dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_edges_of_buttons_have_enough_contrast(tmp_path, closing_engines, inspected, scheme):
    with serving(text_study(tmp_path), rates={}) as server:
        page = inspected(scheme=scheme)
        page.goto(server.link("Ann"))
        ready(page)
        bright, dim = sorted(
            (luminance(page, ".face", "borderTopColor"), luminance(page, ".face", "backgroundColor")), reverse=True
        )
        assert (bright + 0.05) / (dim + 0.05) >= 3


def test_items_are_stacked_on_a_phone_and_buttons_are_large(tmp_path, closing_engines, inspected):
    with serving(text_study(tmp_path), rates={}) as server:
        page = inspected(360)
        page.goto(server.link("Ann"))
        ready(page)
        left, right = (page.locator(f"#{side}").bounding_box() for side in ("left", "right"))
        assert right["y"] >= left["y"] + left["height"]
        assert page.inner_text("#left h2").lower() == "first"
        heights = [box.bounding_box()["height"] for box in page.locator(".choice:visible").all()]
        assert len(heights) == 7
        assert min(heights) >= 44
        assert page.locator(".word").first.inner_text() == "first by far"


def test_nothing_is_asked_of_other_hosts(tmp_path, closing_engines, inspected):
    with serving(image_study(tmp_path), rates={}) as server:
        page = inspected()
        page.goto(server.link("Ann"))
        ready(page)
        page.keyboard.press("4")
        wait_for_count(page, 1)
        assert len(page.asked) > 6
        assert [url for url in page.asked if not url.startswith(server.url + "/")] == []
