"""Save the fitted state of a linear model as plain values and tensors, and restore it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from confdiff.estimators.judges import annotators_state, without_annotators
from confdiff.estimators.linear.penalty import PenaltyCandidate, PenaltySearch
from confdiff.io.decoding import check_object, decode_fields
from confdiff.io.tensors import check_tensors
from confdiff.links import LinkName, find_link
from confdiff.prior import PriorInterval, PriorSource, check_prior_interval
from confdiff.validation import check_count, check_number, check_prior

_MAX_REFERENCE = 1001  # scores of training items that a model keeps
_VECTORS = ("coef", "mean")


class RestorableLinear:
    """Add ``to_state`` and ``from_state`` to a linear model."""

    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    mean_: NDArray[np.float64]
    reference_scores_: NDArray[np.float64]
    link_: LinkName
    C_: float
    n_iter_: int
    n_features_in_: int
    prior_: float | None
    prior_interval_: PriorInterval | None
    prior_source_: PriorSource | None
    classes_: NDArray[Any]
    C_search_: PenaltySearch | None
    target_prior: float | None

    def to_state(self) -> dict[str, Any]:
        """Return the state that predictions need.

        Returns
        -------
        dict
            ``"weights"`` maps names to tensors; everything else is JSON: strings, numbers, lists and dictionaries.
        """
        check_is_fitted(self)
        has_classes = find_link(self.link_).has_classes
        names = self.feature_names_in_.tolist() if hasattr(self, "feature_names_in_") else None
        vectors = {"coef": self.coef_[0], "intercept": self.intercept_, "mean": self.mean_}
        return {
            "learned": {
                "link": self.link_,
                "n_features": self.n_features_in_,
                "C": self.C_,
                "n_iter": self.n_iter_,
                "classes": self.classes_.tolist() if has_classes else None,
                "prior": self.prior_ if has_classes else None,
                "prior_interval": self.prior_interval_,
                "target_prior": None if self.target_prior is None else float(self.target_prior),
                "prior_source": self.prior_source_,
                "annotators": annotators_state(self),
                "feature_names": names,
                "C_search": None if self.C_search_ is None else self.C_search_.to_json(),
            },
            "weights": {
                name: torch.from_numpy(np.array(vector, dtype=np.float64))
                for name, vector in (vectors | {"reference": self.reference_scores_}).items()
            },
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the fitted model that :meth:`to_state` described.

        Parameters
        ----------
        state : dict
            As :meth:`to_state` returned it, possibly through JSON and a file of tensors.

        Raises
        ------
        ValueError
            A value is not one that :meth:`to_state` returns, or the weights do not fit the description.
        """
        values, annotators = without_annotators(check_object("learned", state["learned"]))
        learned = decode_fields(_Learned, values)
        tensors = _checked_tensors(state["weights"], learned.n_features)
        model = cls()
        model.set_params(link=learned.link, C=learned.C, target_prior=learned.target_prior)  # type: ignore[attr-defined]  # of scikit-learn
        model._restore(learned)
        model.annotators_ = annotators  # type: ignore[attr-defined]  # of the estimator
        model.coef_ = tensors["coef"][None]
        model.intercept_ = tensors["intercept"]
        model.mean_ = tensors["mean"]
        model.reference_scores_ = tensors["reference"]
        return model

    def _restore(self, learned: "_Learned") -> None:
        self.link_ = find_link(learned.link).name
        self.C_ = learned.C
        self.n_iter_ = learned.n_iter
        self.n_features_in_ = learned.n_features
        self.prior_interval_ = learned.prior_interval
        self.prior_source_ = learned.prior_source
        self.C_search_ = None if learned.C_search is None else PenaltySearch(learned.C_search)
        if learned.feature_names is not None:
            self.feature_names_in_ = np.asarray(learned.feature_names, dtype=object)
        if learned.classes is not None:
            mixed = len({type(name) for name in learned.classes}) > 1  # as one array, 0 and "a" would both become text
            self.classes_ = np.array(learned.classes, dtype=object if mixed else None)
            self.prior_ = learned.prior


@dataclass(frozen=True)
class _Learned:
    """The learned attributes of a linear model that was saved, checked."""

    link: str
    n_features: int
    C: float
    n_iter: int
    classes: tuple[str | int | float | bool, ...] | None = None
    prior: float | None = None
    prior_interval: PriorInterval | None = None
    target_prior: float | None = None
    prior_source: PriorSource | None = None
    feature_names: tuple[str, ...] | None = None
    C_search: tuple[PenaltyCandidate, ...] | None = None

    def __post_init__(self) -> None:
        check_number("C", self.C, above=0)
        check_count("n_features", self.n_features)
        check_count("n_iter", self.n_iter, least=0)
        if self.prior is not None and not 0 <= self.prior <= 1:  # 0 or 1 where all probabilities are
            raise ValueError(f"prior must be a probability; got {self.prior!r}")
        if self.prior_interval is not None:
            check_prior_interval(self.prior_interval, None)
        if self.target_prior is not None:
            check_prior(self.target_prior, "target_prior")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"feature_names must be {self.n_features} names; got {len(self.feature_names)}")
        self._check_classes()

    def _check_classes(self) -> None:
        has_classes = find_link(self.link).has_classes
        names = self.classes or ()
        if has_classes and (len(names) != 2 or len(set(names)) != 2):
            raise ValueError(f"classes must be two different names; got {self.classes!r:.100}")
        if not has_classes and (self.classes is not None or self.prior is not None):
            raise ValueError(f"a model with link={self.link!r} has no classes and no prior")


def _checked_tensors(weights: Any, n_features: int) -> dict[str, NDArray[np.float64]]:
    """Return the vectors of a saved model, after checking their names, shapes and types and that they are finite."""
    reference = weights.get("reference") if isinstance(weights, dict) else None
    size = reference.shape[0] if isinstance(reference, torch.Tensor) and reference.ndim == 1 else 1
    if not 1 <= size <= _MAX_REFERENCE:
        raise ValueError(f"reference must hold 1 to {_MAX_REFERENCE} scores; got {size}")
    shapes = dict.fromkeys(_VECTORS, (n_features,)) | {"intercept": (1,), "reference": (size,)}
    expected = {name: torch.empty(shape, dtype=torch.float64, device="meta") for name, shape in shapes.items()}
    tensors = check_tensors("the weights of a linear model", weights, expected)
    return {name: tensor.numpy() for name, tensor in tensors.items()}
