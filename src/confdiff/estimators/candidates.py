"""The candidates of :class:`~confdiff.ConfDiffAuto`: the table of families, and the estimators that callers pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from confdiff.estimators.boosting import ConfDiffBoosting
from confdiff.estimators.classifier import ConfDiffClassifier
from confdiff.estimators.items import DifferenceScored
from confdiff.estimators.judges import AnnotatorsLearned
from confdiff.estimators.logistic import ConfDiffLogisticRegression
from confdiff.estimators.projected import ProjectedClassifier
from confdiff.links import LinkName
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import SparseItems
from confdiff.validation import check_choice


@dataclass(frozen=True)
class Family:
    """A family of estimators that is compared by default.

    Attributes
    ----------
    make : callable
        Pairs -> an estimator with the regularisation that suits it.
    is_cheap : bool
        Whether a fit takes about as long as reading the data. Costly candidates are fitted in fewer folds.
    takes_many_classes : bool
        Whether it learns from differences of K classes.
    most_features : int or None
        With more features, such as the words of texts, it is tried only if it is named.
    """

    make: Callable[[Pairs], Any]
    is_cheap: bool
    takes_many_classes: bool
    most_features: int | None = None


def _linear(pairs: Pairs) -> ConfDiffLogisticRegression:
    """Return a linear model whose penalty is chosen; columns of a sparse matrix already have a common scale."""
    return ConfDiffLogisticRegression(C="auto", standardise=not isinstance(pairs.items, SparseItems))


def _boosting(pairs: Pairs) -> ConfDiffBoosting:
    return ConfDiffBoosting()


def _network(pairs: Pairs) -> ConfDiffClassifier:
    """Return a small network with dropout, for few or noisy differences."""
    return ConfDiffClassifier.regularised()


def _paper_network(pairs: Pairs) -> ConfDiffClassifier:
    """Return the large network of the paper, for nearly exact differences of image-like items."""
    return ConfDiffClassifier()


CANDIDATES: dict[str, Family] = {
    "linear": Family(
        make=_linear,
        is_cheap=True,
        takes_many_classes=False,
    ),
    "boosting": Family(
        make=_boosting,
        is_cheap=True,
        takes_many_classes=True,
        most_features=5_000,
    ),
    "mlp": Family(
        make=_network,
        is_cheap=False,
        takes_many_classes=True,
        most_features=5_000,
    ),
    "paper-mlp": Family(
        make=_paper_network,
        is_cheap=False,
        takes_many_classes=True,
        most_features=5_000,
    ),
}
"""Name -> family, the simplest first."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An unfitted estimator to compare.

    Attributes
    ----------
    name : str
        Its name in the table of results.
    estimator : estimator
        Learns from pairs; never fitted itself.
    is_cheap : bool
        As in :class:`Family`.
    most_features : int or None
        As in :class:`Family`.
    """

    name: str
    estimator: Any
    is_cheap: bool
    most_features: int | None = None

    def links(self, allowed: Sequence[LinkName]) -> list[LinkName]:
        """Return those of some links that the estimator has; without a parameter ``link``, it is the probability."""
        has_links = "link" in self.estimator.get_params(deep=False)
        return [link for link in allowed if has_links or link == "probability"]

    def new(self, link: LinkName, **parameters: Any) -> Any:
        """Return a new estimator with this link, and with those of the parameters that it has and that are not None."""
        estimator = clone(self.estimator)
        own = estimator.get_params(deep=False)
        changes = {name: value for name, value in parameters.items() if name in own and value is not None}
        return estimator.set_params(**changes, **({"link": link} if "link" in own else {}))

    def reason_to_skip(self, pairs: Pairs) -> str:
        """Return why the candidate is not tried on these pairs; empty if it is."""
        n_features = pairs.items.shape[1]
        if self.most_features is not None and n_features > self.most_features:
            return f"not tried: {n_features:,} features, at most {self.most_features:,}"
        return ""


def fit_candidate(estimator: Any, pairs: Pairs, labelled: Any, checkpoint: Any = None) -> Any:
    """Fit an estimator of pairs; labelled items and a checkpoint are passed to those that take them."""
    arguments = {"labelled": labelled, "checkpoint": checkpoint}
    taken = {
        name: value for name, value in arguments.items() if value is not None and has_fit_parameter(estimator, name)
    }
    takes_precision = isinstance(estimator, AnnotatorsLearned)
    return estimator.fit(pairs if takes_precision else pairs.with_precision_in_weights(), **taken)


def resolve_candidates(candidates: Any, pairs: Pairs) -> list[Candidate]:
    """Return candidates from what callers pass, in the same order: the simplest first.

    Parameters
    ----------
    candidates : sequence or None
        Names from :data:`CANDIDATES`, estimators of pairs, and scikit-learn classifiers. By default all of the table.
    pairs : Pairs
        The pairs. If they have differences of K classes, families that do not take these are left out by default.

    Raises
    ------
    ValueError
        A name is unknown, an estimator cannot learn from pairs, or no candidate is left.
    """
    if candidates is None:
        names = [name for name, family in CANDIDATES.items() if family.takes_many_classes or not pairs.has_vectors]
        named = [_named(name, pairs) for name in names]
        are_all_skipped = all(candidate.reason_to_skip(pairs) for candidate in named)
        return [replace(candidate, most_features=None) for candidate in named] if are_all_skipped else named
    if isinstance(candidates, str) or not isinstance(candidates, Sequence) or not candidates:
        raise ValueError(
            f"candidates must be a list of names ({', '.join(CANDIDATES)}) or estimators; got {candidates!r:.100}."
        )
    resolved = [_named(value, pairs) if isinstance(value, str) else _estimated(value) for value in candidates]
    return _with_distinct_names([replace(candidate, most_features=None) for candidate in resolved])


def _named(name: str, pairs: Pairs) -> Candidate:
    family = CANDIDATES[check_choice("candidates", name, CANDIDATES)]
    return Candidate(
        name=name, estimator=family.make(pairs), is_cheap=family.is_cheap, most_features=family.most_features
    )


def _estimated(estimator: Any) -> Candidate:
    """Return the candidate of an estimator; a scikit-learn classifier is wrapped by a ProjectedClassifier."""
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        raise ValueError(f"candidates must be names or estimators; got {estimator!r:.100}.")
    learner = estimator if isinstance(estimator, DifferenceScored) else ProjectedClassifier(estimator)
    is_cheap = not isinstance(learner, ConfDiffClassifier | ProjectedClassifier)
    return Candidate(name=type(estimator).__name__, estimator=learner, is_cheap=is_cheap)


def _with_distinct_names(candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates with numbers after repeated names: "linear", "linear 2"."""
    counts: dict[str, int] = {}
    named = []
    for candidate in candidates:
        counts[candidate.name] = counts.get(candidate.name, 0) + 1
        number = counts[candidate.name]
        name = candidate.name if number == 1 else f"{candidate.name} {number}"
        named.append(replace(candidate, name=name))
    return named
