"""A browser without a window, for tests of pages."""

import json
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MEASURE = """<script>
window.onload = () => {
  const tables = [...document.querySelectorAll("table")].map(table => table.scrollWidth - table.clientWidth);
  const page = document.documentElement.scrollWidth;
  const widths = {page: page, window: window.innerWidth, hidden: Math.max(0, ...tables)};
  document.body.innerHTML = "<pre id=widths>" + JSON.stringify(widths) + "</pre>";
};
</script>"""


def find_browser():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"needs a browser, one of {', '.join(NAMES)}")
    return path


def measured_widths(page, folder, width):
    """Open a page, given as text, in a window of some width.

    Returns the widths of the page and of the window, and how much of the widest table needs scrolling.
    """
    file = folder / "page.html"
    file.write_text(page.replace("</body>", MEASURE + "</body>"))
    flags = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    command = [find_browser(), *flags, f"--window-size={width},900", "--dump-dom", file.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    return json.loads(re.search(r"<pre id=\"widths\">(.*)</pre>", shown)[1])


@pytest.fixture(scope="session")
def playwright():
    """The one Playwright of a worker: a second one in the same process cannot start."""
    if CHROMIUM is None:
        pytest.skip("needs the browser chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    """One browser for all tests of a worker."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture
def context(browser):
    """A context of its own: its cookies and its storage begin empty."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def tab(context):
    """A page that fails the test if a script fails, a dialog opens, or it asks another host for anything."""
    return watched(context.new_page())


def watched(page):
    """Record errors, dialogs and requests of a page as lists."""
    page.problems = []
    page.asked = []
    page.on("pageerror", lambda error: page.problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (page.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


def problems_of(page):
    """Return the serious and critical violations that axe-core finds."""
    from axe_playwright_python.sync_playwright import Axe

    results = Axe().run(page).response
    assert results["passes"]
    return [
        f"{violation['id']}: {node['html'][:200]}"
        for violation in results["violations"]
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


@pytest.fixture
def inspected(browser):
    """Open contexts that let axe-core evaluate its source, which the policy of the page forbids."""
    contexts = []

    def new_page(width=1280, scheme="light"):
        context = browser.new_context(bypass_csp=True, viewport={"width": width, "height": 780}, color_scheme=scheme)
        contexts.append(context)
        return watched(context.new_page())

    yield new_page
    for context in contexts:
        context.close()
