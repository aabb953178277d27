"""The estimator that chooses the family, its regularisation and the link by held-out pairs."""

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from confdiff.display.progress import reporting_progress
from confdiff.estimators.candidates import fit_candidate, resolve_candidates
from confdiff.estimators.comparison import Comparison, Contender
from confdiff.estimators.folds import FoldPlan, join_pairs, over_distinct_items, plan_folds, plan_validation
from confdiff.estimators.inputs import as_float_matrix, check_validation
from confdiff.estimators.items import DifferenceScored
from confdiff.estimators.judges import AnnotatorsLearned
from confdiff.estimators.offset import check_answers_are_used, check_offset_options
from confdiff.estimators.settings import seed_of
from confdiff.links import LINKS, LinkName, find_link
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.prior import check_labelled, joined_answers, separate_answers
from confdiff.threads import follow_policy
from confdiff.validation import check_choice

_LEARNED = ("classes_", "prior_", "prior_interval_", "prior_source_", "prior_estimate_", "reference_scores_")


def _delegates(name: str) -> Any:
    """Return a condition for methods that the chosen estimator must have, too; all are offered before ``fit``."""

    def is_available(estimator: "ConfDiffAuto") -> bool:
        if hasattr(estimator, "estimator_"):
            getattr(estimator.estimator_, name)  # its AttributeError says why it does not have the method
        return True

    return is_available


class ConfDiffAuto(AnnotatorsLearned, DifferenceScored):
    """Choose among linear models, boosted trees and networks, and among the links, by held-out pairs.

    Each candidate is fitted on folds of the pairs and predicts the differences of the pairs that touch the held-out
    items. The simplest candidate whose R² is as high as the highest is chosen: within one standard error of the
    difference, and within .005. Of its links that are equally good, it is the simplest: score, preference,
    probability. The chosen candidate is fitted to all pairs. Candidates that are clearly worse after some folds are
    dropped.

    Parameters
    ----------
    link : str, default="auto"
        ``"probability"``, ``"preference"`` or ``"score"`` (:mod:`confdiff.links`), or ``"auto"`` to compare them. With
        a prior, labelled items or K classes, ``"auto"`` is the probability link.
    candidates : list, default=None
        Names from :data:`confdiff.estimators.candidates.CANDIDATES`, estimators of pairs, and scikit-learn classifiers,
        which are wrapped by a :class:`~confdiff.ProjectedClassifier`. The simplest comes first. By default all names.
    prior : float, "estimate", array of shape (K,) or None, default=None
        The class prior, as in :class:`~confdiff.ConfDiffClassifier`.
    differences : {"graded", "labels"}, default="graded"
        As in :class:`~confdiff.ConfDiffClassifier`. With ``"labels"``, ``"auto"`` is the probability link.
    positives : {"rarer", "commoner"} or None, default=None
        As in :class:`~confdiff.ConfDiffClassifier`; ``"auto"`` is then the probability link.
    folds : int or "auto", default="auto"
        The number of folds. By default 5, of which fewer are used with many pairs, and for networks.
    classes : sequence, default=None
        The names of the classes. By default -1 and 1, or 0 to K - 1.
    standardise : bool or None, default=None
        Whether linear models and networks standardise the features. By default each of them as the table of
        candidates says; ``False`` for features that already have a common scale.
    annotator_model : {"auto", "pooled", "scale", "full"}, default="auto"
        The model of annotators, as in :class:`~confdiff.ConfDiffClassifier`. It is chosen and estimated once, and all
        candidates learn from the differences of an average annotator.
    device : str, default="auto"
        Device of the networks, as in :class:`~confdiff.ConfDiffClassifier`.
    random_state : int, RandomState or None, default=0
        Seed of all random draws; ``None`` or a ``RandomState`` draws a seed.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    estimator_ : estimator
        The chosen estimator, fitted to all pairs. All predictions are its predictions.
    selection_ : Selection
        The table of compared candidates; ``print(model.selection_.to_text())`` shows it.
    annotators_ : AnnotatorEstimates or None
        Scale, side bias and noise of each annotator, with intervals; None without annotators.
    link_ : str
        The chosen link.
    classes_ : array of shape (K,)
        The names of the classes; present only with the probability link.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features; present only if the items had column names.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2, 3))
    >>> risk = 1 / (1 + np.exp(-3 * X[..., 0]))
    >>> model = ConfDiffAuto(prior=0.5, candidates=["linear"]).fit(X, risk[:, 1] - risk[:, 0])
    >>> model.selection_.chosen.candidate, model.link_
    ('linear', 'probability')
    """

    def __init__(
        self,
        link: str = "auto",
        *,
        candidates: Any = None,
        prior: float | str | ArrayLike | None = None,
        differences: str = "graded",
        positives: str | None = None,
        folds: int | str = "auto",
        classes: Any = None,
        standardise: bool | None = None,
        annotator_model: str = "auto",
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
        verbose: int = 0,
    ) -> None:
        self.link = link
        self.candidates = candidates
        self.prior = prior
        self.differences = differences
        self.positives = positives
        self.folds = folds
        self.classes = classes
        self.standardise = standardise
        self.annotator_model = annotator_model
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @follow_policy
    def fit(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        annotators: ArrayLike | None = None,
        side: ArrayLike | None = None,
        units: ArrayLike | None = None,
        labelled: tuple[Any, ArrayLike] | None = None,
        validation: Pairs | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "ConfDiffAuto":
        """Compare the candidates, and fit the chosen one to all pairs.

        Parameters
        ----------
        pairs, c, items, sample_weight, groups, annotators, side, labelled
            See :meth:`confdiff.ConfDiffClassifier.fit`. Streamed pairs are refused: fit to a sample of them.
        units : array of shape (n,), default=None
            The unit of each pair that a fold contains as a whole, such as its group. By default folds hold out items.
            Give each pair a unit of its own (``range(n)``) if all items to predict for occur in the pairs.
        validation : Pairs, default=None
            Held-out pairs to compare the candidates on, instead of folds. The chosen one is fitted to these as well.
        checkpoint : path, default=None
            A file to write while a chosen network is trained on all pairs, and to resume from; the comparison before
            it is repeated.

        Returns
        -------
        ConfDiffAuto
            The fitted estimator.
        """
        columns: dict[str, Any] = {"weight": sample_weight, "group": groups, "annotator": annotators, "side": side}
        data = as_float_matrix(as_pairs(pairs, c, items=items, **columns))
        if data.difference is None:
            raise ValueError("fit needs the differences of the pairs: pass c=...")
        seed = seed_of(self.random_state)
        candidates = resolve_candidates(self.candidates, data)
        data, answers = separate_answers(data)
        links = self._links(data, has_labels=labelled is not None or answers is not None)
        if "probability" not in links:
            check_answers_are_used(self, answers)
        check_offset_options(self, has_classes="probability" in links, has_vectors=data.has_vectors)
        parameters = {
            "prior": self.prior,
            "differences": self.differences,
            "positives": self.positives,
            "classes": self.classes,
            "standardise": self.standardise,
            "device": self.device,
            "random_state": seed,
        }
        every = over_distinct_items(
            data if validation is None else join_pairs(data, check_validation(validation, data))
        )
        evidence = check_labelled(labelled, data)
        every = self._learn_annotators(every, method=None, seed=seed, labelled=evidence, answers=answers)
        plan = self._plan(every, len(data), seed, units)
        chosen = self._choose(Comparison(plan, candidates, links, labelled, parameters))
        estimator = chosen.candidate.new(chosen.link, **parameters, verbose=self.verbose)
        training = joined_answers(every, answers)
        self.estimator_ = fit_candidate(estimator, training, labelled, checkpoint=checkpoint)
        if isinstance(self.estimator_, AnnotatorsLearned):
            self.estimator_.annotators_ = self.annotators_
        self.link_ = chosen.link
        self._remember_features(data)
        self._remember_learned()
        return self

    def _links(self, data: Pairs, *, has_labels: bool) -> list[LinkName]:
        """Return the links to compare, the simplest first."""
        if self.link != "auto":
            return [find_link(check_choice("link", self.link, ["auto", *LINKS])).name]
        declares = self.differences != "graded" or self.positives is not None
        if self.prior is not None or declares or has_labels or data.has_vectors:
            return ["probability"]
        return [link.name for link in LINKS.values()]

    def _plan(self, pairs: Pairs, n_training: int, seed: int, units: ArrayLike | None) -> FoldPlan:
        if len(pairs) == n_training:
            return plan_folds(pairs, self.folds, seed, units)
        if units is not None:
            raise ValueError("units= makes folds, and validation= is used instead of folds: pass one of the two.")
        return plan_validation(pairs, n_training)

    def _choose(self, comparison: Comparison) -> Contender:
        """Run the comparison, keep its table, and return the chosen entry."""
        with reporting_progress("comparing", comparison.most_fits, shown=bool(self.verbose)) as update:
            chosen = comparison.run(update)
        self.selection_ = comparison.selection(chosen)
        return chosen

    def _remember_learned(self) -> None:
        """Copy what the chosen estimator has learned, and forget what an earlier one had."""
        for name in _LEARNED:
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))

    @follow_policy
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the scores g(x) of items.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,) or (m, K)
            With the probability link, a score of at least 0 means the positive class. With the other links, the mean
            score of the training items is 0.
        """
        check_is_fitted(self)
        scores: NDArray[Any] = self.estimator_.decision_function(X)
        return scores

    @available_if(_delegates("predict_proba"))
    @follow_policy
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Predict the probabilities of the classes; only with the probability link.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, K)
            The columns are in the order of ``classes_``.
        """
        check_is_fitted(self)
        probabilities: NDArray[Any] = self.estimator_.predict_proba(X)
        return probabilities

    def _class_numbers(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        numbers: NDArray[Any] = self.estimator_._class_numbers(X)
        return numbers

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        check_is_fitted(self)
        differences: NDArray[Any] = self.estimator_._differences(pairs)
        return differences
