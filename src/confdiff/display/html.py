"""Pages that need nothing beside them: one style for all, pictures inside."""

import base64
import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure


def environment(room: str) -> "Environment":
    """Where the templates of a room, such as ``confdiff.experiments``, are found beside ``base.html`` of this one."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape

    loader = ChoiceLoader([PackageLoader(room, "."), PackageLoader("confdiff.display", ".")])
    return Environment(loader=loader, autoescape=select_autoescape(["html"]))


def as_data_uri(figure: "Figure") -> str:
    """A figure as an address that holds the picture itself."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    return "data:image/png;base64," + base64.b64encode(data.getvalue()).decode()


def render(room: str, template: str, **values: Any) -> str:
    """A template of a room, filled in."""
    return environment(room).get_template(template).render(**values)
