"""Check the project's English: no banned phrase in docs, source texts and help; docs at most 100 columns wide.

Each pattern of BANNED comes with what to write instead. ALLOWED holds ordinary English that a pattern would also match;
every entry has its reason.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest
import typer.main

from confdiff.cli.main import app

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TEMPLATES = sorted((ROOT / "src").rglob("*.html"))
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
WIDTH = 100

BANNED = {
    r"\b(stands|stood)\b": "is, comes, lies",
    r"\b(is|are) (not )?there( already)?\b(?! (a|an|any|no)\b)": "exists, already exists, is missing",
    r"\bis no (?!longer\b|more\b)[a-z]+": "is not a ..., does not exist, has no ...",
    r"\bso many\b": "this many, as many as ..., the number of ...",
    r"\bapart\b": "excluding ..., separate",
    r"\bbeside\b": "next to, compared with, in addition to",
    r"\b(anew|heed(s|ed)?|mend(s|ed|ing)?)\b": "again, follow, fix",
    r"\bby heart\b": "memorises, overfits",
    r"\b(to )?(stop|stopped|judge|judged) by\b": "validation set, test set",
    r"\b(tells?|told)\b": "determine, given, report",
    r"\b(pairs|trials|items|rows|seconds|s|people|passes) an? (step|cell|trial|row|pair|item|method|seed)\b": "per",
    r"\b[Ww]hat (was|is|people|it|they) (said|so|told|given|learned|reads?)\b": "a noun",
    r"\bin place of\b": "instead of",
    r"\bheld against\b": "compared with",
    r"\bturned round\b": "swapped, reversed",
    r"\b(a|the|this|which|what|whose) share\b|\bshare of\b": "fraction",
    r"\border right\b": "pairwise accuracy",
    r"\bexplains? (most|more|best|the differences)\b|\bdifferences explained\b": "R²",
    r"\b[Mm]ind:|\bthings? to mind\b": "warning",
    r"\bown data\b|\bowndata\b": "your data, tabular",
    r"\bparts that no pair\b|\bconnected parts\b": "connected components",
}

ALLOWED = {
    "how far apart": "the distance between two scores; no shorter phrase exists",
    "`confdiff.owndata`": "an old name, in the changelog's table of renamed names",
    "`owndata.streaming.fit_streamed`": "an old name, in the changelog's table of renamed names",
}


def banned_in(text):
    """Return the banned phrases in a text, each with its advice."""
    text = " ".join(text.split())
    for phrase in ALLOWED:
        text = text.replace(phrase, "")
    return [
        f"{match.group()!r} (write: {advice})"
        for pattern, advice in BANNED.items()
        for match in re.finditer(pattern, text)
    ]


def strings_of(tree):
    """Yield (line, text) of every string; the values inside an f-string are left out."""
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def comments_of(source):
    """Return (line, text) of every block of comments."""
    blocks = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            text = token.string.lstrip("# ")
            if blocks and blocks[-1][2] == line - 1:
                blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]} {text}", line)
            else:
                blocks.append((line, text, line))
    return [(line, text) for line, text, _ in blocks]


def phrases_in_source(path):
    source = path.read_text()
    texts = [*strings_of(ast.parse(source)), *comments_of(source)]
    return [f"{path.relative_to(ROOT)}:{line}: {phrase}" for line, text in texts for phrase in banned_in(text)]


def commands(command, name):
    """Yield (name, command) of a command and everything below it."""
    yield name, command
    for child, below in getattr(command, "commands", {}).items():
        yield from commands(below, f"{name} {child}")


def help_texts(command):
    parameters = (getattr(parameter, "help", None) for parameter in command.params)
    return [text for text in (command.help, command.short_help, command.epilog, *parameters) if text]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_have_no_banned_phrase(path):
    assert not banned_in(path.read_text())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_have_no_banned_phrase(path):
    assert not banned_in(path.read_text())


def test_source_has_no_banned_phrase():
    phrases = [phrase for path in SOURCES for phrase in phrases_in_source(path)]
    assert not phrases, "\n".join(phrases)


def test_help_has_no_banned_phrase():
    everything = commands(typer.main.get_command(app), "confdiff")
    phrases = [f"{name}: {p}" for name, command in everything for text in help_texts(command) for p in banned_in(text)]
    assert not phrases, "\n".join(phrases)


def prose_lines(text):
    """Yield (number, line) of the lines that are not tables, code, links or pictures."""
    fenced = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("|", "    ", "![")) and "](" not in line:
            yield number, line


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_prose_is_at_most_100_columns_wide(path):
    wide = [f"{path.name}:{number}: {len(line)}" for number, line in prose_lines(path.read_text()) if len(line) > WIDTH]
    assert not wide, "\n".join(wide)


def test_the_allow_list_is_needed():
    texts = [path.read_text() for path in (*SOURCES, *TEMPLATES, *PAGES)]
    for phrase in ALLOWED:
        assert any(phrase in " ".join(text.split()) for text in texts), f"remove {phrase!r} from ALLOWED"
