"""Save the fitted state of a classifier as plain values and tensors, and restore it."""

from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from confdiff.estimators.judges import annotators_state, without_annotators
from confdiff.estimators.networks import Architecture
from confdiff.io.decoding import check_object, decode, decode_fields
from confdiff.io.tensors import check_tensors
from confdiff.links import MAX_REFERENCE, LinkName, find_link
from confdiff.losses import LOSSES
from confdiff.methods import find_method
from confdiff.models import MODELS
from confdiff.prior import PriorInterval, PriorSource, check_prior_interval
from confdiff.validation import check_choice, check_count, check_number, check_prior


class Restorable:
    """Add ``to_state`` and ``from_state`` to a classifier whose network has a name."""

    saved_parameters: ClassVar[tuple[str, ...]] = ("method", "link", "loss", "target_prior")
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
    prior_interval_: PriorInterval | None
    prior_source_: PriorSource | None
    link: str
    link_: LinkName
    architecture_: Architecture
    reference_scores_: NDArray[np.float64]
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
        has_classes = find_link(self.link_).has_classes
        learned = {
            "link": self.link_,
            "n_features": self.n_features_in_,
            "n_classes": self.n_classes_,
            "classes": np.asarray(self.classes_).tolist() if has_classes else None,
            "prior": np.asarray(self.prior_).tolist() if has_classes else None,
            "prior_interval": self.prior_interval_,
            "prior_source": self.prior_source_,
            "annotators": annotators_state(self),
            "reference_scores": None if has_classes else self.reference_scores_.tolist(),
            "temperature": self.temperature_,
            "offset": self.offset_,
            "n_iter": self.n_iter_,
        }
        if hasattr(self, "feature_names_in_"):
            learned["feature_names"] = self.feature_names_in_.tolist()
        return {
            "model": self.model,
            "architecture": asdict(self.architecture_),
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
        values, annotators = without_annotators(check_object("learned", state["learned"]))
        learned = _Learned.from_state(values)
        architecture = decode_fields(Architecture, state["architecture"])
        classifier = cls(  # type: ignore[call-arg]  # __init__ of the estimator
            model=name,
            hidden=architecture.hidden,
            dropout=architecture.dropout,
            n_networks=architecture.n_networks,
            standardise=architecture.standardised,
            **parameters,
        )
        default_method: str = classifier.default_method  # type: ignore[attr-defined]  # of the estimator
        method = find_method(default_method if parameters["method"] is None else parameters["method"])
        if not method.link == classifier.link == learned.link:
            raise ValueError(f"method {method.name!r}, link {classifier.link!r} and {learned.link!r} do not agree")
        classifier.loss_ = check_choice("loss", classifier.loss, LOSSES)
        classifier.architecture_ = architecture
        classifier.model_ = _restored_network(name, architecture, learned, state["weights"])
        classifier._restore(learned)
        classifier.annotators_ = annotators  # type: ignore[attr-defined]  # of the estimator
        if parameters["target_prior"] is not None:
            _check_priors("target_prior", parameters["target_prior"], learned.n_classes)
            for prior in np.atleast_1d(parameters["target_prior"]).tolist():
                check_prior(prior, "target_prior")
        return classifier

    def _restore(self, learned: "_Learned") -> None:
        self.n_features_in_ = learned.n_features
        self.n_classes_ = learned.n_classes
        self.link_ = find_link(learned.link).name
        names = learned.classes
        if names is not None:
            mixed = len({type(name) for name in names}) > 1  # as one array, 0 and "a" would both become text
            self.classes_ = np.array(names, dtype=object if mixed else None)
            self.prior_ = np.asarray(learned.prior) if isinstance(learned.prior, tuple) else learned.prior
        if learned.reference_scores is not None:
            self.reference_scores_ = np.asarray(learned.reference_scores)
        self.prior_interval_ = learned.prior_interval
        self.prior_source_ = learned.prior_source
        self.temperature_ = learned.temperature
        self.offset_ = learned.offset
        self.n_iter_ = learned.n_iter
        if learned.feature_names is not None:
            self.feature_names_in_ = np.asarray(learned.feature_names, dtype=object)


@dataclass(frozen=True)
class _Learned:
    """The learned attributes of a classifier that was saved, checked."""

    link: str
    n_features: int
    n_classes: int | None
    classes: tuple[str | int | float | bool, ...] | None
    prior: float | tuple[float, ...] | None
    temperature: float
    offset: float
    n_iter: int
    prior_interval: PriorInterval | None = None
    prior_source: PriorSource | None = None
    feature_names: tuple[str, ...] | None = None
    reference_scores: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_count("n_features", self.n_features)
        check_count("n_iter", self.n_iter, least=0)
        check_number("temperature", self.temperature, above=0)
        if self.n_classes is not None:
            check_count("n_classes", self.n_classes, least=2)
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"feature_names must be {self.n_features} names; got {len(self.feature_names)}")
        if self.prior_interval is not None:
            check_prior_interval(self.prior_interval, self.n_classes)
        if find_link(self.link).has_classes:
            self._check_classes()
        else:
            self._check_scores()

    def _check_classes(self) -> None:
        names = self.classes or ()
        if len(set(names)) != (self.n_classes or 2) or len(set(names)) != len(names):
            raise ValueError(f"classes must be {self.n_classes or 2} different names; got {self.classes!r:.100}")
        _check_priors("prior", self.prior, self.n_classes)
        if self.reference_scores is not None:
            raise ValueError("reference_scores must be None with the probability link")

    def _check_scores(self) -> None:
        """Check that a link without classes has none, and that it has the scores of the training items."""
        if any(value is not None for value in (self.classes, self.prior, self.n_classes, self.prior_interval)):
            raise ValueError(f"a model with link={self.link!r} has no classes and no prior")
        size = len(self.reference_scores or ())
        if not 1 <= size <= MAX_REFERENCE:
            raise ValueError(f"reference_scores must be 1 to {MAX_REFERENCE} numbers; got {size}")

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


def _restored_network(name: str, architecture: Architecture, learned: _Learned, weights: Any) -> torch.nn.Module:
    """Return the described network with the weights that were read.

    The sizes are compared before memory is allocated: a damaged description may ask for any amount.
    """
    n_scores = learned.n_classes or 1
    if not isinstance(weights, dict) or architecture.n_networks > max(1, len(weights)):
        raise ValueError(f"the weights must be those of {architecture.n_networks} networks")
    with torch.device("meta"):
        described = architecture.build_all(name, learned.n_features, n_scores)
    tensors = check_tensors(f"the weights of a {name!r} network", weights, described.state_dict())
    for key, tensor in tensors.items():
        if key.endswith("running_var") and bool((tensor < 0).any()):
            raise ValueError(f"{key} holds variances, which must be at least 0")
    network = architecture.build_all(name, learned.n_features, n_scores)
    network.load_state_dict(tensors)
    return network.eval()
