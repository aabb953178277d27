"""A fitted model: the encoding of columns, the classifier and a description, saved as a folder."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from confdiff.annotators import AnnotatorEstimates
from confdiff.estimators.items import DifferenceScored
from confdiff.io.atomic import atomic_folder, recover_folder, write_text
from confdiff.io.damage import reporting_damage
from confdiff.io.decoding import decode_fields
from confdiff.io.outputs import check_new_folder
from confdiff.io.table_formats.encodings import text_encoding
from confdiff.links import Link, class_probability, find_link
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.model.about import About, Validation
from confdiff.tabular.model.background import read_background, write_background
from confdiff.tabular.model.classifiers import read_classifier, write_classifier
from confdiff.tabular.model.manifest import REMEDY, read_manifest, write_manifest
from confdiff.tabular.model.plugin_parts import PluginPart, expect_parts, parts_of
from confdiff.tabular.tables import column_names_of
from confdiff.threads import follow_policy

if TYPE_CHECKING:
    from confdiff.tabular.model.explain import Explanation


def link_name(classifier: DifferenceScored) -> str:
    """Return the link of a fitted classifier."""
    return getattr(classifier, "link_", "probability")


def _classifier_has(name: str) -> Any:
    """Return a check for ``available_if``: the classifier has a method, or its AttributeError says why not."""

    def check(model: "ComparisonModel") -> bool:
        return callable(getattr(model.classifier, name))

    return check


@dataclass(eq=False)
class ComparisonModel:
    """A model learned by :func:`fit_comparisons` or ``confdiff fit``, which scores items with the training columns.

    Attributes
    ----------
    features
        Encodes columns as numbers.
    classifier
        Scores encoded items: a network, a linear model or boosted trees.
    about
        The data, options, validation and warnings of the fit.
    background
        Encoded items that explanations compare with, see :func:`~confdiff.estimators.contributions.draw_background`.
    """

    features: ItemFeatures
    classifier: DifferenceScored
    about: About
    background: NDArray[np.float32] | None = None

    @property
    def validation(self) -> Validation | None:
        """The metrics on held-out pairs; None if none were held out."""
        return self.about.validation

    @property
    def annotators_(self) -> AnnotatorEstimates | None:
        """Scale, side bias and noise of each annotator, with intervals; None if they were not estimated."""
        return getattr(self.classifier, "annotators_", None)

    @property
    def link(self) -> Link:
        """The meaning of the judgements, which decides what the model predicts."""
        return find_link(self.about.link)

    @property
    def makes_decisions(self) -> bool:
        """Whether classes of items follow from the data: the link has classes, and the offset is determined."""
        is_determined = getattr(self.classifier, "is_offset_determined_", True)
        has_target = getattr(self.classifier, "target_prior", None) is not None
        return self.link.has_classes and (is_determined or has_target)

    @property
    def id_name(self) -> str:
        """The column of ids of the training items."""
        return self.about.data.id_name

    @property
    def knows_ids(self) -> bool:
        """Whether the ids are a feature of the model."""
        return self.about.options.with_id

    @available_if(_classifier_has("predict_proba"))
    @follow_policy
    def predict_proba(self, items: Any) -> NDArray[Any]:
        """Return the probabilities of the negative and the positive class; only for the probability link.

        Parameters
        ----------
        items : data frame
            m items with the training columns.

        Returns
        -------
        array of shape (m, 2)
        """
        positive = class_probability(self.classifier.decision_function(self._encoded(items)))
        return np.stack([1 - positive, positive], axis=1)

    @available_if(_classifier_has("predict"))
    def predict(self, items: Any, *, threshold: float | None = None) -> NDArray[Any]:
        """Return the class of each item, 1 (positive) or -1; only for the probability link.

        Parameters
        ----------
        items : data frame
            m items with the training columns.
        threshold : float, optional
            Probability from which an item is positive; by default one half.

        Returns
        -------
        array of shape (m,)

        Raises
        ------
        ValueError
            The differences leave the offset of the probabilities open, and no threshold is given.
        """
        if threshold is None and not self.makes_decisions:
            raise ValueError(
                "the differences leave the offset of the probabilities open, so classes do not follow from them. Use "
                "decision_function for the order of the items, pass threshold=..., or fit with prior=... or labels=..."
            )
        positive = self.predict_proba(items)[:, 1] >= (0.5 if threshold is None else threshold)
        classes: NDArray[Any] = self.classifier.classes_[positive.astype(int)]
        return classes

    @follow_policy
    def decision_function(self, items: Any) -> NDArray[Any]:
        """Return the scores of items.

        Parameters
        ----------
        items : data frame
            m items with the training columns.

        Returns
        -------
        array of shape (m,)
            The log-odds of the positive class for the probability link. For the other links the mean over the training
            items is 0; the score link has the units of the judgements.
        """
        return self.in_units(self.classifier.decision_function(self._encoded(items)))

    @available_if(_classifier_has("predict_preference"))
    @follow_policy
    def predict_preference(self, items: Any) -> NDArray[Any]:
        """Return the probability of each item to be preferred to a random training item; preference link only.

        Parameters
        ----------
        items : data frame
            m items with the training columns.

        Returns
        -------
        array of shape (m,)
        """
        preferences: NDArray[Any] = self.classifier.predict_preference(self._encoded(items))
        return preferences

    @follow_policy
    def predict_difference(self, left: Any, right: Any) -> NDArray[Any]:
        """Return the predicted judgements of pairs, as differences on the scale from -1 to 1.

        Parameters
        ----------
        left, right : data frame
            The first and the second items of n pairs, with the training columns.

        Returns
        -------
        array of shape (n,)
            Above 0 where the second item is higher. The score link may exceed the scale.
        """
        scores = [self.classifier.decision_function(self._encoded(items)) for items in (left, right)]
        if len(scores[0]) != len(scores[1]):
            raise ValueError(
                f"left and right must have the same number of items; got {len(scores[0])} and {len(scores[1])}."
            )
        return self.link.difference(scores[0], scores[1])

    def fit(self, items: Any, pairs: Any, **settings: Any) -> "ComparisonModel":
        """Fit the model again, with the options of its last fit.

        The columns that it has not learned from are ignored again. ``sklearn.base.clone(model)`` returns an unfitted
        model to begin with.

        Parameters
        ----------
        items, pairs : path or data frame
            The items and the judged pairs.
        **settings
            Arguments of :func:`~confdiff.fit_comparisons`, which win over those of the last fit.

        Returns
        -------
        ComparisonModel
            This model, fitted.
        """
        from confdiff.tabular.fitting import fit_comparisons

        with text_encoding(settings.get("encoding")):
            names = column_names_of(items)
        columns = self.about.data.columns
        unused = [name for name in names if name not in (*columns, self.id_name, settings.get("labels"))]
        defaults = {
            "id": self.id_name if self.id_name in names else None,
            "ignore": unused,
            "scale": self.about.data.scale_option,
            **self.features.functions(),
        }
        fitted = fit_comparisons(items, pairs, self.about.options, **(defaults | settings))
        self.__dict__.update(fitted.__dict__)
        return self

    def __sklearn_clone__(self) -> "ComparisonModel":
        """Return an unfitted model with the same options, for ``sklearn.base.clone``."""
        features = clone(self.features).set_params(**self.features.functions())
        return ComparisonModel(features=features, classifier=clone(self.classifier), about=self.about)

    def explain(self, items: Any, *, words: int = 0) -> "Explanation":
        """Divide the scores of items among the columns of the table.

        Boosted trees and linear models are divided exactly, networks by sampled Shapley values: see
        :mod:`confdiff.estimators.contributions`.

        Parameters
        ----------
        items : data frame
            m items with the training columns.
        words : int
            Number of words per text column whose effects are measured; 0 for none.

        Returns
        -------
        Explanation
            ``contributions`` (m, k) and ``base``, whose sums are ``decision_function(items)``. ``to_frame()`` returns
            a pandas data frame.
        """
        from confdiff.tabular.model.explain import explain_items

        return explain_items(self, items, words=words)

    def score(self, items: Any, pairs: Any, **settings: Any) -> float:
        """Return the R² of the predicted differences of judged pairs.

        Parameters
        ----------
        items, pairs : path or data frame
            The items with the training columns, and the judged pairs.
        **settings
            ``id``, ``scale``, ``encoding``, ``config`` and columns of the pairs, such as ``left="arg1"``; see
            :func:`~confdiff.tabular.model.evaluation.evaluate_pairs`.

        Returns
        -------
        float
            At most 1; equal scores for all items give 0.
        """
        from confdiff.tabular.model.judged_pairs import read_judged_pairs

        return float(self.classifier.score(read_judged_pairs(self, items, pairs, **settings)))

    def in_units(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Return scores of the classifier in the units of the judgements if the link is ``"score"``."""
        return scores * self.about.data.unit if self.link.name == "score" else scores

    def _encoded(self, items: Any) -> Any:
        """Encode items as a matrix; where ids are a feature and no column holds them, take them from the index."""
        if self.knows_ids and hasattr(items, "iloc") and self.id_name not in items.columns:
            items = items.assign(**{self.id_name: items.index})
        return self.features.encode(items)

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model as a folder: the classifier, a manifest with all else, and a page to read (``card.html``).

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
        with atomic_folder(folder) as temporary:
            classifier = write_classifier(temporary, self.classifier)
            write_background(temporary, self.background)
            write_text(temporary / "card.html", card_html(self))
            contents: dict[str, Any] = {
                "classifier": classifier,
                "features": self.features.to_state(),
                "about": self.about.to_json(),
            }
            parts = parts_of(self.classifier)
            if parts:
                contents["plugins"] = [asdict(part) for part in parts]
            write_manifest(temporary, contents)

    def is_saved_as(self, folder: str | os.PathLike[str]) -> bool:
        """Return whether a folder holds exactly this model, down to the last bit."""
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as temporary:
            self.save(Path(temporary) / "model")
            return read_manifest(Path(temporary) / "model") == read_manifest(Path(folder))

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        *,
        encoders: Mapping[str, Any] | None = None,
        text_encoder: str | os.PathLike[str] | None = None,
    ) -> "ComparisonModel":
        """Read a folder that :meth:`save` wrote, see :func:`load_model`."""
        path = Path(folder)
        recover_folder(path)
        contents = read_manifest(path)
        with reporting_damage(path, REMEDY):
            parts = [decode_fields(PluginPart, part) for part in contents.get("plugins", [])]
        expect_parts(parts)
        with reporting_damage(path, REMEDY):
            model = cls(
                features=ItemFeatures.from_state(contents["features"]),
                classifier=read_classifier(path, contents["classifier"], list(contents["files"])),
                about=About.from_json(contents["about"]),
                background=read_background(path, list(contents["files"])),
            )
            model._check_agreement()
        model.features.use(encoders=encoders, text_encoder=text_encoder)
        return model

    def _check_agreement(self) -> None:
        """Check that the parts of a model that was read belong together."""
        encoded = sum(encoder.width for encoder in self.features.encoders_)
        widths = {encoded, self.classifier.n_features_in_, self.about.data.features}
        if self.background is not None:
            widths.add(self.background.shape[1])
        if len(widths) > 1:
            raise ValueError(f"its encoders, classifier and description have different features: {sorted(widths)}")
        links = [link_name(self.classifier), self.about.link]
        if links[0] != links[1]:
            raise ValueError(f"its classifier and description have different links: {links}")


def load_model(
    folder: str | os.PathLike[str],
    *,
    encoders: Mapping[str, Any] | None = None,
    text_encoder: str | os.PathLike[str] | None = None,
) -> ComparisonModel:
    """Read a model folder that ``confdiff fit`` or :meth:`ComparisonModel.save` wrote. Nothing in it is executed.

    Parameters
    ----------
    folder : path
        The folder; altered files are refused.
    encoders : mapping, optional
        The functions that were passed as ``encoders`` to :func:`~confdiff.fit_comparisons`.
    text_encoder : path or str, optional
        The text encoder of the training, if it is at another place now.

    Raises
    ------
    ValueError
        The folder is damaged, or a function is not that of the training.
    """
    return ComparisonModel.load(folder, encoders=encoders, text_encoder=text_encoder)
