"""A model of own data: what turns columns into numbers, the classifier, and what is known about both, as a folder."""

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff import __version__
from confdiff.estimators import ConfDiffClassifier
from confdiff.io.atomic import atomic_folder, write_text
from confdiff.io.tensors import load_tree, save_tree
from confdiff.models import MODELS, build_model
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.validation import check_choice

_FORMAT = 1
_WEIGHTS, _MANIFEST = "weights.safetensors", "model.json"
_SETTINGS = ("method", "loss", "target_prior")
_LEARNED = ("prior_", "temperature_", "offset_", "n_iter_")


@dataclass(eq=False)
class ComparisonModel:
    """Learned by :func:`fit_comparisons` or ``confdiff fit``; scores items with the columns of training.

    features: how columns become numbers. classifier: what scores these.
    about: the data, the options, the validation and the warnings of the fit, as plain values.
    """

    features: ItemFeatures
    classifier: ConfDiffClassifier
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def validation(self) -> dict[str, Any] | None:
        """What held-out pairs say of the model; None where none were held out."""
        found: dict[str, Any] | None = self.about["validation"]
        return found

    @property
    def id_name(self) -> str | None:
        """The column of the ids, where the model knows items by them."""
        name: str | None = self.about.get("data", {}).get("id")
        return name

    def predict_proba(self, items: Any) -> NDArray[np.float32]:
        """The probabilities of the negative and the positive class. items: a data frame. Returns: (m, 2)."""
        probabilities: NDArray[np.float32] = self.classifier.predict_proba(self._encoded(items))
        return probabilities

    def predict(self, items: Any) -> NDArray[Any]:
        """Whether each item is positive: 1 or -1. items: a data frame. Returns: (m,)."""
        classes: NDArray[Any] = self.classifier.predict(self._encoded(items))
        return classes

    def _encoded(self, items: Any) -> NDArray[np.float32]:
        """The features of items; where these are known by their ids, and no column holds them, the index does."""
        if self.id_name is not None and hasattr(items, "columns") and self.id_name not in items.columns:
            items = items.assign(**{self.id_name: items.index})
        return np.asarray(self.features.transform(items))

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a folder: weights, everything else as JSON with a digest of each file, and a card to read."""
        from confdiff.tabular.model.card import card_html

        network = self.classifier.model
        if network not in MODELS:
            raise ValueError(f"only networks with a name can be saved ({', '.join(MODELS)}); got {network!r}.")
        with atomic_folder(folder, overwrite=overwrite) as temporary:
            save_tree(temporary / _WEIGHTS, {"weights": self.classifier.model_.state_dict()})
            write_text(temporary / "card.html", card_html(self))
            digests = {file.name: _digest(file) for file in sorted(temporary.iterdir())}
            write_text(temporary / _MANIFEST, _sealed(self._state() | {"files": digests}))

    def _state(self) -> dict[str, Any]:
        classifier = self.classifier
        return {
            "format": _FORMAT,
            "confdiff": __version__,
            "network": {"name": classifier.model, "n_features": classifier.n_features_in_},
            "settings": {name: getattr(classifier, name) for name in _SETTINGS},
            "learned": {name: getattr(classifier, name) for name in _LEARNED},
            "classes": np.asarray(classifier.classes_).tolist(),
            "features": self.features.as_state(),
            "about": self.about,
        }

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "ComparisonModel":
        """Read what :meth:`save` wrote. Nothing in the folder is executed; what was altered is refused."""
        path = Path(folder)
        state = _unsealed(path)
        _check_files(path, state["files"])
        network = state["network"]
        name = check_choice("network", network["name"], MODELS)
        classifier = ConfDiffClassifier(model=name, **state["settings"])
        classifier.model_ = build_model(name, network["n_features"])
        try:
            classifier.model_.load_state_dict(load_tree(path / _WEIGHTS)["weights"])
        except RuntimeError as error:
            raise ValueError(f"{path} is damaged: the weights in {_WEIGHTS} do not fit a {name!r} network.") from error
        classifier.model_.eval()
        for attribute, value in state["learned"].items():
            setattr(classifier, attribute, value)
        classifier.classes_, classifier.n_classes_ = np.asarray(state["classes"]), None
        classifier.loss_, classifier.n_features_in_ = classifier.loss, network["n_features"]
        return cls(ItemFeatures.from_state(state["features"]), classifier, state["about"])


def load_model(folder: str | os.PathLike[str]) -> ComparisonModel:
    """Read a folder that ``confdiff fit`` or :meth:`ComparisonModel.save` wrote. Nothing in it is executed."""
    return ComparisonModel.load(folder)


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _sealed(state: dict[str, Any]) -> str:
    """JSON whose last entry is a digest of all before."""
    text = json.dumps(state, sort_keys=True)
    seal = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return json.dumps(state | {"seal": seal}, indent=1) + "\n"


def _unsealed(folder: Path) -> dict[str, Any]:
    """What the manifest of a folder holds, if it is there and as it was written."""
    path = folder / _MANIFEST
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no model {folder}: it is {'a file' if folder.exists() else 'not there'}.")
    if not path.is_file():
        raise FileNotFoundError(f"{folder} is no model, or an unfinished one: it holds no {_MANIFEST}.")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        seal = state.pop("seal")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise ValueError(f"{path} is not what confdiff wrote, or it is damaged: {error}.") from error
    if state.get("format") != _FORMAT:
        raise ValueError(f"{path} has format {state.get('format')!r}; this confdiff ({__version__}) reads {_FORMAT}.")
    if json.loads(_sealed(state))["seal"] != seal:
        raise ValueError(f"{path} was altered after it was written. Fit the model again, or restore the file.")
    whole: dict[str, Any] = state
    return whole


def _check_files(folder: Path, digests: dict[str, str]) -> None:
    for name, digest in digests.items():
        file = folder / name
        if not file.is_file():
            raise FileNotFoundError(f"{folder} is not whole: {name} is missing. Restore it, or fit the model again.")
        if _digest(file) != digest:
            raise ValueError(f"{file} was altered after it was written. Restore it, or fit the model again.")
    foreign = [file.name for file in sorted(folder.iterdir()) if file.name not in (*digests, _MANIFEST)]
    foreign = [name for name in foreign if not name.startswith(".")]
    if foreign:
        raise ValueError(f"{folder} holds {foreign[0]!r}, which does not belong to the model: take it out.")
