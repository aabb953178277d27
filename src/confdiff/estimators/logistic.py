"""Linear models of differences: logistic regression and ridge regression on pairs, without epochs or learning rate."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from confdiff.calibration import log_odds
from confdiff.estimators.inputs import as_float_matrix, check_validation, class_names, distinct_items
from confdiff.estimators.items import DifferenceScored, has_classes, numbers_of_scores
from confdiff.estimators.judges import AnnotatorsLearned, Labels, class_evidence
from confdiff.estimators.linear.design import Design, Vector, make_design
from confdiff.estimators.linear.objectives import logistic_function
from confdiff.estimators.linear.penalty import PenaltySearch, Splits, search_penalty
from confdiff.estimators.linear.solving import Solution, make_ridge, solve
from confdiff.estimators.linear.state import RestorableLinear
from confdiff.estimators.linear.steepness import rescaled
from confdiff.estimators.offset import check_answers_are_used, check_offset_options
from confdiff.estimators.settings import seed_of
from confdiff.links import find_link, reference_scores
from confdiff.methods import find_method
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.pairs.sparse import Items, as_matrix
from confdiff.pairs.splitting import item_disjoint_folds
from confdiff.prior import (
    Interval,
    ItemScorer,
    PairLearner,
    PriorEstimate,
    SameAnswers,
    check_labelled,
    cross_fit,
    declared_moment,
    estimate_with,
    fit_shape,
    offset_at,
    separate_answers,
    warn_of_open_prior,
)
from confdiff.threads import computing, follow_policy, pass_over
from confdiff.validation import check_choice, check_count, check_number, check_prior

_FOLDS = 4
_C_OF_FEW = 1.0  # if there are too few pairs to hold out some of them
_PRIOR_FOLDS = 3  # of pairs, to report the priors that differences leave open
_TOL = 1e-6  # of the solver in these folds
_SPARSE_TOL = 1e-4  # the same for sparse items, such as texts, whose steps take longer than all else
_FEWEST = 6  # with fewer pairs, any prior fits


class ConfDiffLogisticRegression(AnnotatorsLearned, RestorableLinear, DifferenceScored):
    r"""A linear model that is fitted to pairs with graded differences.

    ============== ========================================================================================
    ``link``       what is minimised, plus an L2 penalty
    ============== ========================================================================================
    "probability"  With a prior, the unbiased risk with the logistic loss, which is convex. Without one, the
                   squared error of the differences of probabilities, from several starts.
    "preference"   Cross-entropy of the score differences with the targets (1 + c) / 2: logistic regression
                   on feature differences, with soft labels.
    "score"        Squared error of the score differences: ridge regression on feature differences.
    ============== ========================================================================================

    Items may be a SciPy sparse matrix, such as TF-IDF weights of texts. They are not made dense.

    Parameters
    ----------
    link : {"probability", "preference", "score"}, default="probability"
        What the differences mean, see :mod:`confdiff.links`.
    prior : float, "estimate" or None, default=None
        The class prior, if it is known; for the probability link only.
    differences : {"graded", "labels"}, default="graded"
        As in :class:`~confdiff.ConfDiffClassifier`.
    positives : {"rarer", "commoner"} or None, default=None
        As in :class:`~confdiff.ConfDiffClassifier`.
    C : float or "auto", default=1.0
        Inverse strength of the L2 penalty, as in scikit-learn. The intercept is not penalised. With ``"auto"``, the
        value with the highest R² on held-out pairs is chosen; 1 if there are too few pairs to hold out some of them.
    standardise : bool, default=False
        Whether the penalty is on the weights of features that are scaled to a standard deviation of 1.
    cv : int, splitter, iterable or None, default=None
        The folds for ``C="auto"``, as in scikit-learn. By default, 4 item-disjoint folds. A splitter, such
        as ``GroupKFold``, gets the groups of the pairs.
    classes : sequence, default=None
        The names of the negative and the positive class. By default -1 and 1.
    annotator_model : {"auto", "pooled", "scale", "full"}, default="auto"
        The model of annotators, if ``fit`` gets them: all are the same, each has a scale, or each has a scale, a side
        bias and noise. ``"auto"`` chooses by held-out answers. See :mod:`confdiff.annotators`.
    target_prior : float or None, default=None
        The class prior of the items to predict for, if it differs from the training prior. May be set after ``fit``.
    random_state : int, RandomState or None, default=0
        Determines the folds.

    Attributes
    ----------
    coef_ : array of shape (1, d)
        The weights.
    intercept_ : array of shape (1,)
        The offset. With the preference and score links, the mean score of the training items is 0.
    annotators_ : AnnotatorEstimates or None
        Scale, side bias and noise of each annotator, with intervals; None without annotators.
    link_ : str
        The link.
    C_ : float
        The inverse strength of the penalty in use.
    C_search_ : PenaltySearch or None
        The candidates for ``C="auto"`` and their results on held-out pairs.
    mean_ : array of shape (d,)
        The mean of the features over the training items.
    reference_scores_ : array of shape (k,)
        Scores that represent those of the training items.
    n_iter_ : int
        The number of steps of the solver, from the best start.
    classes_ : array of shape (2,)
        The names of the classes; with the probability link only.
    prior_ : float
        The prior in use, or the mean probability without one; with the probability link only.
    prior_estimate_ : PriorEstimate
        The estimated prior; present only if it was estimated.
    prior_interval_ : tuple (low, high) or None
        The class priors that the data leave open, with 95 % confidence. ``None`` if the prior was given, or the link
        has no classes.
    prior_source_ : str or None
        ``"given"``, ``"differences"``, ``"label differences"`` or ``"labelled items"``.
    is_offset_determined_ : bool
        Whether the prior was given or the differences determine it. If not, scores and ranks are meaningful, but
        probabilities may be off by a constant, and decisions are arbitrary near the threshold.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of str
        The names of the features; present only if the items had column names.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2, 2))
    >>> risk = 1 / (1 + np.exp(-(2 * X[..., 0] - 1)))
    >>> ConfDiffLogisticRegression(C=1e4).fit(X, risk[:, 1] - risk[:, 0]).coef_.round(1)
    array([[2., 0.]])
    """

    prior_estimate_: PriorEstimate

    def __init__(
        self,
        *,
        link: str = "probability",
        prior: float | str | None = None,
        differences: str = "graded",
        positives: str | None = None,
        C: float | str = 1.0,
        standardise: bool = False,
        cv: Any = None,
        classes: Any = None,
        annotator_model: str = "auto",
        target_prior: float | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.link = link
        self.prior = prior
        self.differences = differences
        self.positives = positives
        self.C = C
        self.standardise = standardise
        self.cv = cv
        self.classes = classes
        self.annotator_model = annotator_model
        self.target_prior = target_prior
        self.random_state = random_state

    @follow_policy
    def fit(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
        annotators: ArrayLike | None = None,
        side: ArrayLike | None = None,
        labelled: tuple[Any, ArrayLike] | None = None,
        validation: Pairs | None = None,
    ) -> "ConfDiffLogisticRegression":
        """Learn from pairs and their differences.

        Parameters
        ----------
        pairs, c, items, sample_weight, annotators, side, labelled
            See :meth:`confdiff.ConfDiffClassifier.fit`.
        validation : Pairs, default=None
            Held-out pairs for ``C="auto"``, instead of folds.

        Returns
        -------
        ConfDiffLogisticRegression
            The fitted estimator.
        """
        columns: dict[str, Any] = {"weight": sample_weight, "annotator": annotators, "side": side}
        judged = as_float_matrix(as_pairs(pairs, c, items=items, **columns))
        if judged.has_vectors:
            raise ValueError("ConfDiffLogisticRegression takes differences of two classes; got several classes.")
        judged, answers = separate_answers(judged)
        link = find_link(self.link)
        check_offset_options(self, has_classes=link.has_classes, has_vectors=False)
        check_answers_are_used(self, answers)
        self._forget_offset()
        method = find_method("confdiff-regression" if link.has_classes else link.name)
        seed = seed_of(self.random_state)
        self._check_classes_are_used(labelled)
        evidence = check_labelled(labelled, judged)
        data = self._learn_annotators(
            judged, method=method, seed=seed, probes=("linear",), labelled=evidence, answers=answers
        )
        validation = self._adjust_validation(validation, judged)
        design = design_of(data)
        if not link.has_classes:
            design = design.with_pair_matrix()
        prior = self._training_prior(data, design, labelled, answers)
        if prior is not None:  # the risk is then linear in the differences
            design = design_of(data.with_precision_in_differences(), centre=design.centre)
        with computing(pass_over(design.matrix.size)):
            self.C_search_ = self._search(design, data, validation, prior)
            self.C_ = self._chosen_C()
            solution = solve(design, link.name, make_ridge(design, self.C_, self.standardise), prior)
        solution.warn_unless_converged()
        if data.precision is not None and prior is not None:
            solution = _as_steep(solution, design, data, prior, evidence, answers)
        self.link_ = link.name
        self._remember_features(data)
        self._remember_solution(solution, design)
        self._remember_classes(data, design, prior)
        return self

    def _training_prior(
        self, data: Pairs, design: Design, labelled: tuple[Any, ArrayLike] | None, answers: SameAnswers | None
    ) -> float | None:
        """Return the class prior: the given one, or an estimate from differences, labelled items and answers."""
        moment = declared_moment(data, self.differences)
        if self.prior is None and labelled is None and answers is None and moment is None:
            return None
        if self.prior is not None and not isinstance(self.prior, str):
            if labelled is not None:
                raise ValueError("labelled items determine the prior, and a prior is given: pass one of the two.")
            self.prior_source_ = "given"
            return check_prior(self.prior)
        check_choice("prior", self.prior or "estimate", ["estimate"])
        items, labels = check_labelled(labelled, data)
        estimate = estimate_with(
            self._learner(design),
            data,
            seed=seed_of(self.random_state),
            moment=moment,
            positives=self.positives,
            items=items,
            labels=labels,
            answers=answers,
        )
        self._report_estimate(estimate)
        return min(max(estimate.value, 0.001), 0.999)

    def _learner(self, design: Design) -> PairLearner:
        """Return a learner of folds, without a prior; ``C="auto"`` is then 1."""
        strength = 1.0 if isinstance(self.C, str) else check_number("C", self.C, above=0)

        def learn(training: Pairs, fold: int) -> ItemScorer:
            part = design_of(training, centre=design.centre)
            ridge = make_ridge(part, strength, self.standardise)
            solution = solve(part, "probability", ridge, tol=_SPARSE_TOL if part.is_sparse else _TOL)
            return lambda items: as_matrix(items) @ solution.w - design.centre @ solution.w + solution.b

        return learn

    def _check_classes_are_used(self, labelled: tuple[Any, ArrayLike] | None) -> None:
        """Check that no argument is about classes if the link has none."""
        if find_link(self.link).has_classes:
            return
        arguments = {f"prior={self.prior!r}": self.prior, "labelled items": labelled}
        arguments[f"target_prior={self.target_prior!r}"] = self.target_prior
        for argument, value in arguments.items():
            if value is not None:
                raise ValueError(f"link={self.link!r} has no classes: {argument} would not be used. Pass none.")

    def _search(
        self, design: Design, data: Pairs, validation: Pairs | None, prior: float | None
    ) -> PenaltySearch | None:
        """Compare the candidates for the penalty on held-out pairs, if ``C`` asks for it and there are enough."""
        if not isinstance(self.C, str):
            check_number("C", self.C, above=0)
            return None
        check_choice("C", self.C, ["auto"])
        if validation is None:
            splits: Splits = [(design.of_pairs(train), design.of_pairs(test)) for train, test in self._folds(data)]
        else:
            splits = [(design, design_of(check_validation(validation, data), centre=design.centre))]
        if not splits:
            return None
        return search_penalty(design, splits, self.link, prior, self.standardise)

    def _folds(self, data: Pairs) -> Iterator[Any]:
        """Yield the rows of the training and the held-out pairs of each fold."""
        if self.cv is None or isinstance(self.cv, int):
            count = _FOLDS if self.cv is None else check_count("cv", self.cv, least=2)
            yield from item_disjoint_folds(data, count, seed_of(self.random_state))
        elif hasattr(self.cv, "split"):
            groups = None if data.group is None else data.group.numpy()
            yield from self.cv.split(data, groups=groups)
        else:
            yield from self.cv

    def _chosen_C(self) -> float:
        if self.C_search_ is not None:
            return self.C_search_.best.C
        return _C_OF_FEW if isinstance(self.C, str) else float(self.C)

    def _remember_solution(self, solution: Solution, design: Design) -> None:
        """Set weights and offset of the features as they are, from those of centred features."""
        self.n_iter_ = solution.n_iter
        self.coef_ = solution.w[None]
        scores = design.scores(solution.w) + solution.b
        offset = solution.b if find_link(self.link).has_classes else -scores.mean()
        self.intercept_ = np.array([offset - solution.w @ design.centre])
        self.mean_ = design.centre
        self.reference_scores_ = reference_scores(scores + offset - solution.b)

    def _remember_classes(self, data: Pairs, design: Design, prior: float | None) -> None:
        """Set names and prior of the classes, if there are any; warn if the differences do not determine the prior."""
        for name in ("classes_", "prior_"):
            self.__dict__.pop(name, None)
        if not find_link(self.link).has_classes:
            return
        self.classes_ = class_names(self.classes, data)
        self.prior_ = prior
        if prior is None:
            self._report_cross_fit(data, design)
            p = logistic_function(design.scores(self.coef_[0]) + self.coef_[0] @ design.centre + self.intercept_[0])
            weight = _pair_weight(data)
            self.prior_ = float(design.on_items(weight, weight) @ p / 2)

    def _report_cross_fit(self, data: Pairs, design: Design) -> None:
        """Report the priors that pairs of folds leave open; move the offset into them if it is outside."""
        if len(data) < _FEWEST:
            self.prior_source_ = "differences"
            self.prior_interval_ = (0.0, 1.0)
            warn_of_open_prior(self.prior_interval_)
            return
        held_out, _ = cross_fit(self._learner(design), data, folds=_PRIOR_FOLDS, seed=seed_of(self.random_state))
        self._report_offset(held_out)
        low, high = cast(Interval, self.prior_interval_)
        g = design.scores(self.coef_[0]) + self.coef_[0] @ design.centre + self.intercept_[0]
        pair_weight = _pair_weight(data)
        weight = design.on_items(pair_weight, pair_weight)
        mean = np.average(logistic_function(g), weights=weight)
        if not low <= mean <= high:
            shift = offset_at(g, float(np.clip(fit_shape(held_out, low, high).prior, 0.001, 0.999)), weight)
            self.intercept_ = self.intercept_ + shift
            self.reference_scores_ = self.reference_scores_ + shift

    @follow_policy
    def decision_function(self, X: Any) -> Vector:
        """Return the scores w.x + b of items.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,)
            With the probability link, the log-odds of the positive class.
        """
        items = self._items(X)
        with computing(pass_over(items.size)):
            scores: Vector = items @ self.coef_[0] + self.intercept_[0]
        return scores + self._prior_shift()

    @available_if(has_classes)
    @follow_policy
    def predict_proba(self, X: Any) -> Vector:
        """Predict the probabilities of the negative and the positive class; only for the probability link.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, 2)
            The columns are in the order of ``classes_``.
        """
        p = logistic_function(self.decision_function(X))
        return np.stack([1 - p, p], axis=1)

    @follow_policy
    def explain(self, X: Any) -> tuple[Any, float]:
        """Divide the scores of items among their features.

        Parameters
        ----------
        X : array or sparse matrix of shape (m, d)
            Single items.

        Returns
        -------
        contributions : array or sparse array of shape (m, d)
            ``coef_ * (x - mean_)``, or ``coef_ * x`` if the items are sparse.
        base : float
            The score that all items share. ``base + contributions.sum(axis=1)`` is ``decision_function(X)``.

        Examples
        --------
        >>> model = ConfDiffLogisticRegression(link="score", C=1e9).fit([[0, 1]], [0.5], items=[[1.0, 0.0], [3.0, 0.0]])
        >>> contributions, base = model.explain([[3.0, 1.0]])
        >>> contributions.round(2) + 0.0, round(base, 2) + 0.0
        (array([[0.25, 0.  ]]), 0.0)
        """
        items: Any = self._items(X)
        weights = self.coef_[0]
        if not isinstance(items, np.ndarray):
            return items.multiply(weights[None]).tocsr(), float(self.intercept_[0]) + self._prior_shift()
        base = float(weights @ self.mean_ + self.intercept_[0]) + self._prior_shift()
        return (items - self.mean_) * weights, base

    def _prior_shift(self) -> float:
        """Return the shift of the scores from the training prior to ``target_prior``."""
        if self.target_prior is None or not find_link(self.link_).has_classes:
            return 0.0
        assert self.prior_ is not None  # the link has classes
        return log_odds(check_prior(self.target_prior, "target_prior")) - log_odds(self.prior_)

    def _class_numbers(self, X: Any) -> NDArray[Any]:
        return numbers_of_scores(self.decision_function(X))


def _as_steep(
    solution: Solution, design: Design, data: Pairs, prior: float, labelled: Labels, answers: SameAnswers | None
) -> Solution:
    """Return a solution of rescaled answers that is as steep as labels and same-class answers suggest, if any."""
    if labelled[1] is None and answers is None:
        return solution

    def score(items: Items) -> Vector:
        scores: Vector = as_matrix(items) @ solution.w - design.centre @ solution.w
        return scores

    weight = _pair_weight(data)
    evidence = class_evidence(score, labelled, answers)
    return rescaled(solution, design.scores(solution.w), design.on_items(weight, weight), prior, evidence)


def _pair_weight(data: Pairs) -> Vector:
    """Return the weights of pairs without the precision of their differences, with sum 1."""
    weight = np.ones(len(data)) if data.weight is None else data.weight.double().numpy()
    normalised: Vector = weight / weight.sum()
    return normalised


def design_of(data: Pairs, *, centre: Vector | None = None) -> Design:
    """Return the pairs as the solver takes them; ``centre`` are the features to subtract, by default their mean."""
    data = data.with_precision_in_weights()
    (differences,) = data.targets("differences").double().numpy()
    items, left, right = distinct_items(data)
    weight = None if data.weight is None else data.weight.double().numpy()
    return make_design(items, left, right, differences, weight, centre=centre)
