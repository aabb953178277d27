"""The fitted state of boosted trees as JSON values, checked when it is read."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from confdiff.estimators.trees.categories import Categories
from confdiff.io.decoding import decode_fields
from confdiff.links import LinkName
from confdiff.prior import PriorInterval, PriorSource, check_prior_interval
from confdiff.validation import check_count, check_number

_MAX_FEATURES = 10**6


@dataclass(frozen=True)
class LearnedTrees:
    """What predictions need besides the trees.

    Attributes
    ----------
    start : tuple of float
        The scores before the first tree: one, or one for each of K classes.
    n_classes : int or None
        K if the differences were vectors.

    The other attributes are those of :class:`~confdiff.ConfDiffBoosting`, without the underscore at their end.
    """

    link: LinkName
    n_features: int
    n_classes: int | None
    classes: tuple[str | int | float | bool, ...] | None
    prior: float | tuple[float, ...] | None
    prior_interval: PriorInterval | None
    start: tuple[float, ...]
    temperature: float
    offset: float
    n_iter: int
    reference_scores: tuple[float, ...] | None
    feature_names: tuple[str, ...] | None
    categories: Categories
    prior_source: PriorSource | None = None

    def __post_init__(self) -> None:
        if check_count("n_features", self.n_features) > _MAX_FEATURES:
            raise ValueError(f"n_features must be at most {_MAX_FEATURES}; got {self.n_features}")
        check_count("n_iter", self.n_iter)
        check_number("temperature", self.temperature, above=0)
        if self.n_classes is not None:
            check_count("n_classes", self.n_classes, least=2)
        if len(self.start) != (self.n_classes or 1) or not all(map(math.isfinite, self.start)):
            raise ValueError(f"start must be {self.n_classes or 1} finite numbers; got {self.start!r:.60}")
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(f"feature_names must be {self.n_features} names; got {len(self.feature_names)}")
        if not all(0 <= column < self.n_features for column in self.categories.columns):
            raise ValueError(f"the columns of categories must be below {self.n_features}")
        self._check_classes()

    def _check_classes(self) -> None:
        """Check the attributes that only the probability link has, or only the others."""
        if self.link != "probability":
            if self.reference_scores is None or not 1 <= len(self.reference_scores) <= 1001:
                raise ValueError("reference_scores must be 1 to 1001 numbers")
            if self.classes is not None or self.n_classes is not None or self.prior is not None:
                raise ValueError(f"the {self.link} link has no classes")
            return
        count = self.n_classes or 2
        if self.classes is None or len(set(self.classes)) != count or len(self.classes) != count:
            raise ValueError(f"classes must be {count} different names; got {self.classes!r:.100}")
        priors = self.prior if isinstance(self.prior, tuple) else (self.prior,)
        is_probability = all(value is not None and 0 <= value <= 1 for value in priors)
        if not is_probability or isinstance(self.prior, tuple) != (self.n_classes is not None):
            raise ValueError(f"prior must be one probability, or one for each class; got {self.prior!r:.60}")
        if len(priors) != (self.n_classes or 1):
            raise ValueError(f"prior must be {self.n_classes or 1} probabilities; got {len(priors)}")
        if self.prior_interval is not None:
            check_prior_interval(self.prior_interval, self.n_classes)

    @classmethod
    def from_state(cls, state: Any) -> "LearnedTrees":
        """Return the state that was read as JSON."""
        return decode_fields(cls, state)

    def class_names(self) -> np.ndarray | None:
        """Return the names of the classes; names of different types keep their types."""
        if self.classes is None:
            return None
        is_mixed = len({type(name) for name in self.classes}) > 1
        return np.array(self.classes, dtype=object if is_mixed else None)
