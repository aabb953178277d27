"""Markdown of the owner's texts as HTML in which nothing can act: no tags, no links, no images."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LOWER_HEADINGS = {"h1": "h3", "h2": "h4", "h3": "h5", "h4": "h6", "h5": "h6", "h6": "h6"}


def markdown_html(text: str) -> Markup:
    r"""Return a Markdown text as HTML. Tags are shown as text; links and images become text, too.

    An address is never loaded and cannot be followed, so that an item neither reports who reads it nor leads away.

    Parameters
    ----------
    text : str
        Markdown, with the tables and strikethrough of GitHub.

    Returns
    -------
    markupsafe.Markup
        HTML with paragraphs, lists, tables, code and emphasis only.

    Examples
    --------
    >>> markdown_html("**Buy** [here](https://example.org) <script>")
    Markup('<p><strong>Buy</strong> <span class="link" title="https://example.org">here</span> &lt;script&gt;</p>\n')
    """
    return Markup(_renderer().render(text))


@cache
def _renderer() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    renderer.add_render_rule("link_open", _open_link)
    renderer.add_render_rule("link_close", _close_link)
    renderer.add_render_rule("image", _image)
    renderer.add_render_rule("heading_open", _heading)
    renderer.add_render_rule("heading_close", _heading)
    return renderer


def _open_link(renderer: Any, tokens: "Sequence[Token]", index: int, options: Any, env: Any) -> str:
    return f'<span class="link" title="{escape(tokens[index].attrGet("href") or "")}">'


def _close_link(renderer: Any, tokens: "Sequence[Token]", index: int, options: Any, env: Any) -> str:
    return "</span>"


def _image(renderer: Any, tokens: "Sequence[Token]", index: int, options: Any, env: Any) -> str:
    return f'<span class="picture">{escape(tokens[index].content)}</span>'


def _heading(renderer: Any, tokens: "Sequence[Token]", index: int, options: Any, env: Any) -> str:
    """Return a tag of a lower level than the headings of the page around it."""
    tokens[index].tag = _LOWER_HEADINGS[tokens[index].tag]
    return str(renderer.renderToken(tokens, index, options, env))
