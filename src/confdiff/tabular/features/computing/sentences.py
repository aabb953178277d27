"""Text encoders: models of the package sentence-transformers, which turn a text into a vector.

Nothing is ever downloaded, and no code of the model is executed.
"""

import hashlib
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from confdiff.tabular.features.computing.sentence_folder import check_text_encoder, digest_of_folder
from confdiff.tabular.features.computing.vector_function import VectorFunction

_BATCH = 256  # texts that are encoded before their vectors are written to the cache


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
        No such folder exists, it is not complete, or the model would have to execute code.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        if not (isinstance(model, str | os.PathLike) and str(model)):
            raise ValueError(f"text_encoder must be a folder or the name of a model; got {model!r:.80}.")
        self.folder = _find_folder(os.fspath(model))
        check_text_encoder(self.folder)
        super().__init__(
            name=str(self.folder) if Path(model).expanduser().is_dir() else os.fspath(model),
            fingerprint=digest_of_folder(self.folder),
            noun="texts",
            batch=_BATCH,
        )

    def digest(self, cell: str) -> str:
        """Return a digest of a text."""
        return hashlib.blake2b(cell.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def check_unchanged(self) -> None:
        """Do nothing: files are compared with the fingerprint when they are loaded."""

    def compute(self, cells: Sequence[str]) -> Any:
        """Return the vectors of some texts."""
        _check_installed()
        try:
            model = _loaded(self.folder, self.fingerprint)
            return model.encode(list(cells), show_progress_bar=False, convert_to_numpy=True)
        except Exception as error:  # of any package that the model needs
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"the text encoder {self.name!r} failed: {reason:.300}") from error


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _load(folder)
    if digest_of_folder(folder) != fingerprint:
        raise ValueError("its files have changed. Start again.")
    return model


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
