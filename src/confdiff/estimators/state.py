"""Save the fitted state of a classifier as plain values and tensors, and restore it."""

from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from confdiff.models import MODELS, build_model
from confdiff.validation import check_choice


class Restorable:
    """Add ``to_state`` and ``from_state`` to a classifier whose network has a name."""

    saved_parameters: ClassVar[tuple[str, ...]] = ("method", "loss", "target_prior")
    """The parameters that predictions depend on."""

    model: Any
    loss: str
    model_: torch.nn.Module
    loss_: str
    classes_: NDArray[Any]
    n_classes_: int | None
    n_features_in_: int
    n_iter_: int
    prior_: Any
    temperature_: float
    offset_: float

    def to_state(self) -> dict[str, Any]:
        """Return the state that predictions need.

        Returns
        -------
        dict
            ``"weights"`` maps names to tensors; everything else is JSON: strings, numbers, lists and dictionaries.

        Raises
        ------
        ValueError
            The network is not one of :data:`confdiff.models.MODELS`, so that its name does not restore it.
        """
        if self.model not in MODELS:
            raise ValueError(
                f"only classifiers with a network from the table of models can be saved ({', '.join(MODELS)}); "
                f"got model={self.model!r}."
            )
        check_is_fitted(self)
        learned = {
            "n_features": self.n_features_in_,
            "n_classes": self.n_classes_,
            "classes": np.asarray(self.classes_).tolist(),
            "prior": np.asarray(self.prior_).tolist(),
            "temperature": self.temperature_,
            "offset": self.offset_,
            "n_iter": self.n_iter_,
        }
        if hasattr(self, "feature_names_in_"):
            learned["feature_names"] = self.feature_names_in_.tolist()
        return {
            "model": self.model,
            "parameters": {name: getattr(self, name) for name in self.saved_parameters},
            "learned": learned,
            "weights": self.model_.state_dict(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the fitted classifier that :meth:`to_state` described.

        Parameters
        ----------
        state : dict
            As :meth:`to_state` returned it, possibly through JSON and a file of tensors.

        Raises
        ------
        ValueError
            The network is unknown, or the weights do not fit it.
        """
        name = check_choice("network", state["model"], MODELS)
        learned = state["learned"]
        classifier = cls(model=name, **state["parameters"])  # type: ignore[call-arg]  # __init__ of the estimator
        classifier.model_ = build_model(name, learned["n_features"], learned["n_classes"] or 1)
        try:
            classifier.model_.load_state_dict(state["weights"])
        except RuntimeError as error:
            raise ValueError(f"the weights do not fit a {name!r} network.") from error
        classifier.model_.eval()
        classifier.loss_ = classifier.loss
        classifier._restore(learned)
        return classifier

    def _restore(self, learned: dict[str, Any]) -> None:
        prior = learned["prior"]
        self.n_features_in_ = learned["n_features"]
        self.n_classes_ = learned["n_classes"]
        names = learned["classes"]
        mixed = len({type(name) for name in names}) > 1  # as one array, 0 and "a" would both become text
        self.classes_ = np.array(names, dtype=object if mixed else None)
        self.prior_ = np.asarray(prior) if isinstance(prior, list) else prior
        self.temperature_ = learned["temperature"]
        self.offset_ = learned["offset"]
        self.n_iter_ = learned["n_iter"]
        if "feature_names" in learned:
            self.feature_names_in_ = np.asarray(learned["feature_names"], dtype=object)
