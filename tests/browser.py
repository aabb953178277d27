"""A browser without a window, for tests of pages."""

import json
import re
import shutil
import subprocess

import pytest

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
