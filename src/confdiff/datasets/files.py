"""Find the files of a data set in a folder, or download them from their publishers.

Files are searched for in the given folder, in ``CONFDIFF_DATA`` and in the cache, and then downloaded. Every file is
checked before it is used.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from confdiff.datasets.downloads import download
from confdiff.datasets.sources import Form, SourceFile
from confdiff.io.atomic import cache_folder


def data_roots(folder: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the folders to search, in this order: the one passed, ``CONFDIFF_DATA``, the cache."""
    named = {"folder": folder, "CONFDIFF_DATA": os.environ.get("CONFDIFF_DATA")}
    roots = {name: Path(root).expanduser() for name, root in named.items() if root}
    for name, root in roots.items():
        if not root.is_dir():
            raise ValueError(f"{name} must be a folder with data sets; {root} does not exist or is not a folder.")
    return [*roots.values(), cache_folder() / "datasets"]


def find_files(
    forms: Sequence[Form], roots: Sequence[Path], *, incomplete: bool = False
) -> list[tuple[SourceFile, Path]] | None:
    """Return the files of the first form that is complete; a form that is complete in an earlier folder wins."""
    _, files = next(iter(_usable_forms(forms, roots, incomplete)), (None, None))
    return files


def _usable_forms(
    forms: Sequence[Form], roots: Sequence[Path], incomplete: bool
) -> Iterator[tuple[Form, list[tuple[SourceFile, Path]]]]:
    """Yield the forms that can be used, complete ones first, then the others by the number of their files."""
    for depth in range(1, len(roots) + 1):
        for form in forms:
            files = form.locate(roots[:depth])
            if len(files) == len(form.sources):
                yield form, files
    if incomplete:
        located = [(form, form.locate(roots)) for form in forms]
        usable = [(form, files) for form, files in located if form.needed <= {source.name for source, _ in files}]
        yield from sorted(usable, key=lambda form_and_files: -len(form_and_files[1]))


def obtain(
    name: str, forms: Sequence[Form], folder: str | os.PathLike[str] | None = None, *, incomplete: bool = False
) -> tuple[Form, list[tuple[SourceFile, Path]]]:
    """Return a complete form of a data set and its files; download the files that are missing.

    Parameters
    ----------
    name : str
        The data set, for messages.
    forms : sequence of Form
        The forms in which it is published, the preferred one first.
    folder : path, optional
        Folder to search first.
    incomplete : bool
        Whether a form without files that are not needed counts as complete.
    """
    roots = data_roots(folder)
    usable = next(_usable_forms(forms, roots, incomplete), None)
    if usable is not None:
        return usable
    form = next((form for form in forms if all(source.url for source in form.sources)), None)
    if form is None:
        raise no_files(name, forms, roots)
    present = {source.name for source, _ in form.locate(roots)}
    missing = [source for source in form.sources if source.name not in present]
    try:
        download(missing, roots[-1])
    except (OSError, ValueError) as error:
        raise FileNotFoundError(_absent(name, missing, roots, error, form)) from error
    return form, form.locate(roots)


def no_files(name: str, forms: Sequence[Form], roots: Sequence[Path]) -> FileNotFoundError:
    """Return the error for a data set that is missing and cannot be downloaded."""
    files = " or ".join(_few([source.name for source in form.sources]) for form in forms)
    folder = forms[0].sources[0].folders[0]
    places = ", ".join(str(root / folder) for root in roots)
    return FileNotFoundError(f"{name} is missing and cannot be downloaded: put {files} into one of {places}.")


def _absent(name: str, missing: Sequence[SourceFile], roots: Sequence[Path], error: Exception, form: Form) -> str:
    """Return the message for missing files: their names, where they are published and where to put them."""
    homes = dict.fromkeys(source.url if source.member else source.url.rsplit("/", 1)[0] for source in missing)
    folder = missing[0].folders[0]
    data = os.environ.get("CONFDIFF_DATA")
    extent = "is missing" if len(missing) == len(form.sources) else "is incomplete"
    lines = [
        f"{name} {extent} and could not be downloaded: {error}",
        f"  missing:  {_few([source.name for source in missing])}",
        f"  found at: {', '.join(homes)}",
        f"  put them, compressed or not, into: {roots[-1] / folder}",
        f"  or into {folder}/ of the folder that CONFDIFF_DATA names ({f'now {data}' if data else 'not set'})",
    ]
    if not any(source.needed for source in missing):
        lines.append("  or use the files that exist: pass incomplete=True")
    return "\n".join(lines)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
