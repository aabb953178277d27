"""Check the settings of a study against its items, before anything is written."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.display.text import listed
from confdiff.labelling.settings import Expected, StudySettings
from confdiff.tabular.tables import ItemTable
from confdiff.tabular.values import is_missing

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".svg")
"""The endings by which columns of images are recognised."""

SOUNDS = (".mp3", ".ogg", ".oga", ".opus", ".wav", ".flac", ".m4a", ".aac", ".weba")
"""The endings by which columns of sounds are recognised."""


def checked_settings(settings: StudySettings, items: ItemTable) -> StudySettings:
    """Return settings that suit the items, with the kind of every column.

    Raises
    ------
    ValueError
        If there are too few items, or the settings name a column, an item or a file that does not exist.
    """
    if len(items) < 2:
        raise ValueError(f"{items.source} must have at least two items to compare; got {len(items)}.")
    columns = [items.id_name, *items.columns]
    _check_columns("show", settings.show, columns, items)
    for name, kind in settings.kinds.items():
        if name not in columns:
            raise ValueError(
                f"no column of {items.source} is named {name!r} (kinds={{{name!r}: {kind!r}}}); it has "
                f"{listed(columns)}."
            )
    _check_ids("gold", settings.gold, items)
    _check_ids("examples", settings.examples, items)
    _check_language(settings.language)
    media = None if settings.media is None else str(_media_folder(settings.media))
    kinds = {name: settings.kinds.get(name) or _kind(items, name, media) for name in columns}
    checked = replace(settings, kinds=kinds, media=media)
    _check_media(checked, items)
    return checked


def shown_columns(settings: StudySettings, items: Iterable[str], id_column: str) -> list[str]:
    """Return the columns to show."""
    return list(settings.show) or [name for name in items if name != id_column]


def _check_columns(argument: str, names: Iterable[str], columns: list[str], items: ItemTable) -> None:
    for name in names:
        if name not in columns:
            has = f"{items.source}, which has {listed(columns)}"
            raise ValueError(f"{argument} must name columns of {has}; got {name!r}.")


def _check_ids(argument: str, pairs: Iterable[Expected], items: ItemTable) -> None:
    ids = set(map(str, items.ids.tolist()))
    for left, right, _ in pairs:
        for name in (left, right):
            if name not in ids:
                raise ValueError(f"{argument} must name items of {items.source} by their ids; {name!r} is not one.")


def _check_language(language: str) -> None:
    texts = Path(__file__).parent / "pages" / "texts"
    languages = sorted(path.stem for path in texts.glob("*.json"))
    if languages and language not in languages:
        raise ValueError(f"language must be one of {', '.join(languages)}; got {language!r}.")


def _media_folder(media: str) -> Path:
    folder = Path(media).expanduser()
    if not folder.is_dir():
        raise ValueError(f"media must be an existing folder; got {media!r}.")
    return folder.resolve()


def _kind(items: ItemTable, name: str, media: str | None) -> str:
    """Return how to show a column: by its type, and with a folder of media by the endings of its cells."""
    if name == items.id_name:
        return "text"
    if items.types[name] in ("integer", "number"):
        return "number"
    if media is not None:
        endings = {Path(cell).suffix.lower() for cell in _files(items, name)}
        for kind, known in (("image", IMAGES), ("audio", SOUNDS)):
            if endings and endings <= set(known):
                return kind
    return "text"


def _files(items: ItemTable, name: str) -> list[str]:
    column: Any = items.ids if name == items.id_name else items.columns[name]
    array = np.asarray(column)
    return [str(cell) for cell in array[~is_missing(array)].tolist()]


def _check_media(settings: StudySettings, items: ItemTable) -> None:
    """Check that the files of images and sounds exist, inside the folder."""
    for name in shown_columns(settings, items.columns, items.id_name):
        if settings.kinds[name] not in ("image", "audio"):
            continue
        if settings.media is None:
            raise ValueError(f"column {name!r} holds media: name the folder of its files with media='...'.")
        folder = Path(settings.media)
        for cell in _files(items, name):
            path = (folder / cell).resolve()
            if not path.is_relative_to(folder) or not path.is_file():
                raise ValueError(f"column {name!r} must name files inside {folder}; {cell!r} is not one.")
