"""Images and sounds of items: found by the item's number, and only inside the study's folder."""

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse

from confdiff.labelling.app.items_view import columns_of
from confdiff.labelling.app.security import IMAGE_POLICY

if TYPE_CHECKING:
    from starlette.requests import Request

    from confdiff.labelling.study import Study

MEDIA_TYPES = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webp": "image/webp",
    ".aac": "audio/aac",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".weba": "audio/webm",
}
"""Endings of files that are served, with their content types. Other files are never served."""

LARGEST_NUMBER = 2**31 - 1
"""The largest row of an item that a database can be asked for."""

NO_FILE = "The item has no such file."


def media_response(study: "Study", number: int, column: int, request: "Request") -> FileResponse:
    """Return a file of an item.

    Parameters
    ----------
    study : Study
        The study.
    number : int
        Row of the item, counted from 0.
    column : int
        Position of the column among those that the study shows, counted from 0.
    request : starlette.requests.Request
        The request, which says whether the file is for an ``<img>``.
    """
    path = _path(study, number, column)
    kind = MEDIA_TYPES.get(path.suffix.lower(), "") if path else ""
    if path is None or not kind:
        raise HTTPException(404, NO_FILE)
    if kind != "image/svg+xml":
        return FileResponse(path, media_type=kind)
    if request.headers.get("sec-fetch-dest", "image") != "image":
        raise HTTPException(403, "An SVG image is only shown inside a page.")
    return FileResponse(path, media_type=kind, headers={"Content-Security-Policy": IMAGE_POLICY})


def _path(study: "Study", number: int, column: int) -> Path | None:
    """Return the file of an item's cell, None if the cell does not hold one."""
    columns = columns_of(study)
    if not (0 <= number <= LARGEST_NUMBER and 0 <= column < len(columns)):
        return None
    name, kind = columns[column]
    if kind not in ("image", "audio"):
        return None
    try:
        cell = study.item(number).get(name)
    except IndexError:
        return None
    return path_inside(study.settings.media, str(cell or ""))


def path_inside(folder: str | Path | None, name: str) -> Path | None:
    """Return the path of a file in a folder; None if it is missing, or outside after following links.

    Parameters
    ----------
    folder : str or Path or None
        The folder; None has no files.
    name : str
        Path of the file relative to the folder.

    Examples
    --------
    >>> path_inside(".", "../../etc/passwd") is None
    True
    """
    if folder is None or not name:
        return None
    try:
        root = Path(folder).resolve(strict=True)
        path = (root / name).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    return path if path.is_relative_to(root) and path.is_file() else None
