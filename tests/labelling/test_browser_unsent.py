"""Answers that wait in a real browser: its storage is full, or something else than the server replies."""

import pytest

from browser import needs_browser
from labelling.browsers import ready, serving
from labelling.sites import stored, text_study

pytestmark = needs_browser
FULL_STORAGE = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
LOGIN_PAGE = "<!doctype html><title>Log in to this network</title>"


@pytest.fixture
def server(tmp_path, closing_engines):
    with serving(text_study(tmp_path), rates={}) as server:
        yield server


def open_page(server, tab):
    tab.goto(server.link("Ann"))
    wait_for_question(tab, 0)


def wait_for_question(tab, answered):
    tab.wait_for_function(
        "(start) => document.querySelector('#progress-text').textContent.startsWith(start)", arg=f"{answered} "
    )
    ready(tab)


def test_answers_are_sent_from_a_browser_whose_storage_is_full(server, tab):
    tab.add_init_script(FULL_STORAGE)
    open_page(server, tab)
    for number in range(2):
        tab.keyboard.press("7")
        wait_for_question(tab, number + 1)
    assert stored(server.study) == 2
    assert tab.problems == []


@pytest.mark.parametrize("status", [200, 403, 404])
def test_a_page_of_something_else_is_not_a_reply_and_the_answer_is_sent_again(server, tab, status):
    open_page(server, tab)
    reply = {"status": status, "content_type": "text/html", "body": LOGIN_PAGE}
    tab.route("**/api/answers", lambda route: route.fulfill(**reply), times=1)
    tab.keyboard.press("7")
    tab.wait_for_selector("#connection:visible")
    assert stored(server.study) == 0
    wait_for_question(tab, 1)
    assert stored(server.study) == 1
    assert tab.problems == []
