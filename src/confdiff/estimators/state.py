"""Save the fitted state of a classifier as plain values and tensors, and restore it."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from confdiff.io.decoding import check_object, decode, decode_fields
from confdiff.io.tensors import check_tensors
from confdiff.losses import LOSSES
from confdiff.methods import find_method
from confdiff.models import MODELS, build_model
from confdiff.validation import check_choice, check_count, check_number, check_prior


class Restorable:
    """Add ``to_state`` and ``from_state`` to a classifier whose network has a name."""

    saved_parameters: ClassVar[tuple[str, ...]] = ("method", "loss", "target_prior")
    """The parameters that predictions depend on."""

    default_method: ClassVar[str]
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
            A value is not one that :meth:`to_state` returns, or the weights do not fit the network.
        """
        parameters = check_object("parameters", state["parameters"])
        if set(parameters) != set(cls.saved_parameters):
            raise ValueError(f"the saved parameters must be {', '.join(cls.saved_parameters)}; got {list(parameters)}.")
        name = check_choice("network", state["model"], MODELS)
        learned = _Learned.from_state(state["learned"])
        classifier = cls(model=name, **parameters)  # type: ignore[call-arg]  # __init__ of the estimator
        find_method(classifier.default_method if parameters["method"] is None else parameters["method"])
        classifier.loss_ = check_choice("loss", classifier.loss, LOSSES)
        classifier.model_ = _restored_network(name, learned, state["weights"])
        classifier._restore(learned)
        if parameters["target_prior"] is not None:
            _check_priors("target_prior", parameters["target_prior"], learned.n_classes)
            for prior in np.atleast_1d(parameters["target_prior"]).tolist():
                check_prior(prior, "target_prior")
        return classifier

    def _restore(self, learned: "_Learned") -> None:
        self.n_features_in_ = learned.n_features
        self.n_classes_ = learned.n_classes
        names = learned.classes
        mixed = len({type(name) for name in names}) > 1  # as one array, 0 and "a" would both become text
        self.classes_ = np.array(names, dtype=object if mixed else None)
        self.prior_ = np.asarray(learned.prior) if isinstance(learned.prior, tuple) else learned.prior
        self.temperature_ = learned.temperature
        self.offset_ = learned.offset
        self.n_iter_ = learned.n_iter
        if learned.feature_names is not None:
            self.feature_names_in_ = np.asarray(learned.feature_names, dtype=object)


@dataclass(frozen=True)
class _Learned:
    """The learned attributes of a classifier that was saved, checked."""

    n_features: int
    n_classes: int | None
    classes: tuple[str | int | float | bool, ...]
    prior: float | tuple[float, ...]
    temperature: float
    offset: float
    n_iter: int
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_count("n_features", self.n_features)
        check_count("n_iter", self.n_iter, least=0)
        check_number("temperature", self.temperature, above=0)
        if self.n_classes is not None:
            check_count("n_classes", self.n_classes, least=2)
        if len(set(self.classes)) != (self.n_classes or 2) or len(set(self.classes)) != len(self.classes):
            raise ValueError(f"classes must be {self.n_classes or 2} different names; got {self.classes!r:.100}")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"feature_names must be {self.n_features} names; got {len(self.feature_names)}")
        _check_priors("prior", self.prior, self.n_classes)

    @classmethod
    def from_state(cls, state: Any) -> "_Learned":
        return decode_fields(cls, state)


def _check_priors(name: str, prior: Any, n_classes: int | None) -> None:
    """Check a learned prior, which may be 0 or 1 where all probabilities are, or the priors of K classes."""
    values = prior.tolist() if isinstance(prior, np.ndarray | np.generic) else prior
    priors = decode(float | tuple[float, ...], values, name)
    if isinstance(priors, tuple) != (n_classes is not None):
        raise ValueError(f"{name} must be a number, or a list of numbers for several classes; got {prior!r:.60}")
    numbers = priors if isinstance(priors, tuple) else (priors,)
    if len(numbers) != (n_classes or 1) or not all(0 <= number <= 1 for number in numbers):
        raise ValueError(f"{name} must be {n_classes or 1} probabilities; got {prior!r:.60}")


def _restored_network(name: str, learned: _Learned, weights: Any) -> torch.nn.Module:
    """Return the described network with the weights that were read.

    The sizes are compared before memory is allocated: a damaged description may ask for any amount.
    """
    n_scores = learned.n_classes or 1
    with torch.device("meta"):
        described = build_model(name, learned.n_features, n_scores)
    tensors = check_tensors(f"the weights of a {name!r} network", weights, described.state_dict())
    for key, tensor in tensors.items():
        if key.endswith("running_var") and bool((tensor < 0).any()):
            raise ValueError(f"{key} holds variances, which must be at least 0")
    network = build_model(name, learned.n_features, n_scores)
    network.load_state_dict(tensors)
    return network.eval()
