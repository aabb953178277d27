"""Find and check the folder of a text encoder, a model of sentence-transformers, before it is loaded.

Loading it must execute no code of the model: its modules must be those of sentence-transformers itself, and its weights
safetensors. A folder that lacks a file is refused here, because what loads without it may be another model.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confdiff.display.text import listed
from confdiff.io.documents import read_document

_MODULES = ("Transformer", "Pooling", "Normalize", "Dense")
_WITH_WEIGHTS = ("Transformer", "Dense")
_WITHOUT_FILES = ("Normalize",)
_CONTENTS = (".json", ".txt", ".model", ".safetensors")  # of the files that determine the vectors
_WEIGHTS = "model.safetensors"
_SHARDS = f"{_WEIGHTS}.index.json"
_PICKLED = "pytorch_model.bin"
_TOKENIZERS = (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt"), ("*.model",))  # one of them is needed
_OF_MODULES = ("config_sentence_transformers.json", "sentence_bert_config.json", "1_Pooling")  # come with modules.json
_PART = 2**20  # bytes of a file to read at once


@dataclass(frozen=True)
class Module:
    """A module of a text encoder.

    Attributes
    ----------
    kind : str
        Its class, without the package.
    folder : Path
        The folder of its files.
    """

    kind: str
    folder: Path


def check_text_encoder(folder: Path) -> None:
    """Check that the folder of a text encoder is complete, and that loading it executes only installed packages.

    Raises
    ------
    ValueError
        A file is missing or damaged, or the model would have to execute code.
    """
    if not any((folder / name).exists() for name in ("config.json", "modules.json", *_OF_MODULES)):
        raise ValueError(f"{folder} is not a model of sentence-transformers: it has no modules.json.")
    if any((folder / name).exists() for name in _OF_MODULES) and not (folder / "modules.json").is_file():
        raise _incomplete(folder, ["modules.json"])
    modules = modules_of(folder)
    for module in modules:
        _check_no_code(module)
    missing = [name for module in modules for name in _missing_files(module, folder)]
    if missing:
        raise _incomplete(folder, missing)
    for module in modules:
        _check_length(module)
        _check_weights(module)


def modules_of(folder: Path) -> list[Module]:
    """Return the modules of a text encoder; a model without a list of them is one transformer."""
    path = folder / "modules.json"
    if not path.is_file():
        return [Module(kind="Transformer", folder=folder)]
    try:
        rows = [(str(row["path"]), str(row["type"])) for row in read_document(path)]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a list of modules of sentence-transformers.") from error
    if not rows:
        raise ValueError(f"{path} is not a list of modules of sentence-transformers: it is empty.")
    for name, kind in rows:
        if not (folder / name).resolve().is_relative_to(folder):
            raise ValueError(f"{path} names the folder {name!r}, which is not in the model.")
        if not kind.startswith("sentence_transformers.") or kind.rsplit(".", 1)[-1] not in _MODULES:
            raise ValueError(
                f"{folder} has a module {kind!r:.80}, which is not loaded: the modules of a text encoder must be "
                f"those of sentence-transformers: {', '.join(_MODULES)}."
            )
    return [Module(kind=kind.rsplit(".", 1)[-1], folder=folder / name) for name, kind in rows]


def digest_of_folder(folder: Path) -> str:
    """Return a digest of the configurations, vocabularies and weights of a model."""
    digest = hashlib.blake2b(b"sentences", digest_size=16)
    folders = {module.folder.resolve() for module in modules_of(folder)} | {folder}
    files = [file for path in sorted(folders) if path.is_dir() for file in sorted(path.iterdir())]
    for file in files:
        if file.suffix in _CONTENTS and file.is_file():
            digest.update(str(file.relative_to(folder)).encode())
            digest.update(file.stat().st_size.to_bytes(8, "big"))
            with file.open("rb") as source:
                while part := source.read(_PART):
                    digest.update(part)
    return digest.hexdigest()


def _check_no_code(module: Module) -> None:
    folder = module.folder
    if (folder / "adapter_config.json").exists():
        raise ValueError(f"{folder} is an adapter of another model: merge both into one model, and save it.")
    if module.kind in _WITH_WEIGHTS and (folder / _PICKLED).exists() and not _has_weights(folder):
        raise ValueError(
            f"{folder} has no weights in the format safetensors ({_WEIGHTS}), and others are not loaded: they could "
            "execute code. Save the model again with sentence-transformers."
        )
    if module.kind == "Dense" and (folder / "config.json").is_file():
        activation = _configuration(folder / "config.json").get("activation_function", "torch.nn.")
        if not str(activation).startswith("torch.nn."):
            raise ValueError(
                f"{folder} has the activation {activation!r:.80}, which is not loaded: it is not of torch.nn."
            )


def _missing_files(module: Module, folder: Path) -> Iterator[str]:
    """Yield the files that a module needs and does not have."""
    place = module.folder.relative_to(folder)
    if module.kind not in _WITHOUT_FILES and not (module.folder / "config.json").is_file():
        yield str(place / "config.json")
    if module.kind in _WITH_WEIGHTS:
        if not _has_weights(module.folder):
            yield str(place / _WEIGHTS)
        yield from (str(place / name) for name in _shards(module.folder) if not (module.folder / name).is_file())
    if module.kind == "Transformer" and not any(_has_all(module.folder, names) for names in _TOKENIZERS):
        yield f"{place / 'tokenizer.json'} (or another vocabulary)"


def _has_all(folder: Path, names: tuple[str, ...]) -> bool:
    return all(any(folder.glob(name)) for name in names)


def _has_weights(folder: Path) -> bool:
    return (folder / _WEIGHTS).is_file() or (folder / _SHARDS).is_file()


def _shards(folder: Path) -> list[str]:
    """Return the files of weights that an index names."""
    if (folder / _WEIGHTS).is_file() or not (folder / _SHARDS).is_file():
        return []
    names = _configuration(folder / _SHARDS).get("weight_map")
    if not isinstance(names, dict) or not all(name == Path(str(name)).name for name in names.values()):
        raise ValueError(f"{folder / _SHARDS} is damaged: it names no files of weights. Copy the model again.")
    return sorted(set(names.values()))


def _check_length(module: Module) -> None:
    """Check that a transformer has a position for each word piece that it is to read."""
    path = module.folder / "sentence_bert_config.json"
    if module.kind != "Transformer" or not path.is_file():
        return
    length = _configuration(path).get("max_seq_length")
    positions = _configuration(module.folder / "config.json").get("max_position_embeddings")
    if isinstance(length, int) and isinstance(positions, int) and not 0 < length <= max(positions, 1):
        raise ValueError(
            f"{path}: max_seq_length must be from 1 to {positions:,}, the positions of the model; got {length:,}."
        )


def _check_weights(module: Module) -> None:
    """Check that the files of weights are whole."""
    from safetensors import SafetensorError, safe_open

    if module.kind not in _WITH_WEIGHTS:
        return
    for name in _shards(module.folder) or [_WEIGHTS]:
        try:
            with safe_open(module.folder / name, "pt"):
                pass
        except (SafetensorError, OSError) as error:
            raise ValueError(f"{module.folder / name} is damaged: {error}. Copy the model again.") from error


def _configuration(path: Path) -> dict[str, Any]:
    try:
        values = read_document(path)
        if isinstance(values, dict):
            return values
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}. Copy the model again.") from error
    raise ValueError(f"{path} is damaged: it holds no JSON object. Copy the model again.")


def _incomplete(folder: Path, missing: list[str]) -> ValueError:
    return ValueError(
        f"{folder} is not a complete text encoder; missing: {listed(missing)}. Copy all files of the model, or save it "
        "again with sentence-transformers."
    )
