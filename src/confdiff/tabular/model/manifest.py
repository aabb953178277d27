"""Write and read the manifest of a model folder: its format, its contents and digests that show alterations."""

import hashlib
import json
from pathlib import Path
from typing import Any

from confdiff import __version__
from confdiff.io.atomic import write_text

FORMAT = 2
"""The format of model folders; raised if folders of older versions can no longer be read."""
MANIFEST = "model.json"


def write_manifest(folder: Path, contents: dict[str, Any]) -> None:
    """Write the manifest of a folder whose other files are complete.

    Parameters
    ----------
    folder : Path
        The folder of the model.
    contents : dict
        JSON values to keep; ``format``, ``confdiff`` (the version) and ``files`` (digests) are added.
    """
    digests = {file.name: _digest(file.read_bytes()) for file in sorted(folder.iterdir())}
    header = {"format": FORMAT, "confdiff": __version__, "files": digests}
    write_text(folder / MANIFEST, _sealed(header | contents))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the contents of the manifest of a folder, after a check of all files.

    Raises
    ------
    FileNotFoundError
        The folder, its manifest or one of its files is missing.
    ValueError
        The format is another one, a file was altered, or a file does not belong to the model.
    """
    manifest = _unsealed(folder)
    _check_files(folder, manifest["files"])
    return manifest


def _digest(contents: bytes) -> str:
    return hashlib.blake2b(contents, digest_size=16).hexdigest()


def _seal(manifest: dict[str, Any]) -> str:
    return _digest(json.dumps(manifest, sort_keys=True).encode())


def _sealed(manifest: dict[str, Any]) -> str:
    """Return JSON whose last entry is a digest of the other entries."""
    return json.dumps(manifest | {"seal": _seal(manifest)}, indent=1) + "\n"


def _unsealed(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not folder.is_dir():
        problem = "it is a file" if folder.exists() else "no such folder exists"
        raise FileNotFoundError(f"{folder} is not a model: {problem}.")
    if not path.is_file():
        raise FileNotFoundError(f"{folder} is not a complete model: {MANIFEST} is missing.")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        seal = manifest.pop("seal")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} was not written by confdiff, or it is damaged: {error}.") from error
    _check_format(path, manifest.get("format"))
    if _seal(json.loads(json.dumps(manifest))) != seal:
        raise ValueError(f"{path} was altered after it was written. Restore it, or fit the model again.")
    contents: dict[str, Any] = manifest
    return contents


def _check_format(path: Path, number: Any) -> None:
    if number == FORMAT:
        return
    remedy = "Fit the model again" if isinstance(number, int) and number < FORMAT else "Update confdiff"
    raise ValueError(f"{path} has format {number!r}; confdiff {__version__} reads format {FORMAT}. {remedy}.")


def _check_files(folder: Path, digests: dict[str, str]) -> None:
    for name, digest in digests.items():
        file = folder / name
        if not file.is_file():
            raise FileNotFoundError(f"{folder} is not complete: {name} is missing. Restore it, or fit the model again.")
        if _digest(file.read_bytes()) != digest:
            raise ValueError(f"{file} was altered after it was written. Restore it, or fit the model again.")
    expected = {*digests, MANIFEST}
    foreign = [file.name for file in sorted(folder.iterdir()) if file.name not in expected]
    foreign = [name for name in foreign if not name.startswith(".")]
    if foreign:
        raise ValueError(f"{folder} holds {foreign[0]!r}, which does not belong to the model: remove it.")
