"""Ask judges about a table of items: the study is a file next to the result, which makes the work resumable."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confdiff.labelling.checking import checked_settings
from confdiff.labelling.settings import StudySettings
from confdiff.labelling.stored_items import has_items_of
from confdiff.labelling.study import Study, create_study, open_study
from confdiff.tabular.tables import ItemTable


@contextmanager
def open_or_create(path: Path, items: ItemTable, settings: StudySettings, *, keep: bool) -> Iterator[Study]:
    """Yield the study of an earlier run about the same items and question, or a new one.

    Parameters
    ----------
    path : Path
        The file of the study.
    items : ItemTable
        The items.
    settings : StudySettings
        The question, the scale, and how pairs are chosen.
    keep : bool
        Whether a new study is kept; otherwise it is removed after the block.

    Raises
    ------
    ValueError
        If the study is about other items or another question.
    """
    with tempfile.TemporaryDirectory() as folder:
        study = _study(path, path if keep else Path(folder) / path.name, items, settings)
        try:
            yield study
        finally:
            study.close_connections()


def _study(path: Path, new: Path, items: ItemTable, settings: StudySettings) -> Study:
    if not path.exists():
        return create_study(new, items, settings)
    study = open_study(path)
    with study.database.reading() as connection:
        is_same = has_items_of(connection, items) and study.settings == checked_settings(settings, items)
    if not is_same:
        study.close_connections()
        raise ValueError(
            f"{path} is about other items, or asks another question or has another plan. Choose another output, or "
            "continue with the same options."
        )
    return study
