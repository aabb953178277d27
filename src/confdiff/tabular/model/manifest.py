"""Write and read the manifest of a model folder: its format, its contents and digests that show alterations."""

import hashlib
import json
from pathlib import Path
from typing import Any

from confdiff import __version__
from confdiff.io.atomic import write_text
from confdiff.io.damage import DamagedFile, reporting_damage
from confdiff.io.decoding import check_object, decode
from confdiff.io.documents import inside, open_regular, read_document

FORMAT = 4
"""The format of model folders; raised if folders of older versions can no longer be read."""
MANIFEST = "model.json"
REMEDY = "Restore it, or fit the model again."
"""What the user can do about a damaged model."""

_DIGEST_SIZE = 16  # bytes
_PART = 2**20  # bytes to read at once


def write_manifest(folder: Path, contents: dict[str, Any]) -> None:
    """Write the manifest of a folder whose other files are complete.

    Parameters
    ----------
    folder : Path
        The folder of the model.
    contents : dict
        JSON values to keep; ``format``, ``confdiff`` (the version) and ``files`` (digests) are added.
    """
    digests = {file.name: _digest_of_file(file) for file in sorted(folder.iterdir())}
    header = {"format": FORMAT, "confdiff": __version__, "files": digests}
    write_text(folder / MANIFEST, _sealed(header | contents))


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the contents of the manifest of a folder, after a check of all files.

    The seal and the digests show accidental changes. They are not signatures: whoever can write to the folder can
    compute them again, so that the caller checks the contents too.

    Raises
    ------
    FileNotFoundError
        The folder, its manifest or one of its files is missing.
    ValueError
        The format is another one, a file was altered, or a file does not belong to the model.
    """
    manifest = _unsealed(folder)
    with reporting_damage(folder / MANIFEST, REMEDY):
        digests = decode(dict[str, str], manifest["files"], "files")
        files = {inside(folder, name): digest for name, digest in digests.items()}
    _check_files(folder, files)
    return manifest


def _digest(contents: bytes) -> str:
    return hashlib.blake2b(contents, digest_size=_DIGEST_SIZE).hexdigest()


def _digest_of_file(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=_DIGEST_SIZE)
    with open_regular(path) as file:
        while part := file.read(_PART):
            digest.update(part)
    return digest.hexdigest()


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
    with reporting_damage(path, REMEDY):
        manifest = check_object(MANIFEST, read_document(inside(folder, MANIFEST)))
        seal = manifest.pop("seal")
        own_seal = _seal(manifest)
    _check_format(path, manifest.get("format"))
    if own_seal != seal:
        raise DamagedFile(f"{path} was altered after it was written. {REMEDY}")
    return manifest


def _check_format(path: Path, number: Any) -> None:
    if number == FORMAT:
        return
    remedy = "Fit the model again" if isinstance(number, int) and number < FORMAT else "Update confdiff"
    raise ValueError(f"{path} has format {number!r}; confdiff {__version__} reads format {FORMAT}. {remedy}.")


def _check_files(folder: Path, digests: dict[Path, str]) -> None:
    for file, digest in digests.items():
        if not file.exists():
            raise FileNotFoundError(f"{folder} is not complete: {file.name} is missing. {REMEDY}")
        if _digest_of_file(file) != digest:
            raise DamagedFile(f"{file} was altered after it was written. {REMEDY}")
    expected = {*(file.name for file in digests), MANIFEST}
    foreign = [file.name for file in sorted(folder.iterdir()) if file.name not in expected]
    foreign = [name for name in foreign if not name.startswith(".")]
    if foreign:
        raise ValueError(f"{folder} holds {foreign[0]!r}, which does not belong to the model: remove it.")
