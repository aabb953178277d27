"""HTML pages from the templates of the folder ``pages``, and the files that they load."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse

if TYPE_CHECKING:
    from jinja2 import Environment

_STATIC_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


def html_page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a template of the folder ``pages`` as a response; every value is escaped.

    Parameters
    ----------
    template : str
        Name of the template, such as ``"judge.html"``.
    status : int
        Status of the response.
    **values
        Values of the variables in the template. A missing one is an error.
    """
    return HTMLResponse(_environment().get_template(template).render(**values), status_code=status)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("confdiff.labelling", "pages")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def static_file(name: str) -> FileResponse:
    """Return a script, a style sheet or an icon of the pages; other names are the HTTP error 404."""
    path = _static_files().get(name)
    if path is None:
        raise HTTPException(404, "No file has this name.")
    return FileResponse(path, media_type=_STATIC_TYPES[path.suffix])


@cache
def _static_files() -> dict[str, Path]:
    folder = Path(str(files("confdiff.labelling") / "pages" / "static"))
    return {path.name: path for path in folder.iterdir() if path.suffix in _STATIC_TYPES}
