"""A fitted model: the encoding of columns, the classifier and a description, saved as a folder."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators import ConfDiffClassifier
from confdiff.io.atomic import atomic_folder, recover_folder, write_text
from confdiff.io.damage import reporting_damage
from confdiff.io.documents import inside
from confdiff.io.outputs import check_new_folder
from confdiff.io.tensors import load_tree, save_tree
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.model.about import About, Validation
from confdiff.tabular.model.manifest import REMEDY, read_manifest, write_manifest
from confdiff.threads import follow_policy

_WEIGHTS = "weights.safetensors"


@dataclass(eq=False)
class ComparisonModel:
    """A model learned by :func:`fit_comparisons` or ``confdiff fit``, which scores items with the training columns.

    Attributes
    ----------
    features
        Encodes columns as numbers.
    classifier
        Scores encoded items.
    about
        The data, options, validation and warnings of the fit.
    """

    features: ItemFeatures
    classifier: ConfDiffClassifier
    about: About

    @property
    def validation(self) -> Validation | None:
        """The metrics on held-out pairs; None if none were held out."""
        return self.about.validation

    @property
    def id_name(self) -> str:
        """The column of ids of the training items."""
        return self.about.data.id_name

    @property
    def knows_ids(self) -> bool:
        """Whether the ids are a feature of the model."""
        return self.about.options.with_id

    @follow_policy
    def predict_proba(self, items: Any) -> NDArray[np.float32]:
        """Return the probabilities of the negative and the positive class.

        Parameters
        ----------
        items : data frame
            m items with the training columns.

        Returns
        -------
        array of shape (m, 2)
        """
        probabilities: NDArray[np.float32] = self.classifier.predict_proba(self._encoded(items))
        return probabilities

    def predict(self, items: Any) -> NDArray[Any]:
        """Return the class of each item of a data frame, 1 (positive) or -1. Returns: (m,)."""
        classes: NDArray[Any] = self.classifier.predict(self._encoded(items))
        return classes

    def _encoded(self, items: Any) -> NDArray[np.float32]:
        """Encode items; where ids are a feature and no column holds them, take them from the index."""
        if self.knows_ids and hasattr(items, "iloc") and self.id_name not in items.columns:
            items = items.assign(**{self.id_name: items.index})
        return self.features.encode(items)

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model as a folder: weights, a manifest with all else, and a page to read (``card.html``).

        Parameters
        ----------
        folder : path
            Where to write. The folder appears when it is complete.
        overwrite : bool
            Replace a model folder that already exists. A folder that holds anything else is never replaced.

        Raises
        ------
        FileExistsError
            The folder already exists and ``overwrite`` is false, or it is not a model folder.
        """
        from confdiff.tabular.model.card import card_html

        check_new_folder(Path(folder), overwrite=overwrite)
        state = self.classifier.to_state()
        weights = state.pop("weights")
        with atomic_folder(folder) as temporary:
            save_tree(temporary / _WEIGHTS, {"weights": weights})
            write_text(temporary / "card.html", card_html(self))
            contents = {"classifier": state, "features": self.features.to_state(), "about": self.about.to_json()}
            write_manifest(temporary, contents)

    def is_saved_as(self, folder: str | os.PathLike[str]) -> bool:
        """Return whether a folder holds exactly this model, down to the last bit."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as temporary:
            self.save(Path(temporary) / "model")
            return read_manifest(Path(temporary) / "model") == read_manifest(Path(folder))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> "ComparisonModel":
        """Read a folder that :meth:`save` wrote. Nothing in it is executed; altered files are refused."""
        path = Path(folder)
        recover_folder(path)
        contents = read_manifest(path)
        weights = load_tree(inside(path, _WEIGHTS), remedy=REMEDY)
        with reporting_damage(path, REMEDY):
            model = cls(
                features=ItemFeatures.from_state(contents["features"]),
                classifier=ConfDiffClassifier.from_state(contents["classifier"] | {"weights": weights["weights"]}),
                about=About.from_json(contents["about"]),
            )
            model._check_agreement()
        return model

    def _check_agreement(self) -> None:
        """Check that the parts of a model that was read belong together."""
        encoded = sum(encoder.width for encoder in self.features.encoders_)
        widths = {encoded, self.classifier.n_features_in_, self.about.data.features}
        if len(widths) > 1:
            raise ValueError(f"its encoders, classifier and description have different features: {sorted(widths)}")


def load_model(folder: str | os.PathLike[str]) -> ComparisonModel:
    """Read a model folder that ``confdiff fit`` or :meth:`ComparisonModel.save` wrote. Nothing in it is executed."""
    return ComparisonModel.load(folder)
