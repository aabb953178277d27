"""Text encoders: models of the package sentence-transformers, which turn a text into a vector.

Loading one executes no code of the model: its modules must be those of sentence-transformers itself, and its weights
safetensors. Nothing is ever downloaded.
"""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from confdiff.tabular.features.computing.vector_function import VectorFunction

_BATCH = 256  # texts that are encoded before their vectors are written to the cache
_MODULES = ("Transformer", "Pooling", "Normalize", "Dense")
_WITH_WEIGHTS = ("Transformer", "Dense")
_CONTENTS = (".json", ".txt", ".model", ".safetensors")  # of the files that determine the vectors
_WEIGHTS = "model.safetensors"
_PART = 2**20  # bytes of a file to read at once


class SentenceEncoder(VectorFunction):
    """A model of sentence-transformers in a local folder, as an encoder of texts.

    Parameters
    ----------
    model : path or str
        The folder of the model, or the name of a model of Hugging Face that has been downloaded before, such as
        ``"sentence-transformers/all-MiniLM-L6-v2"``.

    Raises
    ------
    ValueError
        No such folder exists, or the model would have to execute code.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        self.folder = _find_folder(os.fspath(model))
        _check_model(self.folder)
        super().__init__(
            name=str(self.folder) if Path(model).expanduser().is_dir() else os.fspath(model),
            fingerprint=_digest_of_folder(self.folder),
            noun="texts",
            batch=_BATCH,
        )

    def digest(self, cell: str) -> str:
        """Return a digest of a text."""
        return hashlib.blake2b(cell.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def compute(self, cells: Sequence[str]) -> Any:
        """Return the vectors of some texts."""
        model = _loaded(self.folder, self.fingerprint)
        return model.encode(list(cells), show_progress_bar=False, convert_to_numpy=True)


def _find_folder(model: str) -> Path:
    """Return the folder of a model, or that of a name in the local cache of Hugging Face."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder.resolve()
    if not folder.exists() and model.count("/") <= 1 and not model.startswith((".", "~", "/")):
        _check_installed()
        import huggingface_hub

        names = [model] if "/" in model else [f"sentence-transformers/{model}"]
        for name in names:
            try:
                return Path(huggingface_hub.snapshot_download(name, local_files_only=True)).resolve()
            except (OSError, ValueError):  # it is not in the cache, or no such name is possible
                continue
    raise ValueError(
        f"no text encoder is at {model!r}: pass the folder of a model of sentence-transformers. Nothing is downloaded; "
        "a model that was downloaded before can be named as on Hugging Face."
    )


def _check_model(folder: Path) -> None:
    """Check that loading a model executes nothing but the installed packages."""
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise ValueError(f"{folder} is not a model of sentence-transformers: it has no modules.json.")
    if (folder / "adapter_config.json").exists():
        raise ValueError(f"{folder} is an adapter of another model: merge both into one model, and save it.")
    for path, module in _modules(folder):
        name = module.rsplit(".", 1)[-1]
        if not module.startswith("sentence_transformers.") or name not in _MODULES:
            raise ValueError(
                f"{folder} has a module {module!r:.80}, which is not loaded: the modules of a text encoder must be "
                f"those of sentence-transformers: {', '.join(_MODULES)}."
            )
        if name in _WITH_WEIGHTS and not _has_safe_weights(path):
            raise ValueError(
                f"{path} has no weights in the format safetensors ({_WEIGHTS}), and others are not loaded: they could "
                "execute code. Save the model again with sentence-transformers."
            )


def _modules(folder: Path) -> list[tuple[Path, str]]:
    """Return the folder and the class of each module; a model without a list of them is one transformer."""
    path = folder / "modules.json"
    if not path.is_file():
        return [(folder, "sentence_transformers.models.Transformer")]
    try:
        rows = [(str(row["path"]), str(row["type"])) for row in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a list of modules of sentence-transformers.") from error
    for name, _ in rows:
        if not (folder / name).resolve().is_relative_to(folder):
            raise ValueError(f"{path} names the folder {name!r}, which is not in the model.")
    return [(folder / name, module) for name, module in rows]


def _has_safe_weights(folder: Path) -> bool:
    return (folder / _WEIGHTS).is_file() or (folder / f"{_WEIGHTS}.index.json").is_file()


def _digest_of_folder(folder: Path) -> str:
    """Return a digest of the configurations, vocabularies and weights of a model."""
    digest = hashlib.blake2b(b"sentences", digest_size=16)
    folders = {path.resolve() for path, _ in _modules(folder)} | {folder}
    files = [file for path in sorted(folders) if path.is_dir() for file in sorted(path.iterdir())]
    for file in files:
        if file.suffix in _CONTENTS and file.is_file():
            digest.update(str(file.relative_to(folder)).encode())
            digest.update(file.stat().st_size.to_bytes(8, "big"))
            with file.open("rb") as source:
                while part := source.read(_PART):
                    digest.update(part)
    return digest.hexdigest()


def _check_installed() -> None:
    try:
        import huggingface_hub  # noqa: F401  # the lightest package of the extra
    except ImportError as error:
        raise ValueError(
            f"text encoders need the package {error.name}: install it with `pip install 'confdiff[text]'`."
        ) from error


@lru_cache(maxsize=1)
def _loaded(folder: Path, fingerprint: str) -> Any:
    """Return the model in a folder, whose files have a fingerprint.

    It is loaded when the first text is encoded, which takes some seconds.
    """
    _check_installed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _load(folder)


def _load(folder: Path) -> Any:
    with _without_progress():
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(
            str(folder),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )


@contextmanager
def _without_progress() -> Iterator[None]:
    """Hide the progress bar of the package for the weights."""
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()
