"""Take docs/images/labelling-*.png: the pages of a study, in a browser, with simulated annotators at work.

Run ``python docs/images/labelling.py`` with Chromium installed. A folder as an argument is where the pictures go
instead. The items were written for it.
"""

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import sync_playwright

from confdiff.labelling import Study, StudySettings, create_study
from confdiff.labelling.app import create_app
from confdiff.labelling.local_server import serving_locally
from confdiff.labelling.simulating import SimulatedJudge, simulate_answers

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUESTION = "Which answer explains better why the sky is blue?"
QUALITY_OF = {  # the answers are ours, and so is the opinion of the simulated annotators
    "Because it is blue.": 0.05,
    "The sky mirrors the sea, and the sea is blue.": 0.10,
    "Blue paint was cheapest on the day.": 0.02,
    "Blue light is scattered more than red light by the air, so some of it reaches us from every side.": 0.90,
    "Molecules of air scatter short waves far more than long ones. Sunlight is a mixture; its blue part is sent in all "
    "directions on the way down, and that is the light which we see when we look away from the sun.": 0.97,
    "Air has a colour of its own, which shows only when there is much of it.": 0.30,
    "It has to do with light and with how it bounces off the air.": 0.50,
    "Sunlight contains all colours. The air lets red pass and throws blue about.": 0.75,
    "Space is dark and the sun is yellow, which together make blue.": 0.15,
    "Scattering. It goes with the fourth power of the frequency.": 0.60,
    "Violet is scattered even more than blue, but the sun sends less of it and our eyes see it badly. So the scattered "
    "light looks blue.": 0.85,
    "Ask a physicist; they will speak about molecules and about waves.": 0.22,
    "Every molecule of air takes up light and sends it out again sideways, the short waves most. Blue is short.": 0.88,
    "Dust reflects the light of the sun.": 0.27,
    "For the same reason as the sunset is red: the blue part went elsewhere, and here is elsewhere.": 0.70,
    "Oxygen is blue when it is liquid.": 0.20,
    "The air is a filter that holds back all colours except for blue.": 0.33,
    "On the moon the sky is black, as nothing scatters light there. Air does, and blue best.": 0.80,
    "It is not. At night it is black.": 0.08,
    "Light of short waves meets more obstacles in the air than light of long waves, so it fills the sky.": 0.82,
    "Our eyes see blue better than other colours.": 0.25,
    "Water vapour is blue, as one sees at the sea.": 0.12,
    "Waves that are small compared with their obstacle bounce, large ones pass. Blue waves are the small ones.": 0.62,
    "Because of Rayleigh.": 0.40,
}
ITEMS = {"id": [f"answer {number}" for number in range(1, len(QUALITY_OF) + 1)], "answer": list(QUALITY_OF)}
INSTRUCTIONS = "A good explanation is **correct** and can be followed by a child of twelve. Length does not matter."
JUDGES = (
    SimulatedJudge("Ada", scale=0.9, noise=0.15),
    SimulatedJudge("Bo", scale=0.6, noise=0.2, cannot_say=0.03),
    SimulatedJudge("Cy", scale=1.2, side_bias=0.15, noise=0.2),
    SimulatedJudge("Dee", scale=0.8, noise=0.35),
)
WIDTH = 1100
OWNER_WIDTH = 1280
OWNER_CLIP = {"x": 0, "y": 0, "width": OWNER_WIDTH, "height": 2000}  # the rest is more of the ranking
PHONE = {"width": 360, "height": 920}


def new_study(folder: Path) -> Study:
    """Create the study of the pictures."""
    settings = StudySettings(
        question=QUESTION,
        title="Why is the sky blue?",
        instructions=INSTRUCTIONS,
        pairs_per_item=24,
        judges=5,
        examples=(("answer 1", "answer 5", 1.0), ("answer 4", "answer 11", 0.0)),
    )
    return create_study(folder / "sky.db", ITEMS, settings)


def let_judges_answer(study: Study, address: str) -> None:
    """Let all simulated annotators answer at once, through the server."""
    judges = {study.invite(judge.name).token: judge for judge in JUDGES}
    simulate_answers(address, judges, lambda item: QUALITY_OF[item["cells"][0]["text"]], n_answers=220, seed=1)


@contextmanager
def browser_without_window(playwright: "Playwright | None") -> Iterator["Browser"]:
    """Yield Chromium; ``playwright`` is the one that runs in this process, if there is one."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise FileNotFoundError(f"no browser; install one of {', '.join(BROWSERS)}.")
    with nullcontext(playwright) if playwright else sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox", "--force-color-profile=srgb"])
        yield browser
        browser.close()


def take_pictures(folder: Path, playwright: "Playwright | None" = None) -> list[Path]:
    """Take all pictures, and return their paths."""
    with tempfile.TemporaryDirectory() as temporary:
        study = new_study(Path(temporary))
        with serving_locally(create_app(study)) as address, browser_without_window(playwright) as browser:
            let_judges_answer(study, address)
            pictures = _pictures_of_an_annotator(browser, f"{address}join/{study.invite('Eli').token}")
            pictures["labelling-owner"] = _picture_of_the_owner(browser, f"{address}owner/join/{study.owner_token()}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        _save_small(picture, folder / f"{name}.png")
    return [folder / f"{name}.png" for name in pictures]


def _pictures_of_an_annotator(browser: "Browser", link: str) -> dict[str, bytes]:
    pictures = {}
    page = browser.new_page(viewport={"width": WIDTH, "height": 640})
    page.goto(link)
    page.locator("#start").click()
    for _ in range(2):
        _wait_for_question(page)
        page.keyboard.press("7")
        page.locator("#feedback").wait_for()
        page.locator("#feedback-next").click()
    for key in "52617":
        _wait_for_question(page)
        page.keyboard.press(key)
    _wait_for_question(page)
    pictures["labelling"] = page.screenshot(animations="disabled")
    page.emulate_media(color_scheme="dark")
    pictures["labelling-dark"] = page.screenshot(animations="disabled")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    pictures["labelling-phone"] = page.screenshot(animations="disabled")
    page.close()
    return pictures


def _wait_for_question(page: "Page") -> None:
    page.locator("#judging").wait_for()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)


def _picture_of_the_owner(browser: "Browser", link: str) -> bytes:
    page = browser.new_page(viewport={"width": OWNER_WIDTH, "height": 800})
    page.goto(link)
    page.locator("#ranking-scroller").wait_for(timeout=60_000)
    page.wait_for_timeout(1_500)
    picture = page.screenshot(full_page=True, animations="disabled", clip=OWNER_CLIP)
    page.close()
    return picture


def _save_small(picture: bytes, path: Path) -> None:
    """Write a picture with at most 256 colours."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    for path in take_pictures(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent):
        print(path)
