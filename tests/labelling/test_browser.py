"""The annotator's page in a real browser: keys, buttons, undo, the network, and several annotators."""

import re

import pytest
from playwright.sync_api import expect

from browser import needs_browser, watched
from labelling.browsers import ready, serving
from labelling.sites import QUESTION, stored, text_study

pytestmark = needs_browser
WORDS = ("by far", "clearly", "slightly")


@pytest.fixture
def server(tmp_path, closing_engines):
    study = text_study(tmp_path)
    with serving(study, rates={}) as server:
        yield server


@pytest.fixture
def judging(server, tab):
    """A page that asks Ann the first question."""
    tab.goto(server.link("Ann"))
    ready(tab)
    yield tab
    assert tab.problems == []


def count(page):
    """Return the number of answers that the page shows."""
    return int(re.match(r"\d+", page.inner_text("#progress-text"))[0])


def wait_for_count(page, number):
    expect(page.locator("#progress-text")).to_have_text(re.compile(rf"^{number} of "))
    ready(page)


def screen_grades(study):
    """Return the answers as they were given: above 0 favours the item on the right of the screen."""
    answers = study.answers(superseded=True)
    columns = ("left", "shown_first", "difference", "superseded")
    rows = zip(*(answers[name] for name in columns), strict=True)
    return [
        float(difference if left == first else -difference)
        for left, first, difference, superseded in rows
        if not superseded
    ]


# Keys and buttons


@pytest.mark.parametrize("key", range(1, 8))
def test_each_number_key_stores_its_answer(server, judging, key):
    judging.keyboard.press(str(key))
    wait_for_count(judging, 1)
    assert screen_grades(server.study) == [pytest.approx((key - 4) / 3)]


def test_nothing_is_chosen_before_the_answer(judging):
    for number in range(2):
        assert judging.locator("input[type=radio]:checked").count() == 0
        assert not judging.is_visible("#save")
        judging.keyboard.press("2")
        wait_for_count(judging, number + 1)


def test_the_page_shows_the_question_and_both_items(judging):
    assert judging.inner_text("#question") == QUESTION
    for side in ("left", "right"):
        assert re.fullmatch(r"Argument \d for a longer break\.", judging.inner_text(f"#{side} .cells"))
    labels = judging.locator("#choices-difference .word .wide").all_inner_texts()
    assert labels[0] == "left by far"
    assert (
        labels[3:5] == ["right slightly", "right clearly"] or judging.locator(".word").nth(3).inner_text() == "the same"
    )


def test_a_click_is_an_answer(server, judging):
    judging.locator(".choice").nth(5).click()
    wait_for_count(judging, 1)
    assert screen_grades(server.study) == [pytest.approx(2 / 3)]


def test_a_tie_is_one_press(server, judging):
    judging.keyboard.press("4")
    wait_for_count(judging, 1)
    assert screen_grades(server.study) == [0]


def test_arrows_choose_and_enter_saves(server, judging):
    judging.keyboard.press("ArrowRight")
    assert float(judging.locator("#form input:checked").get_attribute("value")) == 1 / 3
    assert judging.inner_text("#save") == "Save: right slightly"
    judging.keyboard.press("ArrowRight")
    assert stored(server.study) == 0
    judging.keyboard.press("Enter")
    wait_for_count(judging, 1)
    assert screen_grades(server.study) == [pytest.approx(2 / 3)]


def test_tab_reaches_everything_in_reading_order(judging):
    judging.evaluate("document.body.focus()")
    order = []
    for _ in range(9):
        judging.keyboard.press("Tab")
        order.append(judging.evaluate("document.activeElement.id || document.activeElement.type"))
    start = order.index("radio")
    assert order[start : start + 4] == ["radio", "undo", "cannot-say", "note-open"]


def test_the_focus_is_visible(judging):
    judging.keyboard.press("ArrowLeft")
    assert judging.evaluate("getComputedStyle(document.querySelector('input:checked + .face')).outlineStyle") == "solid"
    judging.keyboard.press("Tab")
    assert judging.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize("way", ["key", "button"])
def test_cannot_say_is_an_answer_without_a_difference(server, judging, way):
    if way == "key":
        judging.keyboard.press("0")
    else:
        judging.click("#cannot-say")
    wait_for_count(judging, 1)
    answers = server.study.answers()
    assert list(answers["reason"]) == ["cannot say"]
    assert answers["difference"][0] != answers["difference"][0]


@pytest.mark.parametrize("key", ["z", "Backspace", "Control+z"])
def test_undo_brings_the_question_back(server, judging, key):
    before = judging.inner_text("#pair")
    judging.keyboard.press("7")
    wait_for_count(judging, 1)
    assert judging.inner_text("#pair") != before
    judging.keyboard.press(key)
    wait_for_count(judging, 0)
    assert judging.inner_text("#pair") == before
    assert "taken back" in judging.inner_text("#note-on-question")
    assert judging.locator("#form input:checked").count() == 0
    judging.keyboard.press("1")
    wait_for_count(judging, 1)
    assert screen_grades(server.study) == [-1]
    assert len(server.study.answers(superseded=True)["left"]) == 2


def test_undo_without_an_answer_says_so(server, judging):
    judging.click("#undo")
    expect(judging.locator("#status")).to_have_text(re.compile("^There is no answer"))
    assert judging.is_visible("#form")


def test_a_note_is_saved_with_its_answer(server, judging):
    judging.keyboard.press("n")
    judging.keyboard.type("Both are 7 of 9, z")
    assert stored(server.study) == 0
    judging.locator(".choice").nth(0).click()
    wait_for_count(judging, 1)
    assert not judging.is_visible("#note")
    judging.keyboard.press("2")
    wait_for_count(judging, 2)
    first, second = server.study.answers()["note"]
    assert first == "Both are 7 of 9, z"
    assert not second


def test_a_double_click_is_one_answer(server, judging):
    judging.locator(".choice").nth(2).dblclick()
    wait_for_count(judging, 1)
    judging.wait_for_timeout(500)
    assert len(server.study.answers(superseded=True)["left"]) == 1


def test_a_held_key_is_one_answer(server, judging):
    judging.keyboard.down("6")
    for _ in range(30):
        judging.keyboard.down("6")  # a further press of a held key is a repeat
        judging.wait_for_timeout(20)
    judging.keyboard.up("6")
    wait_for_count(judging, 1)
    assert stored(server.study) == 1


def test_two_fast_presses_are_one_answer(server, judging):
    judging.keyboard.press("6")
    judging.keyboard.press("6")
    wait_for_count(judging, 1)
    judging.wait_for_timeout(300)
    assert stored(server.study) == 1


def test_keys_with_modifiers_are_left_to_the_browser(server, judging):
    for key in ("Control+1", "Alt+2", "Meta+3"):
        judging.keyboard.press(key)
    judging.wait_for_timeout(200)
    assert stored(server.study) == 0


def test_single_keys_can_be_switched_off(server, judging):
    judging.keyboard.press("?")
    judging.uncheck("#single-keys")
    judging.click("#help-close")
    for key in ("1", "0", "z", "n"):
        judging.keyboard.press(key)
    judging.wait_for_timeout(200)
    assert stored(server.study) == 0
    judging.reload()
    ready(judging)
    judging.keyboard.press("1")
    judging.locator(".choice").nth(0).click()
    wait_for_count(judging, 1)
    assert stored(server.study) == 1


def test_seconds_are_measured_on_the_screen(server, judging):
    judging.wait_for_timeout(700)
    judging.keyboard.press("3")
    wait_for_count(judging, 1)
    assert 0.9 < server.study.answers()["seconds"][0] < 20


def test_screen_readers_hear_what_happened(judging):
    judging.keyboard.press("3")
    wait_for_count(judging, 1)
    assert re.match(r"Saved\. Question 2 of \d+\.", judging.inner_text("#status"))
    assert judging.get_attribute("#status", "aria-live") == "polite"
    assert judging.evaluate("document.activeElement.id") == "question"


# The network


def test_a_reload_resumes(server, judging):
    judging.keyboard.press("5")
    wait_for_count(judging, 1)
    before = judging.inner_text("#pair")
    judging.reload()
    ready(judging)
    assert (count(judging), judging.inner_text("#pair")) == (1, before)


def test_an_answer_waits_until_the_network_is_back(server, judging, context):
    before = judging.inner_text("#pair")
    context.set_offline(True)
    judging.keyboard.press("6")
    judging.wait_for_selector("#connection:visible")
    assert "kept in this browser" in judging.inner_text("#connection")
    assert stored(server.study) == 0
    context.set_offline(False)
    wait_for_count(judging, 1)
    assert not judging.is_visible("#connection")
    assert judging.inner_text("#pair") != before
    assert screen_grades(server.study) == [pytest.approx(2 / 3)]


def close_without_sending(page):
    """Close a page that is offline. The browser is online again shortly before the page has ended."""
    page.evaluate("() => { window.fetch = () => new Promise(() => {}); }")
    page.close()


def test_an_answer_survives_closing_the_page_without_a_network(server, judging, context):
    context.set_offline(True)
    judging.keyboard.press("1")
    judging.wait_for_selector("#connection:visible")
    close_without_sending(judging)
    context.set_offline(False)
    page = watched(context.new_page())
    page.goto(server.url)
    wait_for_count(page, 1)
    assert screen_grades(server.study) == [-1]


def test_a_lost_reply_stores_the_answer_once(server, judging):
    lost = []

    def lose_first(route):
        response = route.fetch()
        if lost:
            route.fulfill(response=response)
        else:
            lost.append(response.status)
            route.abort()

    judging.route("**/api/answers", lose_first)
    judging.keyboard.press("7")
    wait_for_count(judging, 1)
    assert lost == [200]
    assert len(server.study.answers(superseded=True)["left"]) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server, judging, status):
    judging.route("**/api/answers", lambda route: route.fulfill(status=status, json={"message": "later"}), times=1)
    judging.keyboard.press("7")
    wait_for_count(judging, 1)
    assert stored(server.study) == 1


def test_a_refused_answer_is_reported_and_the_page_goes_on(server, judging):
    judging.route("**/api/answers", lambda route: route.fulfill(status=409, json={"message": "<b>no</b>"}), times=1)
    judging.keyboard.press("7")
    judging.wait_for_selector("#alert:visible")
    assert judging.inner_text("#alert") == "An answer could not be stored: <b>no</b>"
    ready(judging)
    judging.keyboard.press("7")
    wait_for_count(judging, 1)


def test_undo_during_sending_takes_back_what_was_sent(server, judging):
    judging.route("**/api/answers", lambda route: (judging.wait_for_timeout(300), route.continue_()))
    judging.keyboard.press("7")
    judging.keyboard.press("z")
    judging.wait_for_selector("#note-on-question:visible")
    assert stored(server.study) == 0
    assert len(server.study.answers(superseded=True)["left"]) == 1


# Several people, and the end


def test_two_annotators_at_once(server, browser):
    contexts = [browser.new_context() for _ in range(2)]
    pages = [watched(context.new_page()) for context in contexts]
    server.study.invite("Ben")
    server.study.finish_training("Ben")
    for page, name in zip(pages, ("Ann", "Ben"), strict=True):
        page.goto(server.link(name))
    for number in range(3):
        for page in pages:
            ready(page)
            page.keyboard.press(str(number + 1))
    for page in pages:
        wait_for_count(page, 3)
    by = list(server.study.answers()["annotator"])
    assert sorted(by) == ["Ann"] * 3 + ["Ben"] * 3
    assert [page.problems for page in pages] == [[], []]
    for context in contexts:
        context.close()


def test_unsent_answers_of_one_annotator_are_not_sent_by_another(server, judging, context):
    server.study.invite("Ben")
    server.study.finish_training("Ben")
    context.set_offline(True)
    judging.keyboard.press("1")
    judging.wait_for_selector("#connection:visible")
    close_without_sending(judging)
    context.set_offline(False)
    page = watched(context.new_page())
    page.goto(server.link("Ben"))
    ready(page)
    assert stored(server.study) == 0
    page.goto(server.link("Ann"))
    wait_for_count(page, 1)
    assert list(server.study.answers()["annotator"]) == ["Ann"]


def test_a_revoked_link_ends_the_page(server, judging):
    server.study.revoke("Ann")
    judging.keyboard.press("4")
    judging.wait_for_selector("#message:visible")
    assert judging.inner_text("#message-title") == "This link is not valid any more"
    assert stored(server.study) == 0
    judging.reload()
    assert judging.inner_text("h1") == "This link is not valid any more"


def test_the_end_of_the_quota(server, judging):
    server.study.set_quota("Ann", 2)
    judging.reload()
    ready(judging)
    judging.keyboard.press("3")
    wait_for_count(judging, 1)
    judging.keyboard.press("5")
    judging.wait_for_selector("#message:visible")
    assert judging.inner_text("#message-title") == "All done. Thank you!"
    assert stored(server.study) == 2
    judging.click("#message-undo")
    ready(judging)
    assert stored(server.study) == 1


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_study_that_pauses_or_closes(server, judging, state):
    (server.study.pause if state == "paused" else server.study.close)()
    judging.reload()
    judging.wait_for_selector("#message:visible")
    assert judging.inner_text("#message-title") == f"The study is {state}"
    server.study.resume()
    judging.reload()
    ready(judging)


def test_a_link_on_another_site_opens_the_page(server, tab):
    link = server.link("Ann")
    tab.route(
        "http://mail.test/", lambda route: route.fulfill(content_type="text/html", body=f"<a href='{link}'>open</a>")
    )
    tab.goto("http://mail.test/")
    tab.click("a")
    ready(tab)
    assert tab.url == f"{server.url}/"
    assert tab.problems == []


# Practice


def test_practice_comes_first_and_is_not_stored(tmp_path, closing_engines, tab):
    study = text_study(tmp_path, trained=False, examples=(("t0", "t1", 2 / 3), ("t2", "t3", 0)))
    with serving(study, rates={}) as server:
        tab.goto(server.link("Ann"))
        tab.wait_for_selector("#welcome:visible")
        assert tab.inner_text("#start") == "Practise first: 2 examples"
        tab.click("#start")
        ready(tab)
        assert tab.inner_text("#training-badge") == "Practice 1 of 2"
        tab.keyboard.press("1")
        tab.wait_for_selector("#feedback:visible")
        assert tab.inner_text("#feedback-text") == "The expected answer is: right clearly. You chose: left by far."
        tab.click("#feedback-next")
        ready(tab)
        tab.keyboard.press("4")
        tab.wait_for_selector("#feedback:visible")
        assert tab.inner_text("#feedback-text") == "This is the expected answer: the same."
        assert study.next_assignment("Ann") is not None
        tab.keyboard.press("Enter")
        ready(tab)
        assert not tab.is_visible("#training-badge")
        assert stored(study) == 0
        assert study.annotators()[0].training_done
        tab.reload()
        ready(tab)
    assert tab.problems == []


def test_without_examples_the_first_page_starts_the_questions(tmp_path, closing_engines, tab):
    study = text_study(tmp_path, trained=False, instructions="Read **both**.", same_class=0.2)
    with serving(study, rates={}) as server:
        tab.goto(server.link("Ann"))
        tab.wait_for_selector("#welcome:visible")
        assert tab.inner_html(".instructions").strip() == "<p>Read <strong>both</strong>.</p>"
        tab.click("#start")
        ready(tab)
    assert study.annotators()[0].training_done
