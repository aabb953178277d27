"""Save fitted trees as JSON values and the text of the trees, and restore them."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from confdiff.estimators.judges import annotators_state, without_annotators
from confdiff.estimators.trees.model import TreeModel
from confdiff.estimators.trees.predicting import TreePredictor
from confdiff.estimators.trees.state import LearnedTrees
from confdiff.estimators.trees.table import methods_of_trees
from confdiff.io.decoding import check_object
from confdiff.links import find_link
from confdiff.validation import check_choice

_TEXT = "trees.txt"


class RestorableTrees(TreePredictor):
    """Base class of an estimator of boosted trees with all but its fit."""

    saved_parameters: ClassVar[tuple[str, ...]] = ("method", "target_prior")
    """The parameters that are saved."""

    method: str | None
    n_iter_: int
    errors_: list[float]

    def to_state(self) -> dict[str, Any]:
        """Return the state that predictions need.

        Returns
        -------
        dict
            ``"texts"`` maps the name of a file to the text of the trees; everything else is JSON.
        """
        check_is_fitted(self)
        classes = getattr(self, "classes_", None)
        reference = getattr(self, "reference_scores_", None)
        names = getattr(self, "feature_names_in_", None)
        learned = {
            "link": self.link_,
            "n_features": self.n_features_in_,
            "n_classes": self.model_.n_scores if self.model_.n_scores > 1 else None,
            "classes": None if classes is None else np.asarray(classes).tolist(),
            "prior": None if self.prior_ is None else np.asarray(self.prior_).tolist(),
            "prior_interval": self.prior_interval_,
            "prior_source": self.prior_source_,
            "annotators": annotators_state(self),
            "start": self.start_.tolist(),
            "temperature": self.temperature_,
            "offset": self.offset_,
            "n_iter": self.n_iter_,
            "reference_scores": None if reference is None else reference.tolist(),
            "feature_names": None if names is None else names.tolist(),
            "categories": {"columns": self.categories_.columns, "values": self.categories_.values},
        }
        return {
            "parameters": {name: _json_value(getattr(self, name)) for name in self.saved_parameters},
            "learned": learned,
            "weights": {},
            "texts": {_TEXT: self.model_.text},
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the fitted estimator that :meth:`to_state` described.

        Raises
        ------
        ValueError
            A value is not one that :meth:`to_state` returns, or the trees are damaged.
        """
        parameters = check_object("parameters", state["parameters"])
        if set(parameters) != set(cls.saved_parameters):
            raise ValueError(f"the saved parameters must be {', '.join(cls.saved_parameters)}; got {list(parameters)}.")
        values, annotators = without_annotators(check_object("learned", state["learned"]))
        learned = LearnedTrees.from_state(values)
        texts = check_object("texts", state["texts"])
        if set(texts) != {_TEXT}:
            raise ValueError(f"the saved texts must be {_TEXT}; got {list(texts)!r:.60}")
        estimator = cls(link=learned.link, **parameters)
        if estimator.method is not None:
            check_choice("method", estimator.method, methods_of_trees(find_link(learned.link)))
        estimator.model_ = TreeModel.from_text(texts[_TEXT], learned.n_features, learned.n_classes or 1)
        estimator._restore(learned)
        estimator.annotators_ = annotators
        estimator._prior_shift()  # checks the target prior
        return estimator

    def _restore(self, learned: LearnedTrees) -> None:
        self.link_ = learned.link
        self.n_features_in_ = learned.n_features
        self.prior_ = np.asarray(learned.prior) if isinstance(learned.prior, tuple) else learned.prior
        self.prior_interval_ = learned.prior_interval
        self.prior_source_ = learned.prior_source
        self.start_ = np.asarray(learned.start)
        self.temperature_ = learned.temperature
        self.offset_ = learned.offset
        self.n_iter_ = learned.n_iter
        self.categories_ = learned.categories
        self.errors_ = []
        names = learned.class_names()
        if names is not None:
            self.classes_ = names
        if learned.reference_scores is not None:
            self.reference_scores_ = np.asarray(learned.reference_scores)
        if learned.feature_names is not None:
            self.feature_names_in_ = np.asarray(learned.feature_names, dtype=object)


def _json_value(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
