"""Self-contained HTML pages: one base template with the style of all, images inside the page.

Templates of other packages extend ``base.html`` and fill its blocks ``title`` and ``body``. Styles that only one page
needs go into its block ``style``.
"""

import base64
import io
import re
import warnings
from typing import TYPE_CHECKING, Any

from confdiff.display.palette import SEVERITIES
from confdiff.io.outputs import MARK

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup
    from matplotlib.figure import Figure


def environment(package: str) -> "Environment":
    """Return the environment of the templates in a package, such as ``"confdiff.theory"``, and of ``base.html``."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape

    loader = ChoiceLoader([PackageLoader(package, "."), PackageLoader("confdiff.display", ".")])
    templates = Environment(loader=loader, autoescape=select_autoescape(["html"]))
    templates.globals["severities"] = SEVERITIES
    templates.globals["mark"] = MARK
    templates.filters["code"] = as_code
    return templates


def render(package: str, template: str, **values: Any) -> str:
    """Return a template of a package as text.

    Parameters
    ----------
    package : str
        Package that holds the template, such as ``"confdiff.theory"``.
    template : str
        Name of the template, such as ``"theory.html"``.
    **values
        Values of the variables in the template.
    """
    return environment(package).get_template(template).render(**values)


def as_code(text: str) -> "Markup":
    """Return a text as HTML, with parts in backticks as code; the text itself is escaped.

    >>> as_code("1 < 2: run `fit`")
    Markup('1 &lt; 2: run <code>fit</code>')
    """
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def as_svg(figure: "Figure") -> "Markup":
    """Return a small figure as SVG for the inside of a page, without a background; black takes the colour of the text.

    Large figures are smaller as :func:`as_data_uri`.
    """
    from markupsafe import Markup
    from matplotlib import rc_context

    data = io.StringIO()
    with rc_context({"svg.hashsalt": MARK}):  # the names of parts are then the same in each run
        figure.savefig(data, format="svg", transparent=True, metadata={"Date": None})
    svg = data.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg)
    svg = svg.replace("#000000", "currentColor")
    return Markup(svg.replace("<svg", '<svg fill="currentColor"', 1))


def as_data_uri(figure: "Figure") -> str:
    """Return a figure as a data URI, so that a page holds the image itself."""
    data = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # names in scripts that it lacks
        figure.savefig(data, format="png", dpi=110)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()
