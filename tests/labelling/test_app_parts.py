"""The parts of the server that need no server: Markdown, texts, limits, scales, cells and bodies."""

import json
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import confdiff.labelling
from confdiff.labelling import StudySettings
from confdiff.labelling.app.bodies import AnswerBody, problem_of_body
from confdiff.labelling.app.items_view import cell_text
from confdiff.labelling.app.limits import RATES, Rate, RateLimiter
from confdiff.labelling.app.markdown import markdown_html
from confdiff.labelling.app.media import MEDIA_TYPES
from confdiff.labelling.app.scale import scale_of
from confdiff.labelling.app.texts import languages, page_texts
from confdiff.labelling.checking import IMAGES, SOUNDS

PAGES = Path(confdiff.labelling.__file__).parent / "pages"
ALLOWED = re.compile("p|em|strong|s|code|pre|blockquote|ul|ol|li|h3|h4|h5|h6|hr|br|table|thead|tbody|tr|th|td|span")
TAG = re.compile(r"<\s*/?\s*([a-zA-Z][a-zA-Z0-9]*)([^>]*)>")
ATTRIBUTES = re.compile(r'( class="[^"<>]*"| title="[^"]*"| style="text-align:\w+"| start="\d+"| /)*')


def forbidden_in(html):
    """Return tags and attributes that the page would not show."""
    return [tag for tag, rest in TAG.findall(html) if not ALLOWED.fullmatch(tag) or not ATTRIBUTES.fullmatch(rest)]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        '[x](https://example.org "><script>")',
        "![x](https://example.org/a.png)",
        '![" onerror="alert(1)](x)',
        "<https://example.org>",
        "[a]: https://example.org\n\n[a] ![a]",
        "```<script>\nalert(1)\n```",
        "| <b> |\n|---|\n| <i> |",
    ],
)
def test_markdown_is_inert(text):
    html = markdown_html(text)
    assert forbidden_in(html) == []
    assert "href" not in html


@given(st.text(alphabet="<>[]()!`*_~#|-\"'&;:/= \nabjsxonerimgct1", max_size=80))
def test_any_markdown_is_inert(text):
    assert forbidden_in(markdown_html(text)) == []


def test_headings_are_below_those_of_the_page():
    assert markdown_html("# A\n\n###### B") == "<h3>A</h3>\n<h6>B</h6>\n"


def test_each_language_has_the_same_texts():
    english = page_texts("en")
    for language in languages():
        assert shape(page_texts(language)) == shape(english), language


def shape(texts):
    if isinstance(texts, dict):
        return {key: shape(value) for key, value in texts.items()}
    return sorted(re.findall(r"\{\w+\}", texts)) if isinstance(texts, str) else len(texts)


def test_an_unknown_language_names_the_known_ones():
    with pytest.raises(ValueError, match="no texts for language='xx': choose one of en"):
        page_texts("xx")


def test_texts_that_the_page_uses_exist():
    texts = page_texts("en")
    script = (PAGES / "static" / "judge.js").read_text()
    for name in re.findall(r"\bwords\.(\w+)", script):
        assert name in texts["judge"], name
    for group, name in re.findall(r"\btexts\.(training|welcome|sides|messages)\.(\w+)", script):
        assert name in texts[group], name
    for group, name in re.findall(r"\btexts\.(\w+)\.(\w+)", (PAGES / "judge.html").read_text()):
        assert name in texts[group], f"{group}.{name}"


def test_texts_that_exist_are_used():
    used = "".join(path.read_text() for path in (PAGES / "judge.html", PAGES / "static" / "judge.js"))
    used += "".join(path.read_text() for path in (PAGES.parent / "app").glob("*.py"))
    for group in ("judge", "training", "help", "welcome"):
        for name in page_texts("en")[group]:
            assert re.search(rf"[.\"]{name}\b", used), f"{group}.{name}"


@pytest.mark.parametrize("points", [3, 5, 7, 9])
def test_scales_run_from_left_to_right(points):
    scale = scale_of(StudySettings(question="Which?", points=points), page_texts("en"))
    values = [choice.value for choice in scale.differences]
    assert values == [-value for value in reversed(values)]
    assert (values[0], len(values)) == (-1, points)
    assert [choice.key for choice in scale.differences] == list(range(1, points + 1))
    assert scale.differences[points // 2].word == "the same"
    assert all("left" in choice.word for choice in scale.differences[: points // 2])
    assert all("first" in choice.stacked for choice in scale.differences[: points // 2])
    assert [choice.strength for choice in scale.differences] == [abs(k - points // 2) for k in range(points)]


def test_words_of_the_owner_replace_those_of_the_language():
    scale = scale_of(StudySettings(question="Which?", points=3, words=("a", "b", "c")), page_texts("en"))
    assert [(choice.word, choice.stacked) for choice in scale.differences] == [("a", "a"), ("b", "b"), ("c", "c")]


def test_a_fine_scale_has_two_ends():
    scale = scale_of(StudySettings(question="Which?", points=0), page_texts("en"))
    assert (scale.differences, [end.word for end in scale.ends]) == ((), ["left by far", "right by far"])


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (float("nan"), ""), (1e6, "1000000"), (-0.25, "-0.25"), (10**20, "1" + "0" * 20), (False, "no")],
)
def test_cells_as_text(value, text):
    assert cell_text(value) == text


def test_every_file_that_a_study_accepts_is_served():
    assert set(MEDIA_TYPES) == {*IMAGES, *SOUNDS}
    assert {kind.split("/")[0] for ending, kind in MEDIA_TYPES.items() if ending in IMAGES} == {"image"}
    assert {kind.split("/")[0] for ending, kind in MEDIA_TYPES.items() if ending in SOUNDS} == {"audio"}


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_bucket_fills_again_with_time():
    clock = Clock()
    limiter = RateLimiter({"api": Rate(per_second=2, burst=3)}, clock=clock)
    assert [limiter.seconds_to_wait("api", "a") for _ in range(4)] == [0, 0, 0, 0.5]
    clock.now = 0.5
    assert [limiter.seconds_to_wait("api", "a") for _ in range(2)] == [0, 0.5]
    clock.now = 1000
    assert [limiter.seconds_to_wait("api", "a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_clients_and_kinds_have_their_own_buckets():
    limiter = RateLimiter({"api": Rate(1, 1), "join": Rate(1, 1)}, clock=Clock())
    assert [limiter.seconds_to_wait(kind, client) for kind in ("api", "join") for client in "ab"] == [0] * 4
    assert limiter.seconds_to_wait("api", "a") == 1
    assert [limiter.seconds_to_wait("media", "a") for _ in range(100)] == [0] * 100


def test_the_memory_of_clients_is_bounded():
    clock = Clock()
    limiter = RateLimiter({"join": Rate(1, 2)}, clock=clock)
    for k in range(25_000):
        clock.now += 1e-6
        limiter.seconds_to_wait("join", str(k))
    assert len(limiter._buckets) <= 10_000


def test_threads_share_a_bucket():
    limiter = RateLimiter({"api": Rate(per_second=1e-9, burst=100)})
    passed = []

    def ask():
        passed.extend(limiter.seconds_to_wait("api", "a") == 0 for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(passed) == 100


def test_a_person_never_meets_a_limit():
    """Five answers per second for a minute after a pause, each with two images."""
    clock = Clock()
    limiter = RateLimiter(RATES, clock=clock)
    for _ in range(300):
        clock.now += 0.2
        assert limiter.seconds_to_wait("api", "a") == 0
        assert limiter.seconds_to_wait("media", "a") + limiter.seconds_to_wait("media", "a") == 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(sorted(AnswerBody.model_fields))


@given(st.dictionaries(FIELDS | st.text(max_size=5), json_values, max_size=7))
def test_any_body_is_valid_or_gets_one_message(body):
    try:
        AnswerBody.model_validate_json(json.dumps(body))
    except ValidationError as error:
        errors = [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]
        message = problem_of_body(errors)
        assert message.isascii()
        assert len(message) < 400
