"""Gradient-boosted trees that learn from pairs with graded differences."""

from functools import partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

from confdiff.calibration import fit_to_differences, log_odds
from confdiff.display.progress import reporting_progress
from confdiff.estimators.inputs import as_float_matrix, check_validation, class_names, warn_of_unconnected_groups
from confdiff.estimators.judges import AnnotatorsLearned
from confdiff.estimators.offset import check_answers_are_used, check_offset_options, estimates_prior
from confdiff.estimators.trees.categories import Categories
from confdiff.estimators.trees.fitting import FittedTrees, HeldOutScores, Rounds, TreeFit
from confdiff.estimators.trees.model import TreeModel
from confdiff.estimators.trees.predicting import probability_of
from confdiff.estimators.trees.prior_search import PriorSearch
from confdiff.estimators.trees.saving import RestorableTrees
from confdiff.estimators.trees.settings import TreeSettings, monotone_signs
from confdiff.estimators.trees.table import DistinctPairs, methods_of_trees
from confdiff.links import find_link, reference_scores
from confdiff.methods import Method, find_method
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import as_matrix
from confdiff.prior import (
    Interval,
    PriorEstimate,
    SameAnswers,
    check_labelled,
    declared_moment,
    separate_answers,
    warn_of_open_prior,
)
from confdiff.threads import follow_policy, pass_over, threads_for
from confdiff.validation import (
    check_choice,
    check_class_priors,
    check_count,
    check_fraction,
    check_prior,
    prior_missing,
)

_Vector = NDArray[np.float64]


class ConfDiffBoosting(AnnotatorsLearned, RestorableTrees):
    """Gradient-boosted trees that learn from pairs with graded differences, and predict for single items.

    One boosted model is trained on the pairs directly (LightGBM with an objective for pairs). The features need no
    scaling. ``fit`` and ``score`` take pairs in memory, in the forms that :class:`~confdiff.ConfDiffClassifier` takes.

    The items are divided into folds. One model per fold is trained without the pairs of its fold. The mean error of
    these pairs determines the number of rounds of all models, and the score of an item is the mean of their scores.

    Parameters
    ----------
    method : str, default=None
        ``"confdiff-regression"`` (default), ``"confdiff-unbiased"``, ``"confdiff-relu"``, ``"confdiff-abs"``,
        ``"oracle-soft"`` or ``"oracle-hard"``. The other links have one method each, of the name of the link.
    link : str, default="probability"
        What a difference means: ``"probability"``, ``"preference"`` or ``"score"``, see :mod:`confdiff.links`.
    prior : float, "estimate", array of shape (K,) or None, default=None
        The class prior, as in :class:`~confdiff.ConfDiffClassifier`; for the probability link only. With ``None`` and
        two classes, the trees are fitted from several starts, and the fit with the least held-out error is kept.
    differences : {"graded", "labels"}, default="graded"
        As in :class:`~confdiff.ConfDiffClassifier`.
    positives : {"rarer", "commoner"} or None, default=None
        As in :class:`~confdiff.ConfDiffClassifier`.
    classes : sequence, default=None
        The names of the negative and the positive class, or of K classes. By default -1 and 1, or 0 to K - 1.
    learning_rate : float, default=0.1
        The fraction of a step that each tree makes.
    max_iter : int, default=500
        The largest number of rounds. A round adds one tree per model, or K trees for K classes.
    max_leaf_nodes : int, default=7
        The largest number of leaves of a tree.
    min_samples_leaf : int, default=10
        The least number of items in a leaf.
    l2_regularization : float, default=0
        L2 penalty of the values of leaves.
    max_features : float, default=0.8
        The fraction of the features that each tree may use.
    subsample : float, default=0.8
        The fraction of the items that each tree is fitted to.
    early_stopping : bool, default=True
        Find the number of rounds by held-out pairs. Otherwise, one model has ``max_iter`` rounds. With fewer than 20
        pairs none are held out, and the number of rounds is at most 50.
    n_folds : int, default=5
        The number of folds. With 1, ``validation_fraction`` of the pairs is held out, and then one model is trained
        on all pairs.
    n_iter_no_change : int, default=30
        Stop after this number of rounds without a lower error.
    validation_fraction : float, default=0.15
        The fraction of pairs to hold out if ``n_folds`` is 1.
    categorical_features : "auto", sequence or None, default="auto"
        The columns of categories: names, numbers or a mask. ``"auto"`` takes the columns of the type ``category`` if
        ``items`` is a pandas data frame. Other columns must hold whole numbers from 0 on, or be columns of a data
        frame. Categories that did not occur in training are like missing values.
    calibrated : bool, default=False
        Rescale the scores to fit the differences of the held-out pairs best; for two classes. With a model of
        annotators, scores are always rescaled.
    monotone_constraints : dict or sequence, default=None
        Columns (names or numbers) -> 1 if the score must not fall with the feature, -1 if it must not rise.
        Or one of 1, 0 and -1 for each column.
    annotator_model : {"auto", "pooled", "scale", "full"}, default="auto"
        The model of annotators, if ``fit`` gets them: all are the same, each has a scale, or each has a scale, a side
        bias and noise. ``"auto"`` chooses by held-out answers. See :mod:`confdiff.annotators`.
    target_prior : float, array of shape (K,) or None, default=None
        The class prior of the items to predict for, if it differs from the training prior. May be set after ``fit``.
    random_state : int, RandomState or None, default=0
        Seed of all random draws; ``None`` or a ``RandomState`` draws a seed.
    verbose : int, default=0
        1 shows progress.

    Attributes
    ----------
    categories_ : Categories
        The columns of categories, and the values of those of a data frame.
    model_ : TreeModel
        The trees of all models.
    n_iter_ : int
        The number of rounds.
    errors_ : list of float
        The held-out error after each round; empty without early stopping.
    annotators_ : AnnotatorEstimates or None
        Scale, side bias and noise of each annotator, with intervals; None without annotators.
    link_ : str
        The link.
    prior_ : float, array of shape (K,) or None
        The training prior, or the mean probability of the (held-out) items if no prior was given.
    prior_estimate_ : PriorEstimate
        The estimated prior; present only if it was estimated.
    prior_interval_ : tuple (low, high) or None
        The class priors that the data leave open, with 95 % confidence; ``None`` if the prior was given.
    prior_source_ : str or None
        ``"given"``, ``"differences"``, ``"label differences"`` or ``"labelled items"``.
    reference_scores_ : array
        Scores that represent those of the training items; for links without classes.
    feature_importances_ : array of shape (d,)
        The gain of all splits on each feature, with sum 1.
    temperature_, offset_ : float
        Calibration of the scores: ``(score + offset_) / temperature_``.
    classes_ : array of shape (K,)
        The names of the classes; for the probability link.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features; present only if the items had column names.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2, 3))
    >>> risk = 1 / (1 + np.exp(-3 * X[..., 0]))
    >>> model = ConfDiffBoosting(prior=0.5).fit(X, risk[:, 1] - risk[:, 0])
    >>> model.score(X, risk[:, 1] - risk[:, 0]) > 0.9
    True
    """

    prior_estimate_: PriorEstimate

    def __init__(
        self,
        method: str | None = None,
        *,
        link: str = "probability",
        prior: float | str | ArrayLike | None = None,
        differences: str = "graded",
        positives: str | None = None,
        classes: Any = None,
        learning_rate: float = 0.1,
        max_iter: int = 500,
        max_leaf_nodes: int = 7,
        min_samples_leaf: int = 10,
        l2_regularization: float = 0.0,
        max_features: float = 0.8,
        subsample: float = 0.8,
        early_stopping: bool = True,
        n_folds: int = 5,
        n_iter_no_change: int = 30,
        validation_fraction: float = 0.15,
        categorical_features: Any = "auto",
        calibrated: bool = False,
        monotone_constraints: Any = None,
        annotator_model: str = "auto",
        target_prior: float | ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.link = link
        self.prior = prior
        self.differences = differences
        self.positives = positives
        self.classes = classes
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.subsample = subsample
        self.early_stopping = early_stopping
        self.n_folds = n_folds
        self.n_iter_no_change = n_iter_no_change
        self.validation_fraction = validation_fraction
        self.categorical_features = categorical_features
        self.calibrated = calibrated
        self.monotone_constraints = monotone_constraints
        self.annotator_model = annotator_model
        self.target_prior = target_prior
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
        labelled: tuple[Any, ArrayLike] | None = None,
        validation: Pairs | None = None,
    ) -> "ConfDiffBoosting":
        """Learn from pairs and their differences.

        Parameters
        ----------
        pairs, c, items, sample_weight, groups, annotators, side, labelled
            See :meth:`confdiff.ConfDiffClassifier.fit`; pairs in memory.
        validation : Pairs, default=None
            Pairs that are held out in addition to those of the folds.

        Returns
        -------
        ConfDiffBoosting
            The fitted estimator.
        """
        columns = {"weight": sample_weight, "group": groups, "annotator": annotators, "side": side}
        judged = self._training_pairs(pairs, c, items, **columns)
        judged, answers = separate_answers(judged)
        held_out = None if validation is None else check_validation(validation, judged, allow_missing=True)
        warn_of_unconnected_groups(judged)
        method = self._check_combination(judged, labelled, answers)
        seed = self._seed()
        evidence = check_labelled(self._encoded_labelled(labelled), judged, allow_missing=True)
        data = self._learn_annotators(judged, method=method, seed=seed, labelled=evidence, answers=answers)
        held_out = self._adjust_validation(held_out, judged)
        table = DistinctPairs.of(data, method, seed)
        validation_table = None if held_out is None else DistinctPairs.of(held_out, method, seed)
        rounds = self._rounds()
        self._forget_offset()
        with reporting_progress("boosting", rounds.most, shown=bool(self.verbose)) as update:

            def make_task(prior: Any, task_method: Method = method) -> TreeFit:
                settings = self._settings(data, table, prior, seed)
                return TreeFit(method=task_method, prior=prior, settings=settings, rounds=rounds, watch=update)

            regression = partial(make_task, task_method=find_method(methods_of_trees(find_link("probability"))[0]))
            search = PriorSearch(regression, data, table, validation_table, seed)
            prior = self._training_prior(method, data, labelled, answers, search)
            fitted = search.fit(make_task(prior))
            if prior is None and self._leaves_offset_open(data, method):
                prior, fitted = self._best_offset(fitted, search)
        self._remember(data, table, fitted, self._settings(data, table, prior, seed))
        self._remember_prior(data, fitted, method, prior)
        return self

    def _training_pairs(self, pairs: Any, c: Any, items: Any, **columns: Any) -> Pairs:
        """Return the pairs over a matrix of floats, and set ``categories_``."""
        is_frame = hasattr(items, "columns")
        self.categories_ = Categories.of_frame(self.categorical_features, items) if is_frame else Categories()
        data = as_float_matrix(self._as_pairs(pairs, c, items=items, **columns), allow_missing=True)
        names = data.feature_names
        if not is_frame:
            self.categories_ = Categories.of_matrix(self.categorical_features, names, data.items.shape[1])
        self.categories_.check(as_matrix(data.items), names)
        return data

    def _check_combination(self, data: Pairs, labelled: Any, answers: SameAnswers | None) -> Method:
        """Return the method, after checking that link, classes and options go together."""
        link = find_link(self.link)
        names = methods_of_trees(link)
        method = find_method(check_choice("method", self.method or names[0], names))
        if not link.has_classes:
            options = {
                "prior": self.prior,
                "labelled": labelled,
                "target_prior": self.target_prior,
                "calibrated": self.calibrated or None,
            }
            refused = [name for name, value in options.items() if value is not None]
            if refused:
                raise ValueError(f"{refused[0]} is for link='probability'; got link={self.link!r}.")
            if data.has_vectors:
                raise ValueError(f"differences of several classes need link='probability'; got link={self.link!r}.")
        check_offset_options(self, has_classes=link.has_classes, has_vectors=data.has_vectors)
        check_answers_are_used(self, answers)
        if method.needs_prior and self.prior is None and not estimates_prior(self, labelled, answers):
            raise prior_missing(method.name)
        if labelled is not None and self.prior is not None and not isinstance(self.prior, str):
            raise ValueError("labelled items determine the prior, and a prior is given: pass one of the two.")
        if self.calibrated and (data.has_vectors or data.difference is None):
            raise ValueError("calibrated=True needs pairs with differences of two classes.")
        return method

    def _seed(self) -> int:
        seed = self.random_state
        if seed is None or isinstance(seed, np.random.RandomState):
            return int(check_random_state(seed).randint(2**31))
        return check_count("random_state", seed, least=0)

    def _training_prior(
        self, method: Method, data: Pairs, labelled: Any, answers: SameAnswers | None, search: PriorSearch
    ) -> Any:
        """Return the prior for training: the given one, or an estimate from differences, labelled items and answers."""
        if estimates_prior(self, labelled, answers):
            check_choice("prior", self.prior or "estimate", ["estimate"])
            if data.has_vectors or method.learns_from != "differences":
                raise ValueError("a prior is estimated from differences of two classes; pass the priors themselves.")
            items, labels = check_labelled(self._encoded_labelled(labelled), data, allow_missing=True)
            moment = declared_moment(data, self.differences)
            estimate = search.estimate(
                moment=moment, positives=self.positives, items=items, labels=labels, answers=answers
            )
            self._report_estimate(estimate)
            return min(max(estimate.value, 0.001), 0.999)
        declared_moment(data, self.differences)
        if self.prior is None:
            return None
        self.prior_source_ = "given"
        return check_class_priors(self.prior, data.n_classes) if data.has_vectors else check_prior(self.prior)

    def _encoded_labelled(self, labelled: Any) -> Any:
        """Return labelled items with numbers for categories, and their labels."""
        return None if labelled is None else (self.categories_.encoded(labelled[0]), labelled[1])

    def _leaves_offset_open(self, data: Pairs, method: Method) -> bool:
        return self.link == "probability" and not data.has_vectors and method.learns_from == "differences"

    def _best_offset(self, fitted: FittedTrees, search: PriorSearch) -> tuple[float | None, FittedTrees]:
        """Report the priors that held-out pairs leave open; return the best of them, and the trees fitted with it."""
        held_out = search.held_out(fitted)
        if held_out is None:
            self.prior_source_ = "differences"
            self.prior_interval_ = (0.0, 1.0)
            warn_of_open_prior(self.prior_interval_)
            return None, fitted
        self._report_offset(held_out)
        start = search.best(cast(Interval, self.prior_interval_), fitted)
        return (None, fitted) if start is None else (start.prior, search.finish(start))

    def _settings(self, data: Pairs, table: DistinctPairs, prior: Any, seed: int) -> TreeSettings:
        n_features = data.items.shape[1]
        start: float | _Vector = 0.0
        if prior is not None:
            start = np.log(prior) if data.has_vectors else log_odds(prior)
        return TreeSettings(
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            max_features=self.max_features,
            subsample=self.subsample,
            seed=seed,
            threads=threads_for(pass_over(table.n_values)),
            start=start,
            n_scores=table.n_scores,
            categorical=self.categories_.columns,
            monotone=monotone_signs(self.monotone_constraints, data.feature_names, n_features),
        )

    def _rounds(self) -> Rounds:
        n_folds = check_count("n_folds", self.n_folds)
        return Rounds(
            most=check_count("max_iter", self.max_iter),
            patience=check_count("n_iter_no_change", self.n_iter_no_change),
            n_folds=n_folds if self.early_stopping else 0,
            fraction=check_fraction("validation_fraction", self.validation_fraction),
        )

    def _remember(self, data: Pairs, table: DistinctPairs, fitted: FittedTrees, settings: TreeSettings) -> None:
        """Set the fitted attributes except for those of the prior."""
        self._forget_link()
        self._remember_features(data)
        self.link_ = find_link(self.link).name
        self.model_ = TreeModel(fitted.trees, self.n_features_in_, table.n_scores)
        self.n_iter_ = fitted.n_rounds
        self.errors_ = fitted.errors
        self.start_ = np.atleast_1d(np.asarray(settings.start, dtype=np.float64))
        if len(self.start_) < table.n_scores:
            self.start_ = np.zeros(table.n_scores)
        self.temperature_ = 1.0
        self.offset_ = 0.0
        if find_link(self.link).has_classes:
            self.classes_ = class_names(self.classes, data)
            return
        scores = self.model_.scores(table.items)
        self.start_ = np.array([-scores.mean()])
        self.reference_scores_ = reference_scores(scores + self.start_)

    def _forget_link(self) -> None:
        """Delete the attributes of an earlier fit that only one of the links has."""
        for name in ("classes_", "reference_scores_"):
            if hasattr(self, name):
                delattr(self, name)

    def _remember_prior(self, data: Pairs, fitted: FittedTrees, method: Method, prior: Any) -> None:
        """Calibrate, set ``prior_`` to the training prior or the mean probability, and report an open offset."""
        self.prior_ = prior
        if self.link_ != "probability":
            return
        held_out = fitted.held_out
        if (self.calibrated or data.precision is not None) and held_out is not None and not data.has_vectors:
            self.temperature_, self.offset_ = _calibration(held_out, prior)
        if prior is not None:
            return
        if held_out is not None and self._leaves_offset_open(data, method):
            scores = (np.stack([held_out.g, held_out.g_prime]) + self.offset_) / self.temperature_
            self.prior_ = float(np.average(expit(scores).mean(axis=0), weights=held_out.pair_weight))
            return
        ends = self._pair_probabilities(self._scores(as_matrix(data.items)), data)
        weight = None if data.weight is None else data.weight.numpy()
        implied = np.average(ends.mean(axis=0), axis=0, weights=weight)
        self.prior_ = implied if implied.ndim else float(implied)
        if method.learns_from != "differences" or not data.has_vectors:
            return
        if held_out is not None:
            ends = np.stack([probability_of(held_out.g), probability_of(held_out.g_prime)])
            self._report_open_classes(ends[1] - ends[0], held_out.c, ends.reshape(-1, ends.shape[2]), held_out.weight)
        else:
            assert data.difference is not None
            item_p = ends.reshape(-1, ends.shape[2])
            self._report_open_classes(ends[1] - ends[0], data.difference.numpy(), item_p, weight)

    def _pair_probabilities(self, scores: _Vector, data: Pairs) -> _Vector:
        """Return the probabilities of the first and of the second items of pairs: (2, n), or (2, n, K)."""
        p = probability_of(scores)
        return np.stack([p[data.left.numpy()], p[data.right.numpy()]])


def _calibration(held_out: HeldOutScores, prior: float | None) -> tuple[float, float]:
    """Return temperature and offset of the scores that fit the differences of held-out pairs best."""
    return fit_to_differences(
        torch.from_numpy(held_out.g),
        torch.from_numpy(held_out.g_prime),
        torch.from_numpy(held_out.c),
        prior=prior,
        weight=torch.from_numpy(held_out.weight),
    )
